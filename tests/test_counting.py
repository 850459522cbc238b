"""The counter sees what PyTorch dispatches, hidden transposes included."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch.utils.flop_counter import FlopCounterMode

from utils.attention import self_attention
from utils.counting import count_operators
from utils.sentence import hand_made_projections, input_embeddings

X, (W_q, W_k, W_v) = input_embeddings(), hand_made_projections()


def by_layers():
    Q, K, V = (torch.nn.Linear(4, 2, bias=False, dtype=X.dtype)(X) for _ in range(3))
    return torch.softmax(Q @ K.mT / 2**0.5, dim=-1) @ V


def count(compute):
    with count_operators() as counted:
        compute()
    return counted.products, counted.transposes


def test_self_attention_is_five_products_and_one_transpose():
    with count_operators() as counted:
        self_attention(X, W_q, W_k, W_v)
    assert counted.operators["mm"] == counted.products == 5
    assert counted.operators["transpose"] == counted.transposes == 1
    assert repr(counted) == "5 matrix products, 1 transpose"
    assert repr(count_operators()) == "0 matrix products, 0 transposes"


def test_layers_hide_three_transposes():
    assert count(by_layers) == (5, 4)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_modes_without_gradients_hide_nothing(mode):
    with mode():
        assert count(by_layers) == (5, 4)
        assert count(lambda: self_attention(X, W_q, W_k, W_v)) == (5, 1)


@pytest.mark.parametrize(
    ("compute", "products", "transposes"),
    [
        (lambda: torch.ones(3, 7, 2) @ torch.ones(3, 2, 7), 1, 0),
        (lambda: torch.ones(5, 3, 7, 2) @ torch.ones(5, 3, 7, 2).mT, 1, 1),
        (lambda: F.linear(X, W_q.mT.contiguous(), torch.ones(2, dtype=X.dtype)), 1, 2),
        (lambda: (X @ X[0], X[0] @ X[1]), 2, 0),
        (lambda: (X.T, X.mT, X.t(), X.transpose(0, 1), X.permute(1, 0), X.swapaxes(0, 1), X.movedim(0, 1)), 0, 7),
        (lambda: torch.ones(7, 2).addmm_(torch.ones(7, 4), torch.ones(4, 2)), 1, 0),
        (lambda: torch.addbmm(torch.ones(7, 5), torch.ones(3, 7, 2), torch.ones(3, 2, 5)), 1, 0),
        (lambda: torch.addmv(torch.ones(7), torch.ones(7, 4), torch.ones(4)), 1, 0),
        (lambda: torch.vdot(torch.ones(4), torch.ones(4)), 1, 0),
        (lambda: (torch.ones(2, 3).t_(), torch.ones(2, 3).transpose_(0, 1), torch.ones(2, 3).swapaxes(0, 1)), 0, 3),
        (lambda: (X * X, X + X, X.reshape(4, 7), X.sum(dim=0)), 0, 0),
    ],
)
def test_products_and_transposes(compute, products, transposes):
    assert count(compute) == (products, transposes)


def test_einsum_is_one_product():
    assert count(lambda: torch.einsum("nd,dc->nc", X, W_q))[0] == 1


def test_a_backward_pass_is_seen():
    W = W_q.clone().requires_grad_()
    assert count(lambda: (X @ W).sum().backward())[0] == 2
    torch.testing.assert_close(W.grad, X.sum(dim=0)[:, None].expand(4, 2))


def test_counters_nest_and_survive_exceptions():
    with count_operators() as outer:
        X @ W_q
        with pytest.raises(RuntimeError, match="stop"), count_operators() as inner:
            X @ W_k
            raise RuntimeError("stop")
        X @ W_v
    X @ W_q
    assert (inner.products, outer.products) == (1, 3)


def test_results_are_those_without_a_counter():
    with count_operators():
        counted = self_attention(X, W_q, W_k, W_v)
    for result, expected in zip(counted, self_attention(X, W_q, W_k, W_v), strict=True):
        torch.testing.assert_close(result, expected, rtol=0, atol=0)


def test_pytorch_counts_the_multiply_adds_of_the_formula():
    (n, d), c = X.shape, W_q.shape[1]
    with FlopCounterMode(display=False) as flops:
        self_attention(X, W_q, W_k, W_v)
    assert flops.get_total_flops() == 2 * (3 * n * d * c + 2 * n * n * c) == 728


def test_counting_does_not_import_the_compiler():
    code = (
        "import sys, torch; from utils.counting import count_operators\n"
        "with count_operators() as counted: torch.ones(2, 2) @ torch.ones(2, 2)\n"
        "print(counted.products, 'torch._dynamo' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["1", "False", "False"]


@pytest.mark.parametrize(
    "compute",
    [
        lambda: self_attention(X, W_q, W_k, W_v),
        lambda: torch.ones(3, 7, 2) @ torch.ones(3, 2, 5),
        lambda: torch.addmm(torch.ones(2), torch.ones(7, 4), torch.ones(4, 2)),
        lambda: torch.baddbmm(torch.ones(3, 7, 5), torch.ones(3, 7, 2), torch.ones(3, 2, 5)),
        lambda: F.linear(torch.ones(3, 7, 4), torch.ones(2, 4), torch.ones(2)),
    ],
)
def test_multiply_adds_are_those_of_pytorchs_own_counter(compute):
    with FlopCounterMode(display=False) as flops:
        compute()
    with count_operators() as counted:
        compute()
    assert 2 * counted.multiply_adds == flops.get_total_flops() > 0


def test_multiply_adds_with_a_vector():
    with count_operators() as counted:
        torch.ones(7, 4) @ torch.ones(4)
        torch.ones(4) @ torch.ones(4)
    assert counted.multiply_adds == 7 * 4 + 4


def test_multiply_adds_of_rarer_products():
    with count_operators() as counted:
        torch.ones(7, 2).addmm_(torch.ones(7, 4), torch.ones(4, 2))
        torch.addbmm(torch.ones(7, 5), torch.ones(3, 7, 2), torch.ones(3, 2, 5))
        torch.addmv(torch.ones(7), torch.ones(7, 4), torch.ones(4))
        torch.vdot(torch.ones(4), torch.ones(4))
    assert counted.multiply_adds == 7 * 4 * 2 + 3 * 7 * 2 * 5 + 7 * 4 + 4
