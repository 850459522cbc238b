"""Heatmaps: the right number in the right cell in the right colour, looked at in the pixels that a reader sees."""

import itertools
import re

import numpy
import pytest
import torch
from drawing import as_array, contrast, inked, keep_figures, nothing_overlaps_or_is_cut, pixel
from matplotlib import colormaps

from utils.panels import readable_ink
from utils.plots import heatmap, heatmaps, table
from utils.sentence import LABELS, labels


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Let every picture keep its figure."""
    keep_figures(monkeypatch)


def weights(n, seed=0):
    scores = torch.randn(n, n, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return torch.softmax(2 * scores, dim=-1)


def cell_colours(picture, panel, n):
    """Return the colour of each cell, sampled beside its number, as an (n, n, 3) array from 0 to 255."""
    cells = [[pixel(picture, panel, p + 0.13, m + 0.13) for p in range(n)] for m in range(n)]
    return numpy.array(cells, dtype=float)


def expected_colours(matrix, low, high, name):
    return 255 * colormaps[name]((matrix.numpy() - low) / (high - low))[..., :3]


# The right cell, the right colour


def test_each_weight_has_its_colour_in_its_cell():
    A = torch.tensor([[0.1, 0.7, 0.2], [0.05, 0.35, 0.6], [0.45, 0.25, 0.3]], dtype=torch.float64)
    picture = heatmap(A, labels(["a", "b", "c"]))
    assert abs(cell_colours(picture, 0, 3) - expected_colours(A, 0, 1, "Blues")).max() < 10


def test_scores_share_one_symmetric_scale():
    Omega = torch.tensor([[0.5, -4.0], [2.0, 1.0]], dtype=torch.float64)
    picture = heatmaps({"Ω": Omega, "Ω/2": Omega / 2}, labels(["a", "b"]), kind="scores")
    for panel, values in enumerate((Omega, Omega / 2)):
        assert abs(cell_colours(picture, panel, 2) - expected_colours(values, -4, 4, "PuOr")).max() < 10
    wider = heatmap(Omega, labels(["a", "b"]), kind="scores", limit=8)
    assert abs(cell_colours(wider, 0, 2) - expected_colours(Omega, -8, 8, "PuOr")).max() < 10


def test_numbers_and_words_stand_at_their_rows_and_columns():
    A = weights(4)
    picture = heatmap(A, ["w", "x", "y", "z"])
    places = {
        (round(x * 2) / 2, round(y * 2) / 2): text.get_text()
        for text in picture.figure.axes[0].texts
        for x, y in [text.xy if hasattr(text, "xy") else text.get_position()]
    }
    for m, p in itertools.product(range(4), repeat=2):
        assert places[p + 0.5, m + 0.5] == f"{A[m, p]:.2f}"
    boxes = {}
    for text in picture.figure.axes[0].texts:
        box = text.get_window_extent()
        boxes.setdefault(text.get_text(), []).append(((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2))
    rows = sorted("wxyz", key=lambda word: -min(boxes[word])[1])
    columns = sorted("wxyz", key=lambda word: max(boxes[word], key=lambda place: place[1])[0])
    assert rows == columns == list("wxyz")
    assert boxes["query: the word that looks"][0][0] < min(boxes["w"])[0]
    assert boxes["key: the word looked at"][0][1] < min(boxes["z"])[1]


def placed(axes):
    """Return (text, x, y, rotation) of everything written in a panel, x and y in cells from its upper left corner."""
    axes.figure.canvas.draw()
    found = []
    for text in axes.texts:
        box = text.get_window_extent()
        x, y = axes.transData.inverted().transform(((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2))
        found.append((text.get_text(), x, y, text.get_rotation()))
    return found


@pytest.mark.parametrize("words", [["w", "x", "y", "z"], [f"{sign}-a-long-word" for sign in "wxyz"]])
def test_words_stand_above_their_columns_on_end_if_they_are_long(words):
    above = {
        text: (round(x, 1), turned)
        for text, x, y, turned in placed(heatmap(weights(4), words).figure.axes[0])
        if y < 0 and x < 4 and text
    }
    assert above == {word: (p + 0.5, 90 if len(word) > 1 else 0) for p, word in enumerate(words)}


def test_column_sums_stand_below_their_columns():
    A = torch.tensor([[0.1, 0.7, 0.2], [0.05, 0.35, 0.6], [0.45, 0.25, 0.3]])
    written = placed(heatmap(A, ["a", "b", "c"], column_sums=True).figure.axes[0])
    below = {text: round(x, 1) for text, x, y, _ in written if 3 < y < 3.5 and x > 0}
    assert below == {"0.60": 0.5, "1.30": 1.5, "1.10": 2.5}
    assert {text: round(y, 1) for text, x, y, _ in written if x < 0 and 3 < y < 3.5} == {"sum": 3.3}


def test_each_title_stands_over_its_own_panel():
    panels = {title: weights(3, seed) for seed, title in enumerate(["one", "two", "three", "four"])}
    picture = heatmaps(panels, ["a", "b", "c"])
    places = []
    for panel, (title, A) in enumerate(panels.items()):
        axes = picture.figure.axes[panel]
        assert abs(cell_colours(picture, panel, 3) - expected_colours(A, 0, 1, "Blues")).max() < 10
        box = next(text for text in axes.texts if text.get_text() == title).get_window_extent()
        frame = axes.get_window_extent()
        assert abs(box.x0 - frame.x0) < 4 and 0 < box.y0 - frame.y1 < 0.5 * frame.height, title
        assert {f"{x:.2f}" for x in A.flatten().tolist()} <= {text.get_text() for text in axes.texts}, title
        places.append((frame.y0 < picture.figure.bbox.height / 2, frame.x0 > picture.figure.bbox.width / 3))
    assert places == [(False, False), (False, True), (True, False), (True, True)]
    assert inked(picture.figure).count("query: the word that looks") == 2


@pytest.mark.parametrize(("kind", "limit"), [("weights", None), ("scores", 3), ("scores", None)])
def test_the_marks_of_the_colour_bar_say_their_values(kind, limit):
    bar = heatmap(weights(3), ["a", "b", "c"], kind=kind, limit=limit).figure.axes[-1]
    bar.figure.canvas.draw()
    assert bar.get_ylabel() == {"weights": "attention weight", "scores": "attention score"}[kind]
    marks = [(tick.get_loc(), tick.label2.get_text()) for tick in bar.yaxis.get_major_ticks()]
    assert len(marks) > 4
    for value, text in marks:
        assert abs(float(text.replace("−", "-")) - value) < 0.006
    low, high = bar.get_ylim()
    assert (marks[0][0], marks[-1][0]) == pytest.approx((low, high))


def test_a_mask_comes_in_many_forms():
    may_look = torch.tensor([[True, False, False], [True, True, False], [False, True, True]])
    A = torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [0, 0.2, 0.8]])
    expected = heatmap(A, LABELS[:3], may_look=may_look)
    for same in (may_look.tolist(), may_look.numpy(), list(may_look), may_look.to_sparse()):
        picture = heatmap(A, LABELS[:3], may_look=same)
        assert (picture.text, picture.alt, picture.png) == (expected.text, expected.alt, expected.png)


def test_a_table_has_each_number_in_its_row_and_column():
    assert repr(table([[1.234, -2], [30, 4.5]], ["up", "down"], ["left", "right"])).splitlines() == [
        "       left  right",
        "up     1.23  −2.00",
        "down  30.00   4.50",
    ]


@pytest.mark.parametrize("n", [1, 2, 7, 24])
def test_a_doubled_word_has_cells_of_its_own(n):
    picture = heatmap(weights(n), ["the"] * n)
    assert picture.figure.axes[0].collections[0].get_array().shape == (n, n)
    assert sum(re.fullmatch(r"\d\.\d\d", text.get_text()) is not None for text in picture.figure.axes[0].texts) == (
        n * n + n
    )


@pytest.mark.parametrize("name", ["Blues", "PuOr"])
def test_numbers_are_readable_on_every_colour(name):
    worst = min(contrast(readable_ink(rgba), rgba[:3]) for rgba in colormaps[name](numpy.linspace(0, 1, 2001)))
    assert worst >= 4.5


def test_masked_cells_are_hatched_and_empty():
    may_look = torch.ones(3, 3).tril().bool()
    may_look[1] = False
    A = torch.tensor([[1, 0, 0], [0, 0, 0], [0.2, 0.3, 0.5]])
    picture = heatmap(A, LABELS[:3], "causal", may_look=may_look)
    for m, p in itertools.product(range(3), repeat=2):
        shades = {pixel(picture, 0, p + x / 40, m + y / 40) for x in range(10, 30) for y in range(10, 30)}
        greys = {shade for shade in shades if max(shade) - min(shade) < 8}
        darkest = min(map(sum, shades)) / 3
        if may_look[m, p]:
            assert darkest < 100 or max(map(sum, shades)) > 750, "no number"
        else:
            assert greys == shades and 120 < darkest < 180 and len(shades) > 2, "not hatched, or not empty"
    assert picture.text.splitlines() == [
        "causal",
        "        the₁    fat₂    cat₃  row sum",
        "the₁    1.00  masked  masked     1.00",
        "fat₂  masked  masked  masked     none",
        "cat₃    0.20    0.30    0.50     1.00",
    ]
    assert "5 cells are masked and hatched" in picture.alt and "fat₂: masked everywhere" in picture.alt
    scores = heatmap(A.masked_fill(~may_look, float("-inf")), LABELS[:3], kind="scores", may_look=may_look)
    assert "masked" in scores.text and "inf" not in scores.text


def test_only_rows_that_look_somewhere_sum_to_1():
    some = torch.tensor([[True, True], [False, False]])
    for may_look, ending in ((some, "Each other row sums to 1."), (some & False, "fat₂: masked everywhere.")):
        A = may_look / 2
        assert heatmap(A, LABELS[:2], may_look=may_look).alt.endswith(ending)


def test_row_sums_that_are_not_1_are_bold():
    A = torch.tensor([[0.5, 0.5, 0], [0.2, 0.2, 0.2], [0.3, 0.3, 0.4]])
    picture = heatmap(A, LABELS[:3], rows_sum_to_1=False, column_sums=True)
    sums = [text for text in picture.figure.axes[0].texts if getattr(text, "xy", (0, 0))[0] == 3][1:]
    written = [(text.get_text(), text.get_weight()) for text in sums]
    assert written == [("1.00", "normal"), ("0.60", "bold"), ("1.00", "normal")]
    assert picture.text.splitlines()[-1].split() == ["column", "sum", "1.00", "1.00", "0.60"]
    assert picture.alt.endswith("Row sums that are not 1: fat₂ 0.60.")


# Words about the picture


def test_the_text_is_the_labelled_matrix():
    Omega = [[0.0, -1.25, 12.5], [-0.001, 3, 4], [5, 6, 7]]
    assert heatmap(Omega, ["the₁", "日本₂", "a₃"], "Ω = Q Kᵀ", kind="scores").text.splitlines() == [
        "Ω = Q Kᵀ",
        "       the₁  日本₂     a₃",
        "the₁   0.00  −1.25  12.50",
        "日本₂  0.00   3.00   4.00",
        "a₃     5.00   6.00   7.00",
    ]


def test_the_alt_text_names_the_largest_weights():
    A = torch.tensor([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [1 / 3, 1 / 3, 1 / 3]])
    assert heatmap(A, LABELS[:3], "A").alt == (
        "Heatmap of attention weights, A, 3 × 3: rows are the words that look, columns the words looked at. "
        "Largest weight of each row: the₁: fat₂ 0.50; fat₂: the₁ and fat₂ 0.40; "
        "cat₃: the₁ and fat₂ and cat₃ 0.33. Each row sums to 1."
    )
    flat = heatmap(torch.full((4, 4), 0.25), LABELS[:4]).alt
    assert "the₁: 4 words alike 0.25" in flat
    close = heatmap([[0.334, 0.3345, 0.3315]] * 3, LABELS[:3]).alt
    assert "the₁: the₁ and fat₂ and cat₃ 0.33" in close
    two = heatmaps({"first": A, "second": A}, LABELS[:3])
    assert two.alt.index("weights, first") < two.alt.index("weights, second")
    assert two.text.split("\n\n")[1].startswith("second\n")


def test_what_a_notebook_stores():
    picture = heatmap(weights(7), LABELS)
    data, metadata = picture._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"} and data["text/plain"] == repr(picture)
    assert metadata["image/png"] == {"alt": picture.alt, "width": picture.width}
    assert as_array(picture).shape[1] == 2 * picture.width
    assert 500 < picture.width < 900 and len(picture.png) < 80_000


def test_the_most_frequent_colours_are_stored_exactly():
    picture = heatmap(weights(7), LABELS)
    drawn = numpy.asarray(picture.figure.canvas.buffer_rgba())
    _, which, counts = numpy.unique(drawn.view(">u4").ravel(), return_inverse=True, return_counts=True)
    frequent = counts > numpy.sort(counts)[-192]
    assert len(counts) > 256 and frequent.sum() > 100
    changed = (as_array(picture) != drawn[..., :3]).any(axis=-1).ravel()
    assert not changed[frequent[which.ravel()]].any()


# Room for everything


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 24])
@pytest.mark.parametrize("kind", ["weights", "scores"])
def test_there_is_room_for_any_number_of_words(n, kind):
    matrix = weights(n) if kind == "weights" else 100 * (weights(n) - 0.5)
    picture = heatmap(matrix, labels((LABELS * 4)[:n]), "A = softmax(Ω/√c)", kind=kind, column_sums=True)
    nothing_overlaps_or_is_cut(picture.figure)


@pytest.mark.parametrize(("n", "count"), [(1, 2), (2, 4), (7, 2), (7, 3), (12, 2)])
def test_there_is_room_for_panels_with_long_titles(n, count):
    title = "weights of a head that has learned something and has a title to say so"
    panels = {f"{i}: {title}": weights(n, seed=i) for i in range(count)}
    picture = heatmaps(panels, (LABELS * 2)[:n], column_sums=True)
    nothing_overlaps_or_is_cut(picture.figure)
    assert picture.width <= 1008
    assert all(title in picture.text for title in panels)


def test_there_is_room_for_large_scores():
    picture = heatmap(1.9e6 * (weights(7) - 0.5), LABELS, kind="scores")
    nothing_overlaps_or_is_cut(picture.figure)


def test_the_words_of_panels_are_drawn():
    picture = heatmap(weights(2), ["x" * 300 + "₁", "x" * 300 + "₂"], "y" * 200)
    nothing_overlaps_or_is_cut(picture.figure)
    assert "x" * 300 + "₂" in picture.text and "x" * 300 + "₂" in picture.alt
    assert {"₁", "₂"} <= {word[-1] for word in inked(picture.figure)}
