"""Exercises of lesson 9: what attention costs."""

from functools import partial

import torch

from utils.exercise import Exercise


def _states(*pairs):
    """Pairs of states: largest score, total, and the mix of c numbers."""
    return tuple(tuple(torch.tensor(state, dtype=torch.float64) for state in pair) for pair in pairs)


omega_bytes = Exercise(
    number="9.1",
    name="omega_bytes",
    asked=lambda b, h, n: 4 * b * h * n**2,
    inputs=((2, 3, 5), (3, 9, 7), (1, 12, 1024)),
    tolerance=1e-9,
    confirmed="All scores are counted, in bytes, also for 12 heads and 1024 words.",
    wrong={
        "Your bytes grow with n. Each word is compared with each, so a matrix holds n² scores.": (
            lambda b, h, n: 4 * b * h * n
        ),
        "You have one matrix per sentence. Each head has a matrix of its own, so multiply by h.": (
            lambda b, h, n: 4 * b * n**2
        ),
        "You have the matrices of one sentence. Multiply by b, the sentences.": lambda b, h, n: 4 * h * n**2,
        "That is a single matrix. Each head of each sentence has its own: multiply by b and h.": (
            lambda b, h, n: 4 * n**2
        ),
        "That is twice as much. In float32 a number takes 4 bytes, not 8 as in float64, and Ω is asked for, not A.": (
            lambda b, h, n: 8 * b * h * n**2
        ),
        "In Python ^ is no power. Write n**2.": lambda b, h, n: 4 * b * h * n ^ 2,
        "Those are kB or MB. Bytes are asked for, so do not divide.": [
            lambda b, h, n: 4 * b * h * n**2 / 1e3,
            lambda b, h, n: 4 * b * h * n**2 / 1e6,
        ],
        "Those are numbers, not bytes. In float32 each number takes 4 bytes.": lambda b, h, n: b * h * n**2,
        "Those are bits, 32 per number. Bytes are asked for, 4 per number.": lambda b, h, n: 32 * b * h * n**2,
        "You squared the heads too. A head compares words within itself, so only n is squared.": (
            lambda b, h, n: 4 * b * (h * n) ** 2
        ),
        "You squared the sentences too. A word never meets a word of another sentence, so only n is squared.": [
            lambda b, h, n: 4 * h * (b * n) ** 2,
            lambda b, h, n: 4 * (b * h * n) ** 2,
        ],
        "You counted half of each matrix, as if masked scores were left out. They are stored like the others.": [
            lambda b, h, n: 4 * b * h * n * (n + 1) // 2,
            lambda b, h, n: 4 * b * h * n * (n + 1) / 2,
            lambda b, h, n: 4 * b * h * n * n / 2,
        ],
        "You divide by h: that is right for the width of a head and wrong for its matrix, n × n whatever the width.": (
            lambda b, h, n: 4 * b * n**2 / h
        ),
    },
)


def _shrink(own, highest):
    return torch.exp(own - highest)


def _joined(left, right, highest=torch.maximum, shrink_left=_shrink, shrink_right=_shrink):
    """Join two states, with one step or the other exchanged."""
    top = highest(left[0], right[0])
    return torch.cat([top[None], shrink_left(left[0], top) * left[1:] + shrink_right(right[0], top) * right[1:]])


def _as_it_is(own, highest):
    return 1


def _divided(state):
    """A state whose mix is divided by its total."""
    return torch.cat([state[:2], state[2:] / state[1]])


def _averaged(left, right):
    """The two mixes averaged by their totals, each counted from the common largest score."""
    top = torch.maximum(left[0], right[0])
    a, b = left[1] * _shrink(left[0], top), right[1] * _shrink(right[0], top)
    return (a * left[2:] + b * right[2:]) / (a + b)


def _scored(state, largest):
    """A state with another largest score."""
    return torch.cat([largest[None], state[1:]])


joined = Exercise(
    number="9.2",
    name="joined",
    asked=lambda left, right: _joined(left, right),
    inputs=_states(
        ([1.0, 1.5, 0.3, -0.6], [2.0, 1.2, 0.5, 0.4]),
        ([0.4, 2.3, 1.1, -0.2, 0.7], [-0.7, 1.4, -0.5, 0.9, 0.6]),
        ([1000.0, 1.1, 0.2], [3.0, 2.2, -0.8]),
        ([-803.0, 1.7, 0.9, 0.1], [-800.0, 1.3, -0.4, 1.2]),
    ),
    confirmed="Both totals and mixes count from the common largest score, also when scores are 1000 or −803.",
    wrong={
        "Nothing is rescaled: the two totals count from different largest scores. Multiply total and mix of each by "
        "exp(its own largest − the common largest) before you add.": partial(
            _joined, shrink_left=_as_it_is, shrink_right=_as_it_is
        ),
        "Only left is rescaled. When left has the larger score, right has to shrink too: its total counts from its own "
        "largest score, unlike the exponentials of a new block.": partial(_joined, shrink_right=_as_it_is),
        "Only right is rescaled. When right has the larger score, the total and the mix of left have to shrink.": (
            partial(_joined, shrink_left=_as_it_is)
        ),
        "You rescale in the wrong direction, by exp(common − own), which is 1 or more. What was counted from a lower "
        "score has to shrink: exp(own − common).": partial(
            _joined,
            shrink_left=lambda own, highest: torch.exp(highest - own),
            shrink_right=lambda own, highest: torch.exp(highest - own),
        ),
        "The two factors are exchanged. Each state takes its own, exp(its own largest − the common largest).": (
            lambda left, right: torch.cat(
                [_joined(left, right)[:1], _joined(_scored(left, right[0]), _scored(right, left[0]))[1:]]
            )
        ),
        "You add one exponential in place of the total of right, as if right were a single score. Multiply right[1] by "
        "exp(right[0] − the common largest).": lambda left, right: _joined(
            left, torch.cat([right[:1], torch.ones(1, dtype=right.dtype), right[2:]])
        ),
        "You count from the largest score of right alone. When left has a larger one, exp overflows. Take the larger "
        "of the two.": partial(_joined, highest=lambda left, right: right),
        "You count from the largest score of left alone. When right has a larger one, exp overflows. Take the larger "
        "of the two.": partial(_joined, highest=lambda left, right: left),
        "You took the smaller of the two largest scores, so exp grows and may overflow. Take the larger, "
        "torch.maximum.": partial(_joined, highest=torch.minimum),
        "The states are added as they are, the largest scores too. Take the larger score, and rescale totals and mixes "
        "to it before you add.": lambda left, right: left + right,
        "One factor, exp(left − right), on left alone. It is above 1 when left has the larger score. Each state has "
        "its own factor, exp(own − larger).": lambda left, right: torch.cat(
            [torch.maximum(left[0], right[0])[None], _shrink(left[0], right[0]) * left[1:] + right[1:]]
        ),
        "torch.cat needs tensors with an axis, and a single number has none. Give it one: top[None].": (
            lambda left, right: torch.cat([torch.maximum(left[0], right[0]), left[1:]])
        ),
        "The totals are rescaled, the mixes are not. A mix is a sum of the same exponentials, so it takes the same "
        "factor.": lambda left, right: torch.cat([_joined(left, right)[:2], left[2:] + right[2:]]),
        "The mixes are rescaled, the totals are not. A total is a sum of the same exponentials, so it takes the same "
        "factor.": lambda left, right: torch.cat(
            [_joined(left, right)[:1], (left[1] + right[1])[None], _joined(left, right)[2:]]
        ),
        "You divide by the total already, and later it would be divided again. A mix stays a sum until the end.": (
            lambda left, right: _divided(_joined(left, right))
        ),
        "You average the mixes by their totals, as if they were averages already. They are sums: rescale and add.": (
            lambda left, right: torch.cat([_joined(left, right)[:2], _averaged(left, right)])
        ),
        "You divide each mix by its own total before you join, and what the halves weigh against each other is lost. "
        "Add up mixes, not averages.": [
            lambda left, right: torch.cat([_joined(left, right)[:2], _joined(_divided(left), _divided(right))[2:]]),
            lambda left, right: torch.cat([_joined(left, right)[:2], _divided(left)[2:] + _divided(right)[2:]]),
        ],
        "That is the row of C. A state is asked for, which can be joined again: largest, total and mix.": (
            lambda left, right: _divided(_joined(left, right))[2:]
        ),
        "The factor went over the whole state, the largest score too. The first entry is the larger of the two, not a "
        "sum.": lambda left, right: (
            _shrink(left[0], torch.maximum(left[0], right[0])) * left
            + _shrink(right[0], torch.maximum(left[0], right[0])) * right
        ),
        "exp of a largest score itself overflows at 1000 and is 0 at −800. Take the difference first: exp(own − "
        "common).": [
            partial(_joined, shrink_left=lambda own, top: torch.exp(own), shrink_right=lambda own, top: torch.exp(own)),
            partial(
                _joined,
                shrink_left=lambda own, top: torch.exp(own) / torch.exp(top),
                shrink_right=lambda own, top: torch.exp(own) / torch.exp(top),
            ),
        ],
    },
)

next_word_cost = Exercise(
    number="9.3",
    name="next_word_cost",
    asked=3 * 6 * 5 + 2 * 11 * 5,  # d = 6, c = 5, and the new word is the 11th
    confirmed="The work for the new word is counted, and nothing that the cache has kept.",
    wrong={
        "You count 10 words. The new one looks at itself too, so its query meets 11 keys.": 3 * 6 * 5 + 2 * 10 * 5,
        "That is recomputing the whole text. With a cache there is one query, not 11, and only one word to project.": (
            3 * 11 * 6 * 5 + 2 * 11**2 * 5
        ),
        "You project all 11 words anew. The keys and values of the old ones are in the cache.": (
            3 * 11 * 6 * 5 + 2 * 11 * 5
        ),
        "You count the scores of all pairs. Only the row of the new word is computed.": 3 * 6 * 5 + 2 * 11**2 * 5,
        "You project the query only. The key and the value of the new word are not in the cache yet.": (
            6 * 5 + 2 * 11 * 5
        ),
        "Key and value of the new word have to be made, and its query too: three projections, not two.": (
            2 * 6 * 5 + 2 * 11 * 5
        ),
        "You left out the mix, 11 weights times values of 5 numbers. It costs as much as the scores.": (
            3 * 6 * 5 + 11 * 5
        ),
        "You left out the projections. The new word comes as a row of X: make its query, key and value first.": (
            2 * 11 * 5
        ),
        "Those are the projections alone. The query then meets 11 keys, and 11 values are mixed.": 3 * 6 * 5,
        "Those are the scores alone. Add the mix and the three projections of the new word.": 11 * 5,
        "A score is a sum of c = 5 products and a mix has c = 5 numbers. d = 6 counts in the projections only.": (
            3 * 6 * 5 + 2 * 11 * 6
        ),
        "Those are the projections of all 11 words. Only the new one is projected; add its scores and its mix.": (
            3 * 11 * 6 * 5
        ),
        "Those are FLOPs, two per multiply-add. Multiply-adds are asked for.": 2 * (3 * 6 * 5 + 2 * 11 * 5),
        "That is writing all 11 words, one after the other. Only the last one is asked for.": sum(
            3 * 6 * 5 + 2 * k * 5 for k in range(1, 12)
        ),
    },
)
