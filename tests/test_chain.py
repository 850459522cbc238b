"""One chain of equalities: every way in which the course writes attention gives the same results and gradients.

What only lessons have (loops, a list of heads, blocks) is written out here; the rest comes from utils and PyTorch.
Then what the modules promise beyond: weights, masks, buffers, and one sentence for each error.
"""

import ast
import math

import pytest
import torch
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from lessons import NOTEBOOKS, read
from test_attention import random
from torch import nn
from torch.func import functional_call

from utils.attention import CausalSelfAttention, MultiHeadAttention, SelfAttention, attend, self_attention, softmax
from utils.counting import count_operators

quick = settings(
    max_examples=25,
    deadline=None,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate],
)

# The links. Each takes X (b, n, d), W_q, W_k, W_v (d, h · c) and W_o (h · c, d), and returns (b, n, d).


def heads(W, h):
    """Return W_q, W_k, W_v of each head: h triples of (d, c) matrices."""
    return list(zip(*(w.chunk(h, dim=-1) for w in W[:3]), strict=True))


def masks(X, causal, real):
    """Return (b, n, n) booleans, True where a word may look."""
    b, n, _ = X.shape
    may_look = torch.ones(b, n, n, dtype=torch.bool)
    if causal:
        may_look = may_look.tril()
    return may_look if real is None else may_look & real[:, None, :]


def one_by_one(head):
    """Make a link from a function that knows one head and one sentence."""

    def link(X, W, h, causal, real):
        sentences = zip(X, masks(X, causal, real), strict=True)
        C = [torch.cat([head(x, *w, may_look) for w in heads(W, h)], dim=-1) for x, may_look in sentences]
        return torch.stack(C) @ W[3]

    return link


def times(P, R):
    return [[sum(p * r for p, r in zip(row, column, strict=True)) for column in zip(*R, strict=True)] for row in P]


def loops(x, W_q, W_k, W_v, may_look):
    Q, K, V = (times(list(x), list(W)) for W in (W_q, W_k, W_v))
    C = []
    for m, q in enumerate(Q):
        words = [p for p in range(len(K)) if may_look[m, p]]
        exponentials = [torch.exp(sum(q[i] * K[p][i] for i in range(len(q))) / math.sqrt(len(q))) for p in words]
        total = sum(exponentials)
        pairs = list(zip(exponentials, words, strict=True))
        C.append(torch.stack([sum(e / total * V[p][j] for e, p in pairs) for j in range(len(V[0]))]))
    return torch.stack(C)


def matrices(x, W_q, W_k, W_v, may_look):
    if may_look.all():
        return self_attention(x, W_q, W_k, W_v)[0]
    return attend(x @ W_q, x @ W_k, x @ W_v, may_look)[0]


class Parameters(nn.Module):
    def __init__(self, d, c):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.empty(d, c)) for _ in range(3))

    def forward(self, x, may_look):
        return attend(x @ self.W_q, x @ self.W_k, x @ self.W_v, may_look)[0]


def parameters(x, W_q, W_k, W_v, may_look):
    return functional_call(Parameters(*W_q.shape), {"W_q": W_q, "W_k": W_k, "W_v": W_v}, (x, may_look))


def single_head(W, causal, n):
    """Return a function that applies the course's layer with one head and these weights, stored (out, in)."""
    d, c = W[0].shape
    layer = CausalSelfAttention(d, c, n_max=n + 1) if causal else SelfAttention(d, c)
    weights = {f"W_{name}.weight": w.mT for name, w in zip("qkv", W, strict=True)}
    return lambda X: functional_call(layer, weights, (X,))


def linear(x, W_q, W_k, W_v, may_look):
    return single_head((W_q, W_k, W_v), not may_look.all(), len(x))(x)


def blocks(x, W_q, W_k, W_v, may_look, block=2):
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    n, c = K.shape
    largest, total, mix = Q.new_full((n, 1), -torch.inf), Q.new_zeros(n, 1), Q.new_zeros(n, c)
    for start in range(0, n, block):
        part = slice(start, start + block)
        scores = (Q @ K[part].mT / c**0.5).masked_fill(~may_look[:, part], -torch.inf)
        higher = torch.maximum(largest, scores.amax(dim=-1, keepdim=True)).detach()  # any number would do
        shrink, exponentials = torch.exp(largest - higher), torch.exp(scores - higher)
        total = total * shrink + exponentials.sum(dim=-1, keepdim=True)
        mix = mix * shrink + exponentials @ V[part]
        largest = higher
    return mix / total


def batch(X, W, h, causal, real):
    may_look = masks(X, causal, real)
    return torch.cat([attend(*(X @ w for w in head), may_look)[0] for head in heads(W, h)], dim=-1) @ W[3]


def list_of_heads(X, W, h, causal, real):
    return torch.cat([single_head(head, causal, X.shape[1])(X) for head in heads(W, h)], dim=-1) @ W[3]


def multi_head(X, W, h, causal, real, **options):
    layer = MultiHeadAttention(X.shape[-1], h, W[0].shape[1], causal)
    weights = {f"W_{name}.weight": w.mT for name, w in zip("qkvo", W, strict=True)}
    return functional_call(layer, weights, (X, real), options)


def reshape(*layer):
    return multi_head(*layer, need_weights=True)[0]


def fused(*layer):
    return multi_head(*layer)


def pytorch(X, W, h, causal, real):
    layer = nn.MultiheadAttention(X.shape[-1], h, bias=False, batch_first=True)
    weights = {"in_proj_weight": torch.cat(W[:3], dim=-1).mT, "out_proj.weight": W[3].mT}
    hidden = torch.ones(X.shape[1], X.shape[1], dtype=torch.bool).triu(1) if causal else None  # True = may not look
    padded = None if real is None else ~real
    options = {"attn_mask": hidden, "key_padding_mask": padded, "need_weights": False}
    return functional_call(layer, weights, (X, X, X), options)[0]


LINKS = {
    "loops": one_by_one(loops),
    "matrices": one_by_one(matrices),
    "Parameter": one_by_one(parameters),
    "Linear": one_by_one(linear),
    "blocks": one_by_one(blocks),
    "batch": batch,
    "list of heads": list_of_heads,
    "reshape": reshape,
    "fused kernel": fused,
    "nn.MultiheadAttention": pytorch,
}
NO_PADDING = ("Linear", "list of heads")  # modules with one head, which know no padding


def some_padding(b, n, seed):
    """Return (b, n) booleans: each sentence has at least one real word, and its padding at the end."""
    lengths = torch.randint(1, n + 1, (b, 1), generator=torch.Generator().manual_seed(seed))
    return torch.arange(n) < lengths


@quick
@given(
    sizes=st.permutations([1, 2, 3, 4]),
    square=st.booleans(),
    causal=st.booleans(),
    padded=st.booleans(),
    seed=st.integers(0, 99),
)
@example(sizes=[2, 3, 4, 5], square=True, causal=False, padded=False, seed=0)
@example(sizes=[3, 2, 4, 5], square=True, causal=True, padded=False, seed=1)
@example(sizes=[4, 3, 2, 5], square=True, causal=False, padded=True, seed=2)
@example(sizes=[3, 2, 1, 7], square=False, causal=True, padded=True, seed=3)
def test_one_chain_of_equalities(sizes, square, causal, padded, seed):
    """Each link equals the one before it, forward and backward, for b, h, c, n and d that all differ."""
    b, h, c, n = sizes
    d = h * c if square else 5  # PyTorch's own layer knows no d but h · c
    X = random(b, n, d, seed=seed).requires_grad_()
    W = [random(d, h * c, seed=seed + k) for k in (1, 2, 3)] + [random(h * c, d, seed=seed + 4)]
    W = [w.requires_grad_() for w in W]
    real = some_padding(b, n, seed) if padded else None
    incoming = random(b, n, d, seed=seed + 5)
    if padded:
        incoming = incoming * real[..., None]  # what a padded word receives means nothing
    before = None
    for name, link in LINKS.items():
        if (padded and name in NO_PADDING) or (name == "nn.MultiheadAttention" and not square):
            continue
        result = link(X, W, h, causal, real)
        assert result.shape == X.shape, name
        gradients = torch.autograd.grad((result * incoming).sum(), [X, *W])
        found = [result if real is None else result * real[..., None], *gradients]
        for what, one, other in zip(("result", "X", "W_q", "W_k", "W_v", "W_o"), found, before or found, strict=True):
            torch.testing.assert_close(
                one, other, msg=lambda text, at=(name, what): f"{at[0]} differs from the link before in {at[1]}: {text}"
            )
        before = found


def functions(lesson, **names):
    """Define the functions of a lesson among some names, without running the rest of it."""
    for cell in read(NOTEBOOKS / f"{lesson}.ipynb").code:
        tree = ast.parse(cell.source)
        tree.body = [statement for statement in tree.body if isinstance(statement, ast.FunctionDef)]
        exec(compile(tree, lesson, "exec"), names)
    return names


def test_the_blocks_of_lesson_9():
    attend_in_blocks = functions("09_cost", torch=torch)["attend_in_blocks"]
    for n, c, block in [(7, 2, 1), (7, 2, 3), (5, 4, 2), (6, 3, 6), (3, 5, 9), (1, 2, 1)]:
        Q, K, V = random(3, n, c, seed=n) * 9
        torch.testing.assert_close(attend_in_blocks(Q, K, V, block), attend(Q, K, V)[0])


def test_the_cache_of_lesson_9():
    X, W = random(5, 4), {name: random(4, 3, seed=k) for k, name in enumerate(("W_q", "W_k", "W_v"), start=1)}
    next_word = functions("09_cost", torch=torch, softmax=softmax, c=3, **W)["next_word"]
    C, A = attend(*(X @ w for w in W.values()), torch.ones(5, 5, dtype=torch.bool).tril())
    keys, values = [], []
    for m in range(5):
        c_m, a_m = next_word(X[m], keys, values)
        torch.testing.assert_close(c_m, C[m])
        torch.testing.assert_close(a_m, A[m, : m + 1])


# What the modules promise


def module(kind, d=6, h=3, n=5):
    """Return one of the course's modules, with weights in float64."""
    torch.manual_seed(0)
    made = {
        "one head": lambda: SelfAttention(d, 4),
        "causal head": lambda: CausalSelfAttention(d, 4, n_max=n),
        "heads": lambda: MultiHeadAttention(d, h),
        "causal heads": lambda: MultiHeadAttention(d, h, causal=True),
        "wide heads": lambda: MultiHeadAttention(d, h, width=12),
        "wide causal heads": lambda: MultiHeadAttention(d, h, width=12, causal=True),
    }[kind]()
    return made.double()


KINDS = ("one head", "causal head", "heads", "causal heads", "wide heads", "wide causal heads")
CAUSAL = [kind for kind in KINDS if "causal" in kind]
MULTI = [kind for kind in KINDS if "heads" in kind]
REAL = torch.tensor([[True] * 5, [True] * 2 + [False] * 3, [True] * 4 + [False]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("leading", [(), (2,)])
def test_weights_are_shares_of_what_may_be_seen(kind, leading):
    X = random(*leading, 5, 6)
    C, A = module(kind)(X, need_weights=True)
    assert A.shape == (*leading, *((3,) if kind in MULTI else ()), 5, 5)
    torch.testing.assert_close(A.sum(dim=-1), torch.ones(A.shape[:-1], dtype=A.dtype))
    expected = torch.ones(5, 5, dtype=torch.bool)
    expected = expected.tril() if kind in CAUSAL else expected
    assert ((A > 0) == expected).all()
    torch.testing.assert_close(module(kind)(X), C)


@pytest.mark.parametrize("kind", MULTI)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_fast_path_is_the_open_path(kind, dtype):
    layer, X = module(kind).to(dtype), random(3, 5, 6).to(dtype)
    for real in (None, REAL):
        seen = torch.ones(3, 5, dtype=torch.bool) if real is None else real
        C, A = layer(X, real, need_weights=True)
        torch.testing.assert_close(layer(X, real)[seen], C[seen])
        assert (A.movedim(1, -1)[~seen[:, None, :].expand(3, 5, 5)] == 0).all(), "a padded word is looked at"
    torch.testing.assert_close(layer(X[0]), layer(X)[0])


@pytest.mark.parametrize("kind", MULTI)
def test_the_fast_path_is_one_fused_operator(kind):
    layer = module(kind)
    for inputs in ((random(5, 6),), (random(3, 5, 6),), (random(3, 5, 6), REAL)):
        with count_operators() as counted:
            layer(*inputs)
        assert counted.products == 4, f"{counted.operators}: more than the four projections"
        assert not any("softmax" in name for name in counted.operators), counted.operators


def changed(X, where):
    """Return X with other numbers where the boolean tensor says so."""
    return torch.where(where[..., None], random(*X.shape, seed=7), X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("need_weights", [False, True])
def test_the_leak(kind, need_weights):
    """Change one word: in a causal module no earlier row of C moves; the row itself and later rows do."""
    layer, X = module(kind), random(2, 5, 6)

    def rows(X):
        return layer(X, need_weights=True)[0] if need_weights else layer(X)

    for word in range(5):
        moved = (rows(changed(X, torch.arange(5).expand(2, 5) == word)) - rows(X)).abs().amax(dim=-1) > 1e-9
        expected = torch.arange(5) >= word if kind in CAUSAL else torch.ones(5, dtype=torch.bool)
        assert (moved == expected).all(), f"word {word} was changed, rows that moved: {moved.tolist()}"


@pytest.mark.parametrize("kind", MULTI)
@pytest.mark.parametrize("need_weights", [False, True])
def test_padded_words_change_nothing(kind, need_weights):
    layer, X = module(kind), random(3, 5, 6)

    def rows(X, real=None):
        return layer(X, real, need_weights=True)[0] if need_weights else layer(X, real)

    C = rows(X, REAL)
    torch.testing.assert_close(rows(changed(X, ~REAL), REAL)[REAL], C[REAL])
    for sentence, words in enumerate(REAL.sum(dim=-1).tolist()):
        torch.testing.assert_close(rows(X[sentence, :words]), C[sentence, :words])
    torch.testing.assert_close(rows(X, torch.ones_like(REAL)), rows(X))


def test_a_gap_in_the_middle_is_padding_too():
    real = torch.tensor([[True, False, True, True, False], [False, True, True, True, True]])
    layer, X = module("heads"), random(2, 5, 6)
    torch.testing.assert_close(layer(X, real)[real], layer(changed(X, ~real), real)[real])
    torch.testing.assert_close(layer(X, real)[1, 1:], layer(X[1, 1:]))


def test_a_head_of_many_is_that_head_alone():
    layer, X = module("wide heads"), random(2, 5, 6)
    _, A = layer(X, need_weights=True)
    for k in range(3):
        alone = SelfAttention(6, 4).double()
        rows = slice(4 * k, 4 * k + 4)
        alone.load_state_dict({f"W_{name}.weight": getattr(layer, f"W_{name}").weight[rows] for name in "qkv"})
        torch.testing.assert_close(alone(X, need_weights=True)[1], A[:, k])


def test_split_puts_word_and_head_where_they_belong():
    layer = MultiHeadAttention(6, 3)
    named = torch.arange(6.0) + 10 * torch.arange(5.0)[:, None]  # word m, number i: 10 m + i
    parts = layer.split(named)
    assert parts.shape == (3, 5, 2)
    assert parts[2, 4].tolist() == [44, 45] and parts[0, 1].tolist() == [10, 11]
    torch.testing.assert_close(layer.merge(parts), named)
    torch.testing.assert_close(layer.merge(layer.split(named.expand(2, 4, 5, 6))), named.expand(2, 4, 5, 6))


@pytest.mark.parametrize("kind", KINDS)
def test_only_weights_are_trained_and_saved(kind):
    layer = module(kind)
    names = {f"W_{name}.weight" for name in ("qkvo" if kind in MULTI else "qkv")}
    assert set(layer.state_dict()) == {name for name, _ in layer.named_parameters()} == names
    width = 12 if "wide" in kind else 6 if kind in MULTI else 4
    assert sum(weight.numel() for weight in layer.parameters()) == len(names) * 6 * width
    buffers = dict(layer.named_buffers())
    assert set(buffers) == ({"may_look"} if kind == "causal head" else set())
    again = module(kind)
    again.load_state_dict({name: values * 2 for name, values in layer.state_dict().items()}, strict=True)
    again.load_state_dict(layer.state_dict(), strict=True)
    torch.testing.assert_close(again(random(5, 6)), layer(random(5, 6)), rtol=0, atol=0)


def test_the_mask_moves_with_the_module_and_keeps_its_type():
    layer = CausalSelfAttention(6, 4, n_max=5).half()
    assert layer.may_look.dtype == torch.bool and layer.W_q.weight.dtype == torch.float16
    assert layer.to("meta").may_look.device.type == "meta"
    assert MultiHeadAttention(6, 3, causal=True).may_look(torch.ones(5, 6, device="meta")).device.type == "meta"
    assert CausalSelfAttention(6, 4, n_max=9).double()(random(1, 6)).shape == (1, 4)


# Errors: one sentence that names the argument, what came and what was expected

X = torch.ones(2, 3, 4)
WHOLE = "expected a whole number of at least 1"
RANK = "expected (n, d) for one sentence or (b, n, d) for several, none of them 0"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SelfAttention(0, 2), f"d is 0, {WHOLE}"),
        (lambda: SelfAttention(4, 2.0), f"c is 2.0, {WHOLE}"),
        (lambda: SelfAttention(4, True), f"c is True, {WHOLE}"),
        (lambda: SelfAttention("4", 2), f"d is '4', {WHOLE}"),
        (lambda: CausalSelfAttention(4, -1, 3), f"c is -1, {WHOLE}"),
        (lambda: CausalSelfAttention(4, 2, 0), f"n_max is 0, {WHOLE}"),
        (lambda: MultiHeadAttention(None, 2), f"d is None, {WHOLE}"),
        (lambda: MultiHeadAttention(4, 0), f"h is 0, {WHOLE}"),
        (lambda: MultiHeadAttention(4, 2, width=0), f"width is 0, {WHOLE}"),
        (
            lambda: MultiHeadAttention(10, 4),
            "width is 10, which 4 heads do not divide, expected a multiple such as 8 or 12",
        ),
        (
            lambda: MultiHeadAttention(6, 4, width=7),
            "width is 7, which 4 heads do not divide, expected a multiple such as 4 or 8",
        ),
        (lambda: MultiHeadAttention(4, 2, causal="no"), "causal is 'no', expected True or False"),
        (lambda: MultiHeadAttention(2, 3), "width is 2, which 3 heads do not divide, expected a multiple such as 3"),
    ],
)
def test_modules_refuse_widths(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize("make", [lambda: SelfAttention(4, 2), lambda: MultiHeadAttention(4, 2)])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([[1.0]], "X is list, expected a floating-point tensor: write 1.0, not 1"),
        (X.long(), "X is a tensor of torch.int64, expected a floating-point tensor: write 1.0, not 1"),
        (X[0, 0], f"X has shape (4,), {RANK}"),
        (X[None], f"X has shape (1, 2, 3, 4), {RANK}"),
        (X[:, :0], f"X has shape (2, 0, 4), {RANK}"),
        (X.mT, "X has 3 numbers per word, expected d = 4: it looks transposed, try .mT"),
        (X[..., :2], "X has 2 numbers per word, expected d = 4"),
        (X.double(), "X is torch.float64, expected torch.float32 as the weights are: did the default dtype change?"),
        (X[:0], f"X has shape (0, 3, 4), {RANK}"),
    ],
)
def test_modules_refuse_inputs(make, wrong, message):
    with pytest.raises(ValueError) as caught:
        make()(wrong)
    assert str(caught.value) == message


def test_a_sentence_longer_than_the_mask_is_refused():
    with pytest.raises(ValueError) as caught:
        CausalSelfAttention(4, 2, n_max=2)(X)
    assert str(caught.value) == "X has 3 words, expected at most n_max = 2, the size of the mask"


REAL_WORD = "of torch.bool, True for a real word"
ones = torch.ones(2, 3, dtype=torch.bool)
late = torch.tensor([[True, True, True], [False, True, True]])


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize(
    ("inputs", "real", "causal", "message"),
    [
        (X, [[True]], False, f"real is list, expected (2, 3) {REAL_WORD}"),
        (X, ones.float(), False, f"real is (2, 3) of torch.float32, expected (2, 3) {REAL_WORD}"),
        (X, ones.mT, False, f"real is (3, 2) of torch.bool, expected (2, 3) {REAL_WORD}"),
        (X, ones[0], True, f"real is (3,) of torch.bool, expected (2, 3) {REAL_WORD}"),
        (X[0], ones[0], False, f"real is (3,) of torch.bool, expected (b, n), with X of shape (b, n, d) {REAL_WORD}"),
        (
            X,
            ~ones,
            False,
            "real hides too much of sentence 0 (counting from 0), expected at least one real word",
        ),
        (
            X,
            late,
            True,
            "real hides too much of sentence 1 (counting from 0), "
            "expected padding at the end, since causal words look back only",
        ),
    ],
)
def test_padding_that_makes_no_sense_is_refused(inputs, real, causal, message, need_weights):
    with pytest.raises(ValueError) as caught:
        MultiHeadAttention(4, 2, causal=causal)(inputs, real, need_weights)
    assert str(caught.value) == message
