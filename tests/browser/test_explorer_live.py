"""The script of the attention explorer in a real browser, on pages of its own."""

from itertools import pairwise

import pytest
import torch
from colours import faint_texts, rgb
from drawing import contrast
from explorers import STOPS, cells, check_all_stops, choose, explorer_of, two
from test_explorer import OMEGA, SCRIPT, V

from utils.explorer import Explorer
from utils.sentence import LABELS, WORDS, labels

ENDS = """paths => paths.map(path => path.getAttribute("d")
    ? [0, path.getTotalLength()].map(at => path.getPointAtLength(at).x) : [])"""
STAGES = ("scores", "scaled", "weights")
generator = torch.Generator().manual_seed(0)
RANDOM = torch.special.ndtri(torch.rand(5, 5, generator=generator, dtype=torch.float64)) * 8


@pytest.fixture
def show(visit, tmp_path):
    """Return a function that puts explorers on a page as docs/conf.py does, opens it, and returns the page."""
    visits, said = [], []

    def open_page(*explorers, css="", script=True, **options):
        (tmp_path / SCRIPT.name).write_bytes(SCRIPT.read_bytes())
        figures = "<hr>".join(explorer.html for explorer in explorers)
        if script:
            figures = figures.replace('<i src="explorer.js"></i>', '<script src="explorer.js" defer></script>', 1)
        page = f"<!doctype html><html lang=en><meta charset=utf-8><title>t</title><style>{css}</style>{figures}"
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        visits.append(visit(tmp_path.as_uri(), **options))
        visits[-1].page.on("console", lambda message: said.append(message.text))
        visits[-1].page.goto((tmp_path / "page.html").as_uri())  # without a wait for fonts: scripts may be off
        return visits[-1].page

    yield open_page
    assert [seen.errors + seen.elsewhere for seen in visits] == [[]] * len(visits) and said == []


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("scores", "c"), [(OMEGA, 2), (RANDOM, 64), (RANDOM, 4), (RANDOM, 1)], ids=["sentence", "c=64", "c=4", "c=1"]
)
def test_weights_and_ledger_equal_pytorch_at_every_stop(show, scores, c, causal):
    words, values = (LABELS, V) if len(scores) == 7 else (labels(WORDS[:5]), RANDOM[:, :3] / 7)
    figure = explorer_of(show(Explorer(scores, c, words, values, causal)))
    check_all_stops(figure, scores.round(decimals=6), c, words, values.round(decimals=6), causal)


def test_a_tie_is_rounded_as_python_does(show):
    figure = explorer_of(show(Explorer(torch.zeros(8, 8), 2, list("abcdefgh"), torch.full((8, 1), -0.5))))
    before = Explorer(torch.zeros(8, 8), 2, list("abcdefgh")).text
    assert "0.12" in before and cells(figure) == [["0.12"] * 8 + ["1.00"]] * 8
    assert cells(figure, 1)[0][3] == "(−0.06)"


def test_before_a_hand_is_laid_on_it_the_script_shows_what_is_stored(show):
    pages = [
        show(Explorer(OMEGA, 2, LABELS, V, causal), script=script) for causal in (False, True) for script in (0, 1)
    ]
    colours = "cells => cells.map(cell => [getComputedStyle(cell).backgroundColor, getComputedStyle(cell).color])"
    for stored, live in (pages[:2], pages[2:]):
        assert stored.locator("form").count() == 0 and live.locator("form").count() == 1
        assert cells(explorer_of(stored)) == cells(explorer_of(live))
        assert [t.get_attribute("title") for t in stored.locator("tr[title]").all()] == [
            t.get_attribute("title") for t in live.locator("tr[title]").all()
        ]
        one, other = (page.locator("tbody [style] td[style]").evaluate_all(colours) for page in (stored, live))
        for (ground, ink), (live_ground, live_ink) in zip(one, other[: len(one)], strict=True):
            assert rgb(ink) == rgb(live_ink)
            if rgb(ground) is not None and rgb(live_ground) is not None:
                assert max(abs(a - b) for a, b in zip(rgb(ground), rgb(live_ground), strict=True)) < 0.06


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_can_be_read_on_any_theme(show, dark):
    """The page's own style is dark and stripes its tables, as JupyterLab's dark theme does."""
    theme = """html {color-scheme: dark} body, table, button {background: #111; color: #eee}
        tr:nth-child(even) {background: #222} thead tr {background: #333}"""
    page = show(
        Explorer(OMEGA, 2, LABELS, V, True), css=theme if dark else "", color_scheme="dark" if dark else "light"
    )
    figure = explorer_of(page)
    assert figure.locator("input").first.evaluate("e => getComputedStyle(e).colorScheme") == "light"  # radios, slider
    for stage in STAGES:
        for stop in STOPS:
            choose(figure, stage, stop)
            assert faint_texts(figure) == [], (stage, stop)


def test_a_row_is_chosen_by_click_focus_and_arrows_and_stays_chosen(show):
    page = show(Explorer(OMEGA, 2, LABELS, V))
    figure = explorer_of(page)

    def chosen():
        assert figure.locator("svg [font-weight=bold]").text_content() in figure.locator("caption").inner_text()
        (name,) = figure.locator("[aria-pressed=true]").all_inner_texts()
        assert figure.locator("tbody [tabindex='0']").inner_text() == name
        assert figure.locator("[role=status]").inner_text().startswith(name)
        return name

    assert chosen() == "cat₃"
    figure.locator("tbody td").nth(8).click()
    assert chosen() == "fat₂"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert chosen() == "sat₄"
    page.keyboard.press("ArrowUp")
    choose(figure, "scaled", 2)
    figure.locator("input[type=range]").focus()
    page.keyboard.press("End")
    assert chosen() == "cat₃"
    figure.locator("[aria-pressed=true]").focus()
    for _ in range(9):
        page.keyboard.press("ArrowUp")
    assert chosen() == "the₁"
    figure.locator("tbody button").nth(6).focus()
    assert chosen() == "mat₇"


def test_all_of_it_can_be_reached_and_used_with_the_keyboard_alone(show):
    page = show(Explorer(OMEGA, 2, LABELS, V, True))
    visited = []
    for _ in range(8):
        page.keyboard.press("Tab")
        visited.append(page.evaluate("document.activeElement.name || document.activeElement.textContent"))
    assert visited[:7] == ["stage", "power", "1", "√c", "c", "causal", "cat₃"]
    figure = explorer_of(page)
    figure.locator("input[name=power]").focus()
    page.keyboard.press("End")
    assert figure.locator("input[name=power]").get_attribute("aria-valuetext") == "4.00"
    page.keyboard.press("Home")
    assert "divisor 0.50." in figure.locator("[role=status]").inner_text()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert "divisor 0.71." in figure.locator("[role=status]").inner_text()
    figure.locator("input[value='2']").focus()
    page.keyboard.press("ArrowUp")
    assert cells(figure)[2][1] == two(OMEGA[2, 1] / 2**-0.5)
    address = page.url
    for name in ("stage", "power", "causal"):
        figure.locator(f"input[name={name}]").first.focus()
        page.keyboard.press("Enter")
    page.evaluate("document.forms[0].requestSubmit()")  # what Enter does in some browsers
    page.wait_for_timeout(300)
    assert page.url == address and figure.locator("form").count() == 1


def test_keys_typed_in_it_stay_in_it(show):
    page = show(Explorer(OMEGA, 2, LABELS, V, True))
    page.evaluate("document.addEventListener('keydown', () => { window.heard = true })")
    figure = explorer_of(page)
    for place in figure.locator("input, button").all():
        place.focus()
        page.keyboard.press("b")
    assert not page.evaluate("window.heard")
    assert figure.get_attribute("data-lm-suppress-shortcuts") is not None


def test_several_copies_and_late_comers_do_not_share_anything(show):
    page = show(Explorer(OMEGA, 2, LABELS, V), Explorer(OMEGA, 2, LABELS, V, True))
    page.evaluate("""() => {
        const [one, other] = document.querySelectorAll(".attention-explorer");
        other.after(other.cloneNode(true));
        const late = document.createElement("div");
        document.body.append(late);
        late.innerHTML = one.outerHTML;
    }""")
    figures = page.locator(".attention-explorer")
    assert figures.count() == 4
    assert [figures.nth(i).locator("form, svg, [role=status]").count() for i in range(4)] == [3] * 4
    before = [cells(figures.nth(i)) for i in range(4)]
    for i in range(4):
        choose(figures.nth(i), "scores", 0)
        figures.nth(i).locator("tbody button").nth(i).click()
    assert [figures.nth(i).locator("[aria-pressed=true]").inner_text() for i in range(4)] == LABELS[:4]
    assert all(cells(figures.nth(i)) != before[i] for i in range(4))
    assert figures.locator("input[name=stage]:checked").count() == 4
    assert page.locator("[id], [for]").count() == 0


def test_words_stand_there_literally(show):
    tokens = ['<b>"x"</b>', "&amp;", "</script>", "<img src=x onerror=window.hit=1>"]
    figure = explorer_of(show(Explorer(torch.eye(4), 2, tokens, torch.eye(4))))
    expected = [token + sign for token, sign in zip(tokens, "₁₂₃₄", strict=True)]
    for m in range(4):
        figure.locator("tbody button").nth(m).click()
        assert figure.locator("tbody button").all_inner_texts() == expected
        assert figure.locator("text").all_text_contents()[::2] == expected
        assert figure.locator("caption").inner_text() == f"The row of {expected[m]}"
        assert figure.locator("table").nth(1).locator("th[scope=row]").all_inner_texts()[:4] == expected
    assert figure.locator("b, img").count() == 0 and not figure.page.evaluate("window.hit")


def test_without_v_the_ledger_ends_at_the_weights(show):
    figure = explorer_of(show(Explorer(OMEGA, 2, LABELS)))
    assert {len(row) for row in cells(figure, 1)} == {3}
    assert figure.locator("input[type=checkbox]").count() == 0


def test_arcs_are_thicker_for_larger_weights_and_masked_words_have_none(show):
    figure = explorer_of(show(Explorer(OMEGA, 2, LABELS, V, True)))
    arcs = [
        (path.get_attribute("d"), float(path.get_attribute("stroke-width"))) for path in figure.locator("path").all()
    ]
    assert [bool(d) for d, _ in arcs] == [True] * 3 + [False] * 4
    assert arcs[1][1] > arcs[0][1] > arcs[2][1]
    texts = figure.locator("text").all_text_contents()
    assert texts[1::2] == ["0.03", "0.95", "0.02"] + ["masked"] * 4


def test_targets_are_large_enough_and_a_phone_needs_no_sideways_scrolling(show):
    page = show(Explorer(OMEGA, 2, LABELS, V, True), viewport={"width": 390, "height": 800})
    for target in page.locator("input, button, label").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 24, box
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".attention-explorer > div")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    page.locator("tbody [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")  # scrolls the box, from a word in it
    page.wait_for_function("document.querySelector('.attention-explorer > div').scrollLeft > 0")


def test_nothing_moves_by_itself(show):
    page = show(Explorer(OMEGA, 2, LABELS, V, True), reduced_motion="reduce")
    times = "all => all.map(e => getComputedStyle(e)).map(s => s.transitionDuration + s.animationName)"
    assert set(page.locator(".attention-explorer *").evaluate_all(times)) == {"0snone"}


def test_without_scripts_the_table_stands(show):
    page = show(Explorer(OMEGA, 2, LABELS, V), java_script_enabled=False)
    assert cells(explorer_of(page))[2] == ["0.02", "0.76", "0.01", "0.02", "0.08", "0.06", "0.04", "1.00"]
    assert page.get_by_role("rowheader").all_inner_texts() == LABELS
    assert page.get_by_role("columnheader").all_inner_texts()[1:] == [*LABELS, "row sum"]


def test_arcs_go_from_the_chosen_word_to_the_others_and_their_labels_stay_apart(show):
    figure = explorer_of(show(Explorer(OMEGA, 2, LABELS, V, True)))
    for m in range(7):
        figure.locator("tbody button").nth(m).click()
        texts = figure.locator("svg text")
        at = [float(text.get_attribute("x")) for text in texts.all()][::2]
        for p, ends in enumerate(figure.locator("path").evaluate_all(ENDS)):
            loop = 9 if p == m else 0
            assert ends == ([] if p > m else pytest.approx([at[p] - loop, at[m] + loop], abs=0.1)), (m, p)
        boxes = [text.bounding_box() for text in texts.all()]
        for line in (boxes[::2], boxes[1::2]):
            assert all(one["x"] + one["width"] + 8 <= other["x"] for one, other in pairwise(line))


def test_the_place_of_the_keyboard_and_the_chosen_row_are_seen(show):
    page = show(Explorer(OMEGA, 2, LABELS, V, True))
    for _ in range(7):
        page.keyboard.press("Tab")
        style, width, colour = page.evaluate("""() => {
            const {outlineStyle, outlineWidth, outlineColor} = getComputedStyle(document.activeElement);
            return [outlineStyle, parseFloat(outlineWidth), outlineColor];
        }""")
        assert style == "solid" and width >= 2 and contrast(rgb(colour), (1, 1, 1)) >= 3
    assert explorer_of(page).locator("td").first.evaluate("cell => getComputedStyle(cell).padding") == "4px 6px"
    outlines = "rows => rows.map(row => getComputedStyle(row).outlineStyle)"
    lines = explorer_of(page).locator("tbody tr[title]").evaluate_all(outlines)
    assert lines == ["none"] * 2 + ["solid"] + ["none"] * 4


def test_scores_have_the_colours_of_the_heatmaps(show):
    figure = explorer_of(show(Explorer(OMEGA, 2, LABELS)))
    choose(figure, "scores")
    grounds = figure.locator("tbody td:not(:last-child)").evaluate_all(
        "all => all.slice(0, 49).map(e => getComputedStyle(e).backgroundColor)"
    )
    drawn = sorted(zip(OMEGA.flatten().tolist(), map(rgb, grounds), strict=True))
    purple = [sum(ground) for score, ground in drawn if score > 0.1]
    assert purple == sorted(purple, reverse=True) and purple[-1] < purple[-2]  # the larger the score, the darker
    for score, (red, _, blue) in drawn:
        assert abs(score) < 0.1 or (blue > red) == (score > 0), score
