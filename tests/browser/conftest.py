"""What the browser tests share: a browser, the built pages and a JupyterLab server, one of each per worker.

`make test-browser` builds the pages first and runs them all.
"""

import shutil

import pytest
from lab import serve_lab
from lessons import NOTEBOOKS, ROOT
from playwright.sync_api import sync_playwright
from watching import ONLY_THIS_HOST, Visit, find_browser, serve


@pytest.fixture(scope="session")
def browser():
    """A browser that reaches this machine alone."""
    path = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ONLY_THIS_HOST)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Make a new page that watches for requests outside an address; Playwright's options set its size and scheme."""
    contexts = []

    def new_visit(own, **options):
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}))
        return Visit(contexts[-1].new_page(), own)

    yield new_visit
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def sites(browser):
    """The addresses of the built pages: from a local server, and as files."""
    html = ROOT / "build" / "html"
    assert html.is_dir(), "there are no pages to look at: run make html first, or make test-browser"
    with serve(html) as address:
        yield {"server": address, "files": html.as_uri() + "/"}


@pytest.fixture(scope="session")
def lab(browser, tmp_path_factory):
    """JupyterLab, showing a copy of the notebooks, so that a saved one never touches the repository."""
    home = tmp_path_factory.mktemp("lab")
    with serve_lab(home, shutil.copytree(NOTEBOOKS, home / "notebooks")) as server:
        yield server
