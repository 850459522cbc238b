"""Points, arrows, outlines and curves: where they are drawn, and room for everything."""

import itertools

import numpy
import pytest
import torch
from drawing import as_array, contrast, inked, keep_figures, nothing_overlaps_or_is_cut, pixel

from utils.curves import INKS
from utils.plots import arrows, curves, outline, plane, points
from utils.sentence import LABELS, hand_made_projections, input_embeddings


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Let every picture keep its figure."""
    keep_figures(monkeypatch)


def drawn_in(picture, x, y):
    """Return the number of the ink that the colour drawn at x, y comes from, or None."""
    inks = [tuple(int(ink[i : i + 2], 16) for i in (1, 3, 5)) for ink in INKS]
    colour = pixel(picture, 0, x, y)
    near = (i for i, ink in enumerate(inks) if max(abs(a - b) for a, b in zip(colour, ink, strict=True)) < 40)
    return next(near, None)


# Planes


def queries_and_keys():
    X, (W_q, W_k, _) = input_embeddings(), hand_made_projections()
    return plane(arrows(X @ W_q, LABELS, "queries"), points(X @ W_k, LABELS, "keys"), title="Queries and keys")


def cube():
    corners = torch.tensor(list(itertools.product((-1.0, 1.0), (-1.0, 1.0), (3.0, 5.0))))
    edges = [(i, j) for i, j in itertools.combinations(range(8), 2) if (corners[i] != corners[j]).sum() == 1]
    return outline(corners[:, :2] / corners[:, 2:], edges, [f"corner {i}" for i in range(8)], "cube")


def test_points_and_arrows_are_drawn_where_they_are():
    picture = plane(points([[2.0, 1.0], [-1.0, -2.0]], ["a", "b"], "keys"), arrows([[1.0, -1.0]], ["q"], "queries"))
    assert [drawn_in(picture, x, y) for x, y in [(2, 1), (-1, -2), (0.5, -0.5), (1, 1)]] == [0, 0, 1, None]
    assert picture.text.splitlines() == [
        "keys (points)",
        "   axis 1  axis 2",
        "a    2.00    1.00",
        "b   −1.00   −2.00",
        "",
        "queries (arrows)",
        "   axis 1  axis 2",
        "q    1.00   −1.00",
    ]
    assert picture.alt == (
        "Plane: horizontal axis 1, vertical axis 2. keys (points): a at (2.00, 1.00); b at (−1.00, −2.00). "
        "queries (arrows): q at (1.00, −1.00)."
    )


def test_a_line_joins_its_corners():
    assert drawn_in(plane(outline([[0, 0], [2, 1]], [(0, 1)], ["", ""], "o")), 0.5, 0.25) == 0


def test_both_axes_have_one_scale_and_show_the_origin():
    for xy in ([[-1.0, -2.0], [-3.0, -1.0]], [[5.0, 1.0]], [[0.0, 0.0]], [[1e-3, 0.0]]):
        chart = plane(points(xy, [""] * len(xy), "p")).figure.axes[0]
        right, up = chart.transData.transform((1, 1)) - chart.transData.transform((0, 0))
        assert abs(right / up - 1) < 1e-6
        for low, high in (chart.get_xlim(), chart.get_ylim()):
            assert low < 0 < high


@pytest.mark.parametrize(
    "make",
    [
        queries_and_keys,
        lambda: plane(cube(), title="a cube"),
        lambda: plane(arrows([[0.0, 0.0], [1.0, 0.0]], ["zero", "one"], "arrows")),
        lambda: plane(points([[1.0, 1.0]] * 7, LABELS, "points")),
        lambda: plane(points([[1e6, 2e6]], ["far"], "points"), title="long " * 30, axes=("x $a$ " * 20, "y <b> " * 20)),
        lambda: plane(*(points([[i, 1.0]], [f"p{i}"], f"layer {i} {'and so on ' * 9}") for i in range(7))),
        lambda: plane(points([[1.0, 1.0]], ["w" * 99], "a")),
    ],
)
def test_there_is_room_in_a_plane(make):
    picture = make()
    nothing_overlaps_or_is_cut(picture.figure)
    assert as_array(picture).shape[1] == 2 * picture.width
    chart = picture.figure.axes[0]
    frame = chart.get_window_extent()
    for text in chart.texts:
        if text.get_text():
            box = text.get_window_extent()
            assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


def test_labels_leave_points_and_arrows_free():
    picture = queries_and_keys()
    chart = picture.figure.axes[0]
    X, (W_q, W_k, _) = input_embeddings(), hand_made_projections()
    along = torch.linspace(0, 1, 50, dtype=X.dtype)[:, None, None] * (X @ W_q)
    drawn = chart.transData.transform(torch.cat([along.reshape(-1, 2), X @ W_k]).numpy())
    for text in (text for text in chart.texts if text.get_text()):
        box = text.get_window_extent()
        covered = (drawn[:, 0] > box.x0) & (drawn[:, 0] < box.x1) & (drawn[:, 1] > box.y0) & (drawn[:, 1] < box.y1)
        assert not covered.any(), text.get_text()


def test_an_arrow_of_length_zero_is_seen():
    picture = plane(arrows([[0.0, 0.0], [1.0, 1.0]], ["", ""], "arrows"))
    assert max(pixel(picture, 0, -0.005, 0.005)[:2]) < 120


def test_inks_are_readable_and_differ():
    assert len(set(INKS)) == 7 and min(contrast(ink, "white") for ink in INKS) >= 4.5


# Curves


def test_curves_in_words_and_numbers():
    picture = curves([1, 10, 100], {"a": [1, 5, 2], "b": [0.5, 0.25, 1e-9]}, "t", "c", "spread", x_log=True)
    assert picture.alt == (
        "Curves, t: spread against c. a: starts at 1, ends at 2, lowest 1, highest 5. "
        "b: starts at 0.5, ends at 1e−09, lowest 1e−09, highest 0.5."
    )
    rows = [line.split() for line in picture.text.splitlines()]
    assert rows == [["t", "(rows:", "c)"], ["a", "b"], ["1", "1", "0.5"], ["10", "5", "0.25"], ["100", "2", "1e−09"]]
    bare = curves([1, 2], {"a": [1, 2]})
    assert bare.alt.startswith("Curves: values against x. a: starts") and bare.text.startswith("rows: x\n")
    many = curves(range(100), {"a": range(100)})
    assert [line.split()[0] for line in many.text.splitlines()[2:]] == "0 12 25 37 50 62 74 87 99".split()


def test_curves_are_drawn_where_they_are():
    picture = curves([1, 2, 3], {"a": [1, 2, 4]}, "t", "spread", "c")
    assert (drawn_in(picture, 2.5, 3), drawn_in(picture, 1.5, 3)) == (0, None)
    chart = picture.figure.axes[0]
    assert (chart.get_xlabel(), chart.get_ylabel()) == ("spread", "c")
    assert drawn_in(curves([1], {"a": [2]}), 1, 2) == 0, "a single point is not seen"


def test_each_curve_has_its_dashes():
    picture = curves([0, 1], {f"c{i}": [i, i] for i in range(7)})
    along = numpy.linspace(0, 1, 300)
    assert len({tuple(drawn_in(picture, x, i) is None for x in along) for i in range(7)}) == 7


def test_marks_of_logarithmic_axes():
    written = inked(curves([4, 16, 64], {"a": [1, 1e-3, 1e-7]}, x_log=True, y_log=True).figure)
    assert {"4", "16", "64", "10⁻⁷"} <= set(written)


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([123456, 123457], ["123456", "123457"]),
        ([0.69314, 0.69315], ["0.69314", "0.69315"]),
        ([110.6, 111.4, 100], ["110.6", "111.4", "100"]),
        ([0, 0.12344, 0.12342, 1000], ["0", "0.123", "0.123", "1e+03"]),
        ([2 / 3, 0.25, 98.76], ["0.667", "0.25", "98.8"]),
        ([1234.5, 1234.5], ["1.23e+03", "1.23e+03"]),
    ],
)
def test_what_is_drawn_apart_reads_differently(values, written):
    picture = curves([*range(len(values))], {"a": values})
    assert [line.split()[1] for line in picture.text.splitlines()[2:]] == written
    assert f"starts at {written[0]}, ends at {written[-1]}, lowest {written[values.index(min(values))]}" in picture.alt
    with_x = curves(values, {"a": [1] * len(values)})
    assert [line.split()[0] for line in with_x.text.splitlines()[2:]] == written


@pytest.mark.parametrize(
    ("x", "ys", "logarithmic"),
    [
        ([1], {"a": [2]}, False),
        ([1, 2, 3], {"a": [2, 2, 2]}, False),
        ([1, 2], {"a": [1e7, 2.5e7]}, False),
        ([1, 2], {"a": [0.69314, 0.69315]}, False),
        ([4, 16, 64, 256], {f"c{i} $x$": [10.0 ** -(i + k) for k in range(4)] for i in range(7)}, True),
        (range(1, 60), {"long name " * 20: range(1, 60), "b": range(2, 61)}, True),
        (
            torch.arange(3.0),
            {"a": torch.ones(3, requires_grad=True), "b": list(torch.ones(3, requires_grad=True))},
            False,
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_there_is_room_for_curves(x, ys, logarithmic):
    picture = curves(x, ys, "title " * 30, "x " * 90, "y <b> " * 20, x_log=logarithmic, y_log=logarithmic)
    nothing_overlaps_or_is_cut(picture.figure)
    chart = picture.figure.axes[0]
    assert len(chart.lines) == len(ys) and len({line.get_color() for line in chart.lines}) == len(ys)
    if len(ys) > 1:
        assert chart.get_legend().get_window_extent().y1 < chart.get_window_extent().y0
    assert not any("mathdefault" in written for written in inked(picture.figure))
