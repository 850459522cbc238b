"""Every rendered page in a real browser, from a local server and from its file, with no other host to be reached."""

from base64 import b64decode
from filecmp import cmp
from itertools import product
from urllib.parse import urlsplit
from urllib.request import url2pathname

import page_checks
import pytest
import sample
from lessons import ROOT, lesson_paths, notebook_paths
from page_checks import (
    accessibility,
    asked_scheme,
    closed_boxes,
    colours,
    errors,
    failing,
    formulas,
    other_hosts,
    pictures,
    scrolling_boxes,
    sideways,
)
from test_site import build
from watching import find_browser

ORDER = ["index", *(path.stem for path in lesson_paths()), "notation"]
PAGES = [*ORDER, "search"]
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
DOWNLOAD = "Download this notebook"
CUT_LINES = "() => [...document.querySelectorAll('pre')].filter(pre => pre.scrollWidth > pre.clientWidth).length"
from_both = pytest.mark.parametrize("origin", ["server", "files"])


def open_page(visit, own, name, **options):
    """Open a page of a site; the search page shows its results."""
    seen = visit(own, **options).open(f"{own}{name}.html{'?q=softmax' if name == 'search' else ''}")
    if name == "search":
        seen.page.wait_for_selector("#search-results li a")
    return seen


def test_every_page_is_looked_at(sites):
    assert sorted(PAGES) == sorted(path.stem for path in (ROOT / "build" / "html").glob("*.html"))


@from_both
@pytest.mark.parametrize("name", PAGES)
def test_page_is_whole(name, origin, sites, visit):
    seen = open_page(visit, sites[origin], name)
    found = failing([closed_boxes, pictures, formulas, sideways], seen)
    seen.resize(PHONE)
    assert found + failing([sideways, other_hosts, errors], seen) == []


@pytest.mark.parametrize("name", ["index", "03_scaled_softmax"])
def test_page_never_scrolls_sideways(name, sites, visit):
    """At every width from a phone to a desk: between the sizes above, drawers open and close."""
    seen = open_page(visit, sites["server"], name)
    found = []
    for width in range(320, 1441, 16):
        seen.resize({"width": width, "height": 900})
        found += failing([sideways], seen)
    assert found == []


def test_printed_page_loses_no_code(sites, visit):
    """On a sheet as wide as A4, no line of code ends outside its box, and nothing lies over the text."""
    seen = open_page(visit, sites["server"], "03_scaled_softmax", viewport={"width": 700, "height": 990})
    assert seen.page.evaluate(CUT_LINES) > 0, "no line is too wide for the sheet, so this test would see nothing"
    seen.page.emulate_media(media="print")
    assert seen.page.evaluate(CUT_LINES) == 0
    assert not seen.page.locator(".skip-to-content").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_page_can_be_read_by_all(name, scheme, sites, visit):
    """From the server alone: the files are the same."""
    seen = open_page(visit, sites["server"], name, color_scheme=scheme)
    found = []
    while (closed := seen.page.locator("details:not([open]) > summary:visible")).count():
        closed.first.click()
    for size in (DESK, PHONE):
        seen.resize(size)
        found += failing([asked_scheme, colours], seen)
        if (size, scheme) != (PHONE, "dark"):  # what is no colour has been looked at by then
            found += failing([scrolling_boxes, accessibility, sideways], seen)
    assert found == []


@from_both
def test_search_finds_a_word(origin, sites, visit):
    seen = open_page(visit, sites[origin], "index")
    seen.page.locator("input[name=q]").fill("softmax")
    seen.page.keyboard.press("Enter")
    seen.page.locator("#search-results a", has_text="Scaled softmax").first.click()
    seen.page.wait_for_url("**/03_scaled_softmax.html*")
    assert failing([other_hosts, errors], seen) == []


@pytest.mark.parametrize(
    ("button", "order", "origin"), [("next-page", ORDER, "server"), ("prev-page", ORDER[::-1], "files")]
)
def test_buttons_walk_the_whole_course(button, order, origin, sites, visit):
    seen = open_page(visit, sites[origin], order[0])
    for name in order[1:]:
        seen.page.locator(f"a.{button}").click()
        seen.page.wait_for_url(f"**/{name}.html")
    assert seen.page.locator(f"a.{button}").count() == 0


@pytest.mark.parametrize("path", notebook_paths(), ids=lambda path: path.stem)
def test_download_is_the_notebook_of_the_repository(path, sites, visit):
    seen = open_page(visit, sites["server"], path.stem)
    with seen.page.expect_download() as download:
        seen.page.get_by_text(DOWNLOAD).click()
    assert download.value.suggested_filename == path.name
    assert cmp(download.value.path(), path, shallow=False)
    seen = open_page(visit, sites["files"], path.stem)  # from a file, the browser shows the file that is linked
    seen.page.get_by_text(DOWNLOAD).click()
    seen.page.wait_for_url(f"**/{path.name}")
    assert cmp(url2pathname(urlsplit(seen.page.url).path), path, shallow=False)


def test_hidden_code_opens_and_scrolls_with_the_keyboard(tmp_path, visit):
    """On a page made as the course's are, with a line that is too wide for a phone."""
    wide = sample.code("total = " + " + ".join(f"weight_{i}" for i in range(40)), 1)
    wide.metadata["tags"] = ["hide-input"]
    sample.save(sample.notebook(sample.markdown("# Start")), tmp_path / "index.ipynb")
    sample.save(sample.notebook(sample.markdown("# Box"), wide), tmp_path / "01_box.ipynb")
    (tmp_path / "notation.md").write_text("# Notation\n")
    done = build(tmp_path, tmp_path / "built", ROOT)
    assert done.returncode == 0, done.stderr
    seen = open_page(visit, (tmp_path / "built" / "html").as_uri() + "/", "01_box", viewport=PHONE)
    assert failing([closed_boxes], seen) == []
    seen.page.locator("summary").click()
    assert "weight_39" in seen.page.locator("details[open]").inner_text()
    assert failing([scrolling_boxes, accessibility, colours, sideways, errors], seen) == []


GOOD = """<!doctype html><html lang="en"><head><title>Good</title><meta name="viewport" content="width=device-width">
<style>:root { color-scheme: light dark } body { background: white; color: black }
@media (prefers-color-scheme: dark) { body { background: black; color: white } } .wide { width: 600px }</style></head>
<body><main><h1>Good</h1><p>See <math><mi>A</mi></math>, <code>$x$</code>.</p>
<pre>code <b>and more</b></pre>
<div style="overflow-x: auto" tabindex="0"><div class="wide">a wide box</div></div>
<div style="overflow-x: auto"><div class="wide"><button style="height: 24px">a button in a wide box</button></div></div>
<details><summary>Solution</summary>2</details><img src="white.png" alt="A white rectangle"></main></body></html>"""
BROKEN = {  # each check, with what makes it fail: text of the good page and what stands there instead
    other_hosts: [
        ("</main>", '<img src="http://192.0.2.1/x.png" alt="A far picture"></main>'),
        ("</main>", '<iframe src="http://localhost:9/" title="A frame"></iframe></main>'),
        ("</main>", '<script>fetch("https://example.org/").catch(() => 0)</script></main>'),
        ("</main>", '<script>new WebSocket("wss://example.org/")</script></main>'),
        ("<style>", "<style>@import 'https://example.org/x.css';"),
    ],
    errors: [
        ("</main>", "<script>console.error('x')</script></main>"),
        ("</main>", "<script>nosuch()</script></main>"),
        ("</main>", '<script src="nosuch.js"></script></main>'),
    ],
    pictures: [
        (' alt="A white rectangle"', ""),
        ("A white rectangle", "white.png"),
        ("white.png", "nosuch.png"),
        ("<img", '<img style="display: none"'),
    ],
    formulas: [
        ("See ", "See $x$"),
        ("See ", "See \\(x\\)"),
        ("See ", "See \\sqrt{c}"),
        ("<mi>A</mi>", ""),
        ("</style>", "@font-face { font-family: F; src: url(nosuch.woff2) } p { font-family: F }</style>"),
    ],
    closed_boxes: [("<details>", "<details open>")],
    sideways: [
        ("overflow-x: auto", ""),
        ("overflow-x: auto", "overflow-x: hidden"),
        ("<h1>", '<h1 style="width: 391px">'),
        ("<h1>", '<h1 style="position: relative; left: 100px">'),
        ("</style>", "html { overflow-x: hidden } h1 { width: 500px }</style>"),
        ("</style>", "main { overflow-x: auto } h1 { width: 500px }</style>"),
    ],
    scrolling_boxes: [(' tabindex="0"', ""), ("<button", "<button disabled"), ("<button", '<button tabindex="-1"')],
    asked_scheme: [("background: black; color: white", ""), ("background: white", "background: #333")],
    accessibility: [
        ("color: black", "color: #aaa"),
        ("color: white", "color: #333"),
        (' lang="en"', ""),
        (' alt="A white rectangle"', ""),
        ("<title>Good</title>", ""),
    ],
    colours: [
        ("color: black", "color: #aaa"),
        ("color: white", "color: #333"),
        ("<pre>", '<pre style="color: #888">'),
        ("<b>", '<b style="background: #777">'),
    ],
}


CASES = [
    pytest.param(check, *pair, id=f"{check.__name__}-{i}") for check in BROKEN for i, pair in enumerate(BROKEN[check])
]


@pytest.fixture
def made_up(tmp_path, visit):
    """Write a page and open it."""

    def open_made_up(html, scheme, size):
        (tmp_path / "white.png").write_bytes(b64decode(sample.png()))
        (tmp_path / "page.html").write_text(html, encoding="utf-8")
        seen = visit(tmp_path.as_uri(), viewport=size, color_scheme=scheme).open((tmp_path / "page.html").as_uri())
        seen.page.wait_for_load_state("networkidle")
        return seen

    return open_made_up


@pytest.mark.parametrize(("check", "old", "new"), CASES)
def test_check_fails_on_a_broken_page(check, old, new, made_up):
    assert old in GOOD
    ways = product(("light", "dark"), (PHONE, DESK))
    assert any(check(made_up(GOOD.replace(old, new, 1), *way)) for way in ways)


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_check_fails_on_a_good_page(scheme, size, made_up):
    assert failing(BROKEN, made_up(GOOD, scheme, size)) == []


def test_no_check_is_forgotten():
    assert [
        c for n, c in vars(page_checks).items() if callable(c) and n not in ("Axe", "failing", "faint_texts")
    ] == list(BROKEN)


def test_without_a_browser_ci_fails_and_others_skip(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CHROMIUM", "/nosuch/chromium")
    for ci, outcome in (("", pytest.skip.Exception), ("true", pytest.fail.Exception)):
        monkeypatch.setenv("CI", ci)
        with pytest.raises(outcome, match="no browser: none of chromium"):
            find_browser()
