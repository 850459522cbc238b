"""Helpers of the course: the sentence, its pictures, a counter of operators, and what the lessons have built."""
