"""The attention explorer in a real browser: its script on a page, and in a JupyterLab server started here."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat.v4
import pytest
import torch
from drawing import contrast

from utils.explorer import Explorer
from utils.sentence import LABELS, WORDS, hand_made_projections, input_embeddings

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not CHROMIUM:
    pytest.skip("there is no Chromium", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "notebooks" / "explorer.js"
STOPS = {0: lambda c: 1, 1: lambda c: c**0.5, 2: lambda c: c}
STAGES = {"scores": 0, "scaled": 1, "weights": 2}

X = input_embeddings()
W_q, W_k, W_v = hand_made_projections()
OMEGA, V = (X @ W_q) @ (X @ W_k).mT, X @ W_v
generator = torch.Generator().manual_seed(0)
RANDOM = torch.special.ndtri(torch.rand(5, 5, generator=generator, dtype=torch.float64)) * 8


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that puts explorers on a page as docs/conf.py does, opens it, and returns the page."""
    contexts = []

    def open_page(*explorers, css="", script=True, **options):
        (tmp_path / "explorer.js").write_bytes(SCRIPT.read_bytes())
        figures = "<hr>".join(explorer.html for explorer in explorers)
        if script:
            figures = figures.replace('<i src="explorer.js"></i>', '<script src="explorer.js" defer></script>', 1)
        page = f"<!doctype html><html lang=en><meta charset=utf-8><title>t</title><style>{css}</style>{figures}"
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        contexts.append(browser.new_context(**options))
        shown = contexts[-1].new_page()
        shown.faults = []
        shown.on("pageerror", lambda error: shown.faults.append(str(error)))
        shown.on("console", lambda message: shown.faults.append(message.text))
        shown.goto((tmp_path / "page.html").as_uri())
        return shown

    yield open_page
    for context in contexts:
        assert [fault for page in context.pages for fault in page.faults] == []
        context.close()


def explorer_of(page, number=0):
    return page.locator(".attention-explorer").nth(number)


def cells(figure, table=0):
    """The texts of a table's body, without the words at the left."""
    rows = figure.locator("table").nth(table).locator("tr:has(td)").all()
    return [[text.strip() for text in row.locator("td").all_inner_texts()] for row in rows]


def choose(figure, stage="weights", stop=None):
    figure.locator("label", has_text=stage).click()
    if stop is not None:
        figure.locator("form button").nth(stop).click()


def two(x):
    return f"{round(float(x), 2) + 0.0:.2f}".replace("-", "−")


def vector(numbers):
    return f"({', '.join(map(two, numbers))})"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("scores", "c"), [(OMEGA, 2), (RANDOM, 64), (RANDOM, 4), (RANDOM, 1)], ids=["sentence", "c=64", "c=4", "c=1"]
)
def test_weights_and_ledger_equal_pytorch_at_every_stop(show, scores, c, causal):
    n = len(scores)
    values = V if n == 7 else RANDOM[:, :3] / 7
    later = torch.ones(n, n, dtype=torch.bool).triu(1)
    figure = explorer_of(show(Explorer(scores, c, (WORDS * 4)[:n], values, causal)))
    for hidden in [True, False] if causal else [False]:
        if causal and not hidden:
            figure.locator("label", has_text="hide later words").click()
        seen = scores.masked_fill(later, -torch.inf) if hidden else scores
        for stop, divisor_of in STOPS.items():
            divisor = divisor_of(c)
            A = torch.softmax(seen / divisor, dim=-1)
            C = A @ values
            choose(figure, "weights", stop)
            expected = [
                [two(a) if s > -torch.inf else "masked" for a, s in zip(*row, strict=True)]
                for row in zip(A, seen, strict=True)
            ]
            assert cells(figure) == [[*row, "1.00"] for row in expected]
            choose(figure, "scores")
            shown = [[two(s) if s > -torch.inf else "masked" for s in row] for row in seen]
            assert cells(figure) == [[*row, ""] for row in shown]
            for m in range(n):
                figure.locator("tbody button").nth(m).click()
                *lines, last = cells(figure, 1)
                assert [line[2] for line in lines] == expected[m]
                assert [line[0] for line in lines] == shown[m]
                assert [line[3] for line in lines] == [vector(a * v) for a, v in zip(A[m], values, strict=True)]
                assert last == ["", "", "sum 1.00", "C: " + vector(C[m])]
                bits = -(A[m] * A[m].clamp(min=1e-300).log2()).sum()
                looking = int((seen[m] > -torch.inf).sum())
                status = figure.locator("[role=status]").inner_text()
                most = (WORDS * 4)[:n][int(A[m].argmax())]
                assert f"looks most at {most}" in status and f"divisor {two(divisor)}." in status
                assert f"Entropy {two(bits)} of log₂ {looking} = {two(torch.tensor(looking).log2())} bits" in status


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


def rgb(colour):
    """A computed colour as three shares, or None if it is transparent."""
    numbers = [float(x) for x in re.findall(r"[\d.]+(?:e-?\d+)?", colour)]
    if colour.startswith("rgba") and numbers[3] == 0:
        return None
    return tuple(numbers[:3]) if colour.startswith("color(") else tuple(x / 255 for x in numbers[:3])


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_can_be_read_on_any_theme(show, dark):
    """The page's own style is dark and stripes its tables, as JupyterLab's dark theme does."""
    theme = """html {color-scheme: dark} body, table, button {background: #111; color: #eee}
        tr:nth-child(even) {background: #222} thead tr {background: #333}"""
    page = show(
        Explorer(OMEGA, 2, LABELS, V, True), css=theme if dark else "", color_scheme="dark" if dark else "light"
    )
    figure = explorer_of(page)
    script = """figure => [...figure.querySelectorAll("*")].filter(e => [...e.childNodes].some(
        c => c.nodeType === 3 && c.data.trim()) && !e.closest("script")).map(e => {
        let at = e; const bare = c => c === "rgba(0, 0, 0, 0)";
        while (bare(getComputedStyle(at).backgroundColor)) at = at.parentElement;
        const ink = e.closest("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color;
        return [e.textContent, ink, getComputedStyle(at).backgroundColor] })"""
    assert figure.locator("input").first.evaluate("e => getComputedStyle(e).colorScheme") == "light"  # radios, slider
    for stage in STAGES:
        for stop in STOPS:
            choose(figure, stage, stop)
            for text, ink, ground in figure.evaluate(script):
                assert contrast(rgb(ink), rgb(ground)) >= 4.5, (stage, stop, text, ink, ground)


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
    assert chosen() == "cat₃"
    for _ in range(9):
        page.keyboard.press("ArrowUp")
    assert chosen() == "the₁"
    choose(figure, "scaled", 2)
    figure.locator("input[type=range]").focus()
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


def test_nothing_moves_by_itself(show):
    page = show(Explorer(OMEGA, 2, LABELS, V, True), reduced_motion="reduce")
    times = "all => all.map(e => getComputedStyle(e)).map(s => s.transitionDuration + s.animationName)"
    assert set(page.locator(".attention-explorer *").evaluate_all(times)) == {"0snone"}


def test_without_scripts_the_table_stands(show):
    page = show(Explorer(OMEGA, 2, LABELS, V), java_script_enabled=False)
    assert cells(explorer_of(page))[2] == ["0.02", "0.76", "0.01", "0.02", "0.08", "0.06", "0.04", "1.00"]
    assert page.get_by_role("rowheader").all_inner_texts() == LABELS
    assert page.get_by_role("columnheader").all_inner_texts()[1:] == [*LABELS, "row sum"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab with a token and a base URL, started above the folder of the notebooks; returns its address."""
    root = tmp_path_factory.mktemp("lab")
    (root / "course").mkdir()
    (root / "course" / "explorer.js").write_bytes(SCRIPT.read_bytes())
    code = """from utils.explorer import Explorer
from utils.sentence import LABELS, hand_made_projections, input_embeddings
X, (W_q, W_k, W_v) = input_embeddings(), hand_made_projections()
Explorer((X @ W_q) @ (X @ W_k).mT, 2, LABELS, X @ W_v)"""
    data = Explorer(OMEGA, 2, LABELS, V)._repr_mimebundle_()
    output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
    cell = nbformat.v4.new_code_cell(code, outputs=[output], execution_count=1)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=kernel), root / "course" / "one.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0"]
    settings += ["--IdentityProvider.token=secret", "--ServerApp.base_url=/some/where/", "--LabApp.news_url="]
    settings += [f"--LabApp.{name}_dir={root / name}" for name in ("user_settings", "workspaces")]
    environment = os.environ | {"JUPYTER_DATA_DIR": str(root / "data"), "JUPYTER_RUNTIME_DIR": str(root / "runtime")}
    with open(root / "log.txt", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *settings], cwd=root, env=environment, stdout=log, stderr=log
        )
    address = f"http://127.0.0.1:{port}/some/where/"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(address + "api").close()
                break
            except OSError:
                assert server.poll() is None, (root / "log.txt").read_text()
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def test_in_jupyterlab_it_is_a_table_until_it_is_run_and_then_moves(lab, browser):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    fetched = []
    page.on("response", lambda answer: fetched.append(answer.status) if "explorer.js" in answer.url else None)
    page.goto(f"{lab}lab/tree/course/one.ipynb?token=secret")
    figure = page.locator(".jp-OutputArea .attention-explorer")
    figure.wait_for(timeout=120_000)
    page.wait_for_timeout(1000)
    assert cells(figure)[2][1] == "0.76" and figure.locator("form").count() == 0 and not fetched  # not trusted
    ground = "e => getComputedStyle(e).backgroundColor"
    assert figure.evaluate(ground) == "rgb(255, 255, 255)"
    assert rgb(figure.locator("td").nth(17).evaluate(ground)) == pytest.approx((0x1F / 255, 0x6E / 255, 0xB3 / 255))

    page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    figure.locator("form").wait_for(timeout=120_000)
    assert fetched == [200]
    before = page.locator(".jp-Notebook .jp-Cell").count()
    for place in ("input[type=range]", "input[value='2']", "form button", "tbody button >> nth=2"):
        figure.locator(place).first.focus()
        for key in ("b", "a", "x", "d", "d", "m"):
            page.keyboard.press(key)
    page.wait_for_timeout(500)
    assert page.locator(".jp-Notebook .jp-Cell").count() == before
    assert page.locator(".jp-MarkdownCell").count() == 0
    figure.locator("tbody button").nth(2).click()
    page.keyboard.press("ArrowDown")
    assert figure.locator("[aria-pressed=true]").inner_text() == "sat₄"
    choose(figure, "scores", 0)
    assert cells(figure)[2][1] == "4.82"
    context.close()
