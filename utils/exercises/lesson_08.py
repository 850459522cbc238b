"""Exercises of lesson 8: batches and padding."""

from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812

from utils.exercise import Exercise, numbers


def _contexts(Q, K, V, over=lambda K: K.shape[-1] ** 0.5, dim=-1):
    """Context vectors of each sentence, with one step or the other exchanged."""
    return torch.softmax(Q @ K.mT / over(K), dim=dim) @ V


def _flattened(Q, K, V):
    """All words under each other, as if they were one long sentence."""
    return _contexts(*(M.flatten(0, 1) for M in (Q, K, V))).view(V.shape)


batch_contexts = Exercise(
    number="8.1",
    name="batch_contexts",
    asked=lambda Q, K, V: _contexts(Q, K, V),
    inputs=tuple(
        tuple(numbers(seed + i, *shape) for i in range(3))
        for seed, shape in [(975, (2, 3, 2)), (814, (3, 5, 2)), (817, (4, 2, 3))]
    ),
    confirmed="Each sentence of the batch gets the context vectors that it gets alone.",
    gradient=True,
    wrong={
        "Softmax still runs along dim=1. In a batch that is the axis of the words that look, so your columns sum to 1. "
        "Use dim=-1.": partial(_contexts, dim=1),
        "The root is still that of K.shape[1], which is n in a batch. Take K.shape[-1], the width c.": (
            partial(_contexts, over=lambda K: K.shape[1] ** 0.5)
        ),
        "Two faults are left: axis 1 is no longer what it was, neither in dim=1 nor in K.shape[1]. Count axes from the "
        "right.": partial(_contexts, over=lambda K: K.shape[1] ** 0.5, dim=1),
        "K.T reverses all three axes, the one of the sentences too. Use K.mT, which exchanges the last two.": (
            lambda Q, K, V: Q @ K.permute(2, 1, 0) @ V
        ),
        "You exchanged sentences and words of K. Exchange its last two axes: K.mT, or K.transpose(-2, -1).": (
            lambda Q, K, V: Q @ K.transpose(0, 1) @ V
        ),
        "K.view and K.reshape deal out the numbers in another order: they do not transpose. Use K.mT.": (
            lambda Q, K, V: torch.softmax(Q @ K.reshape(K.mT.shape) / K.shape[-1] ** 0.5, dim=-1) @ V
        ),
        "K is not transposed, or another factor is. Each query meets each key in Q @ K.mT.": lambda Q, K, V: Q @ K @ V,
        "Softmax runs over the sentences, dim=0, so a weight depends on what else is in the batch. Use dim=-1.": (
            partial(_contexts, dim=0)
        ),
        "Your words look at words of other sentences: the batch was laid out as one long sentence. Keep the axis b in "
        "front; @ repeats itself for it.": _flattened,
        "Sentences and words are exchanged, so words at the same place of all sentences look at each other. Leave the "
        "axis b in front.": (lambda Q, K, V: _contexts(*(M.transpose(0, 1) for M in (Q, K, V))).transpose(0, 1)),
        "That is the first sentence only. Keep the axis b; the last two axes do the work.": (
            lambda Q, K, V: _contexts(Q[0], K[0], V[0])
        ),
        "The sentences lie below each other, (b·n, c). Give them an axis of their own in front: torch.stack, not "
        "torch.cat.": lambda Q, K, V: _contexts(Q, K, V).flatten(0, 1),
        "Your c is the 2 of the notebook, and c is not 2 in every batch here. Take K.shape[-1].": (
            partial(_contexts, over=lambda K: 2**0.5)
        ),
        "The scores are not divided. Divide by the root of K.shape[-1] before softmax.": (
            partial(_contexts, over=lambda K: 1)
        ),
        "You divide by c itself. Divide by its root, K.shape[-1] ** 0.5.": partial(
            _contexts, over=lambda K: K.shape[-1]
        ),
        "len(K) is the number of sentences in a batch. Take the root of K.shape[-1], the width c.": (
            partial(_contexts, over=lambda K: len(K) ** 0.5)
        ),
        "Those are the weights. Multiply them by V for the context vectors.": (
            lambda Q, K, V: torch.softmax(Q @ K.mT / K.shape[-1] ** 0.5, dim=-1)
        ),
    },
)


def _real(lengths, n):
    """(b, n): True for a word of the sentence, as in the lesson."""
    return torch.arange(n) < lengths[:, None]


def _spread(answer, lengths, n):
    """The mask as it meets scores of shape (b, n, n): an axis of size 1 is repeated."""
    mask = answer(lengths, n)
    try:
        return mask.expand(len(lengths), n, n)
    except (AttributeError, RuntimeError):  # no tensor, or of another shape
        return mask


visible = Exercise(
    number="8.2",
    name="visible",
    asked=lambda lengths, n: _real(lengths, n)[:, None, :],
    inputs=((torch.tensor([3, 1]), 3), (torch.tensor([2, 5, 4]), 5), (torch.tensor([1, 3, 2, 4, 3]), 6)),
    use=_spread,
    confirmed="Nobody may look at padding, every word of the sentence may be looked at, and no row is empty.",
    wrong={
        "Padding is not hidden at all. A word looked at is real where its place is below the length: "
        "torch.arange(n) < length.": lambda lengths, n: torch.ones(len(lengths), n, n, dtype=torch.bool),
        "You mask the words that look, the queries: their rows become NaN, and real words look at padding as before. "
        "Mask the words looked at, the keys: real[:, None, :].": lambda lengths, n: _real(lengths, n)[:, :, None],
        "You mask keys and queries. The rows of padding may then look nowhere and become NaN. Mask the keys only: "
        "real[:, None, :].": lambda lengths, n: _real(lengths, n)[:, None, :] & _real(lengths, n)[:, :, None],
        "Your mask is inverted: True for padding. In this course True means that a word may look.": (
            lambda lengths, n: ~_real(lengths, n)[:, None, :]
        ),
        "One row of padding may be looked at. Places count from 0, so a word is real where its place is < its length, "
        "not <=.": lambda lengths, n: _real(lengths + 1, n)[:, None, :],
        "The last word of each sentence is hidden. Places count from 0: real where the place is < the length.": (
            lambda lengths, n: _real(lengths - 1, n)[:, None, :]
        ),
        "You hide later words as well, as in lesson 6. Here only padding is to be hidden.": (
            lambda lengths, n: _real(lengths, n)[:, None, :] & torch.ones(n, n, dtype=torch.bool).tril()
        ),
        "That is real, (b, n), and against (b, n, n) its sentences would meet the queries. Put an axis of size 1 in "
        "their place: real[:, None, :].": [
            _real,
            lambda lengths, n: _real(lengths, n) & torch.ones(n, n, dtype=torch.bool),
        ],
        "That is the mask for scores with heads, (b, 1, 1, n). Here they are (b, n, n): real[:, None, :].": (
            lambda lengths, n: _real(lengths, n)[:, None, None, :]
        ),
        "Your places end at the longest length. The scores have n columns, which may be more: torch.arange(n).": (
            lambda lengths, n: _real(lengths, int(lengths.max()))[:, None, :]
        ),
        "Your places come first and your sentences last. Compare torch.arange(n) with lengths[:, None], so that real "
        "is (b, n).": [
            lambda lengths, n: torch.arange(n)[:, None] < lengths,
            lambda lengths, n: (torch.arange(n)[:, None] < lengths)[:, None, :],
        ],
        "lengths is (b,), and its sentences meet the n places. Give it an axis of size 1, lengths[:, None], or take "
        "one length after the other.": [
            lambda lengths, n: torch.arange(n) < lengths,
            lambda lengths, n: torch.arange(n) < lengths[None],
        ],
    },
)

REAL = torch.arange(4) < torch.tensor([[4], [2], [1]])

# In the last input a row of zeros is padding in one sentence and a word in the other
mean_of_words = Exercise(
    number="8.3",
    name="mean_of_words",
    asked=lambda C, real: torch.stack([rows[words].mean(dim=0) for rows, words in zip(C, real, strict=True)]),
    inputs=(
        (numbers(831, 2, 3, 2), REAL[:2, 1:]),
        (numbers(832, 3, 4, 2), REAL),
        (
            F.pad(numbers(833, 2, 4, 3), (0, 0, 1, 0)),
            torch.tensor([[False, False, True, True, True], [True, True, True, True, False]]),
        ),
    ),
    confirmed="Only words count, wherever the padding stands, and each sentence has its own number of words.",
    gradient=True,
    wrong={
        "You average over all rows, the padding too. Add up the real rows only and divide by how many there are.": (
            lambda C, real: C.mean(dim=1)
        ),
        "The padding is left out of the sum, but you divide by n, as if it counted. Divide by the number of real words "
        "of the sentence.": lambda C, real: (C * real[:, :, None]).mean(dim=1),
        "That is the sum of the real rows. Divide it by the number of real words of the sentence.": (
            lambda C, real: (C * real[:, :, None]).sum(dim=1)
        ),
        "You divide by the real words of the whole batch. Each sentence has its own number: real.sum(dim=-1).": (
            lambda C, real: (C * real[:, :, None]).sum(dim=1) / real.sum()
        ),
        "C[real] lays the words of all sentences under each other, so nobody knows any more whose they are. Take the "
        "mean per sentence, (b, c).": [
            lambda C, real: C[real],
            lambda C, real: C[real].mean(dim=0),
            lambda C, real: C[real].mean(dim=1),
            lambda C, real: C[real].mean(),
        ],
        "The padding is in your sum. Its rows of C are not zero, so leave them out: multiply C by real[:, :, None] "
        "first.": lambda C, real: C.sum(dim=1) / real.sum(dim=1, keepdim=True),
        "You filled the padding with −inf or NaN, and a mean of such numbers is no number. Fill with 0 and divide by "
        "the number of real words.": [
            lambda C, real: C.masked_fill(~real[:, :, None], -torch.inf).mean(dim=1),
            lambda C, real: C.masked_fill(~real[:, :, None], torch.nan).mean(dim=1),
        ],
        "That is one mean per word: it runs along the c numbers. Average over the words of a sentence, the axis 1.": [
            lambda C, real: C.mean(dim=-1),
            lambda C, real: (C * real[:, :, None]).mean(dim=-1),
            lambda C, real: torch.stack([rows[words].mean(dim=-1) for rows, words in zip(C, real, strict=True)]),
        ],
        "That is one number per sentence: mean() without dim averages over the c numbers too. Use dim=0 on the words "
        "of a sentence.": lambda C, real: torch.stack(
            [rows[words].mean() for rows, words in zip(C, real, strict=True)]
        ),
        "The means stand one behind the other. Give each sentence a row of its own: torch.stack, not torch.cat.": (
            lambda C, real: torch.cat([rows[words].mean(dim=0) for rows, words in zip(C, real, strict=True)])
        ),
        "You average over the sentences, not over the words. The words are the axis 1, or -2.": [
            lambda C, real: C.mean(dim=0),
            lambda C, real: (C * real[:, :, None]).sum(dim=0) / real.sum(dim=0)[:, None],
        ],
        "That is the first row of each sentence. Average over all its real words.": lambda C, real: C[:, 0],
        "You take the first rows, as many as there are words. Padding may stand at the front: let real say which rows "
        "are words.": lambda C, real: torch.stack(
            [rows[:length].mean(dim=0) for rows, length in zip(C, real.sum(dim=1), strict=True)]
        ),
        "That is the last row, which is padding in a short sentence. Average over the real words.": (
            lambda C, real: C[:, -1]
        ),
        "That is the mean of the padding. real is True for words, so leave the ~ out.": (
            lambda C, real: (C * ~real[:, :, None]).sum(dim=1) / (~real).sum(dim=1)[:, None]
        ),
        "real meets the wrong axis of C, which has one axis more, for the c numbers. Give real an axis of size 1 at "
        "the end: real[:, :, None].": [
            lambda C, real: C * real,
            lambda C, real: C * real[:, None, :],
            lambda C, real: C.masked_fill(~real, 0),
        ],
        "real.sum(dim=0) counts the sentences at each place. Count the words of each sentence: real.sum(dim=-1).": (
            lambda C, real: (C * real[:, :, None]).sum(dim=1) / real.sum(dim=0)
        ),
        "The sums are (b, c) and the numbers of words (b,), which meet at the wrong axis. Keep an axis of size 1: "
        "real.sum(dim=-1, keepdim=True).": lambda C, real: (C * real[:, :, None]).sum(dim=1) / real.sum(dim=1),
    },
)
