"""Right answers to the exercises of lesson 10, each written in another way."""

import torch
import torch.nn.functional as F  # noqa: N812


def by_split(W_o, k, h):
    parts = W_o.chunk(h, dim=1)
    return torch.cat([part if m == k else 0 * part for m, part in enumerate(parts)], dim=1)


def by_silencing(W_o, k, h):
    kept, c = W_o.clone(), W_o.shape[-1] // h
    for other in range(h):
        if other != k:
            kept[:, other * c : (other + 1) * c] = 0
    return kept


def by_loops(scores, ids):
    costs = []
    for rows, words in zip(scores, ids, strict=True):
        for m in range(len(words) - 1):
            costs.append(-torch.log(torch.softmax(rows[m], dim=0)[words[m + 1]]))
    return sum(costs) / len(costs)


RIGHT = {
    "keep_head": [
        by_split,
        by_silencing,
        lambda W_o, k, h: (W_o.unflatten(1, (h, -1)) * (torch.arange(h) == k)[:, None]).flatten(1),
        lambda W_o, k, h: W_o * (torch.arange(W_o.shape[1]) // (W_o.shape[1] // h) == k),
        lambda W_o, k, h: W_o.float().where(torch.arange(W_o.shape[1]).div(W_o.shape[1] / h).floor() == k, 0.0),
    ],
    "next_word_loss": [
        by_loops,
        lambda scores, ids: F.cross_entropy(scores[:, :-1].mT, ids[:, 1:]),
        lambda scores, ids: F.cross_entropy(
            scores[:, :-1].reshape(-1, scores.shape[2]).float(), ids[:, 1:].reshape(-1)
        ),
        lambda scores, ids: (
            scores[:, :-1].logsumexp(-1) - scores[:, :-1].gather(-1, ids[:, 1:, None]).squeeze(-1)
        ).mean(),
        lambda scores, ids: F.nll_loss(F.log_softmax(scores, -1)[:, :-1].flatten(0, 1), ids[:, 1:].flatten()),
        lambda scores, ids: sum(F.cross_entropy(s[:-1], i[1:]) for s, i in zip(scores, ids, strict=True)) / len(ids),
    ],
}
