"""Right answers to the exercises of lesson 11, each written in another way."""

import torch
import torch.nn.functional as F  # noqa: N812


def by_length(X, g, epsilon):
    d = X.shape[-1]
    return g * X * (X.norm(dim=-1, keepdim=True) ** 2 / d + epsilon) ** -0.5


def row_by_row(X, g, epsilon):
    rows = [x / ((x * x).sum() / len(x) + epsilon).sqrt() * g for x in X.reshape(-1, X.shape[-1])]
    return torch.stack(rows).reshape(X.shape)


def by_dot_products(X, g, epsilon):
    squares = torch.einsum("...i,...i->...", X, X).unsqueeze(-1) / X.shape[-1]
    return X * torch.rsqrt(squares + epsilon) * g


def by_matrices(Y, speeds):
    rows = []
    for m, row in enumerate(Y):
        pairs = []
        for i, speed in enumerate(speeds):
            cos, sin = torch.cos(m * speed), torch.sin(m * speed)
            R = torch.stack([torch.stack([cos, sin]), torch.stack([-sin, cos])])
            pairs.append(row[2 * i : 2 * i + 2] @ R)
        rows.append(torch.cat(pairs))
    return torch.stack(rows)


def by_complex_numbers(Y, speeds):
    angles = torch.outer(torch.arange(len(Y)).to(Y), speeds)
    points = torch.view_as_complex(Y.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(points * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def by_swapping(Y, speeds):
    angles = (torch.arange(len(Y))[:, None] * speeds).repeat_interleave(2, dim=-1)
    swapped = torch.stack([-Y[:, 1::2], Y[:, 0::2]], dim=-1).reshape(Y.shape)
    return Y * angles.cos() + swapped * angles.sin()


def into_an_empty_tensor(Y, speeds):
    n, c = Y.shape
    turned = torch.empty_like(Y)
    for m in range(n):
        for i in range(c // 2):
            cos, sin = torch.cos(m * speeds[i]), torch.sin(m * speeds[i])
            turned[m, 2 * i] = Y[m, 2 * i] * cos - Y[m, 2 * i + 1] * sin
            turned[m, 2 * i + 1] = Y[m, 2 * i] * sin + Y[m, 2 * i + 1] * cos
    return turned


def by_list(q, h, h_kv):
    return [group for group in range(h_kv) for _ in range(h // h_kv)][q]


RIGHT = {
    "rms_norm": [
        by_length,
        row_by_row,
        by_dot_products,
        lambda X, g, epsilon: F.rms_norm(X, (X.shape[-1],), g, epsilon),
        lambda X, g, epsilon: X.float() / (X.float().square().mean(-1, keepdim=True) + epsilon) ** 0.5 * g.float(),
        lambda X, g, epsilon: X / (X.pow(2) + epsilon).mean(dim=-1, keepdim=True).sqrt() * g,
    ],
    "turn_pairs": [
        by_matrices,
        by_complex_numbers,
        by_swapping,
        into_an_empty_tensor,
        lambda Y, speeds: by_swapping(Y.float(), speeds.float()),
    ],
    "group_of": [
        by_list,
        lambda q, h, h_kv: q * h_kv // h,
        lambda q, h, h_kv: int(q / (h / h_kv) + 1e-9),
        lambda q, h, h_kv: torch.arange(h_kv).repeat_interleave(h // h_kv)[q],
        lambda q, h, h_kv: torch.tensor(q // (h // h_kv)),
    ],
}
