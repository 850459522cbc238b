"""Exercises of lesson 10: a small GPT."""

import torch
import torch.nn.functional as F  # noqa: N812

from utils.exercise import Exercise, numbers


def _kept(W_o, columns, rows=slice(None)):
    """W_o where these rows and columns meet, 0 elsewhere."""
    kept = torch.zeros_like(W_o)
    kept[rows, columns] = W_o[rows, columns]
    return kept


def _part(k, c):
    return slice(k * c, (k + 1) * c)


def _width(W_o, h):
    return W_o.shape[1] // h


keep_head = Exercise(
    number="10.1",
    name="keep_head",
    asked=lambda W_o, k, h: _kept(W_o, _part(k, _width(W_o, h))),
    inputs=((numbers(8, 4, 6), 1, 2), (numbers(2, 5, 12), 2, 3), (numbers(3, 10, 10), 3, 5), (numbers(4, 6, 8), 0, 4)),
    confirmed="Head k alone hands something on, also when h · c is not d.",
    wrong={
        "You silence head k and keep the others. It is the other way round: head k keeps its columns, the others "
        "become 0.": lambda W_o, k, h: W_o - _kept(W_o, _part(k, _width(W_o, h))),
        "You keep rows. The heads lie along the columns: nn.Linear stores W_o as (d, h · c), so write [:, …].": [
            lambda W_o, k, h: _kept(W_o, slice(None), _part(k, _width(W_o, h))),
            lambda W_o, k, h: _kept(W_o, slice(None), _part(k, W_o.shape[0] // h)),
        ],
        "You cut at multiples of d / h. The heads need not fill d numbers: c is the number of columns divided by h, "
        "W_o.shape[1] // h.": lambda W_o, k, h: _kept(W_o, _part(k, W_o.shape[0] // h)),
        "You silence head k and keep the others, and you cut at multiples of d / h. It is the other way round, and c "
        "is the number of columns divided by h.": lambda W_o, k, h: W_o - _kept(W_o, _part(k, W_o.shape[0] // h)),
        "You keep a single column. A head has c of them, from k * c to (k + 1) * c.": [
            lambda W_o, k, h: _kept(W_o, slice(k, k + 1)),
            lambda W_o, k, h: _kept(W_o, slice(k * _width(W_o, h), k * _width(W_o, h) + 1)),
        ],
        "You begin at column k. The heads before take c columns each, so head k begins at k * c.": (
            lambda W_o, k, h: _kept(W_o, slice(k, k + _width(W_o, h)))
        ),
        "You keep every h-th column, as if the heads took turns. Each head has c columns in a row, from k * c on.": (
            lambda W_o, k, h: _kept(W_o, slice(k, None, h))
        ),
        "You keep every c-th column. Each head has c columns in a row, from k * c on.": (
            lambda W_o, k, h: _kept(W_o, slice(k, None, _width(W_o, h)))
        ),
        "You mix up c and h: your blocks are h columns wide. A head is c wide, W_o.shape[1] // h.": (
            lambda W_o, k, h: _kept(W_o, _part(k, h))
        ),
        "You count the heads from 1, so this is the head before. Here head 0 is the first, and begins at k * c.": (
            lambda W_o, k, h: _kept(W_o, _part(k - 1, _width(W_o, h)))
        ),
        "This is the head after: it begins at k * c, not at (k + 1) * c.": (
            lambda W_o, k, h: _kept(W_o, _part(k + 1, _width(W_o, h)))
        ),
        "You lose the last column of the head. A slice ends before its end, so that is (k + 1) * c.": (
            lambda W_o, k, h: _kept(W_o, slice(k * _width(W_o, h), (k + 1) * _width(W_o, h) - 1))
        ),
        "The heads after k still hand on: their columns, from (k + 1) * c, have to become 0 too.": (
            lambda W_o, k, h: _kept(W_o, slice(k * _width(W_o, h), None))
        ),
        "The heads before k still hand on: their columns, up to k * c, have to become 0 too.": (
            lambda W_o, k, h: _kept(W_o, slice(None, (k + 1) * _width(W_o, h)))
        ),
        "You return the columns of head k alone. The matrix keeps its shape, with 0 in the columns of the others.": (
            lambda W_o, k, h: W_o[:, _part(k, _width(W_o, h))]
        ),
        "You move the columns of head k to the front, where they would meet head 0. They keep their place.": (
            lambda W_o, k, h: F.pad(W_o[:, _part(k, _width(W_o, h))], (0, W_o.shape[1] - _width(W_o, h)))
        ),
        "Here W_o is the matrix itself, not the layer that holds it. Leave .weight out.": (
            lambda W_o, k, h: W_o.clone().weight
        ),
        "A slice needs whole numbers, and / gives a number with decimals. Divide with //, W_o.shape[1] // h.": (
            lambda W_o, k, h: _kept(W_o, _part(k, W_o.shape[1] / h))
        ),
        "You return the transpose, (h · c, d), as W_o stands in the formula. Keep the shape in which it came.": (
            lambda W_o, k, h: _kept(W_o, _part(k, _width(W_o, h))).mT
        ),
        "You put −∞ in place of 0. That is for scores, before softmax; what is handed on is silenced by 0.": (
            lambda W_o, k, h: _kept(W_o, _part(k, _width(W_o, h))).masked_fill(
                _kept(torch.ones_like(W_o), _part(k, _width(W_o, h))) == 0, -torch.inf
            )
        ),
        "Nothing is silenced: this is W_o as it came. Put 0 into the columns of the other heads.": (
            lambda W_o, k, h: W_o.clone()
        ),
        "Everything is silenced. Copy the columns of head k from W_o into the zeros.": (
            lambda W_o, k, h: torch.zeros_like(W_o)
        ),
    },
)


def _loss(scores, ids, reduction="mean"):
    return F.cross_entropy(scores.flatten(0, 1), ids.flatten(), reduction=reduction)


def _shifted(scores, ids):
    return scores[:, :-1], ids[:, 1:]


def _sum(scores, ids):
    return _loss(*_shifted(scores, ids), reduction="sum")


def _of_next(rows, ids):
    """What each row but the last holds for the word after it."""
    rows, ids = _shifted(rows, ids)
    return rows.gather(-1, ids[..., None])


def _words(*rows):
    return torch.tensor(rows)


next_word_loss = Exercise(
    number="10.2",
    name="next_word_loss",
    asked=lambda scores, ids: _loss(*_shifted(scores, ids)),
    inputs=(
        (2 * numbers(5, 2, 3, 4), _words([2, 0, 3], [1, 3, 0])),
        (2 * numbers(6, 3, 5, 4), _words([0, 2, 1, 3, 0], [3, 1, 1, 2, 0], [1, 0, 3, 2, 2])),
        (2 * numbers(7, 1, 4, 6), _words([5, 1, 4, 2])),
    ),
    gradient=True,
    confirmed="Each word is scored on the next one, and on none of another sentence.",
    wrong={
        "Nothing is shifted: each word is asked for itself, which it has read. Pair scores[:, :-1] with ids[:, 1:].": (
            _loss
        ),
        "You shift the wrong way: each word is asked for the one before. Take the last word from scores and the first "
        "one from ids.": [
            lambda scores, ids: _loss(scores[:, 1:], ids[:, :-1]),
            lambda scores, ids: _loss(scores, ids.roll(1, dims=1)),
        ],
        "You cut the last word from both, so each word is still asked for itself. Cut the first from ids.": (
            lambda scores, ids: _loss(scores[:, :-1], ids[:, :-1])
        ),
        "You cut the first word from both, so each word is still asked for itself. From scores cut the last, "
        "scores[:, :-1].": lambda scores, ids: _loss(scores[:, 1:], ids[:, 1:]),
        "roll moves the first word to the end, so the last word is asked for the first. Leave the last word out: "
        "scores[:, :-1] with ids[:, 1:].": lambda scores, ids: _loss(scores, ids.roll(-1, dims=1)),
        "The last word has no next one, and you ask it for word number 0 instead. Leave it out: scores[:, :-1].": (
            lambda scores, ids: _loss(scores, F.pad(ids[:, 1:], (0, 1)))
        ),
        "ids + 1 is the next word of the vocabulary, not of the sentence. Move along the sentence: ids[:, 1:].": [
            lambda scores, ids: _loss(scores, ids + 1),
            lambda scores, ids: _loss(scores[:, :-1], ids[:, :-1] + 1),
        ],
        "One guess per sentence is scored. In training every word but the last makes one.": [
            lambda scores, ids: _loss(scores[:, -2:-1], ids[:, -1:]),
            lambda scores, ids: _loss(scores[:, -1:], ids[:, -1:]),
        ],
        "You shift after the sentences were joined, so the last word of one is asked for the first of another. Shift "
        "within each sentence, then flatten.": [
            lambda scores, ids: F.cross_entropy(scores.flatten(0, 1)[:-1], ids.flatten()[1:]),
            lambda scores, ids: _loss(scores, ids.roll(-1)),
        ],
        "You shift the sentences, not the words: axis 0 counts sentences. Write [:, :-1] and [:, 1:].": [
            lambda scores, ids: _loss(scores[:-1], ids[1:]),
            lambda scores, ids: _loss(scores, ids.roll(-1, dims=0)),
        ],
        "You shift by two: each word is asked for the one after the next. Shift by one.": (
            lambda scores, ids: _loss(scores[:, :-2], ids[:, 2:])
        ),
        "scores and ids no longer have the same number of words. Cut one word from each, along axis 1: scores[:, :-1] "
        "and ids[:, 1:].": [
            lambda scores, ids: _loss(scores, ids[:, 1:]),
            lambda scores, ids: _loss(scores[..., :-1], ids[..., 1:]),
        ],
        "ids has a word more than scores for each sentence. Cut its first one: ids[:, 1:].": (
            lambda scores, ids: _loss(scores[:, :-1], ids)
        ),
        "F.cross_entropy seeks the words of the vocabulary along axis 1. Make scores (guesses, v) and ids (guesses,), "
        "with .flatten(0, 1) and .flatten().": (lambda scores, ids: F.cross_entropy(scores[:, :-1], ids[:, 1:])),
        "ids is still (b, n − 1) where scores is (guesses, v). Make it one row, with .flatten().": (
            lambda scores, ids: F.cross_entropy(scores[:, :-1].flatten(0, 1), ids[:, 1:])
        ),
        "After the cut the entries no longer lie in a row, and .view needs that. Use .flatten(0, 1) or .reshape.": (
            lambda scores, ids: F.cross_entropy(scores[:, :-1].view(-1, scores.shape[-1]), ids[:, 1:].flatten())
        ),
        "There is one softmax too many: F.cross_entropy has its own. Give it the scores as they are.": (
            lambda scores, ids: _loss(*_shifted(torch.softmax(scores, dim=-1), ids))
        ),
        "That is the sum over all guesses. The mean is asked for.": _sum,
        "You divide by the number of sentences. The mean goes over all guesses, b · (n − 1).": (
            lambda scores, ids: _sum(scores, ids) / len(ids)
        ),
        "You divide by the number of words. The last word of each sentence guesses nothing: divide by b · (n − 1).": (
            lambda scores, ids: _sum(scores, ids) / ids.numel()
        ),
        "That is e to the power of the loss, among how many words it is like choosing. Return the loss.": (
            lambda scores, ids: _loss(*_shifted(scores, ids)).exp()
        ),
        "The sign is missing: the loss is the mean of −ln p.": (
            lambda scores, ids: -_sum(scores, ids) / ids[:, 1:].numel()
        ),
        "The logarithm is missing: that is the mean of p or −p, the loss is that of −ln p.": [
            lambda scores, ids: -_of_next(torch.softmax(scores, dim=-1), ids).mean(),
            lambda scores, ids: _of_next(torch.softmax(scores, dim=-1), ids).mean(),
        ],
        "F.nll_loss takes logarithms of probabilities, not scores. Use F.cross_entropy.": (
            lambda scores, ids: -_of_next(scores, ids).mean()
        ),
        "The logarithm stands outside the mean: −ln of the mean of p. Take the mean of −ln p.": (
            lambda scores, ids: -_of_next(torch.softmax(scores, dim=-1), ids).mean().log()
        ),
    },
)
