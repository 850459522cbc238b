"""Exercises of lesson 3: scaled softmax."""

import math
import re
from math import inf

import torch

from utils.exercise import Exercise, numbers

SCORES = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]], dtype=torch.float64)
LARGE = torch.tensor([[2001.0, -2000.0, 2003.0], [-2000.0, -2002.0, -2001.0]], dtype=torch.float64)


def _shares(raised, dim=-1):
    return raised / raised.sum(dim=dim, keepdim=True)


def _raised(Omega, c):
    scaled = Omega / c**0.5
    return torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))


def _by_math_exp(Omega, c):
    raised = [[math.exp(score / math.sqrt(c)) for score in row] for row in Omega.tolist()]
    return torch.tensor([[each / sum(row) for each in row] for row in raised])


def _by_square_loops(Omega, c, n):
    A = torch.zeros(n, n).to(Omega)
    for m in range(n):
        total = sum(math.exp(Omega[m, r].item() / math.sqrt(c)) for r in range(n))
        for p in range(n):
            A[m, p] = math.exp(Omega[m, p].item() / math.sqrt(c)) / total
    return A


scaled_weights = Exercise(
    number="3.1",
    name="scaled_weights",
    asked=lambda Omega, c: torch.softmax(Omega / c**0.5, dim=-1),
    inputs=((SCORES, 4), (numbers(1, 5, 5), 3), (3 * numbers(2, 6, 4), 9), (LARGE, 2)),
    confirmed="Each row sums to 1, nothing overflows, and the scores are divided by √c, for c = 4, 3, 9 and 2.",
    gradient=True,
    wrong={
        "Your columns sum to 1, not your rows: softmax runs along dim=0. Use dim=-1.": (
            lambda Omega, c: torch.softmax(Omega / c**0.5, dim=0)
        ),
        "All your weights together sum to 1: softmax runs over the whole matrix. Give each row its own, with dim=-1.": (
            [
                lambda Omega, c: torch.softmax((Omega / c**0.5).flatten(), dim=0).reshape(Omega.shape),
                lambda Omega, c: torch.exp(Omega / c**0.5) / torch.exp(Omega / c**0.5).sum(),
            ]
        ),
        "The scores are not divided. Divide Omega by c**0.5 before softmax.": (
            lambda Omega, c: torch.softmax(Omega, dim=-1)
        ),
        "Two mistakes: the scores are not divided, and softmax runs along dim=0. Divide by c**0.5 and use dim=-1.": (
            lambda Omega, c: torch.softmax(Omega, dim=0)
        ),
        "You divide by c. Divide by its root, c**0.5.": lambda Omega, c: torch.softmax(Omega / c, dim=-1),
        "You divide by half of c: c*0.5 is a product, and c**1/2 is (c**1)/2. The root of c is c**0.5.": (
            lambda Omega, c: torch.softmax(Omega / (c * 0.5), dim=-1)
        ),
        "You divide by c and then by 2: Omega / c**1/2 is (Omega / c) / 2. The root of c is c**0.5, or c**(1/2).": (
            lambda Omega, c: torch.softmax(Omega / c**1 / 2, dim=-1)
        ),
        "You divide by c squared. Divide by the root of c, c**0.5.": (
            lambda Omega, c: torch.softmax(Omega / c**2, dim=-1)
        ),
        "You multiply by √c, so scores that are too large get larger still. Divide: Omega / c**0.5.": (
            lambda Omega, c: torch.softmax(Omega * c**0.5, dim=-1)
        ),
        "You multiply by c. Divide by its root: Omega / c**0.5.": lambda Omega, c: torch.softmax(Omega * c, dim=-1),
        "You divide by the root of a number of words, an axis of Omega. The root is that of c, c**0.5.": [
            lambda Omega, c: torch.softmax(Omega / Omega.shape[-1] ** 0.5, dim=-1),
            lambda Omega, c: torch.softmax(Omega / Omega.shape[0] ** 0.5, dim=-1),
        ],
        "You divide by √2 whatever c is: the K of the notebook has two columns. Use the argument c, c**0.5.": (
            lambda Omega, c: torch.softmax(Omega / 2**0.5, dim=-1)
        ),
        "You divide after softmax, so your rows no longer sum to 1. Divide the scores first, then softmax.": (
            lambda Omega, c: torch.softmax(Omega, dim=-1) / c**0.5
        ),
        "You divide twice, before and after softmax, so your rows no longer sum to 1. Divide the scores only.": (
            lambda Omega, c: torch.softmax(Omega / c**0.5, dim=-1) / c**0.5
        ),
        "There is no softmax: these are the scores divided by √c. Softmax makes weights of them.": (
            lambda Omega, c: Omega / c**0.5
        ),
        "You divide each score by the sum of its row. Softmax raises e to each score first, then divides by the sum.": (
            lambda Omega, c: _shares(Omega / c**0.5)
        ),
        "You raise e to each score, but your rows do not sum to 1. Divide each row by its own sum.": [
            lambda Omega, c: torch.exp(Omega / c**0.5),
            _raised,
        ],
        "You divide each row by the wrong sum: .sum(dim=-1) lies down as a row. Keep it a column with keepdim=True.": [
            lambda Omega, c: torch.exp(Omega / c**0.5) / torch.exp(Omega / c**0.5).sum(dim=-1),
            lambda Omega, c: _raised(Omega, c) / _raised(Omega, c).sum(dim=-1),
        ],
        "The formula is right, but exp of a large score is infinite, and infinity divided by infinity is NaN. "
        "Subtract the largest score of each row first, or use torch.softmax.": (
            lambda Omega, c: _shares(torch.exp(Omega / c**0.5))
        ),
        "The formula is right, but math.exp stops with an error at a large score. Stay with tensors, and subtract the "
        "largest score of each row first, or use torch.softmax.": _by_math_exp,
        "Your loops take as many columns as there are rows. Omega need not be square: its columns are "
        "Omega.shape[1].": lambda Omega, c: _by_square_loops(Omega, c, len(Omega)),
        "You count on seven words, the n of the lesson. Omega may have any number of rows and columns, "
        "Omega.shape.": lambda Omega, c: _by_square_loops(Omega, c, 7),
        "You subtract the mean of each row, and a score far above it still overflows. "
        "Subtract the largest score, .amax(dim=-1, keepdim=True).": (
            lambda Omega, c: _shares(torch.exp((Omega - Omega.mean(dim=-1, keepdim=True)) / c**0.5))
        ),
        "You subtract the largest score of the whole matrix, so a row far below it becomes 0 divided by 0. "
        "Subtract the largest score of each row, with .amax(dim=-1, keepdim=True).": (
            lambda Omega, c: _shares(torch.exp((Omega - Omega.max()) / c**0.5))
        ),
        "You give the logarithms of the weights: log_softmax is a step too far. Use torch.softmax.": (
            lambda Omega, c: torch.log_softmax(Omega / c**0.5, dim=-1)
        ),
        "You take the root of the scores too, and a negative score has none. Only c goes under the root: "
        "Omega / c**0.5.": lambda Omega, c: torch.softmax((Omega / c) ** 0.5, dim=-1),
        "torch.softmax has to be told the axis. Add dim=-1.": lambda Omega, c: torch.softmax(Omega / c**0.5),
        "torch.sqrt takes tensors, and c is a number. Write c**0.5.": (
            lambda Omega, c: torch.softmax(Omega / torch.sqrt(c), dim=-1)
        ),
    },
)

wider_spread = Exercise(
    number="3.2",
    name="wider_spread",
    asked=20,
    confirmed="The spread grows as measured above, and not as the width does.",
    tolerance=0.1,  # about right is enough
    wrong={
        "The spread does not grow like c but like √c. Four times as wide, it grows by √4.": 40,
        "That is the new c, which is also the variance of a score. The spread is its root.": 400,
        "It does not stay: a wider head adds up more products, and they seldom cancel fully. It grows by √4.": 10,
        "You make the spread smaller. More products are added up, so scores spread further: multiply by √4.": [5, 2.5],
        "You multiply by 4 twice. The variance grows by 4 and the spread by its root, √4.": 160,
        "That is the spread after the division by √c. Here the scores are not divided.": 1,
        "That is the old c. Four times as wide, it is 400, and the spread is its root.": 100,
        "That is by how much the width grows. The spread grows by √4, from 10.": 4,
        "That is by how much the spread grows, √4. Multiply the old spread, 10, by it.": 2,
        "You take the root of the old spread too. The spread 10 is already a root, √100: multiply it by √4.": 40**0.5,
    },
)

MADE_UP = torch.tensor([[-0.6, 1.1, 0.4], [1.4, -0.5, 1.0], [0.7, -1.5, -1.6]], dtype=torch.float64)  # divided by √4
WHAT = {
    "all": torch.softmax(MADE_UP.flatten(), dim=0).reshape(MADE_UP.shape),
    "right": torch.softmax(MADE_UP, dim=-1),
    "after": torch.softmax(2 * MADE_UP, dim=-1) / 2,
    "columns": torch.softmax(MADE_UP, dim=0),
}
PICTURES = tuple(WHAT)
DRAWN = {f"picture {number}": matrix for number, matrix in enumerate(WHAT.values(), start=1)}


def _first_mix_up(said):
    """The first picture that is not what it is said to be."""
    said = re.split(r"[\s,]+", said.strip()) if isinstance(said, str) else said
    said = [str(word).strip().lower() for word in said]
    said = [{"rows": "right", "row": "right", "column": "columns"}.get(word, word) for word in said]
    if strange := [word for word in said if word not in WHAT]:
        raise ValueError(f"{strange[0]!r} is none of the four words right, columns, all, after")
    if len(said) != len(PICTURES):
        raise ValueError(f"{len(said)} words, expected one for each of the {len(PICTURES)} pictures")
    wrong = [f"{number} is {word}" for number, word in enumerate(said, start=1) if word != PICTURES[number - 1]]
    return f"picture {wrong[0]}" if wrong else "no mix-up"


def _say(number, word):
    return (*PICTURES[: number - 1], word, *PICTURES[number:])


what_was_done = Exercise(
    number="3.3",
    name="what_was_done",
    asked=PICTURES,
    confirmed="Row sums and column sums tell all four apart.",
    seen=_first_mix_up,
    wrong={
        "Picture 1 is not right: its row sums are not 1, so its rows are not shares. What sums to 1 there?": (
            _say(1, "right")
        ),
        "In picture 1 no column sums to 1, so softmax did not run down the columns. Add up all its row sums.": (
            _say(1, "columns")
        ),
        "In picture 1 the row sums differ. Rows that were divided after softmax all have the same sum.": (
            _say(1, "after")
        ),
        "In picture 2 each row is shared out by itself. Over all entries, the row sums together would be 1.": (
            _say(2, "all")
        ),
        "In picture 2 it is the row sums that are 1; the numbers below are the column sums. "
        "Softmax down the columns makes those 1.": _say(2, "columns"),
        "In picture 2 each row sums to 1. Divided after softmax, it would sum to less.": _say(2, "after"),
        "Picture 3 is not right: each row sums to half of what it should. What has made all rows equally smaller?": (
            _say(3, "right")
        ),
        "In picture 3 the column sums are not 1. Look at the row sums: they are all the same.": _say(3, "columns"),
        "In picture 3 the row sums together are 1.5, not 1, and they are all the same. "
        "Over all entries, some rows would get more than others.": _say(3, "all"),
        "Picture 4 is not right: its row sums are not 1. Look at the column sums, below.": _say(4, "right"),
        "In picture 4 the row sums differ, so no row was shared out by itself. Look at the column sums, below.": (
            _say(4, "after")
        ),
        "In picture 4 the row sums together are 3, not 1. Look at the column sums, below.": _say(4, "all"),
    },
)

WANTED = torch.tensor([[0.0, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.0, 0.5]], dtype=torch.float64)
CHOSEN = ([0, 100, 0], [0, 0, 0], [100, 0, 100])


def _first_row_off(rows):
    """Who leads in the first row whose weights, for c = 4, are not those wanted."""
    scores = torch.stack([torch.as_tensor(row, dtype=torch.float64) for row in rows])
    if scores.shape != WANTED.shape:
        raise ValueError(f"the scores have the shape {tuple(scores.shape)}, expected three rows of three")
    for number, (row, wanted) in enumerate(zip(torch.softmax(scores / 4**0.5, dim=-1), WANTED, strict=True), start=1):
        if row.isnan().any():
            return f"row {number}, NaN"
        if (row - wanted).abs().max() > 0.015:
            leaders = (row > row.max() - 0.015).nonzero().flatten() + 1
            return f"row {number}, unequal" if number == 2 else f"row {number}, most to {leaders.tolist()}"
    return "the weights wanted"


def _choose(number, row):
    return (*CHOSEN[: number - 1], row, *CHOSEN[number:])  # a tuple: a list would be several answers


chosen_scores = Exercise(
    number="3.4",
    name="chosen_scores",
    asked=CHOSEN,
    confirmed="Far apart: one word takes all. Equal: equal shares. Two that tie, far above the third: half and half.",
    seen=_first_row_off,
    wrong={
        "Row 1: the second word leads, but not by enough to get all. Scores are not weights: "
        "lift it 20 or more above the others, or put the others to −∞.": _choose(1, [0, 1, 0]),
        "Row 1: another word than the second gets most. Its score must be the highest, by far.": [
            _choose(1, [100, 0, 0]),
            _choose(1, [0, 0, 100]),
        ],
        "Row 1: two words share, and one of them is not wanted. Only the score of the second may be high.": [
            _choose(1, [100, 100, 0]),
            _choose(1, [0, 100, 100]),
        ],
        "Row 1: the second word gets least, since its score is the lowest. The highest score gets most.": (
            _choose(1, [0, -inf, 0])
        ),
        "Row 1: equal scores give equal shares, however high. Only differences count: raise the second score alone.": (
            _choose(1, [100, 100, 100])
        ),
        "Row 1 is NaN: with a score of +∞, or nothing but −∞, softmax divides ∞ by ∞ or 0 by 0. "
        "Give the second word a finite score, and −∞ at most to the others.": _choose(1, [0, inf, 0]),
        "Row 2: the scores differ, so the weights do. Equal shares need equal scores.": _choose(2, [1, 2, 3]),
        "Row 2 is NaN: a row of nothing but −∞ has no shares to hand out. Equal finite scores do.": (
            _choose(2, [-inf, -inf, -inf])
        ),
        "Row 3: the first and the third tie, as they should, but the second is too near. "
        "A score of 0 is not a weight of 0: put it 20 or more below the others, or to −∞.": _choose(3, [0.5, 0, 0.5]),
        "Row 3: equal scores for all three give thirds. The second must lie far below the others.": (
            _choose(3, [0.5, 0.5, 0.5])
        ),
        "Row 3: one of the two gets more. The first and the third must tie: equal scores, and the second far below.": [
            _choose(3, [100, 0, 50]),
            _choose(3, [50, 0, 100]),
        ],
        "Row 3: the second word shares with another. The two that share are the first and the third.": [
            _choose(3, [100, 100, 0]),
            _choose(3, [0, 100, 100]),
        ],
        "Row 3: the second word gets most, since its score is the highest. It must be the lowest, by far.": (
            _choose(3, [-inf, 0, -inf])
        ),
        "Row 3 is NaN: with a score of +∞, or nothing but −∞, softmax divides ∞ by ∞ or 0 by 0. "
        "Put −∞ in the second place only.": _choose(3, [inf, 0, inf]),
    },
)
