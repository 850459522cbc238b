"""The attention explorer as it is stored: a table that is right without its script, and what the script will read."""

import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
from drawing import contrast

from utils.explorer import Explorer
from utils.sentence import LABELS, WORDS, hand_made_projections, input_embeddings

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "notebooks" / "explorer.js"
NASTY = ['<b>"bold"</b>', "&amp;", "it's", "</script>", "$x$", "</table>"]

X = input_embeddings()
W_q, W_k, W_v = hand_made_projections()
OMEGA, V = (X @ W_q) @ (X @ W_k).mT, X @ W_v
LATER = torch.ones(7, 7, dtype=torch.bool).triu(1)


class Figure(HTMLParser):
    """The tags of an explorer's HTML as (tag, attributes, text up to the next tag), and the rows of its table."""

    def __init__(self, explorer):
        super().__init__()
        self.tags = []
        self.feed(explorer.html)
        self.rows = []
        for tag, attributes, text in self.tags:
            if tag == "tr":
                self.rows.append([])
            elif tag in ("th", "td"):
                self.rows[-1].append((tag, attributes, text.rstrip("\n")))

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs), ""))

    def handle_data(self, data):
        tag, attributes, text = self.tags[-1]
        self.tags[-1] = (tag, attributes, text + data)

    def words(self):
        return [text for _, _, text in self.rows[0][1:-1]]

    def shown(self):
        return [[text for _, _, text in row[1:-1]] for row in self.rows[1:]]

    def numbers(self, name):
        lines = [attributes[name] for tag, attributes, _ in self.tags if tag == "tr" and name in attributes]
        return torch.tensor([[float(x) for x in line.split()] for line in lines], dtype=torch.float64)


def two_decimals(matrix):
    return [[f"{x:.2f}" for x in row] for row in matrix.tolist()]


@pytest.mark.parametrize("causal", [False, True])
def test_the_table_shows_pytorchs_weights(causal):
    A = torch.softmax((OMEGA.masked_fill(LATER, -torch.inf) if causal else OMEGA) / 2**0.5, dim=-1)
    expected = two_decimals(A)
    if causal:
        expected = [["masked" if p > m else x for p, x in enumerate(row)] for m, row in enumerate(expected)]
    figure = Figure(Explorer(OMEGA, 2, LABELS, V, causal))
    assert figure.shown() == expected
    assert [row[-1][2] for row in figure.rows] == ["row sum"] + ["1.00"] * 7


def test_the_lessons_numbers_are_not_at_the_edge_of_a_shown_digit():
    """So rounding to six decimals cannot change a shown weight at any stop: 1, √c, c."""
    for scores in (OMEGA, OMEGA.masked_fill(LATER, -torch.inf)):
        for divisor in (1, 2**0.5, 2):
            hundredths = torch.softmax(scores / divisor, dim=-1) * 100
            assert ((hundredths % 1 - 0.5).abs() > 1e-4).all()


def test_the_table_is_computed_from_the_numbers_that_the_script_reads():
    x = torch.logit(torch.tensor(0.125, dtype=torch.float64)).item()  # the weight is at the edge of 0.12 and 0.13
    for scores in ([x + 4e-7, 0], [x - 4e-7, 0], [x, 0]):
        figure = Figure(Explorer([scores, [0, 0]], 1, ["a", "b"]))
        read = figure.numbers("data-omega")
        assert (read[0] - torch.tensor(scores)).abs().max() < 6e-7
        assert figure.shown() == two_decimals(torch.softmax(read, dim=-1))


def test_the_script_finds_every_number():
    figure = Figure(Explorer(-OMEGA * torch.pi, 2, LABELS, V * torch.pi, causal=True))
    assert torch.allclose(figure.numbers("data-omega"), -OMEGA * torch.pi, atol=5.1e-7, rtol=0)
    assert torch.allclose(figure.numbers("data-v"), V * torch.pi, atol=5.1e-7, rtol=0)
    data = next(attributes for tag, attributes, _ in figure.tags if tag == "figure")
    assert data["data-c"] == "2" and "data-causal" in data
    assert "data-causal" not in Figure(Explorer(OMEGA, 2, LABELS)).tags[0][1]
    assert "data-v" not in Explorer(OMEGA, 2, LABELS).html
    assert "-0 " not in Explorer([[-1e-9, 0], [0, 0]], 1, ["a", "b"]).html


@pytest.mark.parametrize("causal", [False, True])
def test_the_row_chosen_first_looks_hardest_at_another_word(causal):
    assert Figure(Explorer(OMEGA, 2, LABELS, V, causal)).tags[0][1]["data-row"] == "2"  # cat, at fat


def test_it_displays_as_html_and_as_the_labelled_matrix():
    explorer = Explorer(OMEGA, 2, LABELS)
    assert explorer._repr_mimebundle_() == {"text/html": explorer.html, "text/plain": repr(explorer)}
    lines = repr(explorer).splitlines()
    assert lines[0] == "A = softmax(Ω/√c), c = 2"
    assert lines[1].split() == [*LABELS, "row", "sum"]
    assert lines[4].split() == ["cat₃", "0.02", "0.76", "0.01", "0.02", "0.08", "0.06", "0.04", "1.00"]
    assert repr(Explorer(OMEGA, 2, LABELS, causal=True)).count("masked") == 21 + 1


def test_it_is_a_real_table():
    figure = Figure(Explorer(OMEGA, 2, LABELS, V, causal=True))
    assert [tag for tag, _, _ in figure.tags[:3]] == ["figure", "figcaption", "div"]
    assert all((tag, attributes["scope"]) == ("th", "col") for tag, attributes, _ in figure.rows[0])
    for name, row in zip(LABELS, figure.rows[1:], strict=True):
        assert (row[0][0], row[0][1]["scope"], row[0][2]) == ("th", "row", name)
        assert [tag for tag, _, _ in row[1:]] == ["td"] * 8
    titles = [attributes["title"] for tag, attributes, _ in figure.tags if "title" in attributes]
    assert len(titles) == 7 and titles[2] == "cat₃ looks most at fat₂: 0.95"
    assert 'title="on₅ looks most at on₅: 0.24"' in Explorer(OMEGA, 2, LABELS).html  # the₁ has 0.24 too, but less


def test_words_are_numbered_and_a_doubled_word_has_two_columns():
    for tokens in (WORDS, LABELS):
        figure = Figure(Explorer(OMEGA, 2, tokens))
        assert figure.words() == LABELS
        assert [row[0][2] for row in figure.rows[1:]] == LABELS
        assert len(figure.shown()) == 7 and {len(row) for row in figure.shown()} == {7}
    assert Figure(Explorer(OMEGA[:2, :2], 2, ["", "a"])).words() == ["word₁", "a₂"]


def test_words_stand_there_literally():
    figure = Figure(Explorer(torch.eye(6), 2, NASTY))
    assert figure.words() == [word + sign for word, sign in zip(NASTY, "₁₂₃₄₅₆", strict=True)]
    assert [row[0][2] for row in figure.rows[1:]] == figure.words()
    allowed = {"figure", "figcaption", "div", "table", "thead", "tbody", "tr", "th", "td", "i", "script"}
    assert {tag for tag, _, _ in figure.tags} == allowed
    assert figure.tags[0][1]["class"].split()[1] == "mathjax_ignore"  # or JupyterLab sets $x$ as a formula
    assert Explorer(torch.eye(6), 2, NASTY).html.count("</script>") == 1


def test_every_cell_can_be_read_on_its_own_ground():
    """The ink and the ground are a pair in every place that a theme may colour: figure, table and rows."""
    seen = set()
    for w in range(1, 100):
        x = torch.logit(torch.tensor(w / 100)).item()
        figure = Figure(Explorer([[x, 0], [0, x]], 1, ["a", "b"], causal=w % 2 == 0))
        for row in figure.rows[1:]:
            for _, attributes, text in row:
                style = dict(part.split(":") for part in attributes.get("style", "").split(";") if part)
                assert contrast(style.get("background", "#fff"), style.get("color", "#000")) >= 4.5, (text, style)
                seen.add(style.get("background"))
        for tag, attributes, _ in figure.tags:
            assert "background:#fff" in attributes["style"] if tag in ("figure", "table", "tr") else True
            assert "color:#000" in attributes["style"] if tag in ("figure", "table") else True
    assert len(seen) > 90
    assert contrast("#595959", "#fff") >= 4.5


def test_the_same_weight_has_the_colour_of_the_heatmaps():
    cells = {
        text: attributes["style"]
        for row in Figure(Explorer(OMEGA, 2, LABELS)).rows[1:]
        for _, attributes, text in row[1:-1]
    }
    assert cells["0.76"] == "background:#1f6eb3;color:#fff" and cells["0.08"] == "background:#e7f1fa"


def test_nothing_has_an_id_or_comes_from_elsewhere():
    html = Explorer(OMEGA, 2, LABELS, V).html
    figure = Figure(Explorer(OMEGA, 2, LABELS, V))
    names = {name for _, attributes, _ in figure.tags for name in attributes}
    assert names == {"class", "data-c", "data-row", "style", "scope", "title", "data-omega", "data-v", "src"}
    assert [(tag, attributes["src"]) for tag, attributes, _ in figure.tags if "src" in attributes] == [
        ("i", SCRIPT.name)
    ]
    script = SCRIPT.read_text("utf-8")
    for text in (html, script):
        assert not re.search(r"https?:|//[\w.]+\.\w|url\(|\bid=|\.id\b|getElementById|import|fetch", text)


def test_nothing_in_the_script_moves_by_itself():
    assert not re.search(r"transition|animat|scroll-behavior|setTimeout|setInterval", SCRIPT.read_text("utf-8"))


def test_output_script_and_styles_take_at_most_12_kb():
    script = len(SCRIPT.read_bytes())
    for scores, values in ((OMEGA, V), (-OMEGA * torch.pi, -V * torch.pi)):
        for causal in (False, True):
            stored = len(Explorer(scores, 2, LABELS, values, causal).html.encode())
            assert stored <= 4_300 and stored + script <= 12_000, (stored, script)


def test_the_stored_output_holds_a_loader_only_so_that_the_script_may_change():
    scripts = [text for tag, _, text in Figure(Explorer(OMEGA, 2, LABELS, V)).tags if tag == "script"]
    others = [text for tag, _, text in Figure(Explorer(torch.eye(3), 5, "abc".split() * 3)).tags if tag == "script"]
    assert len(scripts) == 1 and scripts == others and len(scripts[0]) < 450


def test_a_page_loads_the_script_once_and_only_if_it_has_an_explorer():
    conf = runpy.run_path(ROOT / "docs" / "conf.py")
    figure = Explorer(OMEGA, 2, LABELS).html
    for body, times in ((figure * 3, 1), ("<p>no figure</p>", 0)):
        context = {"body": body}
        conf["add_explorer"](None, "page", "page.html", context, None)
        assert context["body"].count('<script src="explorer.js" defer></script>') == times
        assert context["body"].count('<i src="explorer.js"></i>') == 2 * times
    assert (ROOT / "docs" / conf["html_extra_path"][0]).resolve() == SCRIPT


def test_the_same_bytes_whatever_the_hash_seed():
    code = "from test_explorer import *; print(Explorer(OMEGA, 2, WORDS, V, True)._repr_mimebundle_())"
    outputs = set()
    for seed in ("0", "1"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "tests"), "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", cwd=ROOT)
        outputs.add(done.stdout + done.stderr)
    assert outputs == {f"{Explorer(OMEGA, 2, WORDS, V, True)._repr_mimebundle_()}\n"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((OMEGA[None], 2, LABELS), "Omega has shape (1, 7, 7), expected (rows, columns), neither of them 0: pick one"),
        ((OMEGA[:2], 2, LABELS), "Omega has shape (2, 7), expected (n, n): one row and one column per word"),
        ((torch.eye(25), 2, ["a"] * 25), "Omega has 25 words, expected at most 24: more cannot be read in a table"),
        ((OMEGA * float("nan"), 2, LABELS), "Omega holds nan in row 1, column 1, expected finite scores below a mil"),
        ((OMEGA.masked_fill(LATER, -torch.inf), 2, LABELS), "-inf in row 1, column 2, expected finite scores below"),
        ((OMEGA.masked_fill(LATER, -1e9), 2, LABELS), "give them unmasked, causal=True hides later words"),
        (("scores", 2, LABELS), "Omega is str of <U6, expected real numbers"),
        ((OMEGA, 0, LABELS), "c is 0, expected a whole number from 1 to a million: the width of queries and keys"),
        ((OMEGA, -1, LABELS), "c is -1, expected a whole number"),
        ((OMEGA, 2**0.5, LABELS), "c is 1.4142135623730951, expected a whole number"),
        ((OMEGA, "2", LABELS), "c is '2', expected a whole number"),
        ((OMEGA, True, LABELS), "c is True, expected a whole number"),
        ((OMEGA, LABELS, 2), "c is ['the₁', 'fat₂', 'cat₃', 'sat₄', 'on₅', 'the₆', 'mat₇'], expected a whole number"),
        ((OMEGA, 2, "the fat cat"), "tokens is the single string 'the fat cat', expected a list of 7 words"),
        ((OMEGA, 2, LABELS[:6]), "the matrix has 7 rows but tokens has 6 entries"),
        ((OMEGA, 2, [*LABELS[:6], 7]), "tokens holds 7 of type int, expected strings only"),
        ((OMEGA, 2, LABELS, V[:6]), "V has shape (6, 2), expected (7, at most 16): one row per word of Omega"),
        ((OMEGA, 2, LABELS, torch.ones(7, 17)), "V has shape (7, 17), expected (7, at most 16)"),
        ((OMEGA, 2, LABELS, V[0]), "V has shape (2,), expected (rows, columns)"),
        ((OMEGA, 2, LABELS, V * torch.inf), "in row 1, column 1, expected finite values below a million"),
        ((OMEGA, 2, LABELS, V, 1), "causal is 1, expected True or False"),
    ],
)
def test_one_sentence_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError) as caught:
        Explorer(*arguments)
    assert message in str(caught.value) and "\n" not in str(caught.value)
