"""The rendered pages: built once here, with warnings as errors, and read as files."""

import filecmp
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
LESSONS = [path.stem for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))]
ORDER = ["index", *LESSONS, "notation"]


def build(source, target, cwd):
    """Build `source` as `make html` does, into target/html, and return the finished process."""
    options = ["-c", ROOT / "docs", "-n", "-W", "--keep-going", "-q", "-d", target / "doctrees"]
    command = [sys.executable, "-m", "sphinx", *options, source, target / "html"]
    return subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", env=os.environ | {"PYTHONUTF8": "1"})


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the built pages."""
    target = tmp_path_factory.mktemp("site")
    done = build(NOTEBOOKS, target, ROOT)
    assert done.returncode == 0, done.stderr
    return target / "html"


@pytest.fixture(scope="module")
def pages(site):
    """Return {name: parsed page} of all pages, the search page included."""
    return {path.stem: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in site.glob("*.html")}


def loaded(page):
    """Return the addresses that a browser fetches by itself when it opens the page."""
    attributes = {"[src]": "src", "object[data]": "data", "[poster]": "poster", "meta[http-equiv=refresh i]": "content"}
    found = [tag[name] for selector, name in attributes.items() for tag in page.select(selector)]
    inner = [tag.get(name, "#") for tag in page.select("svg *") for name in ("href", "xlink:href") if tag.name != "a"]
    found += [address for address in inner if not address.startswith("#")]
    passive = {"next", "prev", "search", "index", "author", "copyright", "canonical"}
    found += [tag["href"] for tag in page.select("link[href]") if not passive & set(tag.get("rel", []))]
    found += [part.split()[0] for tag in page.select("[srcset]") for part in tag["srcset"].split(",")]
    styles = [tag.get_text() for tag in page.select("style")] + [tag["style"] for tag in page.select("[style]")]
    return found + [url for style in styles for url in css_addresses(style)]


def css_addresses(text):
    """Return the addresses in a style sheet, those of comments and of embedded data left out."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    urls = re.findall(r"""url\(\s*["']?(.*?)["']?\s*\)|@import\s+["'](.*?)["']""", text)
    return [a or b for a, b in urls if not (a or b).startswith("data:")]


@pytest.mark.parametrize(
    "html",
    [
        *(f'<{name} src="x">' for name in ("img", "script", "iframe", "embed", "source", "track", "audio", "input")),
        '<object data="x"></object>',
        '<video poster="x"></video>',
        '<img srcset="x 2x">',
        '<svg><image href="x"/></svg>',
        '<svg><image xlink:href="x"/></svg>',
        '<svg><use href="x"/></svg>',
        '<link rel="preload" href="x">',
        '<meta http-equiv="Refresh" content="x">',
        '<p style="background: url(x)">',
        "<style>@import 'x'</style>",
    ],
)
def test_what_a_browser_fetches_is_seen(html):
    assert loaded(BeautifulSoup(html, "html.parser")) == ["x"]
    assert not loaded(BeautifulSoup('<a href="x">x</a><svg><use href="#x"/></svg>', "html.parser"))


def test_nothing_runs_but_scripts(pages):
    for name, page in pages.items():
        running = [key for tag in page.find_all(True) for key in tag.attrs if key.startswith("on") or key == "srcdoc"]
        assert not running, f"{name} has {running}"


def test_every_lesson_has_a_page(pages):
    assert LESSONS
    assert set(pages) == {*ORDER, "search"}


def test_pages_load_only_files_of_the_site(site, pages):
    for name, page in pages.items():
        for address in loaded(page):
            assert (site / address.split("?")[0]).is_file(), f"{name} loads {address}"


def test_pages_load_no_style_sheet_that_the_course_replaces(pages):
    for name, page in pages.items():
        assert not page.select("link[href*=furo-extensions], link[href*=mystnb]"), name


def test_styles_load_only_files_of_the_site(site):
    for path in site.rglob("*.css"):
        for address in css_addresses(path.read_text("utf-8")):
            assert (path.parent / address.split("?")[0]).is_file(), f"{path.name} loads {address}"


def test_scripts_name_no_other_host(site, pages):
    inline = [tag.get_text() for page in pages.values() for tag in page.select("script:not([src])")]
    for text in inline + [path.read_text("utf-8") for path in site.rglob("*.js") if path.name != "searchindex.js"]:
        code = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", text, flags=re.DOTALL)
        hosts = set(re.findall(r"""["'`](?:https?:)?//([\w.]+)""", code))
        assert hosts <= {"www.w3.org"}, text[:200]  # the name of SVG, which is not fetched


@pytest.mark.parametrize("lesson", ["index", *LESSONS])
def test_pictures_have_the_alt_text_and_width_of_the_notebook(site, pages, lesson):
    cells = nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4).cells
    outputs = [o for cell in cells for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
    stored = [(o.metadata["image/png"]["alt"], str(o.metadata["image/png"]["width"])) for o in outputs]
    assert [(img["alt"], img["width"]) for img in pages[lesson].select(".cell_output img")] == stored
    assert stored
    for img in pages[lesson].select("article img"):
        assert re.search(r"\w \w", img["alt"]) and not img["alt"].endswith((".png", ".svg"))
        with Image.open(site / img["src"]) as image:
            across, down = image.size
        assert img["loading"] == "lazy" and int(img["height"]) == round(int(img["width"]) * down / across)


@pytest.mark.parametrize("name", [*LESSONS, "index"])
def test_a_page_offers_the_very_notebook_of_the_repository(site, pages, name):
    link = pages[name].find("a", string="Download this notebook")
    assert Path(link["href"]).name == f"{name}.ipynb"
    assert pages[name].select("a[href*=_sources]") == [link]
    assert (site / link["href"]).read_bytes() == (NOTEBOOKS / f"{name}.ipynb").read_bytes()


@pytest.mark.parametrize(("button", "order"), [("next-page", ORDER), ("prev-page", ORDER[::-1])])
def test_buttons_walk_through_the_whole_course(pages, button, order):
    walk = [order[0]]
    while link := pages[walk[-1]].select_one(f"a.{button}"):
        walk.append(Path(link["href"]).stem if link["href"] != "#" else walk[-1])
        assert len(walk) <= len(order)
    assert walk == order


def test_start_page_links_to_every_lesson(pages):
    linked = {link["href"] for link in pages["index"].select("article a[href]")}
    assert linked >= {f"{name}.html" for name in ORDER[1:]}


@pytest.mark.parametrize("name", ORDER)
def test_headings_have_one_top_and_no_jump(pages, name):
    levels = [int(tag.name[1]) for tag in pages[name].select("article :is(h1, h2, h3, h4, h5, h6)")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels)), levels


@pytest.mark.parametrize("name", ORDER)
def test_no_formula_is_left_as_tex(pages, name):
    article = BeautifulSoup(str(pages[name].article), "html.parser")
    for tag in article.select("pre, code, math, script"):
        tag.decompose()
    assert not re.search(r"\$\$|\\begin\{|\\frac|\\sqrt|\\Omega|\$\\", article.get_text())


@pytest.mark.parametrize("name", ORDER)
def test_no_line_begins_with_the_sign_after_a_formula(pages, name):
    for formula in pages[name].select("article :not(.nowrap, div.math) > math"):
        assert not re.match("[,.;:?)]", str(formula.next_sibling)), formula.parent


def test_formulas_are_set_as_they_stand(pages):
    """A formula on a line of its own is large, one in a sentence is not, and the sign of a root stands high enough."""
    for selector, display in (("div.math > math", "block"), (":not(div.math) > math", None)):
        formulas = [formula for page in pages.values() for formula in page.select(selector)]
        assert formulas and {formula.get("display") for formula in formulas} == {display}
    roots = [root for page in pages.values() for root in page.select("msqrt")]
    assert roots and all(root.select_one(":scope > mspace[height]") for root in roots)


def test_every_page_says_its_title_and_language_and_fits_a_phone(pages):
    titles = [page.title.get_text(strip=True) for page in pages.values()]
    assert all(titles) and len(set(titles)) == len(titles)
    for page in pages.values():
        assert page.html["lang"] == "en"
        assert "width=device-width" in page.select_one("meta[name=viewport]")["content"]


def test_two_builds_are_equal(site, tmp_path):
    """The second is started in another folder, so this also shows that paths do not depend on where one stands."""
    assert build(NOTEBOOKS, tmp_path, tmp_path).returncode == 0
    files = sorted(str(path.relative_to(site)) for path in site.rglob("*") if path.is_file())
    assert files == sorted(str(p.relative_to(tmp_path / "html")) for p in (tmp_path / "html").rglob("*") if p.is_file())
    assert filecmp.cmpfiles(site, tmp_path / "html", files, shallow=False)[1:] == ([], [])


def test_faults_stop_the_build(tmp_path):
    """A picture without alt text, TeX that cannot be read, a sign that the font lacks, and a broken link are errors."""
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    picture = nbformat.v4.new_output("display_data", data={"image/png": png})
    text = "# Faults\n\n$\\nosuch$ $\\text{é}$ [gone](gone.ipynb)"
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell("picture", outputs=[picture])]
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.ipynb").write_text(json.dumps(nbformat.v4.new_notebook(cells=cells)))
    done = build(source, tmp_path, tmp_path)
    assert done.returncode == 1
    for fault in ("a picture has no alt text", "cannot read the formula", "the math font has no é", "gone.ipynb"):
        assert fault in done.stderr
