"""Exercises whose check names the mistake.

An exercise knows the right answer, a few inputs chosen so that every mistake shows, and known wrong answers, each with
the sentence that names it. The check runs your answer on the inputs. If it differs from the right one, the check looks
for the known wrong answer that gives the very same. The exercises are tables in utils.exercises, one file per lesson.
"""

import contextlib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from utils.answers import SECONDS, Raised, copy_of, form, holds_ellipsis, in_time, kind, likely_cause, same, shown

LINE = 92  # characters


@dataclass(frozen=True)
class Exercise:
    """An exercise, and what is known about it.

    number, name: such as "3.1" and "weights"; name is also that of the function or value to write.
    asked: the right answer: a function, or the value itself where a value is asked for.
    confirmed: what a right answer has shown, one sentence.
    wrong: {sentence that names a mistake and its cure: the wrong answer, of the same kind as asked, or a list of them}.
    inputs: argument lists for the function, the smallest first; none where a value is asked for.
    use: how an answer is used on an input, use(answer, *input) → result; by default it is called.
    seen: what of a result counts, seen(result) → what is compared; by default all of it.
    gradient: whether the gradients of the result with respect to the inputs have to be right too.
    tolerance: how far a number may be off, absolutely and relative to its size. float32 keeps about 7 digits.
    """

    number: str
    name: str
    asked: Any
    confirmed: str
    wrong: dict[str, Any]
    inputs: tuple[tuple, ...] = ()
    use: Callable | None = None
    seen: Callable = lambda result: result
    gradient: bool = False
    tolerance: float = 1e-4

    def check(self, answer):
        """Print what verdict says of an answer, in lines that fit a page."""
        self._say("Exercise", answer)

    def check_solution(self, answer):
        """Do the same for the solution that a lesson gives, so that nobody takes its line for that of an answer."""
        self._say("Solution of exercise", answer)

    def _say(self, of, answer):
        for line in f"{of} {self.number}: {self.verdict(answer)}".splitlines():
            print(textwrap.fill(line, LINE))

    def verdict(self, answer):
        """Return "right. …", "not answered yet. …" or "not yet. …" with the mistake, its cure and an example."""
        nothing = "not answered yet. Put your answer in place of the ... and run the cell."
        if answer is ...:
            return nothing
        if self.inputs and not callable(answer):
            return f"not yet. {self.name} is {kind(answer)}, expected the function itself, without parentheses."
        text = isinstance(answer, str) != isinstance(self.asked, str)
        if not self.inputs and (answer is None or inspect.isfunction(answer) or text):
            return f"not yet. {self.name} is {kind(answer)}, expected {form(self.asked)}."
        try:
            results = in_time(lambda: self.results(answer))
        except TimeoutError:
            return f"not yet. After {SECONDS} seconds there was no result, so it was stopped. Does a loop never end?"
        if any(result is ... for result in results):
            return nothing
        expected = self.results(self.asked)
        if problem := self._form(results, expected):
            return f"not yet. {problem}"
        if self.same(results, expected):
            problem = self._gradient(answer) if self.gradient else ""
            return f"not yet. {problem}" if problem else f"right. {self.confirmed}"
        known = (
            sentence
            for sentence, mistakes in self.wrong.items()
            for mistake in (mistakes if isinstance(mistakes, list) else [mistakes])
            if self.same(results, self.results(mistake))
        )
        return f"not yet. {next(known, None) or self._unknown(results, expected)}{self._example(results, expected)}"

    def results(self, answer):
        """Return what an answer gives on each input: a result, what it raised, or ... where nothing is written yet."""
        return [self._result(answer, given) for given in self.inputs or [()]]

    def same(self, results, expected):
        """Whether all results are as expected."""
        return all(same(*pair, self.tolerance) for pair in zip(results, expected, strict=True))

    def _result(self, answer, given):
        copies = [copy_of(value) for value in given]
        try:
            result = self.used(answer, copies) if self.inputs else answer
            if holds_ellipsis(result):
                return ...
            result = self.seen(result)
        except (Exception, SystemExit) as error:
            return Raised(type(error).__name__, (str(error).splitlines() or [""])[0].rstrip("."))
        for name, old, new in zip(self.names(), given, copies, strict=True):
            if not same(old, new, 0):
                return Raised("Changed", f"Your function changes its input {name} in place. Make a new tensor instead")
        return result

    def used(self, answer, given):
        """Return what an answer gives on one input."""
        return self.use(answer, *given) if self.use else answer(*given)

    def names(self):
        """Return the names of the inputs."""
        if not self.inputs:
            return []
        first = 1 if self.use else 0  # after the answer itself
        return list(inspect.signature(self.use or self.asked).parameters)[first:]

    # What is said of an answer

    def _form(self, results, expected):
        """Say what is wrong with a result before its numbers are looked at."""
        for result, right in zip(results, expected, strict=True):
            if isinstance(result, Raised) and result.kind == "Changed":
                return f"{result.message}."
            if result is None:
                return "Your function returns None. Is its return missing?"
            if self.inputs and isinstance(right, (int, float)) and isinstance(result, (str, tuple, list, dict)):
                return f"Your function returns {kind(result)}, expected a number."
            if self.inputs and torch.is_tensor(right) and not isinstance(result, Raised):
                if isinstance(result, tuple):
                    return f"Your function returns {len(result)} values, expected one tensor."
                if not torch.is_tensor(result):
                    why = ", or training could not learn" if self.gradient else ""
                    return (
                        f"Your function returns {kind(result)}, expected a tensor. Stay with tensors all the way{why}."
                    )
                if (result.dtype == torch.bool) != (right.dtype == torch.bool):
                    cure = "compare with <, <= or ==, or make it with dtype=torch.bool"
                    cure = f": {cure}" if right.dtype == torch.bool else ""
                    return f"Your function returns {kind(result)}, expected {kind(right)}{cure}."
                if result.is_complex() or result.is_meta or result.is_sparse:
                    return f"Your function returns complex, sparse or missing numbers, expected {kind(right)}."
                if right.dtype.is_floating_point and not result.dtype.is_floating_point:
                    return f"Your function returns {kind(result)}: something cuts the decimals off, .long(), int or //."
        return ""

    def _gradient(self, answer):
        """Say whether the gradient is cut between an input and the result."""
        for given in self.inputs:
            for name, right, came in zip(
                self.names(), self._gradients(self.asked, given), self._gradients(answer, given), strict=True
            ):
                if torch.is_tensor(came) and came.isnan().any():
                    return (
                        f"The numbers are right, but the gradient with respect to {name} is not a number: somewhere on "
                        "the way it is 0/0 or infinity. Training could not learn."
                    )
                if not same(came, right, self.tolerance):
                    return (
                        f"The numbers are right, but the gradient with respect to {name} is cut on the way, so "
                        "training could not learn. Look for .detach(), .item(), torch.no_grad(), torch.tensor(…) or a "
                        "tensor that is changed in place."
                    )
        return ""

    def _gradients(self, answer, given):
        leaves = [copy_of(value, gradient=True) for value in given]
        with contextlib.suppress(Exception):  # no gradient at all, numpy on the way, or an error that only it brings up
            result = self.seen(self.used(answer, leaves))
            (result * torch.linspace(1, 2, result.numel(), dtype=result.dtype).reshape(result.shape)).sum().backward()
        return [leaf.grad if torch.is_tensor(leaf) else None for leaf in leaves]

    def _unknown(self, results, expected):
        """Say what can be said of an answer that is none of the known ones."""
        result, right = results[first := self._first(results, expected)], expected[first]
        if isinstance(result, Raised):
            return f"Your answer raised {result.kind}: {result.message}.{likely_cause(result.message)}"
        if not self.inputs and form(result) != form(right):
            return f"{self.name} is {form(result)}, expected {form(right)}."
        if self.inputs and self._constant(results) and not self._constant(expected):
            return (
                "Your function gives the same whatever it is given. Use its arguments, not a variable of the notebook "
                "and not the numbers of an example."
            )
        if torch.is_tensor(result) and torch.is_tensor(right) and result.shape != right.shape:
            return f"The shape is {tuple(result.shape)}, expected {tuple(right.shape)}."
        return f"{'It' if self.inputs else shown(result)} is none of the mistakes known here."

    def _constant(self, results):
        """Whether the result is the same on every input."""
        return self.same(results[1:], results[:1] * len(results[1:]))

    def _first(self, results, expected):
        """Return the place of the first input on which the results differ."""
        pairs = zip(results, expected, strict=True)
        return next(place for place, pair in enumerate(pairs) if not same(*pair, self.tolerance))

    def _example(self, results, expected):
        """Show the first input on which the result differs, and there the first entry that does."""
        if not self.inputs:
            return ""
        first = self._first(results, expected)
        given, result, right = self.inputs[first], results[first], expected[first]
        named = zip(self.names(), given, strict=True)
        text = "\nExample: " + ", ".join(f"{name} = {shown(value)}" for name, value in named)
        if self.use:  # the result is made of what the answer gave, and the reader has not seen it
            return f"{text}."
        if isinstance(result, Raised):
            return f"{text}. Expected: {shown(right)}."
        where = ""
        if torch.is_tensor(result) and torch.is_tensor(right) and result.shape == right.shape and right.ndim:
            differs = ~torch.isclose(result, right.to(result.dtype), self.tolerance, self.tolerance, equal_nan=True)
            for place in differs.nonzero().tolist()[:1]:  # none if half precision hides it
                where, result, right = f" at {place}", result[tuple(place)], right[tuple(place)]
        digits = 2 if shown(result) != shown(right) else 6
        return f"{text}. Yours{where}: {shown(result, digits)}, expected: {shown(right, digits)}."


def numbers(seed, *shape):
    """Return made-up numbers of one decimal with mean 0 and spread 1, a float64 tensor, always the same for a seed."""
    generator = torch.Generator().manual_seed(seed)
    uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
    return torch.special.ndtri(uniform.clamp(0.02, 0.98)).round(decimals=1)
