"""Right answers to the exercises of lesson 1, each written in another way."""

import math

import torch
import torch.nn.functional as F  # noqa: N812

from utils.sentence import TOKEN_EMBEDDINGS


def weights_by_loops(scores):
    rows = []
    for row in scores:
        raised = [torch.exp(score - row.max()) for score in row]
        rows.append(torch.stack([each / sum(raised) for each in raised]))
    return torch.stack(rows)


def weights_by_hand(scores):
    exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def context_by_loops(X, m):
    scores = torch.stack([(X[m] * X[p]).sum() for p in range(len(X))])
    raised = [torch.exp(score - scores.max()) for score in scores]
    return sum(each / sum(raised) * X[p] for p, each in enumerate(raised))


def reordered(words):
    X = torch.tensor([TOKEN_EMBEDDINGS[word] for word in words])
    return torch.softmax(X @ X.mT, dim=-1)


def weights_in_numbers(scores):
    rows = [[math.exp(score - max(row)) for score in row] for row in scores.tolist()]
    return torch.tensor([[each / sum(row) for each in row] for row in rows])


def weights_in_place(scores):
    own = scores.clone()
    own -= own.amax(dim=-1, keepdim=True)
    own.exp_()
    own /= own.sum(dim=-1, keepdim=True)
    return own


def context_added_up(X, m):
    scores = torch.tensor([sum(x * y for x, y in zip(X[m].tolist(), row, strict=True)) for row in X.tolist()])
    total = torch.zeros(X.shape[1])
    for weight, row in zip(torch.softmax(scores, dim=-1), X, strict=True):
        total += weight * row
    return total


RIGHT = {
    "weights_of_rows": [
        weights_by_loops,
        weights_by_hand,
        weights_in_numbers,
        weights_in_place,
        lambda scores: torch.exp(scores - torch.logsumexp(scores, dim=1, keepdim=True)),
        lambda scores: F.softmax(scores.float(), dim=1),
        lambda scores: F.softmax(scores.mT, dim=0).mT,
    ],
    "context_of": [
        context_by_loops,
        context_added_up,
        lambda X, m: (torch.softmax(X @ X.mT, dim=-1) @ X)[m],
        lambda X, m: torch.einsum("p,pi->i", F.softmax(torch.einsum("pi,i->p", X, X[m]), dim=0), X),
        lambda X, m: (torch.softmax((X * X[m]).sum(dim=-1), dim=0)[:, None] * X).sum(dim=0),
        lambda X, m: (torch.softmax(X.float() @ X.float()[m], dim=0) @ X.float()),
        lambda X, m: F.scaled_dot_product_attention(X[m : m + 1], X, X, scale=1.0)[0],
    ],
    "reordered_weights": [
        [[0.48, 0.23, 0.29], [0.04, 0.70, 0.26], [0.09, 0.40, 0.51]],
        reordered(["sat", "fat", "cat"]),
        reordered(["fat", "cat", "sat"]).roll((1, 1), (0, 1)),
        tuple(tuple(row) for row in reordered(["sat", "fat", "cat"]).tolist()),
        [[w / sum(row) for w in row] for row in [[math.exp(s) for s in row] for row in [
            [1.25, 0.5, 0.75], [0.5, 3.25, 2.25], [0.75, 2.25, 2.5]
        ]]],
    ],
}  # fmt: skip
