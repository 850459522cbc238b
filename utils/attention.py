"""What the lessons have built so far. Each function here stands first, in the open, in a lesson's cells."""

import torch


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
    Omega = Q @ K.mT
    A = softmax(Omega / K.shape[-1] ** 0.5)
    C = A @ V
    return C, A


def _check_inputs(X, W_q, W_k, W_v):
    _check_floating_point(X, "X")
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X has shape {tuple(X.shape)}, expected (n, d): one row per token of one sentence")
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
        raise ValueError(f"{name} is {came}, expected a floating-point tensor")
