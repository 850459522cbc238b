"""Checks of what goes into a picture: each mistake is answered by one sentence that names the argument."""

import math
import reprlib
from collections.abc import Iterable

import numpy
import torch

from utils.lettering import visible

MOST_WORDS = 24
MOST_PANELS = 16
LONGEST_TEXT = 200  # characters of a title or a name
LARGEST_SCORE = 1e6
LARGEST_DRAWN = 1e15  # in a plane or a curve: beyond it the numbers at the axes are no longer exact
UNORDERED = (set, frozenset, dict)


def as_matrix(values, name):
    """Return values as a detached (rows, columns) float64 tensor, or raise ValueError naming the argument."""
    if isinstance(values, tuple) and values and all(torch.is_tensor(part) and part.ndim > 1 for part in values):
        raise ValueError(
            f"{name} is a tuple of {len(values)} tensors, expected one matrix: attention returns C and A, take one"
        )
    matrix = _as_numbers(values, name)
    if matrix.ndim != 2 or 0 in matrix.shape:
        hint = ": pick one sentence or one head first, for example A[0]" if matrix.ndim > 2 else ""
        raise ValueError(f"{name} has shape {tuple(matrix.shape)}, expected (rows, columns), neither of them 0{hint}")
    return matrix


def as_vector(values, name):
    """Return values as a detached float64 tensor of finite numbers in a row, or raise ValueError."""
    if isinstance(values, UNORDERED):
        raise ValueError(f"{name} is a {type(values).__name__}, expected numbers in an order, such as a list")
    if isinstance(values, Iterable) and not torch.is_tensor(values) and not isinstance(values, numpy.ndarray):
        values = list(values)
    vector = _as_numbers(values, name)
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(f"{name} has shape {tuple(vector.shape)}, expected one row of numbers")
    if not vector.isfinite().all():
        raise ValueError(f"{name} holds NaN or infinity, expected finite numbers")
    if vector.abs().max() > LARGEST_DRAWN:
        raise ValueError(
            f"{name} holds a number of size {vector.abs().max():.3g}, expected at most {LARGEST_DRAWN:.0g}"
        )
    return vector


def _as_numbers(values, name):
    values = _readable(values, name, "real numbers")
    if torch.is_tensor(values):
        return values.to(torch.float64)
    try:
        array = numpy.asarray(values)
    except (TypeError, RuntimeError):
        raise ValueError(f"{name} is a {type(values).__name__} that holds something else than numbers") from None
    except ValueError:
        raise ValueError(f"{name} is a {type(values).__name__} whose rows differ in length or kind") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} is {type(values).__name__} of {array.dtype}, expected real numbers")
    return torch.from_numpy(array.astype(numpy.float64))


def _readable(values, name, expected):
    """Return values, with tensors made dense and brought to the CPU; raise ValueError for what hides its numbers."""
    if isinstance(values, (list, tuple)):
        return [_readable(value, name, expected) for value in values]
    if numpy.ma.isMaskedArray(values):
        raise ValueError(f"{name} is a masked array, expected {expected}: fill its hidden entries first")
    if not torch.is_tensor(values):
        return values
    for wrong, came in (
        (values.is_complex(), "a complex tensor"),
        (values.is_meta, "on the meta device, which holds no numbers"),
        (values.is_nested, "a nested tensor"),
    ):
        if wrong:
            raise ValueError(f"{name} is {came}, expected {expected}")
    return values.detach().to_dense().cpu()


def check_flag(value, name):
    """Raise ValueError if value is neither True nor False."""
    if not isinstance(value, (bool, numpy.bool_)):
        raise ValueError(f"{name} is {value!r}, expected True or False")


def check_new(name, known, what):
    """Raise ValueError if a name, its control characters spelled out, reads like one that is known already."""
    if name in known:
        raise ValueError(f'two {what} read "{name}", expected different ones')


def check_text(text, name):
    """Return a text with its control characters spelled out, or raise ValueError if it is not a string."""
    if not isinstance(text, str):
        raise ValueError(f"{name} is {text!r} of type {type(text).__name__}, expected a string")
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"{name} has {len(text)} characters, expected at most {LONGEST_TEXT}")
    return visible(text)


def check_labels(labels, expected, name, what):
    """Return labels as a list of printable strings, or raise ValueError if they are not `expected` strings."""
    if isinstance(labels, str):
        raise ValueError(f"{name} is the single string {labels!r}, expected a list of {expected} words")
    if isinstance(labels, UNORDERED) or not isinstance(labels, Iterable):
        raise ValueError(f"{name} is {type(labels).__name__}, expected a list of {expected} strings")
    labels = list(labels)
    for label in labels:
        if not isinstance(label, str):
            raise ValueError(f"{name} holds {label!r} of type {type(label).__name__}, expected strings only")
    if len(labels) != expected:
        raise ValueError(f"the matrix has {expected} {what} but {name} has {len(labels)} entries")
    return [visible(label) for label in labels]


def check_panels(matrices, kind, may_look, rows_sum_to_1):
    """Check the matrices of one picture.

    Returns a dictionary from title to (values, may_look): an (n, n) float64 tensor with 0 in masked cells, and an
    (n, n) boolean tensor. Raises ValueError as utils.heatmaps.heatmap says.
    """
    if kind not in ("weights", "scores"):
        raise ValueError(f'kind is {kind!r}, expected "weights" or "scores"')
    if not isinstance(matrices, dict) or not matrices:
        came = "an empty dictionary" if matrices == {} else f"of type {type(matrices).__name__}"
        raise ValueError(f'matrices is {came}, expected a dictionary from title to matrix, for example {{"A": A}}')
    if len(matrices) > MOST_PANELS:
        raise ValueError(f"matrices holds {len(matrices)}, expected at most {MOST_PANELS} for one picture")
    panels = {}
    for title, matrix in matrices.items():
        title = check_text(title, "title")
        check_new(title, panels, "titles")
        name = "matrix" if len(matrices) == 1 else f'matrix "{title}"'
        panels[title] = _check_panel(matrix, name, kind, may_look, rows_sum_to_1)
    shapes = {tuple(values.shape) for values, _ in panels.values()}
    if len(shapes) > 1:
        raise ValueError(f"the matrices have different shapes {sorted(shapes)}, expected one sentence for all panels")
    return panels


def _check_panel(matrix, name, kind, may_look, rows_sum_to_1):
    values = as_matrix(matrix, name)
    n = values.shape[0]
    if values.shape[1] != n:
        raise ValueError(f"{name} has shape {tuple(values.shape)}, expected (n, n): one row and one column per word")
    if n > MOST_WORDS:
        raise ValueError(f"{name} has {n} words, expected at most {MOST_WORDS}: more cannot be read in a picture")
    may_look = _check_mask(may_look, n)
    seen = values.masked_fill(~may_look, 0.0)
    refuse(~seen.isfinite(), seen, name, "finite numbers where may_look does not mask them")
    if kind == "weights":
        _check_weights(values, seen, may_look, name, rows_sum_to_1)
    else:
        refuse(seen.abs() >= LARGEST_SCORE, seen, name, "scores below a million: to mask cells, use may_look")
    return seen, may_look


def _check_mask(may_look, n):
    if may_look is None:
        return torch.ones(n, n, dtype=torch.bool)
    mask = _readable(may_look, "may_look", "booleans")
    if not torch.is_tensor(mask):
        mask = numpy.asarray(mask, dtype=object)
    shape = tuple(mask.shape)
    if torch.is_tensor(mask):
        is_boolean = mask.dtype == torch.bool
    else:
        is_boolean = all(isinstance(entry, (bool, numpy.bool_)) for entry in mask.flat)
    if shape != (n, n) or not is_boolean:
        kind = mask.dtype if torch.is_tensor(mask) else "booleans" if is_boolean else type(may_look).__name__
        raise ValueError(
            f"may_look has shape {shape} and holds {kind}, expected ({n}, {n}) booleans, True where a word may look"
        )
    return mask if torch.is_tensor(mask) else torch.from_numpy(mask.astype(bool))


def _check_weights(values, seen, may_look, name, rows_sum_to_1):
    hidden = values.masked_fill(may_look, 0.0)
    refuse(hidden.isfinite() & (hidden != 0), values, name, "0 where may_look is False: is the mask upside down?")
    refuse((seen < -1e-6) | (seen > 1 + 1e-6), seen, name, 'weights from 0 to 1: for scores, use kind="scores"')
    rows, columns = seen.sum(dim=-1), seen.sum(dim=0)
    wrong = may_look.any(dim=-1) & ~_is_shown_as_1(rows)
    if rows_sum_to_1 and wrong.any():
        m = wrong.nonzero()[0].item()
        axis = "your columns sum to 1, so the softmax ran along dim=0"
        cause = axis if _is_shown_as_1(columns).all() else "to draw it as it is, pass rows_sum_to_1=False"
        raise ValueError(f"row {m + 1} of {name} sums to {rows[m]:.2f}, expected 1 in each row of weights: {cause}")


def _is_shown_as_1(sums):
    return (sums * 100).round() == 100


def refuse(wrong, values, name, expected):
    """Raise ValueError about the first cell that is wrong, if there is one."""
    if wrong.any():
        m, p = wrong.nonzero()[0].tolist()
        raise ValueError(f"{name} holds {values[m, p]:.4g} in row {m + 1}, column {p + 1}, expected {expected}")


def score_limit(panels, limit):
    """Return the score drawn in the strongest colour: limit, or the largest absolute score if limit is None."""
    largest = max(values.abs().max().item() for values, _ in panels.values())
    if limit is None:
        return max(largest, 0.01)
    try:
        number = math.nan if isinstance(limit, (bool, str)) else float(limit)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        number = math.nan
    if not 0 < number < LARGEST_SCORE or number < largest - 1e-9:
        raise ValueError(
            f"limit is {reprlib.repr(limit)}, expected a number not below the largest absolute score, {largest:.2f}, "
            "and below a million"
        )
    return number
