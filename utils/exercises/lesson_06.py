"""Exercises of lesson 6: causal attention."""

import torch

from utils.exercise import Exercise, numbers

# 6.1 Look back a few words only


def _all(n):
    return torch.ones(n, n, dtype=torch.bool)


def _sliced(n, back):
    table = ~_all(n)
    for m in range(n):
        table[m, m - back : m + 1] = True
    return table


def _ranged(n, back):
    table = ~_all(n)
    for m in range(n):
        for p in range(m - back, m + 1):
            table[m, p] = True  # table[m, -1] is the last column
    return table


window = Exercise(
    number="6.1",
    name="window",
    asked=lambda n, back: _all(n).tril().triu(-back),
    inputs=((4, 1), (6, 2), (9, 3), (3, 4), (5, 0)),
    confirmed="Each word sees itself and as many words before it as asked, from none to all, and none after it.",
    wrong={
        "Nothing is hidden at the far end: each word sees all earlier ones. Hide those more than back places before.": (
            lambda n, back: _all(n).tril()
        ),
        "You count the word itself among the back words. It comes on top: back + 1 cells in a full row.": (
            lambda n, back: _all(n).tril().triu(1 - back)
        ),
        "You let in one word too many at the far end. The last one visible is back places before, m − p = back.": [
            lambda n, back: _all(n).tril().triu(-back - 1),
        ],
        "Your table is inverted: True stands where a word may not look. Put ~ before it.": (
            lambda n, back: ~_all(n).tril().triu(-back)
        ),
        "Your table is transposed: each word sees the words after it. Row m looks, column p is looked at, and p ≤ m.": (
            lambda n, back: _all(n).triu().tril(back)
        ),
        "The far end is cut off, and all later words are visible: the future leaks. Cut off the part above the "
        "diagonal too, with tril().": lambda n, back: _all(n).triu(-back),
        "Your words look both ways: the future leaks. Cut off the part above the diagonal with tril().": (
            lambda n, back: _all(n).tril(back).triu(-back)
        ),
        "Your diagonal is False: no word sees itself, and the first sees nothing.": (
            lambda n, back: _all(n).tril(-1).triu(-back)
        ),
        "Each word sees its next word as well: tril(1) begins one cell too far to the right. Use tril().": (
            lambda n, back: _all(n).tril(1).triu(-back)
        ),
        "Only the word exactly back places before is visible. Let in all from there up to the word itself.": (
            lambda n, back: _all(n).tril(-back).triu(-back)
        ),
        "You kept the far part: the words back or more places before. Keep the near ones, m − p ≤ back.": [
            lambda n, back: _all(n).tril(-back),
            lambda n, back: _all(n).tril(-back - 1),
        ],
        "All is visible: two conditions are joined with “or”, where both have to hold. Join them with &.": (
            lambda n, back: _all(n).tril() | _all(n).triu(-back)
        ),
        "You look back the same number of words whatever back is. Use the argument.": [
            lambda n, back: _all(n).tril().triu(-1),
            lambda n, back: _all(n).tril().triu(-2),
        ],
        "The sign of back is turned: a positive number in triu or tril starts above the diagonal. Use −back in triu.": [
            lambda n, back: _all(n).tril().triu(back),
            lambda n, back: _all(n).tril(back),
        ],
        "Your slice starts below 0 in the first rows: Python counts that from the end. Start at max(0, m − back).": (
            _sliced
        ),
        "Your columns start below 0 in the first rows: Python counts −1 from the end. Start at max(0, m − back).": (
            _ranged
        ),
        "Tables of True and False cannot be subtracted. What is in the one and not in the other is a & ~b.": [
            lambda n, back: _all(n).tril() - _all(n).tril(-back - 1),
            lambda n, back: _all(n).tril() - _all(n).tril(-back),
        ],
    },
)

# 6.2 Measure who looks at whom


def _attention(allowed, W_v=None, after=False):
    """A function from X to C; allowed(n) says who may look, after hides after softmax and leaves it at that."""

    def attention(X):
        n, d = X.shape
        Q, K, V = X @ numbers(1, d, 3), X @ numbers(2, d, 3), X @ (numbers(3, d, 3) if W_v is None else W_v)
        Omega = Q @ K.mT / 3**0.5
        if after:
            return torch.softmax(Omega, dim=-1) * allowed(n) @ V
        return torch.softmax(Omega.masked_fill(~allowed(n), -torch.inf), dim=-1) @ V

    return attention


ATTENTIONS = {
    "causal": _attention(lambda n: _all(n).tril()),
    "one word too far": _attention(lambda n: _all(n).tril(1)),
    "itself and the word before, C is small": _attention(lambda n: _all(n).tril().triu(-1), numbers(3, 2, 3) / 1000),
    "itself and all later words": _attention(lambda n: _all(n).triu()),
    "causal, C is 0 in its first column": _attention(lambda n: _all(n).tril(), numbers(4, 4, 3) * torch.arange(3)),
    "zeroed after softmax": _attention(lambda n: _all(n).tril(), after=True),
}


def _measure(answer, attention, X):
    return answer(ATTENTIONS[attention], X)


def _changed(X, p):
    changed = X.clone()
    changed[p] = -X[p]
    return changed


def _moves(see):
    """Column p is what see(C after, C before, p) says of the rows of C when word p is changed."""

    def who_moves(attention, X):
        before = attention(X)
        return torch.stack([see(attention(_changed(X, p)), before, p) for p in range(len(X))], dim=-1)

    return who_moves


def _far(after, before):
    return (after - before).abs().amax(dim=-1) > 1e-9


def _changes_stay(attention, X):
    before, changed, columns = attention(X), X.clone(), []
    for p in range(len(X)):
        changed[p] = -X[p]
        columns.append(_far(attention(changed), before))
    return torch.stack(columns, dim=-1)


def _words_compared(attention, X):
    return torch.stack([_far(_changed(X, p), X) for p in range(len(X))], dim=-1)


def _along_columns(attention, X):
    table = ~_all(len(X))
    for p in range(len(X)):
        table[:, p] = (attention(_changed(X, p)) - attention(X)).abs().amax(dim=0) > 1e-9
    return table


def _rows(after, p, rows):
    return torch.isin(torch.arange(len(after)), torch.tensor(rows(len(after), p), dtype=torch.long))


who_moves = Exercise(
    number="6.2",
    name="who_moves",
    asked=_moves(lambda after, before, p: _far(after, before)),
    inputs=tuple(
        (attention, numbers(seed, n, d))
        for attention, seed, n, d in [
            ("causal", 17, 3, 2),
            ("one word too far", 12, 5, 4),
            ("itself and the word before, C is small", 13, 6, 2),
            ("itself and all later words", 14, 4, 2),
            ("causal, C is 0 in its first column", 15, 5, 4),
            ("zeroed after softmax", 16, 4, 5),
        ]
    ),
    use=_measure,
    confirmed="The table finds what each of six attentions really looks at, three leaks and a window among them.",
    wrong={
        "Your table is transposed: row p holds what moved when word p was changed. The changed word is the column.": [
            lambda attention, X: _moves(lambda after, before, p: _far(after, before))(attention, X).mT
        ],
        "You look at earlier rows only, as the leak test does. That a later row does not move is worth knowing too: "
        "look at all rows.": _moves(
            lambda after, before, p: _far(after, before) & _rows(after, p, lambda n, p: [*range(p)])
        ),
        "You look at the row of the changed word and later ones only, so no leak can show. Look at all rows.": _moves(
            lambda after, before, p: _far(after, before) & _rows(after, p, lambda n, p: [*range(p, n)])
        ),
        "In your tables a word moves its own row only: you compare X with the changed X, or look at that row alone. "
        "Compare all rows of C.": [
            _words_compared,
            _moves(lambda after, before, p: _far(after, before) & _rows(after, p, lambda n, p: [p])),
        ],
        "You return the triangle of a causal mask, whatever attention does. Measure: change a word, call attention, "
        "compare.": lambda attention, X: _all(len(X)).tril(),
        "True stands where a row stays. Turn it around: True where it moves.": _moves(
            lambda after, before, p: ~_far(after, before)
        ),
        "All words up to p are changed, not p alone. Take a fresh copy of X for each word.": _changes_stay,
        "dim=0 takes the largest difference of each column of C. You need one for each row, each word: dim=-1.": [
            _along_columns,
            _moves(lambda after, before, p: (after - before).abs().amax(dim=0) > 1e-9),
        ],
        "A difference may be negative: a row that moves down counts as well. Take .abs() before the largest.": [
            _moves(lambda after, before, p: (after - before).amax(dim=-1) > 1e-9),
            _moves(lambda after, before, p: (after - before).sum(dim=-1) > 1e-9),
            _moves(lambda after, before, p: (before - after).amax(dim=-1) > 1e-9),
        ],
        "You ask that all entries of a row move, or look at one of them. A row has moved if any entry has: amax or "
        "any, not amin or all.": _moves(lambda after, before, p: ((after - before).abs() > 1e-9).all(dim=-1)),
        "Your table is True throughout: torch.allclose, or any, gives all rows one verdict, or C is not compared with "
        "C before the change. Compare row by row, .abs().amax(dim=-1).": [
            _moves(lambda after, before, p: _far(after, before).any().expand(len(after))),
            _moves(lambda after, before, p: torch.ones(len(after), dtype=torch.bool)),
        ],
        "You overlook small moves. A row that looks a little looks: ask for more than 1e-9.": [
            _moves(lambda after, before, p: (after - before).abs().amax(dim=-1) > 1e-2),
            _moves(lambda after, before, p: (after - before).abs().amax(dim=-1) > 1e-3),
        ],
        "Nothing ever moves in your table. Does the changed X reach attention?": _moves(
            lambda after, before, p: torch.zeros(len(after), dtype=torch.bool)
        ),
    },
)

# 6.3 Repair a mask


def _masked(fill=-torch.inf, hide=lambda may_look: ~may_look, scale=lambda c: c**0.5, dim=-1, empty=0.0, after=None):
    """Fill hidden scores, divide, softmax; NaN becomes empty; then divide by after(c)."""

    def masked_weights(Omega, c, may_look):
        A = torch.softmax(Omega.masked_fill(hide(may_look), fill) / scale(c), dim=dim)
        A = A if empty is None else A.nan_to_num(empty)
        return A / after(c) if after else A

    return masked_weights


def _inverted(**others):
    return _masked(hide=lambda may_look: may_look, **others)


def _root(c):
    return c**0.5


def _one(c):
    return 1


def _zeroed(Omega, c, may_look):
    return torch.softmax(Omega / c**0.5, dim=-1) * may_look


def _zeroed_and_shared(Omega, c, may_look):
    A = _zeroed(Omega, c, may_look)
    return A / A.sum(dim=-1, keepdim=True)


_SOME = torch.tensor([[True, False, False], [False, False, False], [True, True, False]])
_HOLES = torch.tensor([[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]]) == 1

masked_weights = Exercise(
    number="6.3",
    name="masked_weights",
    asked=_masked(),
    inputs=(
        (torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [3.0, 1.0, 0.0]], dtype=torch.float64), 4, _SOME),
        (numbers(1, 6, 6), 3, _all(6).tril()),
        (2 * numbers(2, 5, 4), 9, _HOLES),
    ),
    gradient=True,
    confirmed="Hidden words get 0, the others share 1, and a word that may look nowhere has an empty row.",
    wrong={
        "The mask is still read the wrong way round: what may be seen gets hidden. True means may look, so fill where "
        "~may_look is True.": [
            _inverted(fill=-1e9, scale=_one, empty=None, after=_root),
            _inverted(scale=_one, empty=None, after=_root),
            _inverted(scale=_one, after=_root),
            _inverted(fill=-1e9, empty=None),
            _inverted(empty=None),
            _inverted(),
        ],
        "Your rows sum to 1/√c: the weights are divided, after softmax. Divide the scores, Omega / c**0.5.": [
            _masked(fill=-1e9, scale=_one, empty=None, after=_root),
            _masked(scale=_one, empty=None, after=_root),
            _masked(scale=_one, after=_root),
            _masked(after=_root),
            _masked(after=_root, empty=None),
            _masked(fill=-1e9, after=_root, empty=None),
        ],
        "The scores are no longer divided by √c. Divide Omega by c**0.5 before softmax.": [
            _masked(scale=_one),
            _masked(scale=_one, empty=None),
            _masked(fill=-1e9, scale=_one, empty=None),
        ],
        "A word that may look nowhere sees all words alike: a row with one score everywhere, such as −1e9, is shared "
        "out evenly. Fill with −∞, and after softmax turn the NaN of that row into 0.": [
            _masked(fill=-1e9, empty=None),
            _masked(fill=torch.finfo(torch.float64).min, empty=None),
            _masked(fill=-1e4, empty=None),
            lambda Omega, c, may_look: _masked(empty=1 / Omega.shape[-1])(Omega, c, may_look),
        ],
        "A word that may look nowhere has NaN in its row, which spreads to all that comes after. Turn it into 0, "
        "as PyTorch's own function does: .nan_to_num(0).": [_masked(empty=None), _zeroed_and_shared],
        "A score of 0 still gets a share, so hidden words keep weight. Fill with −∞, which softmax turns into 0.": [
            _masked(fill=0, empty=None),
            lambda Omega, c, may_look: torch.softmax(Omega * may_look / c**0.5, dim=-1),
        ],
        "A mask of 1 and 0, added to the scores, hides nothing. Fill with −∞ where ~may_look.": (
            lambda Omega, c, may_look: torch.softmax((Omega + may_look.double()) / c**0.5, dim=-1)
        ),
        "Everything is NaN, since 0 · ∞ is NaN: multiplying a mask by −∞ spoils the visible scores too. masked_fill "
        "writes −∞ into the hidden cells alone.": [
            lambda Omega, c, may_look: torch.softmax((Omega + (~may_look).double() * -torch.inf) / c**0.5, dim=-1),
        ],
        "You hide after softmax, so rows with hidden words sum to less than 1, and the future leaks through the sum. "
        "Hide before softmax.": _zeroed,
        "Your columns share 1, not your rows: softmax runs along dim=0. Use dim=-1.": [
            _masked(dim=0),
            _masked(dim=0, empty=None),
        ],
        "You write −∞ over weights. It belongs into the scores: fill first, then softmax.": (
            lambda Omega, c, may_look: torch.softmax(Omega / c**0.5, dim=-1).masked_fill(~may_look, -torch.inf)
        ),
        "You make a triangle of your own. Who may look at whom is given, and need not be a triangle: use may_look.": [
            _masked(hide=lambda may_look: ~torch.ones_like(may_look).tril()),
            _masked(hide=lambda may_look: ~may_look.tril(), empty=None),
            _masked(hide=lambda may_look: ~may_look.tril()),
        ],
        "not asks for one truth value, and the mask has many. ~may_look turns each of them around.": [
            _masked(hide=lambda may_look: not may_look),
        ],
        "Nothing is hidden. masked_fill returns a new tensor and leaves Omega as it is: give the result a name.": [
            _masked(hide=torch.zeros_like),
        ],
    },
)
