"""Right answers to the exercises of lesson 2, each written in another way."""

import torch

from utils.sentence import hand_made_projections

W_Q, W_K, _ = hand_made_projections()


def point_by_point(points, M):
    rows = []
    for x, y, z in points:
        moved = x * M[0] + y * M[1] + z * M[2] + M[3]
        rows.append(moved[:3] / moved[3])
    return torch.stack(rows)


def in_place(points, M):
    moved = torch.ones(len(points), 4).to(points)
    moved[:, :3] = points
    moved = moved @ M
    moved[:, :3] /= moved[:, 3:]
    return moved[:, :3]


def in_columns(points, M):
    more = torch.cat([points.mT, torch.ones_like(points.mT[:1])])
    moved = M.mT @ more
    return (moved[:3] / moved[3]).mT


def score_by_score(X, W_q, W_k):
    n = len(X)
    return torch.stack([torch.stack([(X[m] @ W_q) @ (X[p] @ W_k) for p in range(n)]) for m in range(n)])


def changed(W, column, *entries):
    W = W.clone()
    W[:, column] = torch.tensor(entries)
    return W


RIGHT = {
    "screen_points": [
        point_by_point,
        in_columns,
        in_place,
        lambda points, M: (points @ M[:3, :3] + M[3, :3]) / (points @ M[:3, 3] + M[3, 3])[:, None],
        lambda points, M: torch.cat([2 * points, 2 * torch.ones(len(points), 1)], 1).double() @ M[:, :3]
        / torch.einsum("ni,i->n", torch.nn.functional.pad(2 * points, (0, 1), value=2), M[:, 3]).unsqueeze(1),
    ],
    "all_scores": [
        score_by_score,
        lambda X, W_q, W_k: torch.tensor([[(q @ k).item() for k in X @ W_k] for q in X @ W_q]),
        lambda X, W_q, W_k: X @ (W_q @ W_k.mT) @ X.mT,
        lambda X, W_q, W_k: torch.einsum("md,dc,ec,pe->mp", X, W_q, W_k, X),
        lambda X, W_q, W_k: (W_q.T @ X.T).T @ (W_k.T @ X.T),
        lambda X, W_q, W_k: torch.nn.functional.linear(X.float() @ W_q.float(), X.float() @ W_k.float()),
    ],
    "mat_seeks_cat": [
        (W_Q, changed(W_K, 1, 3.0, 0.0, -1.0, 0.0)),
        (changed(W_Q, 1, 0.0, 0.0, 3.0, 0.0), changed(W_K, 1, 1.0, -0.3, 0.0, 0.0)),
        [W_Q.tolist(), [[-1, 2], [2, 0], [0, 0], [0, 0]]],
        (W_Q.flip(1).float(), changed(W_K, 1, 2.0, 0.0, 0.0, 0.0).flip(1).float()),
        (W_Q @ torch.tensor([[0.6, -0.8], [0.8, 0.6]]).double(),
         changed(W_K, 1, 2.0, 0.0, 0.0, 0.0) @ torch.tensor([[0.6, -0.8], [0.8, 0.6]]).double()),
    ],
}  # fmt: skip
