"""What pictures and tables refuse, in one sentence each, and what they take."""

import re

import numpy
import pytest
import torch

from utils.plots import arrows, curves, heatmap, heatmaps, outline, plane, points, table
from utils.sentence import LABELS

NAN, INFINITY = float("nan"), float("inf")


def ones(n):
    return torch.full((n, n), 1 / n)


down_the_columns = torch.softmax(torch.tensor([[1.0, 2, 3], [3, 1, 1], [0, 0, 4]]), dim=0)
a_mask = torch.ones(2, 2).tril()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ones(25), ["a"] * 25), "matrix has 25 words, expected at most 24: more cannot be read in a picture"),
        ((ones(7), LABELS[:6]), "the matrix has 7 rows but labels has 6 entries"),
        ((ones(2), "ab"), "labels is the single string 'ab', expected a list of 2 words"),
        ((ones(2), ["a", 2]), "labels holds 2 of type int, expected strings only"),
        ((ones(2), 2), "labels is int, expected a list of 2 strings"),
        (([[NAN, 1], [0, 1]], ["a", "b"]), "matrix holds nan in row 1, column 1, expected finite numbers where"),
        (([[0, 1], [INFINITY, 1]], ["a", "b"]), "matrix holds inf in row 2, column 1, expected finite numbers where"),
        (([[1.5, -0.5], [0, 1]], ["a", "b"]), "matrix holds 1.5 in row 1, column 1, expected weights from 0 to 1: for"),
        (([[0.5, 0.6], [0, 1]], ["a", "b"]), "row 1 of matrix sums to 1.10, expected 1 in each row of weights: to "),
        (((ones(2), ones(2)), ["a", "b"]), "matrix is a tuple of 2 tensors, expected one matrix: attention returns C"),
        (
            (down_the_columns, LABELS[:3]),
            f"row 1 of matrix sums to {down_the_columns[0].sum():.2f}, expected 1 in each row of weights: "
            "your columns sum to 1, so the softmax ran along dim=0",
        ),
        ((ones(2)[0], ["a", "b"]), "matrix has shape (2,), expected (rows, columns), neither of them 0"),
        ((ones(2)[None], ["a"]), "(1, 2, 2), expected (rows, columns), neither of them 0: pick one sentence or one"),
        ((torch.ones(2, 3), ["a", "b"]), "matrix has shape (2, 3), expected (n, n): one row and one column per word"),
        ((ones(2) * 1j, ["a", "b"]), "matrix is a complex tensor, expected real numbers"),
        ((ones(2).to("meta"), ["a", "b"]), "matrix is on the meta device, which holds no numbers"),
        (([["1", "0"], ["0", "1"]], ["a", "b"]), "matrix is list of <U1, expected real numbers"),
        (([[1, 0], [1]], ["a", "b"]), "matrix is a list whose rows differ in length or kind"),
        ((None, ["a"]), "matrix is NoneType of object, expected real numbers"),
        ((ones(2), ["a", "b"], 5), "title is 5 of type int, expected a string"),
        ((ones(2), ["a", "b"], "", "weight"), 'kind is \'weight\', expected "weights" or "scores"'),
        ((ones(2), ["a", "b"], "", "weights", a_mask), "may_look has shape (2, 2) and holds torch.float32, expected"),
        ((ones(2), ["a", "b"], "", "weights", [True]), "may_look has shape (1,) and holds booleans, expected (2, 2)"),
        ((ones(2), ["a", "b"], "", "weights", "x"), "may_look has shape () and holds str, expected (2, 2) booleans"),
        ((ones(2), ["a", "b"], "", "weights", a_mask == 1), "expected 0 where may_look is False: is the mask upside"),
        ((ones(2), ["a", "b"], "", "weights", None, 2), "limit is 2, expected None: weights are always drawn from 0 t"),
        ((ones(2), ["a", "b"], "", "scores", None, 0.3), "limit is 0.3, expected a number not below the largest absol"),
        ((ones(2), ["a", "b"], "", "scores", None, "x"), "limit is 'x', expected a number not below the largest absol"),
        ((ones(2), ["a", "b"], "", "scores", None, True), "limit is True, expected a number not below the largest"),
        ((ones(2), ["a", "b"], "", "scores", None, "3"), "limit is '3', expected a number not below the largest abso"),
        ((ones(2), ["a", "b"], "", "scores", None, 1e300), "limit is 1e+300, expected a number not below the largest"),
        ((ones(2), ["a", "b"], "", "scores", None, 10**400), "absolute score, 0.50, and below a million"),
        ((ones(2), ["a", "b"], "", "weights", a_mask.bool().to("meta")), "may_look is on the meta device, which holds"),
        (
            (ones(2), ["a", "b"], "", "weights", numpy.ma.masked_array([[True, False]] * 2)),
            "may_look is a masked array",
        ),
        ((ones(2), ["a", "b"], "", "weights", None, None, "no"), "rows_sum_to_1 is 'no', expected True or False"),
        ((ones(2), ["a", "b"], "", "weights", None, None, True, 1), "column_sums is 1, expected True or False"),
        ((ones(2), ["a", "b"], "y" * 201), "title has 201 characters, expected at most 200"),
        ((ones(2), {"a", "b"}), "labels is set, expected a list of 2 strings"),
        ((ones(2), {"a": 1, "b": 2}), "labels is dict, expected a list of 2 strings"),
        ((list(ones(2).to("meta")), ["a", "b"]), "matrix is on the meta device, which holds no numbers, expected real"),
        (
            (torch.nested.nested_tensor([ones(1), ones(1)], layout=torch.jagged), ["a", "b"]),
            "matrix is a nested tensor, expected real",
        ),
        ((numpy.ma.masked_equal(numpy.eye(2), 0), ["a", "b"]), "matrix is a masked array, expected real numbers: fill"),
        ((list(numpy.ma.masked_equal(numpy.eye(2), 0)), ["a", "b"]), "matrix is a masked array, expected real numbers"),
        ((ones(2) * -1e9, ["a", "b"], "", "scores"), "expected scores below a million: to mask cells, use may_look"),
    ],
)
def test_one_sentence_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError) as caught:
        heatmap(*arguments)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_one_sentence_says_what_is_wrong_with_panels():
    for matrices, message in [
        ([ones(2)], 'matrices is of type list, expected a dictionary from title to matrix, for example {"A": A}'),
        ({}, "matrices is an empty dictionary, expected a dictionary"),
        ({"a": ones(2), "b": ones(3)}, "the matrices have different shapes [(2, 2), (3, 3)], expected one sentence"),
        ({"a": ones(2), "b": ones(2) * 3}, 'matrix "b" holds 1.5 in row 1, column 1'),
        ({"a\n": ones(2), "a\\n": ones(2)}, r'two titles read "a\n", expected different ones'),
        ({str(i): ones(2) for i in range(17)}, "matrices holds 17, expected at most 16 for one picture"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            heatmaps(matrices, ["a", "b"])


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 0], [0, 1]],
        numpy.eye(2)[::-1][::-1],
        numpy.eye(2, dtype=numpy.uint8),
        torch.eye(2, dtype=torch.bfloat16),
        torch.eye(2, dtype=torch.bool),
        torch.eye(2, dtype=torch.int64),
        torch.eye(2, requires_grad=True),
        torch.eye(2).to_sparse(),
        list(torch.eye(2, requires_grad=True)),
        list(numpy.eye(2)),
    ],
)
@pytest.mark.filterwarnings("error")
def test_numbers_come_in_many_forms(matrix):
    assert heatmap(matrix, ["a", "b"]).text.split() == "a b row sum a 1.00 0.00 1.00 b 0.00 1.00 1.00".split()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: points([[1.0, 2.0, 3.0]], ["a"], "p"),
            "xy has shape (1, 3), expected (rows, 2): only vectors of the pl",
        ),
        (lambda: points([[1.0, NAN]], ["a"], "p"), "xy holds NaN or infinity, expected finite coordinates"),
        (lambda: points([[1.0, 2.0]], [], "p"), "the matrix has 1 rows but labels has 0 entries"),
        (lambda: points([[1.0, 2.0]], ["a"], None), "name is None of type NoneType, expected a string"),
        (
            lambda: outline([[1.0, 2.0]], [(0, 1)], [""], "o"),
            "lines names a corner that is not there, expected row num",
        ),
        (
            lambda: outline([[1.0, 2.0]], [(0, -1)], [""], "o"),
            "lines names a corner that is not there, expected row nu",
        ),
        (lambda: outline([[1.0, 2.0]], [0, 0], [""], "o"), "lines holds something else than pairs, expected pairs of"),
        (lambda: plane(), "plane got 0 layers, expected 1 to 7 made by points, arrows or outline"),
        (lambda: plane([[1.0, 2.0]]), "plane got list, expected layers made by points, arrows or outline"),
        (lambda: plane(points([[1.0, 2.0]], ["a"], "p"), axes="xyz"), "axes is 'xyz', expected the names of two axes"),
        (lambda: plane(points([[1.0, 2.0]], ["a"], "p"), title=1), "title is 1 of type int, expected a string"),
        (
            lambda: curves([1, 2], [1, 2]),
            "ys is of type list, expected a dictionary from the name of a curve to its val",
        ),
        (lambda: curves([1, 2], {}), "ys has 0 curves, expected 1 to 7"),
        (lambda: curves([1, 2], {"a": [1]}), "ys['a'] has 1 values, expected 2, as many as x"),
        (lambda: curves([1, 2], {"a": [1, NAN]}), "ys['a'] holds NaN or infinity, expected finite numbers"),
        (lambda: curves([], {"a": []}), "x has shape (0,), expected one row of numbers"),
        (lambda: curves(3, {"a": [1]}), "x has shape (), expected one row of numbers"),
        (
            lambda: curves([0, 1], {"a": [1, 2]}, x_log=True),
            "x holds 0, expected values above 0 for a logarithmic axis",
        ),
        (lambda: curves([1, 1], {"a": [1, -2]}, y_log=True), "ys holds -2, expected values above 0 for a logarithmic"),
        *(
            (
                lambda lines=lines: outline([[1.0, 2.0]] * 2, lines, [""] * 2, "o"),
                "lines holds something else than pairs",
            )
            for lines in ([(0, INFINITY)], [(0.7, 1.2)], ["01"])
        ),
        *(
            (
                lambda decimals=decimals: table([[1.0]], ["a"], ["b"], decimals),
                f"decimals is {decimals!r}, expected a wh",
            )
            for decimals in (-1, None, True, 2.5, "2", 16)
        ),
        (lambda: arrows([[1.0, -2e15]], ["a"], "p"), "xy holds a coordinate of size 2e+15, expected at most 1e+15"),
        (lambda: curves({1, 2}, {"a": [1, 2]}), "x is a set, expected numbers in an order, such as a list"),
        (lambda: curves(numpy.ma.masked_equal([1, 2], 1), {"a": [1, 2]}), "x is a masked array, expected real numbers"),
        (lambda: curves([1, 2], {"a": [1, -2e15]}), "ys['a'] holds a number of size 2e+15, expected at most 1e+15"),
        (lambda: curves([1, 2], {"a": [1, 1e-201]}, y_log=True), "ys holds 1e-201, expected at least 1e-200 for a log"),
        (lambda: curves([1, 2], {"a": [1, 2]}, x_log="no"), "x_log is 'no', expected True or False"),
        (lambda: curves([1, 2], {"a": [1, 2]}, y_log=None), "y_log is None, expected True or False"),
        (
            lambda: curves([1, 2], {"a\n": [1, 2], "a\\n": [3, 4]}),
            r'two names in ys read "a\n", expected different ones',
        ),
        (lambda: table([[1.0]], ["a", "b"], ["c"]), "the matrix has 1 rows but rows has 2 entries"),
        (lambda: table([[1.0]], ["a"], ["c", "d"]), "the matrix has 1 columns but columns has 2 entries"),
    ],
)
def test_one_sentence_says_what_is_wrong_elsewhere(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert message in str(caught.value) and "\n" not in str(caught.value)
