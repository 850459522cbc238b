"""Print what the course costs, as ratios from one run: `make bench`.

The figures depend on the machine, the ratios hardly; nothing is judged here.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from urllib.parse import unquote, urlsplit

import nbformat
from bs4 import BeautifulSoup
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
HTML = ROOT / "build" / "html"
IMPORTS = "import matplotlib.pyplot\nimport torch"

TIME_IMPORTS = """
import time
start = time.perf_counter()
import matplotlib.pyplot, torch
middle = time.perf_counter()
import importlib, pkgutil, utils
for module in pkgutil.iter_modules(utils.__path__):
    importlib.import_module("utils." + module.name)
print((time.perf_counter() - middle) / (middle - start))
"""

PEAK_MEMORY = "import resource\nresource.getrusage(resource.RUSAGE_SELF).ru_maxrss"


def write_bare_notebooks(folder, count):
    """Write notebooks that only import torch and matplotlib; returns their paths."""
    paths = [Path(folder) / f"bare_{number}.ipynb" for number in range(count)]
    for path in paths:
        nbformat.write(new_notebook(cells=[new_code_cell(IMPORTS, execution_count=1)]), path)
    return paths


def strict_seconds(notebooks):
    """Return the seconds that the strict run over some notebooks takes, as `make test` does it."""
    options = ["-c", ROOT / "pyproject.toml", "-q", "--nbval", "-n", "2", "--dist", "loadfile"]
    start = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *notebooks], cwd=ROOT, capture_output=True, text=True
    )
    if run.returncode:
        sys.exit(f"The strict run fails, so its cost means nothing; see `make test`. {run.stdout.splitlines()[-1]}")
    return time.perf_counter() - start


def strict_ratio(bare_notebooks, repeats=3):
    """Return the cost of the strict run over the lessons by that over bare notebooks, the fastest of each."""
    pairs = [(strict_seconds(LESSONS), strict_seconds(bare_notebooks)) for _ in range(repeats)]
    lessons, bare = (min(seconds) for seconds in zip(*pairs, strict=True))
    return lessons / bare


def import_ratio(repeats=5):
    """Return the time to import all of utils by the time to import torch and matplotlib, median of fresh processes."""
    command = [sys.executable, "-c", TIME_IMPORTS]
    runs = [subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True) for _ in range(repeats)]
    return median(float(run.stdout) for run in runs)


def peak_memory(path):
    """Return the peak memory of the kernel that runs a notebook, in the unit of the operating system."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(new_code_cell(PEAK_MEMORY))
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute(
        stderr=subprocess.DEVNULL  # what the kernel itself says, not the cells
    )
    return int(notebook.cells[-1].outputs[-1].data["text/plain"])


def assets(page, selector, attribute):
    """Return the local files that a page loads through an attribute of some elements."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    addresses = [urlsplit(element[attribute]) for element in soup.select(f"{selector}[{attribute}]")]
    return {(page.parent / unquote(a.path)).resolve() for a in addresses if a.path and not a.scheme}


def size(paths):
    """Return the sum of the sizes of some files, in kB."""
    return sum(path.stat().st_size for path in paths) / 1000


def page_sizes():
    """Yield (what, kB) for every page with its pictures, then for what the pages share."""
    pages = sorted(HTML.glob("*.html"))
    shared = set()
    for page in pages:
        shared |= assets(page, "script", "src") | assets(page, "link[rel=stylesheet]", "href")
        yield page.name, size({page} | assets(page, "img", "src"))
    yield "scripts and styles of all pages, loaded once", size(shared)


def table():
    """Yield the rows of the table: what is measured, the figure, the aim."""
    with tempfile.TemporaryDirectory() as folder:
        bare = write_bare_notebooks(folder, len(LESSONS))
        yield "strict run, lessons : bare notebooks", f"{strict_ratio(bare):.2f}", "≤ 1.3"
        yield "import, utils : torch and matplotlib", f"{import_ratio():.1%}", "< 5 %"
        bare_memory = peak_memory(bare[0])
        for lesson in LESSONS:
            yield f"peak memory, {lesson.stem} : bare", f"{peak_memory(lesson) / bare_memory:.2f}", "≤ 1.15"
    for what, kilobytes in page_sizes():
        yield f"bytes, {what}", f"{kilobytes:,.0f} kB", "small"


if __name__ == "__main__":
    print(f"{'what':<60} {'figure':>10}  aim")
    for what, figure, aim in table():
        print(f"{what:<60} {figure:>10}  {aim}", flush=True)
