"""Each exercise proves itself: right answers pass, however written, and each wrong one is named or at least refused.

And the exercises as a reader meets them: task, stub, hint, collapsed solution.
"""

import importlib
import inspect
import re
import threading
from dataclasses import replace
from functools import partial
from itertools import combinations

import nbformat
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lessons import ROOT, Notebook, lesson_paths, read

import utils.answers
from utils.exercise import Exercise

NUMBERS = [path.stem[-2:] for path in sorted((ROOT / "utils" / "exercises").glob("lesson_*.py"))]
TASK = re.compile(r"### Exercise (\d+\.\d) · .+\n\n\*(\d+) minutes, difficulty [123] of 3\.\* .{40,}", re.DOTALL)
HINT = re.compile(r"<details><summary>Hint</summary>\n\n.{20,}\n\n</details>", re.DOTALL)
SOLUTION = {
    "tags": ["hide-input"],
    "jupyter": {"source_hidden": True},
    "mystnb": {"code_prompt_show": "Show the solution"},
}


def exercises(number):
    """The exercises of a lesson, in their order."""
    module = importlib.import_module(f"utils.exercises.lesson_{number}")
    return {name: value for name, value in vars(module).items() if isinstance(value, Exercise)}


def right_answers(exercise):
    """Right answers to an exercise, each written in another way."""
    number = int(exercise.number.split(".")[0])
    return importlib.import_module(f"answers.lesson_{number:02d}").RIGHT[exercise.name]


def known(exercise):
    """Yield the known wrong answers of an exercise one by one with their sentence; a list is declared one mistake."""
    for sentence, wrong in exercise.wrong.items():
        for answer in wrong if isinstance(wrong, list) else [wrong]:
            yield sentence, answer


def named(exercise):
    return pytest.param(exercise, id=f"{exercise.number}-{exercise.name}")


ALL = [exercise for number in NUMBERS for exercise in exercises(number).values()]
torch.set_num_threads(1)  # for matrices this small a second thread only gets in the way


def gives_tensors(exercise):
    """Whether an exercise asks for a function whose results are tensors of numbers with decimals."""
    right = exercise.results(exercise.asked)
    return bool(exercise.inputs) and all(torch.is_tensor(r) and r.is_floating_point() and r.ndim for r in right)


every_exercise = pytest.mark.parametrize("exercise", [named(exercise) for exercise in ALL])
every_function = pytest.mark.parametrize("exercise", [named(exercise) for exercise in ALL if exercise.inputs])


def verdict_on(exercise, results):
    """What the check says of an answer that gives these results, one on each input."""
    answer = partial(next, iter(results))

    def use(each, *given):
        return answer() if each is answer else exercise.seen(exercise.used(each, given))

    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("answer", *exercise.names())]
    use.__signature__ = inspect.Signature(parameters)
    return replace(exercise, use=use, seen=lambda result: result, gradient=False).verdict(answer)


# What an answer gets


@every_exercise
def test_the_stub_is_not_answered(exercise):
    stubs = [..., lambda *given: ...] if exercise.inputs else [...]
    for stub in stubs:
        assert exercise.verdict(stub).startswith("not answered yet")


@every_exercise
def test_right_answers_pass_however_written(exercise):
    others = right_answers(exercise)
    assert len(others) >= 3
    for answer in [exercise.asked, *others]:
        assert exercise.verdict(answer) == f"right. {exercise.confirmed}"


@every_exercise
def test_each_known_wrong_answer_is_named(exercise):
    assert len(exercise.wrong) >= 3
    for sentence, answer in known(exercise):
        said = exercise.verdict(answer).split("\n")
        assert said[0] == f"not yet. {sentence}"
        assert len(said) == (2 if exercise.inputs else 1)


@every_exercise
def test_no_two_mistakes_look_the_same(exercise):
    seen = [(sentence, exercise.results(answer)) for sentence, answer in known(exercise)]
    for (sentence, results), (other, others) in combinations(seen, 2):
        assert sentence == other or not exercise.same(results, others), f"{sentence}\n{other}"


@every_exercise
def test_sentences_name_and_cure(exercise):
    for sentence in [*exercise.wrong, exercise.confirmed]:
        assert 1 <= len(re.findall(r"[.?](?= [A-ZΩ`]|$)", sentence)) <= 3 and sentence[-1] in ".?", sentence
        assert len(sentence) <= 300, sentence
        assert not re.search(r"\b(?:simply|obviously|just)\b|!(?!=)", sentence, re.IGNORECASE), sentence


@every_function
def test_right_on_the_visible_example_only_is_refused(exercise):
    first, *rest = exercise.results(exercise.asked)
    assert rest
    others = [[torch.zeros_like(each) if torch.is_tensor(each) else -1 for each in rest], [first] * len(rest)]
    for later in others:
        assert verdict_on(exercise, [first, *later]).startswith("not yet")


CHANGES = {
    "one entry": lambda t, i: t + 0.05 * (1 + t.abs().max()) * (torch.arange(t.numel()) == i % t.numel()).view(t.shape),
    "larger": lambda t, i: t * (1.02 + i / 10),
    "moved": lambda t, i: t + 0.02 * (1 + i),
    "negative": lambda t, i: -t,
    "transposed": lambda t, i: t.mT if t.ndim > 1 else t.flip(0),
    "rows permuted": lambda t, i: t.roll(1 + i % 3, 0),
    "columns permuted": lambda t, i: t.roll(1 + i % 3, -1),
    "flattened": lambda t, i: t.flatten(),
    "an axis more": lambda t, i: t[None],
    "a row less": lambda t, i: t[1:],
    "rows summed to 1": lambda t, i: t / t.sum(-1, keepdim=True),
    "columns summed to 1": lambda t, i: t / t.sum(0, keepdim=True),
}


@pytest.mark.parametrize("exercise", [named(exercise) for exercise in ALL if gives_tensors(exercise)])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(change=st.sampled_from(sorted(CHANGES)), amount=st.integers(0, 40))
def test_a_changed_right_answer_is_refused(exercise, change, amount):
    right = exercise.results(exercise.asked)
    changed = [CHANGES[change](each, amount) for each in right]
    assume(not exercise.same(changed, right))
    assert verdict_on(exercise, changed).startswith("not yet")


@every_function
def test_inputs_let_mistakes_show(exercise):
    """No square, symmetric, constant or one-hot example hides a mix-up of axes or a missing scale."""
    tensors = [value for values in exercise.inputs for value in values if torch.is_tensor(value)]
    assert len(exercise.inputs) >= 2
    for tensor in tensors:
        assert tensor.dtype != torch.float32 and tensor.isfinite().all()
        assert tensor.numel() == 1 or len(tensor.unique()) > 1, "all the same"
        square = tensor.ndim > 1 and tensor.shape[-1] == tensor.shape[-2] > 1
        assert not square or not torch.equal(tensor, tensor.mT), "symmetric"
    for given_, result in zip(exercise.inputs, exercise.results(exercise.asked), strict=True):
        sizes = {tuple(value.shape) for value in given_ if torch.is_tensor(value)}
        assert not sizes or any(len(set(shape)) == len(shape) for shape in sizes) or len(sizes) > 1 or len(given_) > 1
        if torch.is_tensor(result) and result.dtype.is_floating_point and result.numel() > 1:
            assert not ((result == 0) | (result == 1)).all(), "one-hot"


# Answers of the wrong kind, on one exercise made for it

DOUBLE = Exercise(
    number="0.1",
    name="double",
    asked=lambda values: 2 * values,
    confirmed="Doubled.",
    wrong={"You squared. Multiply by 2.": lambda values: values**2},
    inputs=((torch.tensor([1.0, 3.0], dtype=torch.float64),), (torch.tensor([[0.5, 4.0]], dtype=torch.float64),)),
    gradient=True,
)


def endless(values):
    while True:
        pass


def in_place(values):
    values *= 2
    return values


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda values: values + values, r"right\. Doubled\."),
        (lambda values: (2 * values).float(), r"right\. Doubled\."),
        (
            lambda values: values**2,
            r"You squared\. .*\nExample: values = \[1\.0, 3\.0\]\. Yours at \[0\]: 1\.0, exp.* 2\.0\.",
        ),
        (lambda values: values * 3, r"none of the mistakes known here\.\nExample: values = \[1\.0, 3\.0\]\."),
        (lambda values: values[:1], r"shape is \(1,\), expected \(2,\)"),
        (lambda values: (2 * values)[None], r"shape is \(1, 2\), expected \(2,\)"),
        (lambda values: print(end=""), "returns None. Is its return missing"),
        (lambda values: (2 * values).tolist(), "type list, expected a tensor"),
        (lambda values: (2 * values).numpy(), "type ndarray, expected a tensor"),
        (lambda values: (2 * values).int(), "int32: something cuts the decimals off"),
        (lambda values: values > 2, "bool, expected a tensor of float64"),
        (lambda values: (2 * values).detach(), "gradient with respect to values is cut"),
        (lambda values: torch.tensor((2 * values).tolist()).double(), "gradient with respect to values is cut"),
        (lambda values: values + values.detach(), "gradient with respect to values is cut"),
        (lambda values: torch.tensor([2.0, 6.0]), "gives the same whatever it is given"),
        (
            lambda values: (2 * values).to("meta"),
            "returns complex, sparse or missing numbers, expected a tensor",
        ),
        (lambda values: 2 * values + 0j, "returns complex, sparse or missing numbers, expected a tensor of float64"),
        (
            lambda values: 2 * values[len(values) / 2],
            "raised IndexError: .*Likely: an index is not a whole number",
        ),
        (lambda values: values.masked_fill(values, 0), "raised RuntimeError: .*Likely: a mask holds numbers"),
        (lambda values: values @ torch.ones(5).double(), r"raised RuntimeError: .*inner sizes.*\nExample: values = \["),
        (lambda values: values + missing, "raised NameError: name 'missing' is not defined. Likely: a name"),  # noqa: F821
        (lambda: 2, "raised TypeError: .*must keep the arguments of the stub"),
        (lambda values: values * ..., "a ... of the stub is still there"),
        (lambda values: torch.from_numpy((2 * values).numpy()), "gradient with respect to values is cut"),
        (lambda values: 2 * values + (values * torch.inf * 0).nan_to_num(), "respect to values is not a number"),
        (lambda values: (2 * values, values), "returns 2 values, expected one tensor"),
        (lambda values: [1.0, [2.0, ...]], "^not answered yet"),
        (lambda values: 2.0008 * values, "Yours at \\[0\\]: 2.0008, expected: 2.0"),
        (lambda values: exit(3), "raised SystemExit: 3"),
        (in_place, "changes its input values in place"),
        (endless, "After 5 seconds there was no result, so it was stopped"),
        (torch.tensor(2.0), "double is a tensor of float32, expected the function itself"),
    ],
)
def test_what_is_said_of_an_answer(answer, said, monkeypatch):
    monkeypatch.setattr(utils.answers, "SECONDS", 0.5)
    verdict = DOUBLE.verdict(answer)
    assert re.search(said, verdict), verdict
    assert verdict.startswith("right. ") == said.startswith("right")


def test_check_prints_the_verdict_in_lines_that_fit_a_page(capsys):
    DOUBLE.check(lambda values: 2 * values.detach())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1 and max(map(len, lines)) <= 92
    assert " ".join(lines) == f"Exercise 0.1: {DOUBLE.verdict(lambda values: 2 * values.detach())}"
    DOUBLE.check_solution(lambda values: 2 * values)
    assert capsys.readouterr().out == "Solution of exercise 0.1: right. Doubled.\n"


@pytest.mark.parametrize("interrupted", [False, True])
def test_an_endless_answer_is_really_stopped(interrupted, monkeypatch):
    """After some seconds by itself, and at once if the reader interrupts the kernel."""
    monkeypatch.setattr(utils.answers, "SECONDS", 0.2)
    before = threading.active_count()
    steps = []

    def counting(values):
        while True:
            steps.append(1)

    if interrupted:

        def interrupt(thread, seconds):
            raise KeyboardInterrupt

        monkeypatch.setattr(threading.Thread, "join", interrupt)
        with pytest.raises(KeyboardInterrupt):
            DOUBLE.verdict(counting)
    else:
        assert "stopped" in DOUBLE.verdict(counting)
    for _ in range(100):
        if threading.active_count() <= before:
            break
        threading.Event().wait(0.05)
    assert threading.active_count() <= before


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (0.5, "right"),
        (1, "Twice"),
        (0.7, "not yet. 0.7 is none of the mistakes known here"),
        ("0.5", "half is a value of type str, expected one number"),
        (None, "half is a value of type NoneType, expected one number"),
        ([0.5, 0.5], "half is 2 numbers, expected one number"),
        ({}, "half is a value of type dict, expected one number"),
        (lambda: 0.5, "half is a value of type function"),
    ],
)
def test_a_number_may_be_asked_for(answer, said):
    half = Exercise("0.2", "half", 0.5, "Half.", {"Twice too much. Divide by 2.": 1.0}, tolerance=0.01)
    assert said in half.verdict(answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([[1, 0]], "pair is 1 × 2 numbers, expected 2 × 2 numbers"),
        ((torch.eye(2), "1"), "pair is a tuple of 2 parts, expected 2 × 2 numbers"),
        ([["1", "0"], ["0", "1"]], "pair is a value of type list, expected 2 × 2 numbers"),
        (torch.ones(1, 2, 2), "pair is 1 × 2 × 2 numbers, expected 2 × 2 numbers"),
        ([[1, 0], [0, 2]], "not yet. [[1, 0], [0, 2]] is none of the mistakes known here"),
    ],
)
def test_a_value_of_another_form_is_told_what_is_expected(answer, said):
    pair = Exercise("0.3", "pair", torch.eye(2), "The identity.", {"All ones.": torch.ones(2, 2)})
    assert said in pair.verdict(answer)


def test_the_example_is_the_first_input_that_shows_the_mistake():
    wrong = {"You took the mean. Add up.": lambda v: v.mean().item()}
    inputs = ((torch.tensor([2.0]),), (torch.tensor([1.0, 3.0]),))
    total = Exercise("0.4", "total", lambda v: v.sum().item(), "Added up.", wrong, inputs)
    said = "You took the mean. Add up.\nExample: v = [1.0, 3.0]. Yours: 2, expected: 4."
    assert total.verdict(lambda v: v.mean().item()) == f"not yet. {said}"
    assert total.verdict(lambda v: v.tolist()).endswith("returns a value of type list, expected a number.")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.ones(24), str([1.0] * 24)),
        (torch.ones(25), "a tensor (25,)"),
        (torch.tensor([0.125, 1e-05, 1.2345e-05], dtype=torch.float64), "[0.12, 0.0, 0.0]"),
        (0.12341, "0.1234"),
    ],
)
def test_a_value_is_shown_briefly(value, text):
    assert utils.answers.shown(value) == text


def test_words_are_the_same_in_any_case_and_with_spaces_around_them():
    assert utils.answers.same(" X ", "x", 0) and not utils.answers.same("x", "y", 0)


# The exercises as a reader meets them


@pytest.fixture(params=[path for path in lesson_paths() if path.stem[:2] in NUMBERS], ids=lambda path: path.stem)
def lesson(request):
    """Each lesson that has exercises."""
    return read(request.param)


def check_places(lesson):
    """Each exercise of the table stands in the lesson, in order: task, stub, hint, solution, and nothing else does."""
    number = lesson.path.stem[:2]
    wanted = exercises(number)
    cells = lesson.nb.cells
    stubs = [i for i, cell in enumerate(cells) if cell.cell_type == "code" and ".check(" in cell.source]
    assert len(stubs) == len(wanted), f"{lesson.path.name}: {len(stubs)} exercises, {len(wanted)} in the table"
    minutes = 0
    for place, (name, exercise) in zip(stubs, wanted.items(), strict=True):
        where = lesson.place(cells[place])
        assert name == exercise.name, f"{name} is called {exercise.name}"
        task, stub, hint, solution = cells[place - 1 : place + 3]
        match = TASK.search(task.source)
        assert match and match.group(1) == exercise.number, f"{where}: task {task.source[:80]!r}"
        minutes += int(match.group(2))
        assert HINT.fullmatch(hint.source), f"{where}: hint {hint.source[:80]!r}"
        for cell, check in ((stub, "check"), (solution, "check_solution")):
            call = f"exercises.{name}.{check}({name})"
            assert cell.source.endswith(f"\n{call}") and cell.source.count(".check") == 1, f"{where}: no {call}"
        assert "..." in stub.source and len(stub.source.splitlines()) <= 14, f"{where}: stub"
        assert not stub.metadata, f"{where}: metadata {stub.metadata}"
        assert solution.metadata == SOLUTION, f"{where}: metadata {solution.metadata}"
        said = [[" ".join(output.get("text", "").split()) for output in cell.outputs] for cell in (stub, solution)]
        left = f"Exercise {exercise.number}: {exercise.verdict(...)}"
        right = f"Solution of exercise {exercise.number}: right. {exercise.confirmed}"
        assert said == [[left], [right]], f"{where}: {said}"
        own = [cell for cell in lesson.code if cell not in (stub, solution)]
        taken = [cell for cell in own if re.search(rf"(?<![\w.\"']){name}\b(?!\")", cell.source)]
        assert not taken, f"{lesson.place(taken[0])}: {name} is the name of an exercise"
    stated = f"minutes, and about {minutes} for the exercises"
    assert stated in cells[0].source.replace("\n", " "), f"{lesson.path.name}: expected “{stated}”"


def test_exercises_stand_in_their_lesson(lesson):
    check_places(lesson)


def test_a_lesson_has_two_to_four_exercises(lesson):
    numbers = [exercise.number for exercise in exercises(lesson.path.stem[:2]).values()]
    assert numbers == [f"{int(lesson.path.stem[:2])}.{k}" for k in range(1, len(numbers) + 1)]
    assert 2 <= len(numbers) <= 4


def first_stub(nb):
    return next(i for i, cell in enumerate(nb.cells) if cell.cell_type == "code" and ".check(" in cell.source)


@pytest.mark.parametrize(
    "broken",
    [
        lambda nb, i: nb.cells[i + 2].metadata.clear(),
        lambda nb, i: nb.cells[i + 2].metadata.jupyter.update(source_hidden=False),
        lambda nb, i: nb.cells[i + 2].outputs.clear(),
        lambda nb, i: nb.cells[i + 2].update(source=nb.cells[i + 2].source.replace("check_solution", "check")),
        lambda nb, i: nb.cells[i].outputs[0].update(text=nb.cells[i + 2].outputs[0].text),
        lambda nb, i: nb.cells[i + 1].update(source="A hint that everyone sees at once."),
        lambda nb, i: nb.cells[i - 1].update(source=nb.cells[i - 1].source.replace("minutes", "")),
        lambda nb, i: nb.cells[i].update(source=nb.cells[i].source.replace(".check(", ".check(None or ")),
        lambda nb, i: nb.cells.insert(i + 1, nbformat.v4.new_markdown_cell("Between.")),
        lambda nb, i: nb.cells.pop(i),
        lambda nb, i: nb.cells[0].update(source=nb.cells[0].source.replace("for the exercises", "")),
    ],
)
def test_the_check_of_places_can_fail(broken):
    path = next(path for path in lesson_paths() if path.stem[:2] in NUMBERS)
    nb = read(path).nb
    check_places(Notebook(path, nb))
    broken(nb, first_stub(nb))
    with pytest.raises(AssertionError):
        check_places(Notebook(path, nb))


def test_enough_exercises_and_known_wrong_answers(record_property):
    wrong = sum(len(list(known(exercise))) for exercise in ALL)
    record_property("counted", f"{len(ALL)} exercises, {wrong} known wrong answers, {len(NUMBERS)} lessons")
    assert [path.stem[:2] for path in lesson_paths()] == NUMBERS
    assert len(ALL) >= 20
    assert wrong >= 130
