"""Exercises of lesson 1: toy attention."""

import math

import torch

from utils.exercise import Exercise, numbers
from utils.sentence import TOKEN_EMBEDDINGS, input_embeddings

SCORES = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]], dtype=torch.float64)
FAR_APART = torch.tensor(
    [[1e3, 1001.0, 999.0], [-1001.0, -1e3, -1003.0], [2.0, -1.0, 4.0], [-1e3, 1e3, 999.0], [-1e3, 1e3, -999.0]],
    dtype=torch.float64,
)


def _by_hand(raised, dim=-1):
    return raised / raised.sum(dim=dim, keepdim=True)


def _lowered(scores, dim=-1):
    return scores - scores.amax(dim=dim, keepdim=True)


def _over_all(raised):
    return raised / raised.sum()


weights_of_rows = Exercise(
    number="1.1",
    name="weights_of_rows",
    asked=lambda scores: torch.softmax(scores, dim=-1),
    inputs=((SCORES,), (numbers(1, 5, 4),), (FAR_APART,), (2 * numbers(2, 3, 7),)),
    confirmed="Each row sums to 1 and keeps its order, and scores of 1000 do not overflow.",
    wrong={
        "Your whole matrix sums to 1: .sum() without dim adds up all rows. Each row has its own sum, .sum(dim=-1, "
        "keepdim=True).": [
            lambda scores: _over_all(torch.exp(scores)),
            lambda scores: _over_all(torch.exp(scores - scores.max())),
            lambda scores: _over_all(torch.exp(_lowered(scores))),
        ],
        "Your columns sum to 1, not your rows: the sum runs along dim=0, as that of Python does. Use .sum(dim=-1, "
        "keepdim=True).": [
            lambda scores: _by_hand(torch.exp(scores), dim=0),
            lambda scores: _by_hand(torch.exp(_lowered(scores, dim=0)), dim=0),
            lambda scores: _by_hand(torch.exp(_lowered(scores)), dim=0),
        ],
        "Right for small scores, but exp(1000) overflows to infinity, and infinity divided by infinity is not a "
        "number. Subtract the largest score of each row before exp.": [
            lambda scores: _by_hand(torch.exp(scores)),
            lambda scores: _by_hand(torch.exp(scores)).nan_to_num(0.0),
        ],
        "You cut large scores off, so that exp does not overflow: 1000 and 1001 become the same. Subtract the largest "
        "score of each row, and nothing is lost.": [
            lambda scores, most=most: _by_hand(torch.exp(scores.clamp(max=most)))
            for most in (10, 50, 88, 100, 500, 700, 709)
        ],
        "You subtract the largest score above the fraction line, but not in the sum below. Take the sum of the same "
        "exponentials.": lambda scores: torch.exp(_lowered(scores)) / torch.exp(scores).sum(dim=-1, keepdim=True),
        "You subtract the largest score of the whole matrix: a row far below it becomes all zeros, and 0/0 is not a "
        "number. Take each row's own largest, scores.amax(dim=-1, keepdim=True).": (
            lambda scores: _by_hand(torch.exp(scores - scores.max()))
        ),
        "You take the largest score of each column, the sum of each row. Both run along the row, dim=-1.": (
            lambda scores: _by_hand(torch.exp(_lowered(scores, dim=0)))
        ),
        "You divide the scores by the largest one. That changes their differences; subtract it, and they stay.": [
            lambda scores: _by_hand(torch.exp(scores / scores.amax(dim=-1, keepdim=True))),
            lambda scores: _by_hand(torch.exp(scores / scores.max())),
        ],
        "You subtract the mean of a row. No weight moves, but its largest score may still be too large for exp. "
        "Subtract the largest.": lambda scores: _by_hand(torch.exp(scores - scores.mean(dim=-1, keepdim=True))),
        "You subtract the smallest score of a row. No weight moves, but the largest may still be too large for exp. "
        "Subtract the largest.": lambda scores: _by_hand(torch.exp(scores - scores.amin(dim=-1, keepdim=True))),
        "You turned the order round: the largest score gets the smallest weight. Subtract the largest from the scores, "
        "not the scores from the largest.": [
            lambda scores: _by_hand(torch.exp(-_lowered(scores))),
            lambda scores: torch.softmax(-scores, dim=-1),
        ],
        "Your rows do not sum to 1. Divide the exponentials by the sum of their row.": [
            torch.exp,
            lambda scores: torch.exp(_lowered(scores)),
            lambda scores: torch.exp(scores) / torch.exp(scores).amax(dim=-1, keepdim=True),
        ],
        "You divide the scores themselves by their sum. A score below zero then gets a negative weight: take the "
        "exponential first.": _by_hand,
        "You square the scores, so −1000 counts as much as 1000. Use the exponential, torch.exp.": (
            lambda scores: _by_hand(scores**2)
        ),
        "You take the size of a score without its sign, so −1000 counts as much as 1000. Use the exponential, "
        "torch.exp.": lambda scores: _by_hand(scores.abs()),
        "You cut scores below zero off to 0. The order among them is lost: use the exponential, torch.exp.": (
            lambda scores: _by_hand(scores.clamp(min=0))
        ),
        "You raise 2 to the scores. That is softmax of smaller scores; use the base e, torch.exp.": [
            lambda scores: _by_hand(2.0**scores),
            lambda scores: _by_hand(2.0 ** _lowered(scores)),
        ],
        "You raise 10 to the scores. That is softmax of larger scores; use the base e, torch.exp.": [
            lambda scores: _by_hand(10.0**scores),
            lambda scores: _by_hand(10.0 ** _lowered(scores)),
        ],
        "Your result is the logarithm of the weights, never above 0. Leave the logarithm out.": (
            lambda scores: torch.log_softmax(scores, dim=-1)
        ),
        "The largest score of a row takes everything. Softmax gives every word a share: exponentials, divided by their "
        "sum.": lambda scores: torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1]).double(),
        "scores.max(dim=-1) returns two things, the values and their places. Use scores.amax(dim=-1, keepdim=True).": (
            lambda scores: scores - scores.max(dim=-1, keepdim=True)
        ),
        "math.exp takes one number. Use torch.exp, which takes a whole tensor.": math.exp,
        "One number per row came back as a vector, and a vector stands along the columns. Keep the axis: .amax(dim=-1, "
        "keepdim=True), .sum(dim=-1, keepdim=True).": [
            lambda scores: torch.exp(scores) / torch.exp(scores).sum(dim=-1),
            lambda scores: _by_hand(torch.exp(scores - scores.amax(dim=-1))),
        ],
    },
)

SMALL = torch.tensor([[1.0, 0.0], [1.0, 1.0], [-1.0, 2.0]], dtype=torch.float64)
LONG = torch.tensor([[20.0, 15.0, 10.0], [20.1, 15.0, 9.9], [19.9, 15.1, 10.0], [20.0, 14.9, 10.1]]).double()


def _softmax(scores):
    return torch.softmax(scores, dim=-1)


def _without_itself(X, m):
    scores = X @ X[m]
    return _softmax(scores.masked_fill(torch.arange(len(X)) == m, -torch.inf)) @ X


def _unit(X):
    return X / X.norm(dim=-1, keepdim=True)


LESSON_X = input_embeddings()
LESSON_A = _softmax(LESSON_X @ LESSON_X.mT)


context_of = Exercise(
    number="1.2",
    name="context_of",
    asked=lambda X, m: _softmax(X @ X[m]) @ X,
    inputs=((SMALL, 1), (numbers(3, 5, 3), 4), (numbers(4, 4, 6), 0), (LONG, 2)),
    confirmed="The words are mixed by the weights of word m, and the weights sum to 1.",
    wrong={
        "You mix with the scores themselves. They do not sum to 1, so this is no average: softmax first.": (
            lambda X, m: X @ X[m] @ X
        ),
        "You divide the scores by their sum. They sum to 1, but some are negative: softmax of the scores.": (
            lambda X, m: _by_hand(X @ X[m]) @ X
        ),
        "Your weights are exponentials that were never divided by their sum. A weighted average needs weights that sum "
        "to 1.": lambda X, m: torch.exp(X @ X[m]) @ X,
        "Your exponentials overflow when vectors are long, on the last input scores lie above 700. Use softmax from "
        "above, which subtracts the largest score first.": lambda X, m: _by_hand(torch.exp(X @ X[m])) @ X,
        "You take the plain average of all words. Each word counts by its weight, softmax(scores) @ X.": (
            lambda X, m: X.mean(dim=0)
        ),
        "You add up all words, each with weight 1. Each word counts by its weight, softmax(scores) @ X.": (
            lambda X, m: X.sum(dim=0)
        ),
        "You divide by the number of words once more. The weights sum to 1 already: add up, do not average again.": (
            lambda X, m: _softmax(X @ X[m]) @ X / len(X)
        ),
        "Your weights are a column of A: what all words give to word m, not what it gives to them. Take the row, A[m], "
        "with softmax along dim=-1.": [
            lambda X, m: _softmax(X @ X.mT)[:, m] @ X,
            lambda X, m: (_softmax(X @ X.mT).mT @ X)[m],
            lambda X, m: torch.softmax(X @ X.mT, dim=0)[m] @ X,
        ],
        "You compare axes, not words: XᵀX is d × d. Scores between words are X Xᵀ, or X @ X[m] for one of them.": [
            lambda X, m: (X @ _softmax(X.mT @ X))[m],
            lambda X, m: (_softmax(X.mT @ X) @ X)[m],
            lambda X, m: _softmax(X.mT @ X)[m] @ X,
            lambda X, m: _softmax(X.mT @ X) @ X[m],
        ],
        "Your scores come from X[m] * X, which multiplies axis by axis and never adds up. A score is one number, the "
        "dot product: X @ X[m].": [
            lambda X, m: (_softmax(X * X[m]) * X).sum(dim=0),
            lambda X, m: (torch.softmax(X * X[m], dim=0) * X).sum(dim=0),
            lambda X, m: _softmax(X * X[m]) @ X,
            lambda X, m: _softmax(X * X[m]),
            lambda X, m: _softmax((X * X[m]).sum(dim=0)) * X[m],
        ],
        "You weight the words, then add up along the wrong axis: one number per word is left. Sum over the words, "
        "dim=0, or write weights @ X.": lambda X, m: (_softmax(X @ X[m])[:, None] * X).sum(dim=1),
        "The right numbers in a matrix of one row. Index with X[m], not X[m : m + 1], and the result has d numbers.": (
            lambda X, m: _softmax(X[m : m + 1] @ X.mT) @ X
        ),
        "X[m] stands to the left of X or X is turned, and the shapes do not fit. Each row of X times the row of the "
        "word is X @ X[m].": [lambda X, m: _softmax(X[m] @ X) @ X, lambda X, m: _softmax(X.mT @ X[m]) @ X],
        "The weights stand to the right of X, and the shapes do not fit. The weights mix the rows, so they stand to "
        "the left: weights @ X.": lambda X, m: X @ _softmax(X @ X[m]),
        "* multiplies entry by entry, and n weights do not fit d numbers. Mixing is a product of matrices: weights @ "
        "X.": (lambda X, m: _softmax(X @ X[m]) * X),
        "You divide the scores by √d. That comes in lesson 3, with another width; the toy takes plain dot products.": (
            lambda X, m: _softmax(X @ X[m] / X.shape[1] ** 0.5) @ X
        ),
        "All weights together sum to 1, not those of each word: softmax ran over the whole matrix. Let it run along "
        "the row, dim=-1.": lambda X, m: (torch.softmax((X @ X.mT).flatten(), dim=0).reshape(len(X), -1) @ X)[m],
        "Your result has one number per word: these are the weights. Mix the words by them, weights @ X.": (
            lambda X, m: _softmax(X @ X[m])
        ),
        "Your result has one number per word: these are the scores. Take softmax of them, then mix, weights @ X.": (
            lambda X, m: X @ X[m]
        ),
        "You return the context vectors of all words. Only that of word m is asked for: one row, d numbers.": (
            lambda X, m: _softmax(X @ X.mT) @ X
        ),
        "Each word is weighted, but the words are not added up yet. Sum over them, or write weights @ X.": (
            lambda X, m: _softmax(X @ X[m])[:, None] * X
        ),
        "You return the word's own vector. A context vector mixes all words, by the weights of word m.": (
            lambda X, m: X[m]
        ),
        "Only the last word is left of your sum: each turn of the loop replaces it. Add up with +=.": (
            lambda X, m: _softmax(X @ X[m])[-1] * X[-1]
        ),
        "You count on 4 numbers per word, the d of the lesson. Here d may be any number: torch.zeros(X.shape[1]).": (
            lambda X, m: torch.zeros(4) + X[m]
        ),
        "You count on seven words, the n of the lesson. Here n may be any number: len(X).": lambda X, m: X[len(X)],
        "A, C and Omega belong to the seven words of the lesson. Compute the weights from the argument X: X @ X[m].": [
            lambda X, m: LESSON_A[m] @ X,
            lambda X, m: LESSON_A[m, : len(X)] @ X,
            lambda X, m: (LESSON_A @ X)[m],
            lambda X, m: (LESSON_A @ LESSON_X)[m],
        ],
        "You return the word with the largest score alone. Softmax gives every word a share: weights @ X.": (
            lambda X, m: X[(X @ X[m]).argmax()]
        ),
        "You left word m itself out. It looks at itself as well: all n scores go into softmax.": _without_itself,
        "You add the word's own vector once more. It is in the average already, with its weight.": (
            lambda X, m: X[m] + _softmax(X @ X[m]) @ X
        ),
        "Your scores are cosines: the vectors were cut to length 1 first. The toy takes plain dot products, lengths "
        "count.": lambda X, m: _softmax(_unit(X) @ _unit(X)[m]) @ X,
        "That is the context vector of another word: you count from 1. Rows are counted from 0, word m is X[m].": (
            lambda X, m: _softmax(X @ X[m - 1]) @ X
        ),
        "You look one row too far, and the last word has none after it. Rows are counted from 0, word m is X[m].": (
            lambda X, m: _softmax(X @ X[m + 1]) @ X
        ),
    },
)

WITHOUT_POSITIONS = torch.tensor([TOKEN_EMBEDDINGS[word] for word in ("fat", "cat", "sat")], dtype=torch.float64)
TABLE = _softmax(WITHOUT_POSITIONS @ WITHOUT_POSITIONS.mT)  # as the words stand: fat cat sat
NEW, OTHER = [2, 0, 1], [1, 2, 0]  # sat fat cat, and the other way round the circle: cat sat fat

reordered_weights = Exercise(
    number="1.3",
    name="reordered_weights",
    asked=TABLE[NEW][:, NEW],
    confirmed="The weights are those of the words wherever they stand, since nothing here knows a position.",
    tolerance=0.006,  # two decimals are enough
    wrong={
        "That is the old table. No weight between two words changes, but the words stand in other rows and columns.": (
            TABLE
        ),
        "You moved the rows and left the columns. The words looked at are in the new order as well: move the columns "
        "the same way.": TABLE[NEW],
        "You moved the columns and left the rows. The words that look are in the new order as well: move the rows the "
        "same way.": TABLE[:, NEW],
        "You moved the words the other way, to cat sat fat. The last word, sat, comes first: its row becomes row 1.": (
            TABLE[OTHER][:, OTHER]
        ),
        "You moved the rows only, and to cat sat fat. Put sat first, then fat, then cat, in rows and columns.": (
            TABLE[OTHER]
        ),
        "You moved the columns only, and to cat sat fat. Put sat first, then fat, then cat, in rows and columns.": (
            TABLE[:, OTHER]
        ),
        "Your rows and columns moved in different directions. Both follow the new order: sat, fat, cat.": [
            TABLE[NEW][:, OTHER],
            TABLE[OTHER][:, NEW],
        ],
        "You exchanged rows and columns. The words that look stay in the rows: row 1 is that of sat.": [
            TABLE.mT,
            TABLE[NEW][:, NEW].mT,
            TABLE[OTHER][:, OTHER].mT,
        ],
        "You turned the sentence round, to sat cat fat. The new order is sat, fat, cat.": TABLE.flip(0, 1),
        "You only let two words swap places. All three stand elsewhere now: sat, fat, cat.": [
            TABLE[[1, 0, 2]][:, [1, 0, 2]],
            TABLE[[0, 2, 1]][:, [0, 2, 1]],
        ],
        "Right, but one decimal is too coarse to tell. Give two.": TABLE[NEW][:, NEW].round(decimals=1),
        "Right, but in percent. A row of weights sums to 1: divide by 100.": [
            [[48, 23, 29], [4, 70, 26], [9, 40, 51]],
            100 * TABLE[NEW][:, NEW],
        ],
        "Nine numbers in one list. Write three rows, a list of three lists.": [
            [0.48, 0.23, 0.29, 0.04, 0.70, 0.26, 0.09, 0.40, 0.51],
            TABLE[NEW][:, NEW].flatten(),
        ],
        "That is the new order of the words. Write the table that belongs to it, three rows of three weights.": [
            [2, 0, 1],
            [3, 1, 2],
        ],
    },
)
