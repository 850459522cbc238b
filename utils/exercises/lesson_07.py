"""Exercises of lesson 7: multi-head attention."""

from functools import partial

import torch

from utils.exercise import Exercise, numbers

# 10 · word + head, and the place in the head behind the point: 32.1 is word 3, head 2, first number
NAMED = torch.tensor([[10 * m + k + i / 10 for k in (1, 2) for i in (1, 2)] for m in (1, 2, 3)], dtype=torch.float64)


def _cut(M, h):
    """(n, h·c) → (h, n, c)."""
    return M.unflatten(-1, (h, -1)).transpose(0, 1)


into_heads = Exercise(
    number="7.1",
    name="into_heads",
    asked=lambda M, h: M.unflatten(-1, (h, -1)).transpose(0, 1),
    inputs=((NAMED, 2), (numbers(71, 5, 6), 3), (numbers(72, 4, 15), 3)),
    confirmed="Each head holds its own columns of M, one row per word, for 2 and 3 heads of three widths.",
    gradient=True,
    wrong={
        "You cut the numbers in the order in which they are stored, so a head holds numbers of other heads and misses "
        "words. First cut each row into its heads, unflatten(-1, (h, c)), then exchange the axes of words and heads.": (
            lambda M, h: M.reshape(h, len(M), -1)
        ),
        "Each row is cut into its heads, but the words still come first. Exchange the axes of words and heads with "
        ".transpose(-3, -2).": lambda M, h: M.unflatten(-1, (h, -1)),
        "You exchanged the last two axes, heads and numbers, and the words still come first. Exchange words and "
        "heads: .transpose(-3, -2).": lambda M, h: M.unflatten(-1, (h, -1)).mT,
        "You read a row as c parts of h numbers, so a head takes every h-th column. The columns of a head stand next "
        "to each other: unflatten(-1, (h, c)), with h before c.": (
            lambda M, h: M.unflatten(-1, (-1, h)).permute(2, 0, 1)
        ),
        "You cut each row into c parts of h numbers. It is h heads of c numbers: unflatten(-1, (h, c)), with h before "
        "c.": lambda M, h: M.unflatten(-1, (-1, h)).transpose(0, 1),
        "Your heads are transposed, (h, c, n): in each head the words are the columns. Leave the numbers last and "
        "exchange words and heads only.": [
            lambda M, h: M.unflatten(-1, (h, -1)).permute(1, 2, 0),
            lambda M, h: M.mT.reshape(h, -1, len(M)),
        ],
        "You reversed all three axes, (c, h, n). Exchange words and heads only, .transpose(-3, -2), and leave the "
        "numbers last.": lambda M, h: M.unflatten(-1, (h, -1)).permute(2, 1, 0),
        "The heads stand below each other in one matrix. Give them an axis of their own, in front: torch.stack, not "
        "torch.cat.": lambda M, h: torch.cat(M.chunk(h, dim=-1)),
        "You transposed M and then cut the numbers in the order in which they are read, so words get mixed. Cut first, "
        "unflatten(-1, (h, c)), then exchange the axes of words and heads.": lambda M, h: M.mT.reshape(h, len(M), -1),
        "You cut M between words, so each head gets some words with all their numbers. Cut between columns: "
        "unflatten(-1, (h, c)), or chunk(h, dim=-1) and stack.": lambda M, h: torch.stack(M.chunk(h)),
        "Your c or n is that of the notebook, and M here has another. Work c out from M, M.shape[-1] // h.": [
            lambda M, h: M.unflatten(-1, (h, 4)).transpose(0, 1),
            lambda M, h: M.unflatten(-1, (2, 4)).transpose(0, 1),
            lambda M, h: M.view(7, h, 4).transpose(0, 1),
            lambda M, h: M.view(h, 7, 4),
        ],
        "M.shape[-1] / h is a number with a point, 2.0, and sizes are whole numbers. Divide with //.": [
            lambda M, h: M.unflatten(-1, (h, M.shape[-1] / h)),
            lambda M, h: M.view(len(M), h, M.shape[-1] / h),
            lambda M, h: M.reshape(len(M), h, M.shape[-1] / h),
        ],
    },
)


def _merged(C):
    """(h, n, c) → (n, h·c)."""
    return C.transpose(0, 1).flatten(1)


def _contexts(Q, K, V, h, cut=_cut, over=lambda h, c: c**0.5, may_look=None, merge=_merged):
    """Context vectors of all heads side by side, with one step or the other exchanged."""
    Q, K, V = (cut(M, h) for M in (Q, K, V))
    Omega = Q @ K.mT
    if may_look:
        Omega = Omega.masked_fill(~may_look(len(K[0])), -torch.inf)
    return merge(torch.softmax(Omega / over(h, Q.shape[-1]), dim=-1) @ V)


def _causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def _view(M, h):
    return M.reshape(h, len(M), -1)


def _averaged(Q, K, V, h):
    """The weights averaged over the heads before they meet the values."""
    Q, K, V = (_cut(M, h) for M in (Q, K, V))
    A = torch.softmax(Q @ K.mT / K.shape[-1] ** 0.5, dim=-1)
    return _merged(A.mean(dim=0) @ V)


def _stored(C):
    """The broken merge: no transpose."""
    return C.reshape(C.shape[1], -1)


all_heads = Exercise(
    number="7.2",
    name="all_heads",
    asked=lambda Q, K, V, h: _contexts(Q, K, V, h),
    inputs=(
        (*(numbers(seed, 3, 4) for seed in (73, 74, 75)), 2),
        (*(numbers(seed, 5, 6) for seed in (76, 77, 78)), 3),
        (*(2 * numbers(seed, 4, 10) for seed in (79, 80, 81)), 2),
    ),
    confirmed="Each head is scaled by the root of its own width, and the merged rows hold the heads side by side.",
    gradient=True,
    wrong={
        "Both faults of the broken lines are still there. Ask of each line which number or which axis it means: the "
        "width of what, and one row per what?": partial(_contexts, over=lambda h, c: (h * c) ** 0.5, merge=_stored),
        "The heads are merged without transposing back, so the first row holds the first words of head 1. Exchange "
        "heads and words, .transpose(-3, -2), then flatten(-2).": partial(_contexts, merge=_stored),
        "You divide by the root of the width of all heads. A score of one head is a sum of c products, so divide by "
        "the root of c = width / h.": partial(_contexts, over=lambda h, c: (h * c) ** 0.5),
        "You divide by c itself. Divide by its root, c**0.5.": partial(_contexts, over=lambda h, c: c),
        "The scores are not divided at all. Divide them by the root of c, the width of one head, before softmax.": (
            partial(_contexts, over=lambda h, c: 1)
        ),
        "You take the root before you divide: it is √(width / h), not √width / h. Work out c = width // h first.": [
            partial(_contexts, over=lambda h, c: (h * c) ** 0.5 / h),
            partial(_contexts, over=lambda h, c: (h * c) ** 0.5 // h),
        ],
        "You divide by the root of n, the number of words. Divide by the root of c, the width of one head.": (
            lambda Q, K, V, h: _contexts(Q, K, V, h, over=lambda h, c: len(Q) ** 0.5)
        ),
        "You divide by the root of h, the number of heads. Divide by the root of c, the width of one head.": (
            partial(_contexts, over=lambda h, c: h**0.5)
        ),
        "The heads are cut by a plain view, so each holds numbers of others. Cut each row first, unflatten(-1, (h, "
        "c)), then exchange words and heads.": partial(_contexts, cut=_view),
        "You cut by a plain view and merge by a plain reshape, so a head is no block of columns, though the shape is "
        "right. Cut with unflatten and transpose, merge with transpose and flatten.": (
            partial(_contexts, cut=_view, merge=_stored)
        ),
        "All columns are used as one wide head. Cut Q, K and V into h heads first, so that each head has weights of "
        "its own.": [
            lambda Q, K, V, h: _contexts(Q, K, V, 1),
            lambda Q, K, V, h: _contexts(Q, K, V, 1, over=lambda _, width: (width / h) ** 0.5),
        ],
        "The context vectors of the heads are averaged. Lay them side by side, (n, h·c), so that what each head found "
        "stays apart.": partial(_contexts, merge=lambda C: C.mean(dim=0)),
        "The weights are averaged over the heads before they meet the values. Keep one matrix A per head.": _averaged,
        "The heads are merged number by number: the first numbers of all heads come first. Head 1 has the first c "
        "columns, so transpose heads and words only.": partial(
            _contexts, merge=lambda C: C.permute(1, 2, 0).flatten(1)
        ),
        "You merged words and numbers, so each row is a whole head. Exchange heads and words first, "
        ".transpose(-3, -2), then flatten(-2).": [
            partial(_contexts, merge=lambda C: C.flatten(1)),
            partial(_contexts, merge=lambda C: C.mT.flatten(1)),
        ],
        "You exchanged words and numbers before merging. Exchange heads and words: .transpose(-3, -2), not .mT.": (
            partial(_contexts, merge=lambda C: C.mT.reshape(C.shape[1], -1))
        ),
        "The heads stand below each other. Lay them side by side, along dim=-1: n rows, h·c columns.": (
            partial(_contexts, merge=lambda C: C.flatten(0, 1))
        ),
        "Your words look back only. Here no mask is asked for, so each word may look at all of them.": (
            partial(_contexts, may_look=_causal)
        ),
        "The attend of this lesson hides later words, with a mask for 7 words. Here there is no mask: write the two "
        "lines of softmax and A @ V yourself.": partial(_contexts, may_look=lambda n: _causal(7)),
        "Right in each head, and not merged yet: the result is (h, n, c). Exchange heads and words, then flatten the "
        "last two axes.": partial(_contexts, merge=lambda C: C),
        "Exchanged, and not merged yet: the result is (n, h, c). Flatten the last two axes.": (
            partial(_contexts, merge=lambda C: C.transpose(0, 1))
        ),
        "Something uses h or c of the notebook, perhaps split, and Q here has another width. Use the argument h, and "
        "work c out from the width.": [
            partial(_contexts, cut=lambda M, h: M.unflatten(-1, (2, 4)).transpose(0, 1)),
            partial(_contexts, over=lambda h, c: 4**0.5),
        ],
    },
)

layer_parameters = Exercise(
    number="7.3",
    name="layer_parameters",
    asked=4 * 8 * 15,  # d = 8, h = 3, c = 5, width 15
    confirmed="Every matrix of the layer is counted, for all heads together.",
    wrong={
        "You left out W_o. It has as many numbers as W_q: width times d.": 3 * 8 * 15,
        "That is one head, with the part of W_o that it needs. There are 3 of them.": 4 * 8 * 5,
        "W_o is for all heads, but you count W_q, W_k and W_v of one head only. Each head has its own three.": (
            3 * 8 * 5 + 15 * 8
        ),
        "That is one of the four matrices. Add up W_q, W_k, W_v and W_o.": 8 * 15,
        "You took d for the width of all heads. Here the width is h · c = 15 and not 8.": 4 * 8 * 8,
        "You took the width for d. A word comes in with d = 8 numbers and not with 15.": 4 * 15 * 15,
        "Your W_o is square. It leads from the width 15 back to d = 8.": 3 * 8 * 15 + 15 * 15,
        "The heads are counted twice: the width 15 holds all 3 already.": 3 * 4 * 8 * 15,
        "You gave each head a W_o of its own for the whole width. One W_o of 15 times 8 serves all heads.": (
            3 * 8 * 15 + 3 * 15 * 8
        ),
        "W_o takes in what all heads found, 15 numbers, not the 5 of one head.": 3 * 8 * 15 + 5 * 8,
        "Your W_o is as if the width were 8. It takes in the 15 numbers of all heads.": 3 * 8 * 15 + 8 * 8,
        "That is one matrix of one head. There are three per head, 3 heads, and W_o.": 8 * 5,
        "You counted biases, which nn.Linear has by default. The layers here are made with bias=False.": (
            4 * 8 * 15 + 3 * 15 + 8
        ),
    },
)
