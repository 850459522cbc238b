"""Right answers to the exercises of lesson 3, each written in another way."""

import math

import torch
import torch.nn.functional as F  # noqa: N812


def by_loops(Omega, c):
    rows = []
    for row in Omega:
        raised = [torch.exp((score - row.max()) / math.sqrt(c)) for score in row]
        rows.append(torch.stack([each / sum(raised) for each in raised]))
    return torch.stack(rows)


def by_hand(Omega, c):
    raised = (Omega / c**0.5 - (Omega / c**0.5).max(dim=-1, keepdim=True).values).exp()
    return torch.einsum("mp,m->mp", raised, 1 / raised.sum(dim=1))


RIGHT = {
    "scaled_weights": [
        by_loops,
        by_hand,
        lambda Omega, c: F.softmax(Omega.float() / c**0.5, dim=1),
        lambda Omega, c: torch.exp(torch.log_softmax(Omega * c**-0.5, dim=-1)),
        lambda Omega, c: torch.softmax(Omega.mT / torch.sqrt(torch.tensor(c)), dim=0).mT,
    ],
    "wider_spread": [20.0, torch.tensor(400.0).sqrt(), 10 * 4**0.5, 19.9, 19, 21],
    "what_was_done": [
        ["all", "right", "after", "columns"],
        ("ALL", "Right", "After", "Columns"),
        {1: "all", 2: "right", 3: "after", 4: "columns "}.values(),
    ],
    "chosen_scores": [
        [[-math.inf, 0, -math.inf], [5, 5, 5], [0, -math.inf, 0]],
        torch.tensor([[0.0, 20.0, 0.0], [-3.0, -3.0, -3.0], [0.5, -1e9, 0.5]]),
        (torch.tensor([-50.0, 1, -50]), torch.zeros(3), torch.tensor([1.0, -40, 1])),
        (2 * torch.tensor([[0.0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0, 0.5]]).log()),
        [[-100, 0, -100], [0.33, 0.33, 0.34], [12, 0, 12]],
    ],
}
