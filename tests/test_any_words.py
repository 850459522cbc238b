"""What every picture and table keeps: any words are literal, and the bytes are the same everywhere."""

import os
import subprocess
import sys

import matplotlib
import pytest
import torch
from drawing import inked, keep_figures, nothing_overlaps_or_is_cut, texts
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from utils import lettering
from utils.lettering import display_width
from utils.plots import heatmap, plane, points, table
from utils.sentence import labels

ODD = [
    "$x$",
    "a_b",
    "c\\d",
    "<b>",
    "\"q'",
    "😀",
    "👨‍👩‍👧",
    "🇫🇷",
    "👍🏽",
    "日本語",
    "العربية",
    "שלום",
    "é̂n",
    "a\tb",
    "n\nl",
]
ODD += ["", "  ", "incomprehensibilities", "$", "\\frac{a}{b}", "☃", "A\u200dB", "\u202eabc", "&amp;"]
quick = settings(
    max_examples=60, deadline=None, database=None, derandomize=True, phases=[Phase.explicit, Phase.generate]
)


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Let every picture keep its figure."""
    keep_figures(monkeypatch)


def mixed(n):
    """Return weights of n words, no two the same."""
    return torch.softmax(torch.arange(n * n, dtype=torch.float64).reshape(n, n).sin(), dim=-1)


# Odd words


@pytest.mark.filterwarnings("error")
def test_odd_words_are_drawn_literally_or_named():
    picture = heatmap(mixed(24), labels(ODD), "$x$ <b>&amp; \\alpha 日本\n😀", column_sums=True)
    nothing_overlaps_or_is_cut(picture.figure)
    written = inked(picture.figure)
    for literal in (
        "$x$₁",
        "a_b₂",
        "c\\d₃",
        "<b>₄",
        "\"q'₅",
        "😀₆",
        "العربية₁₁",
        "שלום₁₂",
        "a\\tb₁₄",
        "n\\nl₁₅",
        "₁₆",
        "\\frac{a}{b}₂₀",
    ):
        assert written.count(literal) == 2, literal
    for named in ("word₇", "word₈", "word₉", "word₁₀"):
        assert written.count(named) == 2, named
    for label in labels(["👨‍👩‍👧", "日本語", "العربية"]):
        assert label[:-1] in picture.text and label[:-1] in picture.alt
    assert "$x$ <b>&amp; \\alpha □□\\n😀" in written
    assert picture.text.startswith("$x$ <b>&amp; \\alpha 日本\\n😀\n") and len(picture.text.splitlines()) == 27
    assert not any(text.get_parse_math() for text in texts(picture.figure))


@quick
@given(st.lists(st.text(max_size=12), min_size=1, max_size=24))
@example(["\x00", "\u2028", "\ud800", "\u200b", "\u0301", "\U000e0001"])
def test_any_words_keep_the_table_straight(words):
    numbers = table(mixed(len(words)), labels(words), [str(i) for i in range(len(words))])
    lines = repr(numbers).splitlines()
    assert len(lines) == len(words) + 1 and len({display_width(line) for line in lines}) == 1
    assert [line.split()[-len(words) :] for line in lines[1:]] == [
        [f"{x:.2f}" for x in row] for row in mixed(len(words))
    ]


@settings(quick, max_examples=6)
@given(st.lists(st.text(max_size=8), min_size=1, max_size=5), st.text(max_size=40))
@pytest.mark.filterwarnings("error")
def test_any_words_can_be_drawn(words, title):
    for picture in (
        heatmap(mixed(len(words)), words, title),
        plane(points([[i, 1.0] for i in range(len(words))], words, title), title=title),
    ):
        nothing_overlaps_or_is_cut(picture.figure)


def test_labels_without_ink_are_named():
    picture = heatmap(mixed(3), ["", "  ", "\u200b"])
    assert {"word₁", "word₂", "word₃"} <= set(inked(picture.figure))
    assert picture.text.split()[:3] == [line.split()[0] for line in picture.text.splitlines()[1:]]
    assert picture.text.split()[:3] == ["word₁", "word₂", "word₃"] and "row: word₁: word₃ 0.43; word₂: " in picture.alt
    corners = plane(points([[1.0, 2.0]] * 2, ["", "\u200b"], "p"))
    assert "point 1 at (1.00, 2.00); word₂ at" in corners.alt and "word₂" in corners.text
    assert "word₂" in inked(corners.figure) and "word₁" not in inked(corners.figure)


def test_rare_signs_and_long_labels():
    assert display_width("\uff21") == 2, "a full-width A takes one column"
    assert lettering.isolated("\u0661") == "\u2068\u0661\u2069", "an Arabic number turns what is beside it"
    assert lettering.named("\u0301", 3) == "word₃"
    long = lettering.drawn("w" * 99 + "12345", 1, 10)
    assert long.endswith("w…12345") and lettering.text_width(long, 10) <= 1.8


# The same everywhere

DRAW = """
import sys, torch
from utils.plots import curves, heatmap, plane, arrows
pictures = [
    heatmap(torch.eye(3), ["a", "b", "c"], "A", may_look=torch.ones(3, 3).tril().bool()),
    plane(arrows([[1.0, 2.0]], ["a"], "q"), title="t"),
    curves([1, 10], {"a": [1, 1e-7], "b": [2, 3]}, "t", "x", "y", y_log=True),
]
"""
YOURS = {
    "axes.facecolor": "black",
    "axes.formatter.use_locale": True,
    "axes.formatter.use_mathtext": True,
    "axes.labelsize": 30,
    "figure.constrained_layout.use": True,
    "figure.dpi": 50,
    "font.family": "monospace",
    "font.size": 20,
    "hatch.linewidth": 5,
    "lines.markersize": 20,
    "savefig.transparent": True,
    "text.color": "red",
    "text.usetex": True,
    "xtick.direction": "in",
}


def test_bytes_do_not_depend_on_settings_or_on_the_process():
    names = {}
    exec(DRAW, names)
    first = [picture.png for picture in names["pictures"]]
    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context(YOURS):
        exec(DRAW, names)
        assert [picture.png for picture in names["pictures"]] == first
        assert matplotlib.rcParams["font.size"] == 20
    assert dict(matplotlib.rcParams) == before
    code = (
        "import matplotlib; before = matplotlib.rcParams.copy()\n"
        f"{DRAW}\n"
        "assert 'matplotlib.pyplot' not in sys.modules and matplotlib.rcParams.copy() == before\n"
        "sys.stdout.buffer.write(b'|'.join(picture.png for picture in pictures))"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, env={**os.environ, "PYTHONHASHSEED": "7"}
    )
    assert ran.returncode == 0 and not ran.stderr, ran.stderr.decode()
    assert ran.stdout == b"|".join(first)
