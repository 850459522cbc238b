"""What an answer to an exercise gives: run it, compare it, put it into words."""

import contextlib
import ctypes
import re
import threading
from dataclasses import dataclass

import torch

SECONDS = 5  # an answer that takes longer is stopped
FEW = 24  # entries: an input up to this size is shown in full

LIKELY = {  # what an error says, and what is often behind it
    r"shapes cannot be multiplied|size mismatch|inconsistent tensor size|expected size for|batch2 tensor": (
        "the inner sizes of a matrix product differ; often .mT is missing or stands at the wrong factor"
    ),
    r"match except in dimension|same number of dim|zero-dimensional|to be equal size": (
        "torch.cat and torch.stack need parts whose shapes fit"
    ),
    r"expanded size of the tensor": "a tensor is copied to a place of another shape; often .mT is missing",
    r"backward through the graph": "backward() is called inside the function; leave it out",
    r"must match the size|broadcast": "two shapes do not fit; often keepdim=True is missing, or * stands for @",
    r"invalid for input of size|multiply up to the size": "the new shape does not hold as many entries as there are",
    r"view size is not compatible": "after a transpose the entries no longer lie in a row; use .reshape, not .view",
    r"only supports boolean masks": "a mask holds numbers; make it of True and False, with dtype=torch.bool",
    r"valid indices": "an index is not a whole number; use // in place of /",
    r"same dtype|expected scalar type": "two tensors of different types meet in one operation",
    r"truth value|Boolean value of Tensor": (
        "and, or, not and if want one truth value; for tensors write &, |, ~, with each condition in parentheses"
    ),
    r"invalid data type": "numbers are expected",
    r"out of range|out of bounds": "an axis or an index that the tensor does not have",
    r"is not defined": "a name that neither your function nor the notebook has; it may be misspelled",
    r"ellipsis": "a ... of the stub is still there",
    r"missing .* \"?dim|arguments: \"dim": "softmax needs the axis, dim=-1",
    r"positional argument": "the function must keep the arguments of the stub",
    r"leaf variable|in-place": "a tensor is changed in place; make a new one, x = x + 1, not x += 1",
    r"has no attribute": "a method that this object does not have; it may be no tensor, or the name is not right",
    r"NoneType": "something returned nothing; a return may be missing in a function of yours",
}


@dataclass(frozen=True)
class Raised:
    """An exception that an answer raised in place of giving a result."""

    kind: str
    message: str


class Stopped(BaseException):
    """Ends the thread of an answer that takes too long; no `except Exception` in the answer holds it up."""


def in_time(work):
    """Return work(), or raise TimeoutError after SECONDS and tell the thread that is still at it to stop."""
    box = []

    def run():
        with contextlib.suppress(Stopped):
            box.append(work())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join(SECONDS)  # interrupting the kernel ends this wait, not the thread
    finally:
        if late := thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped))
    if late:
        raise TimeoutError
    return box[0]


def copy_of(value, gradient=False):
    """Return a copy of a tensor that asks for its gradient or not; anything else as it is."""
    if not torch.is_tensor(value):
        return value
    return value.detach().clone().requires_grad_(gradient and value.dtype.is_floating_point)


def holds_ellipsis(value):
    """Whether a value is ... or holds one."""
    return value is ... or (isinstance(value, (tuple, list)) and any(holds_ellipsis(part) for part in value))


def same(a, b, tolerance):
    """Whether two results are the same: the shape, and the numbers up to tolerance; NaN equals NaN."""
    if isinstance(a, str) and isinstance(b, str):
        return a.strip().lower() == b.strip().lower()
    try:
        a, b = (torch.as_tensor(value).detach().to(torch.float64) for value in (a, b))
    except (TypeError, ValueError, RuntimeError):
        return a == b
    return a.shape == b.shape and torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def likely_cause(message):
    """Return what is often behind an error message, as a sentence to add, or nothing."""
    cause = next((cause for said, cause in LIKELY.items() if re.search(said, message, re.IGNORECASE)), None)
    return f" Likely: {cause}." if cause else ""


def kind(value):
    """Name the kind of a value."""
    if torch.is_tensor(value):
        return f"a tensor of {str(value.dtype).removeprefix('torch.')}"
    return f"a value of type {type(value).__name__}"


def form(value):
    """Say what a value is made of, such as "3 × 2 numbers"; other than numbers, its kind."""
    if isinstance(value, str):
        return kind(value)
    try:
        shape = torch.as_tensor(value).shape
    except (TypeError, ValueError, RuntimeError):
        return f"a tuple of {len(value)} parts" if isinstance(value, tuple) else kind(value)
    return f"{' × '.join(map(str, shape))} numbers" if shape else "one number"


def shown(value, digits=2):
    """Write a value for a message: numbers with at most so many decimals, a large tensor by its shape."""
    if callable(value):
        return kind(value)
    if not torch.is_tensor(value):
        return f"{value:.4g}" if isinstance(value, float) else repr(value)
    if value.numel() > FEW:
        return f"a tensor {tuple(value.shape)}"
    decimals = r"-?\d+\.\d{3,}(e[-+]\d+)?|-?\d+\.?\d*e[-+]\d+"
    return re.sub(decimals, lambda number: str(round(float(number.group()), digits)), str(value.tolist()))
