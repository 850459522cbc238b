"""What the lessons have built: equal to loops, to PyTorch, and to the cells in which it was built."""

import math

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from test_sentence import run

from utils.attention import attend, self_attention, softmax

generate = [Phase.explicit, Phase.generate]
quick = settings(max_examples=30, deadline=None, database=None, derandomize=True, phases=generate)
sizes = st.integers(1, 6)


def random(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def by_loops(X, W_q, W_k, W_v):
    """Return C and A number by number, from the definition, without utils and without a product of matrices."""
    (n, d), c = X.shape, W_q.shape[1]

    def project(W):
        return [[sum(X[m, i] * W[i, j] for i in range(d)) for j in range(W.shape[1])] for m in range(n)]

    Q, K, V = project(W_q), project(W_k), project(W_v)
    C, A = torch.zeros(n, W_v.shape[1], dtype=X.dtype), torch.zeros(n, n, dtype=X.dtype)
    for m in range(n):
        scores = [sum(q * k for q, k in zip(Q[m], K[p], strict=True)) / math.sqrt(c) for p in range(n)]
        exponentials = [math.exp(score) for score in scores]
        for p in range(n):
            A[m, p] = exponentials[p] / sum(exponentials)
            for j in range(W_v.shape[1]):
                C[m, j] += A[m, p] * V[p][j]
    return C, A


def test_self_attention_is_the_definition():
    inputs = random(5, 4), random(4, 3, seed=1), random(4, 3, seed=2), random(4, 2, seed=3)
    for result, expected in zip(self_attention(*inputs), by_loops(*inputs), strict=True):
        torch.testing.assert_close(result, expected)


@quick
@given(n=sizes, d=sizes, c=sizes, seed=st.integers(0, 99))
@example(n=3, d=4, c=3, seed=0)
def test_self_attention_is_pytorchs(n, d, c, seed):
    X, W_q, W_k, W_v = random(n, d, seed=seed), *(random(d, c, seed=seed + k) for k in (1, 2, 3))
    C, A = self_attention(X, W_q, W_k, W_v)
    assert C.shape == (n, c) and A.shape == (n, n)
    torch.testing.assert_close(C, F.scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v))
    torch.testing.assert_close(A.sum(dim=-1), torch.ones(n, dtype=A.dtype))
    assert (A >= 0).all()


def test_a_softmax_is_by_rows():
    scores = torch.tensor([[0.0, math.log(3.0)], [math.log(4.0), 0.0]])
    torch.testing.assert_close(softmax(scores), torch.tensor([[0.25, 0.75], [0.8, 0.2]]))


@quick
@given(shape=st.lists(sizes, min_size=1, max_size=4), shift=st.floats(-1e3, 1e3), seed=st.integers(0, 99))
def test_softmax_is_pytorchs_and_a_shift_changes_nothing(shape, shift, seed):
    scores = random(*shape, seed=seed)
    torch.testing.assert_close(softmax(scores), torch.softmax(scores, dim=-1))
    torch.testing.assert_close(softmax(scores + shift), softmax(scores))


def test_softmax_of_huge_and_of_masked_scores():
    torch.testing.assert_close(softmax(torch.tensor([1e30, 1e30, -1e30])), torch.tensor([0.5, 0.5, 0.0]))
    torch.testing.assert_close(softmax(torch.tensor([2.0, -math.inf])), torch.tensor([1.0, 0.0]))
    assert softmax(torch.tensor([-math.inf, -math.inf])).isnan().all()
    assert softmax(torch.zeros(2, dtype=torch.bfloat16)).dtype == torch.bfloat16


def test_only_a_row_that_may_look_nowhere_becomes_nan():
    C, A = attend(*torch.ones(3, 2, 2), torch.tensor([[True, True], [False, False]]))
    for result in (C, A):
        assert result.isnan().tolist() == [[False, False], [True, True]]


def test_gradients_pass():
    inputs = [values.requires_grad_() for values in (random(3, 4), *(random(4, 2, seed=k) for k in (1, 2, 3)))]
    assert torch.autograd.gradcheck(self_attention, inputs)


def test_utils_is_what_lesson_1_built():
    lesson = run("01_toy_attention", "A = softmax(Omega)")
    torch.testing.assert_close(softmax(lesson["Omega"]), lesson["A"], rtol=0, atol=0)
    scores = random(4, 6) * 200
    torch.testing.assert_close(softmax(scores), lesson["softmax"](scores), rtol=0, atol=0)


def test_utils_is_what_lesson_4_built():
    lesson = run("04_context_vectors", "with count_operators() as counted:")
    assert lesson["counted"].products == 5
    C, A = self_attention(*(lesson[name] for name in ("X", "W_q", "W_k", "W_v")))
    torch.testing.assert_close(C, lesson["C"])
    torch.testing.assert_close(A, lesson["A"])


X, W = torch.ones(3, 4), torch.ones(4, 2)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (([[1.0]], W, W, W), "X is list, expected a floating-point tensor: write 1.0, not 1"),
        ((X.long(), W, W, W), "X is a tensor of torch.int64, expected a floating-point tensor: write 1.0, not 1"),
        ((X[0], W, W, W), "X has shape (4,), expected (n, d), neither of them 0: one row per token"),
        ((X[None], W, W, W), "X has shape (1, 3, 4), expected (n, d), neither of them 0: one row per token"),
        ((X[:0], W, W, W), "X has shape (0, 4), expected (n, d), neither of them 0: one row per token"),
        ((X, 2.0, W, W), "W_q is float, expected a floating-point tensor: write 1.0, not 1"),
        ((X[:, :0], W[:0], W[:0], W[:0]), "X has shape (3, 0), expected (n, d), neither of them 0: one row per token"),
        (
            (X, W.mT, W, W),
            "W_q has shape (2, 4), expected (4, c) because X has 4 columns: it looks transposed, try .mT",
        ),
        ((X, W, W, W[:3]), "W_v has shape (3, 2), expected (4, c) because X has 4 columns"),
        ((X, W[:, :0], W, W), "W_q has shape (4, 0), expected (4, c) because X has 4 columns"),
        ((X, W, W.double(), W), "W_k is torch.float64 on cpu, expected torch.float32 on cpu as X is"),
        ((X, W.to("meta"), W, W), "W_q is torch.float32 on meta, expected torch.float32 on cpu as X is"),
        ((X, W, W.to("meta"), W), "W_k is torch.float32 on meta, expected torch.float32 on cpu as X is"),
        ((X, W, W, W.to("meta")), "W_v is torch.float32 on meta, expected torch.float32 on cpu as X is"),
        (
            (X, W, W[:, :1], W),
            "W_q has 2 columns and W_k has 1, expected the same width c: a query and a key meet in a dot product",
        ),
    ],
)
def test_self_attention_refuses(inputs, message):
    with pytest.raises(ValueError) as caught:
        self_attention(*inputs)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0], "scores is list, expected a floating-point tensor: write 1.0, not 1"),
        (torch.tensor([1]), "scores is a tensor of torch.int64, expected a floating-point tensor: write 1.0, not 1"),
        (torch.tensor(1.0), "scores has shape (), expected (..., n) with at least one score per row"),
        (torch.ones(2, 0), "scores has shape (2, 0), expected (..., n) with at least one score per row"),
    ],
)
def test_softmax_refuses(scores, message):
    with pytest.raises(ValueError) as caught:
        softmax(scores)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"K": X[:, :2]}, "Q has width 4 and K has width 2, expected the same c: they meet in a dot product"),
        ({"V": X[:2]}, "K has 3 rows and V has 2, expected a key and a value for each word"),
        ({"may_look": torch.ones(3, 3)}, "may_look is (3, 3) of torch.float32, expected (..., 3, 3) of torch.bool, Tr"),
        ({"may_look": torch.ones(2, 3) > 0}, "may_look is (2, 3) of torch.bool, expected (..., 3, 3) of torch.bool, T"),
        ({"may_look": [True]}, "may_look is list, expected (..., 3, 3) of torch.bool, True for may look"),
    ],
)
def test_attend_refuses(wrong, message):
    with pytest.raises(ValueError) as caught:
        attend(**{"Q": X, "K": X, "V": X} | wrong)
    assert str(caught.value).startswith(message)


def test_attend_takes_a_mask_that_is_repeated():
    """One row for all queries, one column for all keys, one matrix for all sentences: as (b, n, n) would."""
    Q, K, V = random(2, 3, 4), random(2, 3, 4), random(2, 3, 5)
    for shape in ((3,), (1, 3), (2, 1, 3), (3, 1), (2, 3, 1), (3, 3), (1, 1)):
        may_look = torch.ones(shape, dtype=torch.bool)
        may_look[..., -1] = shape[-1] == 1
        torch.testing.assert_close(attend(Q, K, V, may_look), attend(Q, K, V, may_look.expand(2, 3, 3)))
