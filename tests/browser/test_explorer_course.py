"""The attention explorers of the course: on the built pages from their files, and in JupyterLab."""

from itertools import count
from types import SimpleNamespace

import pytest
from colours import rgb
from explorers import cells, check_all_stops, choose, explorer_of
from lessons import NOTEBOOKS, lesson_paths, read
from test_explorer import SCRIPT, Figure
from test_pages import PHONE, open_page

LESSON = NOTEBOOKS / "04_context_vectors.ipynb"
ROWS = "[aria-pressed=true]"  # the name of the chosen row


def stored_explorers(path):
    """Return what a notebook stores of its explorers, as objects that have the text `html`."""
    texts = [output.get("data", {}).get("text/html", "") for _, output in read(path).outputs()]
    return [SimpleNamespace(html=text) for text in texts if "attention-explorer" in text]


WITH_EXPLORERS = [path for path in lesson_paths() if stored_explorers(path)]


def test_the_explorers_stand_where_they_teach_more_than_a_picture():
    assert {"03", "04", "05", "06", "07"} <= {path.name[:2] for path in WITH_EXPLORERS}


@pytest.mark.parametrize("path", WITH_EXPLORERS, ids=lambda path: path.stem)
def test_all_numbers_on_the_page_equal_pytorch(path, sites, visit):
    """The scores and values are those of the stored notebook, the rest is computed by PyTorch."""
    seen = open_page(visit, sites["files"], path.stem)
    stored = stored_explorers(path)
    assert seen.page.locator(".attention-explorer").count() == len(stored)
    for i, explorer in enumerate(stored):
        figure = Figure(explorer)
        about = figure.tags[0][1]
        scores, values = figure.numbers("data-omega"), figure.numbers("data-v")
        assert len(scores) == len(figure.words()) > 0
        check_all_stops(
            explorer_of(seen.page, i),
            scores,
            int(about["data-c"]),
            figure.words(),
            values if len(values) else None,
            "data-causal" in about,
        )
    assert seen.errors + seen.elsewhere == []


@pytest.mark.parametrize("scripts", [True, False])
def test_on_a_phone_words_stay_while_the_columns_scroll_and_cells_have_room(scripts, sites, visit):
    seen = visit(sites["files"], viewport=PHONE, java_script_enabled=scripts)
    seen.page.goto(sites["files"] + "06_causal_attention.html")
    figure = explorer_of(seen.page)
    style = "e => [getComputedStyle(e).paddingLeft, getComputedStyle(e).backgroundColor]"
    assert figure.locator("tbody td").first.evaluate(style)[0] == "6px"
    words = figure.locator("th[scope=row]")
    before = [word.bounding_box()["x"] for word in words.all()]
    figure.locator("div").first.evaluate("box => { box.scrollLeft = 150 }")
    assert [word.bounding_box()["x"] for word in words.all()] == pytest.approx(before, abs=3)
    assert {word.evaluate(style)[1] for word in words.all()} == {"rgb(255, 255, 255)"}
    head = figure.locator("thead th").first.evaluate("e => e.getBoundingClientRect().height")
    assert head < 60  # query ↓ and key → in two lines, an arrow beside its word


@pytest.fixture
def opened(lab, visit):
    """A lesson as JupyterLab opens it from another folder, before anything has run: the page and its explorer."""
    folder = lab.folder / "course"
    folder.mkdir(exist_ok=True)
    for path in (LESSON, SCRIPT):
        (folder / path.name).write_bytes(path.read_bytes())
    seen = visit(lab.url)
    seen.page.fetched = []
    seen.page.on("response", lambda got: seen.page.fetched.append(got.status) if SCRIPT.name in got.url else None)
    lab.open(seen.page, f"course/{LESSON.name}")
    yield seen.page, explorer_of(seen.page.locator(".jp-OutputArea"))
    lab.stop_kernels(seen.page)
    assert seen.elsewhere == []


def run(lab, page, figure):
    """Do “Run All Cells”, and wait until the explorer moves."""
    lab.run_all(page)
    figure.locator("form").wait_for()


def kept(page):
    """Return the names and kinds of all cells, in their order: a cell that is cut and one that comes do not cancel."""
    return page.evaluate("jupyterapp.shell.currentWidget.content.widgets.map(cell => [cell.model.id, cell.model.type])")


def test_in_jupyterlab_it_is_a_table_until_it_is_run_and_then_moves(opened, lab):
    page, figure = opened
    figure.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)  # a script would have come by now
    assert cells(figure)[2][1] == "0.76" and figure.locator("form").count() == 0 and not page.fetched  # not trusted
    ground = "e => getComputedStyle(e).backgroundColor"
    assert figure.evaluate(ground) == "rgb(255, 255, 255)"
    assert rgb(figure.locator("td").nth(17).evaluate(ground)) == pytest.approx((0x1F / 255, 0x6E / 255, 0xB3 / 255))

    run(lab, page, figure)
    assert page.fetched == [200]
    page.locator(".jp-CodeCell:has(.attention-explorer) .jp-InputPrompt").click()  # so that it takes commands
    before = kept(page)
    for place in ("input[type=range]", "input[value='2']", "form button", "tbody button >> nth=2"):
        figure.locator(place).first.focus()
        for key in "bbamxdd":  # three cells would come, and two go
            page.keyboard.press(key)
    page.wait_for_timeout(500)
    assert kept(page) == before
    figure.locator("tbody button").nth(2).click()
    page.keyboard.press("ArrowDown")
    assert figure.locator(ROWS).inner_text() == "sat₄"
    choose(figure, "scores", 0)
    assert cells(figure)[2][1] == "4.82"


def test_in_jupyterlab_the_keyboard_alone_drives_it(opened, lab):
    """From the cell of the explorer, as one reaches it with the arrow keys, by Tab and arrows through all of it."""
    page, figure = opened
    run(lab, page, figure)
    before = kept(page)
    page.keyboard.press("Escape")
    for steps in count():
        if page.locator(".jp-Cell.jp-mod-active .attention-explorer").count():
            break
        assert steps < len(before)
        page.keyboard.press("ArrowUp")
    visited = []
    while "tbody" not in visited:
        page.keyboard.press("Tab")
        visited.append(
            page.evaluate("""() => {
                const now = document.activeElement;
                return now.closest(".attention-explorer tbody") ? "tbody" : now.name || now.textContent.slice(0, 20);
            }""")
        )
        assert len(visited) < 40, visited
    assert visited[-6:] == ["stage", "power", "1", "√c", "c", "tbody"]
    assert figure.locator(ROWS).inner_text() == "cat₃"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("b")
    assert figure.locator(ROWS).inner_text() == "on₅"
    page.keyboard.press("Shift+Tab")  # the stop c
    page.keyboard.press("Enter")
    page.keyboard.press("b")
    assert "divisor 2.00." in figure.locator("[role=status]").inner_text()
    for _ in range(3):
        page.keyboard.press("Shift+Tab")  # the slider
    page.keyboard.press("Home")
    page.keyboard.press("b")
    assert "divisor 0.50." in figure.locator("[role=status]").inner_text()
    page.keyboard.press("Shift+Tab")  # the stages
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("b")
    assert cells(figure)[2][1] == "4.82"
    page.wait_for_timeout(500)
    assert kept(page) == before
