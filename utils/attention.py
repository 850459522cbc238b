"""What the lessons have built so far. Each function here stands first, in the open, in a lesson's cells."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


def softmax(scores):
    """Turn each row of scores into weights: exponentials of the row, divided by their sum.

    scores: (..., n) floating-point tensor; the softmax runs along the last dimension (axis=1 for a matrix).
    Returns a tensor of the same shape; each row is non-negative and sums to 1.
    The largest score of a row is subtracted first, which changes no weight and keeps the exponentials finite.
    A score of −inf gets the weight 0; a row that is −inf everywhere has nothing to share out and becomes NaN.
    Raises ValueError if scores is not a floating-point tensor with at least one score per row.
    Source: lesson 1; Bridle 1990.
    """
    _check_floating_point(scores, "scores")
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise ValueError(f"scores has shape {tuple(scores.shape)}, expected (..., n) with at least one score per row")
    exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def attend(Q, K, V, may_look=None):
    """Compute C = softmax(QKᵀ / √c) V from queries, keys and values: the heart of every function and module here.

    Q, K: (..., n, c) and V: (..., n, any width); leading dimensions (heads, sentences) are broadcast.
    may_look: boolean, broadcast to (..., n, n); True where a word may look. The other scores become −inf, their
    weights 0. A row that may look nowhere becomes NaN (PyTorch's own function gives zeros there).
    Returns C, the (..., n, width of V) context vectors, and A, the (..., n, n) attention weights.
    Raises ValueError if the shapes of Q, K, V and may_look do not fit together, or may_look is not boolean.
    Source: lessons 4 and 6; Vaswani et al. 2017, equation 1.
    """
    _check_parts(Q, K, V, may_look)
    Omega = Q @ K.mT
    if may_look is not None:
        Omega = Omega.masked_fill(~may_look, -torch.inf)
    A = softmax(Omega / K.shape[-1] ** 0.5)
    C = A @ V
    return C, A


def self_attention(X, W_q, W_k, W_v):
    """Compute C = softmax(QKᵀ / √c) V with Q = X W_q, K = X W_k, V = X W_v: five products and one transpose.

    X: (n, d) input embeddings, one row per token.
    W_q, W_k, W_v: (d, c) projections; W_v may have another number of columns, which C then has too.
    Returns C, the (n, c) context vectors, and A, the (n, n) attention weights; each row of A sums to 1.
    Raises ValueError if X is not a floating-point matrix or a projection does not fit it in shape, dtype or device.
    Source: lesson 4; Vaswani et al. 2017, equation 1.
    """
    _check_inputs(X, W_q, W_k, W_v)
    Q = X @ W_q
    K = X @ W_k
    V = X @ W_v
    return attend(Q, K, V)


class SelfAttention(nn.Module):
    """Self-attention with trainable projections from d to c numbers per word, kept in nn.Linear without bias.

    d: width of the input embeddings. c: width of queries, keys and values. Both at least 1.
    forward(X): X (n, d), or (b, n, d) for b sentences; returns C, (n, c) or (b, n, c).
    forward(X, need_weights=True) returns C and A, the (n, n) or (b, n, n) attention weights.
    Raises ValueError if a width is not a positive whole number or X has another rank, width or dtype.
    Source: lesson 5.
    """

    def __init__(self, d, c):
        super().__init__()
        _check_widths(d=d, c=c)
        self.W_q = nn.Linear(d, c, bias=False)
        self.W_k = nn.Linear(d, c, bias=False)
        self.W_v = nn.Linear(d, c, bias=False)

    def forward(self, X, need_weights=False):
        _check_X(X, self.W_q)
        C, A = attend(self.W_q(X), self.W_k(X), self.W_v(X), self._may_look(X.shape[-2]))
        return (C, A) if need_weights else C

    def _may_look(self, n):
        return None


class CausalSelfAttention(SelfAttention):
    """Self-attention in which a word looks at itself and at earlier words only.

    d, c: as in SelfAttention. n_max: the longest sentence, for which the mask is made once.
    The mask is a buffer: it moves with the module to another device and is not trained.
    forward: as in SelfAttention; raises ValueError for a sentence longer than n_max.
    Source: lesson 6.
    """

    def __init__(self, d, c, n_max):
        super().__init__(d, c)
        _check_widths(n_max=n_max)
        self.register_buffer("may_look", torch.ones(n_max, n_max, dtype=torch.bool).tril(), persistent=False)

    def _may_look(self, n):
        if n > self.may_look.shape[0]:
            raise ValueError(
                f"X has {n} words, expected at most n_max = {self.may_look.shape[0]}, the size of the mask"
            )
        return self.may_look[:n, :n]


class MultiHeadAttention(nn.Module):
    """Several heads side by side, each with its own queries, keys and values, and an output projection.

    d: width of the input embeddings and of the result. h: number of heads.
    width: total width of all heads, d if None; each head has c = width / h numbers.
    causal: True lets a word look at itself and at earlier words only.
    forward(X, real): X (n, d) or (b, n, d); real, if given, is (b, n) boolean, False for padded words, at which
    nobody looks. What a padded word itself receives means nothing. Returns a tensor of the shape of X.
    forward(X, real, need_weights=True) also returns A, (h, n, n) or (b, h, n, n). Without it PyTorch's fused kernel
    is used, which does not store A; the result is the same, unless a score overflows its type (65504 in float16).
    Raises ValueError if h does not divide the width, X or real has another rank, width, type or size, or a sentence has
    no real word (causal: begins with padding).
    Source: lessons 7 and 8; Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, d, h, width=None, causal=False):
        super().__init__()
        width = d if width is None else width
        _check_widths(d=d, h=h, width=width)
        if not isinstance(causal, bool):
            raise ValueError(f"causal is {causal!r}, expected True or False")
        if width % h:
            below, above = width // h * h, (width // h + 1) * h
            nearest = f"{below} or {above}" if below else f"{above}"
            raise ValueError(f"width is {width}, which {h} heads do not divide, expected a multiple such as {nearest}")
        self.h, self.c, self.causal = h, width // h, causal
        self.W_q = nn.Linear(d, width, bias=False)
        self.W_k = nn.Linear(d, width, bias=False)
        self.W_v = nn.Linear(d, width, bias=False)
        self.W_o = nn.Linear(width, d, bias=False)

    def forward(self, X, real=None, need_weights=False):
        _check_X(X, self.W_q)
        _check_real(real, X, self.causal)
        Q, K, V = (self.split(W(X)) for W in (self.W_q, self.W_k, self.W_v))
        if need_weights:
            C, A = attend(Q, K, V, self.may_look(X, real))
            return self.W_o(self.merge(C)), A
        only_causal = self.causal and real is None
        may_look = None if only_causal else self.may_look(X, real)
        if X.ndim == 2:  # PyTorch fuses four axes only
            Q, K, V = Q[None], K[None], V[None]
        C = F.scaled_dot_product_attention(Q, K, V, attn_mask=may_look, is_causal=only_causal)
        return self.W_o(self.merge(C)).view(X.shape)

    def split(self, Y):
        """(..., n, h · c) to (..., h, n, c): cut each row into its heads, then put the heads before the words."""
        return Y.unflatten(-1, (self.h, self.c)).transpose(-3, -2)

    def merge(self, C):
        """(..., h, n, c) to (..., n, h · c): the words before the heads again, then the heads side by side."""
        return C.transpose(-3, -2).flatten(-2)

    def may_look(self, X, real=None):
        """Return the mask, which broadcasts to (..., h, n, n), or None if every word may look at every word."""
        n = X.shape[-2]
        causal = torch.ones(n, n, dtype=torch.bool, device=X.device).tril() if self.causal else None
        if real is None:
            return causal
        real = real[:, None, None, :]  # (b, 1, 1, n): nobody looks at a padded word
        return real if causal is None else causal & real


def _check_widths(**widths):
    for name, value in widths.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} is {value!r}, expected a whole number of at least 1")


def _check_X(X, W):  # noqa: N802
    _check_floating_point(X, "X")
    if X.ndim not in (2, 3) or 0 in X.shape:
        raise ValueError(
            f"X has shape {tuple(X.shape)}, expected (n, d) for one sentence or (b, n, d) for several, none of them 0"
        )
    if X.shape[-1] != W.in_features:
        hint = ": it looks transposed, try .mT" if X.shape[-2] == W.in_features else ""
        raise ValueError(f"X has {X.shape[-1]} numbers per word, expected d = {W.in_features}{hint}")
    if X.dtype != W.weight.dtype:
        raise ValueError(f"X is {X.dtype}, expected {W.weight.dtype} as the weights are: did the default dtype change?")


def _check_real(real, X, causal):
    if real is None:
        return
    if not torch.is_tensor(real) or real.dtype != torch.bool or X.ndim != 3 or real.shape != X.shape[:2]:
        came = f"{tuple(real.shape)} of {real.dtype}" if torch.is_tensor(real) else type(real).__name__
        wanted = tuple(X.shape[:2]) if X.ndim == 3 else "(b, n), with X of shape (b, n, d)"
        raise ValueError(f"real is {came}, expected {wanted} of torch.bool, True for a real word")
    empty = ~(real[:, 0] if causal else real.any(dim=-1))
    if empty.any():
        which = empty.nonzero()[0].item()
        expected = "padding at the end, since causal words look back only" if causal else "at least one real word"
        raise ValueError(f"real hides too much of sentence {which} (counting from 0), expected {expected}")


def _check_parts(Q, K, V, may_look):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"Q has width {Q.shape[-1]} and K has width {K.shape[-1]}, expected the same c: they meet in a dot product"
        )
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows and V has {V.shape[-2]}, expected a key and a value for each word")
    if may_look is None:
        return
    pairs = (Q.shape[-2], K.shape[-2])
    if not torch.is_tensor(may_look) or may_look.dtype != torch.bool or not _fits(may_look.shape, pairs):
        came = f"{tuple(may_look.shape)} of {may_look.dtype}" if torch.is_tensor(may_look) else type(may_look).__name__
        raise ValueError(f"may_look is {came}, expected (..., {pairs[0]}, {pairs[1]}) of torch.bool, True for may look")


def _fits(shape, pairs):
    """Whether a mask of this shape broadcasts to one row per query and one column per key."""
    return all(size in (1, wanted) for size, wanted in zip(shape[::-1], pairs[::-1], strict=False))


def _check_inputs(X, W_q, W_k, W_v):
    _check_floating_point(X, "X")
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X has shape {tuple(X.shape)}, expected (n, d), neither of them 0: one row per token")
    d = X.shape[1]
    for name, W in (("W_q", W_q), ("W_k", W_k), ("W_v", W_v)):
        _check_floating_point(W, name)
        if W.ndim != 2 or W.shape[0] != d or W.shape[1] == 0:
            hint = ": it looks transposed, try .mT" if W.ndim == 2 and W.shape[1] == d else ""
            raise ValueError(f"{name} has shape {tuple(W.shape)}, expected ({d}, c) because X has {d} columns{hint}")
        if (W.dtype, W.device) != (X.dtype, X.device):
            raise ValueError(f"{name} is {W.dtype} on {W.device}, expected {X.dtype} on {X.device} as X is")
    if W_q.shape[1] != W_k.shape[1]:
        raise ValueError(
            f"W_q has {W_q.shape[1]} columns and W_k has {W_k.shape[1]}, expected the same width c: "
            "a query and a key meet in a dot product"
        )


def _check_floating_point(values, name):
    if not torch.is_tensor(values) or not values.is_floating_point():
        came = f"a tensor of {values.dtype}" if torch.is_tensor(values) else type(values).__name__
        raise ValueError(f"{name} is {came}, expected a floating-point tensor: write 1.0, not 1")
