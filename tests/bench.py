"""Print what the course costs, as ratios from one run: `make bench`.

The figures depend on the machine, the ratios hardly; nothing is judged here.
"""

import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from urllib.parse import unquote, urlsplit

import nbformat
import torch
import torch.nn.functional as F  # noqa: N812
from bs4 import BeautifulSoup
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from torch import nn

from utils.attention import MultiHeadAttention

ROOT = Path(__file__).resolve().parents[1]
REAL_LLM = ROOT / "notebooks" / "11_real_llm.ipynb"  # measured by itself: it loads a model
LESSONS = sorted(path for path in (ROOT / "notebooks").glob("[0-9]*.ipynb") if path != REAL_LLM)
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
    folder.mkdir()
    paths = [folder / f"bare_{number}.ipynb" for number in range(count)]
    for path in paths:
        nbformat.write(new_notebook(cells=[new_code_cell(IMPORTS, execution_count=1)]), path)
    return paths


def copy_of(lessons, folder):
    """Copy lessons into a new folder; returns it."""
    folder.mkdir()
    for lesson in lessons:
        shutil.copy(lesson, folder)
    return folder


def strict_seconds(folder):
    """Return the seconds that the strict run over a folder of notebooks takes, as `make test` does it."""
    notebooks = [nbformat.read(path, as_version=4) for path in folder.glob("*.ipynb")]
    cells = sum(cell.cell_type == "code" for notebook in notebooks for cell in notebook.cells)
    options = ["-c", ROOT / "pyproject.toml", "-q", "--nbval", "-n", "2", "--dist", "loadfile"]
    start = time.perf_counter()
    run = subprocess.run([sys.executable, "-m", "pytest", *options, folder], cwd=ROOT, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if run.returncode or f"{cells} passed" not in run.stdout:
        sys.exit(f"The strict run fails, so its cost means nothing; see `make test`. {run.stdout.splitlines()[-1]}")
    return seconds


def strict_ratio(lessons, folder, repeats=3):
    """Return the cost of the strict run over lessons by that over as many bare notebooks, the fastest of each."""
    copies = copy_of(lessons, folder / "lessons")
    bare = write_bare_notebooks(folder / "bare", len(lessons))[0].parent
    pairs = [(strict_seconds(copies), strict_seconds(bare)) for _ in range(repeats)]
    of_lessons, of_bare = (min(seconds) for seconds in zip(*pairs, strict=True))
    return of_lessons / of_bare


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


def by_loops(X, W_q, W_k, W_v, W_o, h):
    """Compute a layer of h heads with lists of numbers and nothing else."""

    def times(P, R):
        columns = list(zip(*R, strict=True))
        return [[sum(p * r for p, r in zip(row, column, strict=True)) for column in columns] for row in P]

    Q, K, V = (times(X, W) for W in (W_q, W_k, W_v))
    c = len(Q[0]) // h
    C = [[] for _ in X]
    for start in range(0, h * c, c):
        q, k, v = ([row[start : start + c] for row in matrix] for matrix in (Q, K, V))
        omega = times(q, list(zip(*k, strict=True)))
        exponentials = [[math.exp(score / c**0.5) for score in row] for row in omega]
        weights = [[e / sum(row) for e in row] for row in exponentials]
        for row, mixed in zip(C, times(weights, v), strict=True):
            row += mixed
    return times(C, W_o)


def one_layer(n, d, h):
    """Return X (1, n, d), the weights W_q, W_k, W_v, W_o, and {name: function} of ways to compute one layer."""
    ours = MultiHeadAttention(d, h)
    pytorch = nn.MultiheadAttention(d, h, bias=False, batch_first=True)
    W = [layer.weight for layer in (ours.W_q, ours.W_k, ours.W_v, ours.W_o)]  # stored (out, in)
    pytorch.load_state_dict({"in_proj_weight": torch.cat(W[:3]), "out_proj.weight": W[3]})
    X = torch.randn(1, n, d, generator=torch.Generator().manual_seed(0), requires_grad=True)

    def fused():
        Q, K, V = ((X @ w.mT).unflatten(-1, (h, -1)).transpose(1, 2) for w in W[:3])
        return F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(-2) @ W[3].mT

    ways = {
        "fused kernel": fused,
        "matrices": lambda: ours(X, need_weights=True)[0],
        "our module": lambda: ours(X),
        "nn.MultiheadAttention": lambda: pytorch(X, X, X, need_weights=False)[0],
    }
    return X, W, ways


def kept_for_backward(run):
    """Return the bytes that autograd keeps from forward to backward, each piece of memory counted once."""
    kept = {}

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = run()  # alive until the count is done, and so are the pieces
    return sum(storage.nbytes() for storage in kept.values()) if result is not None else 0


def fastest(ways, repeats):
    """Return {name: (seconds forward, seconds backward)}, the least of some turns, in which the ways alternate."""
    seconds = {name: [] for name in ways}
    for turn in range(repeats + 1):
        for name, run in ways.items():
            start = time.perf_counter()
            result = run()
            middle = time.perf_counter()
            result.sum().backward()
            if turn > 0:  # the first turn warms up
                seconds[name].append((middle - start, time.perf_counter() - middle))
    return {name: tuple(map(min, zip(*turns, strict=True))) for name, turns in seconds.items()}


def ratios_to_the_fused_kernel(d=64, h=4):
    """Yield (what, figures) for each way to compute a layer: forward, backward, memory kept for backward."""
    for n, repeats in ((64, 30), (256, 20), (1024, 8), (4096, 4)):
        X, W, ways = one_layer(n, d, h)
        expected = ways["fused kernel"]()
        seconds = fastest(ways, repeats)
        forward, backward = seconds["fused kernel"]
        if n == 64:
            inputs = X[0].tolist(), *(w.mT.tolist() for w in W), h
            start = time.perf_counter()
            result = by_loops(*inputs)
            yield f"n = {n:4d}, loops (forward only) : fused kernel", f"{(time.perf_counter() - start) / forward:,.0f}"
            torch.testing.assert_close(torch.tensor(result), expected[0])
        memory = {name: kept_for_backward(run) for name, run in ways.items()}
        for name in list(ways)[1:]:
            torch.testing.assert_close(ways[name](), expected)
            there, back = seconds[name]
            figures = there / forward, back / backward, memory[name] / memory["fused kernel"]
            yield f"n = {n:4d}, {name} : fused kernel", "  ".join(f"{figure:.2f}" for figure in figures)


def ratios_to_pytorchs_layer(d=512, h=8):
    """Yield (what, figures) for our module without weights by PyTorch's layer: forward, forward and backward."""
    for n, repeats in ((512, 20), (1024, 10), (2048, 5)):
        _, _, ways = one_layer(n, d, h)
        seconds = fastest({name: ways[name] for name in ("our module", "nn.MultiheadAttention")}, repeats)
        (ours, ours_back), (theirs, theirs_back) = seconds.values()
        both = (ours + ours_back) / (theirs + theirs_back)
        yield f"n = {n:4d}, d = {d}, our module : nn.MultiheadAttention", f"{ours / theirs:.2f}  {both:.2f}"


def table():
    """Yield the rows of the table: what is measured, the figure, the aim."""
    quiet = [lesson for lesson in LESSONS if "def train(" not in lesson.read_text(encoding="utf-8")]
    with tempfile.TemporaryDirectory() as temporary:
        for what, lessons in (("1 to 4", LESSONS[:4]), ("without training", quiet), ("all", LESSONS)):
            folder = Path(temporary, what)
            folder.mkdir()
            yield f"strict run, lessons {what} : bare notebooks", f"{strict_ratio(lessons, folder):.2f}", "≤ 1.3"
        bare = write_bare_notebooks(Path(temporary, "bare"), 1)
        yield "import, utils : torch and matplotlib", f"{import_ratio():.1%}", "< 5 %"
        bare_memory = peak_memory(bare[0])
        for lesson in LESSONS:
            yield f"peak memory, {lesson.stem} : bare", f"{peak_memory(lesson) / bare_memory:.2f}", "≤ 1.15"
    if os.environ.get("WITHOUT_WEIGHTS") != "1":
        start = time.perf_counter()
        mebibytes = peak_memory(REAL_LLM) / (1024**2 if sys.platform == "darwin" else 1024)
        yield f"peak memory, {REAL_LLM.stem}", f"{mebibytes:.0f} MiB", "≤ 1024 MiB"
        yield f"start to end, {REAL_LLM.stem}", f"{time.perf_counter() - start:.0f} s", "≤ 15 s"
    torch.set_num_threads(1)
    yield "time of a layer, d = 64, h = 4, by the fused kernel's", "there  back  memory", ""
    for what, figures in ratios_to_the_fused_kernel():
        yield what, figures, ""
    yield "time of a layer, d = 512, h = 8", "there  both", ""
    for what, figures in ratios_to_pytorchs_layer():
        yield what, figures, "≤ 1.05"
    for what, kilobytes in page_sizes():
        yield f"bytes, {what}", f"{kilobytes:,.0f} kB", "small"


if __name__ == "__main__":
    print(f"{'what':<60} {'figure':>20}  aim")
    for what, figure, aim in table():
        print(f"{what:<60} {figure:>20}  {aim}".rstrip(), flush=True)
