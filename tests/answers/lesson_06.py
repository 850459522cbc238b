"""Right answers to the exercises of lesson 6, each written in another way."""

import torch
import torch.nn.functional as F  # noqa: N812


def window_by_loops(n, back):
    table = torch.zeros(n, n, dtype=torch.bool)
    for m in range(n):
        for p in range(m + 1):
            table[m, p] = m - p <= back
    return table


def window_by_places(n, back):
    m, p = torch.arange(n).unsqueeze(-1), torch.arange(n)
    return (p <= m) & (p >= m - back)


def moved_by_loops(attention, X):
    table = []
    for m in range(len(X)):
        row = []
        for p in range(len(X)):
            changed = torch.stack([2 * x + 1 if i == p else x for i, x in enumerate(X)])
            row.append(not torch.allclose(attention(changed)[m], attention(X)[m]))
        table.append(row)
    return torch.tensor(table)


def moved_into_columns(attention, X):
    C = attention(X)
    table = torch.empty(len(X), len(X), dtype=torch.bool)
    for p in range(len(X)):
        changed = X.clone()
        changed[p] = 0.0
        table[:, p] = (attention(changed) != C).any(dim=1)
    return table


def moved_by_slopes(attention, X):
    slopes = torch.autograd.functional.jacobian(attention, X)  # (n, c, n, d)
    return slopes.abs().amax(dim=(1, 3)) > 1e-12


def weights_by_loops(Omega, c, may_look):
    rows = []
    for scores, allowed in zip(Omega, may_look, strict=True):
        raised = torch.exp(scores / c**0.5) * allowed
        rows.append(raised / raised.sum() if allowed.any() else 0 * scores)
    return torch.stack(rows)


RIGHT = {
    "window": [
        window_by_loops,
        window_by_places,
        lambda n, back: torch.ones(n, n).tril().bool() & ~torch.ones(n, n).tril(-back - 1).bool(),
        lambda n, back: torch.ones(n, n).triu(-back).tril() == 1,
    ],
    "who_moves": [moved_by_loops, moved_into_columns, moved_by_slopes],
    "masked_weights": [
        weights_by_loops,
        lambda Omega, c, may_look: torch.softmax((Omega / c**0.5).where(may_look, -torch.inf), dim=1).nan_to_num(0),
        lambda Omega, c, may_look: (
            torch.softmax(Omega.float().masked_fill(~may_look, -1e9) / c**0.5, dim=-1) * may_look
        ),
        lambda Omega, c, may_look: torch.where(
            may_look.any(dim=-1, keepdim=True),
            torch.softmax(Omega.masked_fill(~may_look, -torch.inf) / c**0.5, dim=-1),
            0.0,
        ),
        lambda Omega, c, may_look: F.scaled_dot_product_attention(
            Omega, *[torch.eye(Omega.shape[1], dtype=Omega.dtype)] * 2, attn_mask=may_look, scale=c**-0.5
        ),
    ],
}
