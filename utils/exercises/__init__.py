"""The exercises of each lesson, one file per lesson: right answers, inputs, and known wrong answers by name."""
