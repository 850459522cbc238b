"""Right answers to the exercises of lesson 9, each written in another way."""

import math

import torch


def one_by_one(b, h, n):
    return sum(4 for _ in range(b) for _ in range(h) for _ in range(n)) * n


def by_if(left, right):
    if left[0] < right[0]:
        left, right = right, left
    result = left.clone()
    result[1:] += torch.exp(right[0] - left[0]) * right[1:]
    return result


def by_numbers(left, right):
    top = max(left[0].item(), right[0].item())
    a, b = (math.exp(state[0].item() - top) for state in (left, right))
    total = a * left[1] + b * right[1]
    return torch.tensor([top, total, *(a * x + b * y for x, y in zip(left[2:], right[2:], strict=True))])


def by_softmax(left, right):
    both = torch.stack([left, right])
    shares = torch.softmax(both[:, 0], dim=0)  # sums to 1, so divide by the larger
    return torch.cat([both[:, 0].amax().reshape(1), (shares / shares.max()) @ both[:, 1:]])


RIGHT = {
    "omega_bytes": [
        one_by_one,
        lambda b, h, n: b * h * n * n * 4.0,
        lambda b, h, n: 4 * torch.tensor([b, h, n, n]).prod(),
        lambda b, h, n: torch.empty(b, h, n, n, dtype=torch.float32).nbytes,
    ],
    "joined": [by_if, by_numbers, by_softmax],
    "next_word_cost": [200.0, 5 * (18 + 22), 3 * 6 * 5 + 11 * 5 + 11 * 5, torch.tensor(200)],
}
