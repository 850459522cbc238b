"""Count the matrix products and transposes that PyTorch really dispatches."""

from collections import Counter

from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "dot", "vdot"}
TRANSPOSES = {"t", "transpose", "permute"}  # .mT, .T and swapaxes arrive as one of these


class count_operators(TorchDispatchMode):  # noqa: N801 (used like a function, in a with statement)
    """Watch every operator inside a with block: `with count_operators() as counted: ...`.

    counted.products: number of matrix products (also batched, with a vector, or fused with an addition).
    counted.transposes: number of transposes and other reorderings of axes, hidden ones included.
    counted.multiply_adds: one multiplication and one addition each, in all matrix products, from the shapes that met.
    counted.operators: a Counter of all operator names, in PyTorch's own ("aten") spelling.
    A fused attention kernel is one operator; its inner products cannot be seen from outside and are not counted.
    Source: torch.utils._python_dispatch.TorchDispatchMode, the hook below every PyTorch operator.
    """

    def __init__(self):
        super().__init__()
        self.operators = Counter()
        self.multiply_adds = 0

    @classmethod
    def _should_skip_dynamo(cls):
        """Keep PyTorch from importing its compiler, which takes seconds and is not used here."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        with self:  # in inference mode, operators made of others arrive whole: count their parts
            result = func.decompose(*args, **kwargs)
        if result is not NotImplemented:
            return result
        name = func.overloadpacket.__name__
        self.operators[name] += 1
        if _out_of_place(name) in PRODUCTS:
            left, right = args[-2:]  # each number on the left meets one in every column on the right
            self.multiply_adds += left.numel() * (right.shape[-1] if right.ndim > 1 else 1)
        return func(*args, **kwargs)

    @property
    def products(self):
        return sum(number for name, number in self.operators.items() if _out_of_place(name) in PRODUCTS)

    @property
    def transposes(self):
        return sum(number for name, number in self.operators.items() if _out_of_place(name) in TRANSPOSES)

    def __repr__(self):
        return f"{_plural(self.products, 'matrix product')}, {_plural(self.transposes, 'transpose')}"


def _out_of_place(name):
    """Return the name of the operator that addmm_, t_ and the like do in place."""
    return name.rstrip("_")


def _plural(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
