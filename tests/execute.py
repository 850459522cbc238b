"""Execute notebooks in place and write them in one canonical form.

    python tests/execute.py notebooks/*.ipynb

Each notebook runs in a fresh kernel of this environment, in its own folder, and is then written so that the same
results give the same bytes on every machine. A notebook that fails is left as it was.
"""

import base64
import os
import re
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL

import nbformat
from lessons import NEEDS_WEIGHTS, NOTEBOOKS, ROOT, headings, read, use_own_settings, without_weights
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert.preprocessors import CoalesceStreamsPreprocessor

TIMEOUT = 120
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_METADATA = ("tags", "jupyter", "mystnb")
VALID_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
RANDOM_ID = re.compile(r"[0-9a-f]{8}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class NotebookError(Exception):
    """A notebook that cannot be executed; the message is one sentence."""


def run(notebook, timeout=TIMEOUT):
    """Execute a Notebook in a fresh kernel, in its folder. Changes notebook.nb; raises NotebookError."""
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # python3 is the kernel of this environment
    use_own_settings()
    current = []
    client = NotebookClient(
        notebook.nb,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(notebook.path.parent)}},
        on_cell_start=lambda cell, cell_index: current.append(cell),
    )
    try:
        client.execute(stderr=DEVNULL)  # what the kernel itself says, not the cells
    except CellExecutionError as error:
        raise NotebookError(f"{notebook.place(current[-1])}: {error.ename}: {error.evalue}") from None
    except (CellTimeoutError, DeadKernelError) as error:
        place = notebook.place(current[-1]) if current else notebook.path.name
        what = f"no result after {timeout} s" if isinstance(error, CellTimeoutError) else "the kernel died"
        raise NotebookError(f"{place}: {what}") from None


def is_stable(identifier):
    """Whether a cell id is valid and was not drawn at random."""
    return bool(VALID_ID.fullmatch(identifier)) and not RANDOM_ID.fullmatch(identifier)


def name_cells(nb):
    """Give each cell without a valid, unique, readable id one made of its heading and its place below it."""
    seen, keep = set(), []
    for cell in nb.cells:
        keep.append(is_stable(cell.get("id", "")) and cell.id not in seen)
        seen.add(cell.get("id") if keep[-1] else None)
    slug, place = "start", 0
    for cell, kept in zip(nb.cells, keep, strict=True):
        titles = headings(cell.source) if cell.cell_type == "markdown" else []
        if titles:
            plain = unicodedata.normalize("NFKD", titles[0][1]).encode("ascii", "ignore").decode().lower()
            slug, place = re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-") or "section", 0
        place += 1
        if not kept:
            number = place
            while (identifier := f"{slug}-{number:02d}") in seen:
                number += 1
            cell["id"] = identifier
            seen.add(identifier)


def canonical(nb):
    """Bring an executed notebook into the form in which the course stores it, in place."""
    name_cells(nb)
    nb.nbformat, nb.nbformat_minor = 4, 5
    nb.metadata = nbformat.from_dict(METADATA)
    for cell in nb.cells:
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in CELL_METADATA if key in cell.metadata})
        for output in cell.get("outputs", []):
            if output.output_type == "error":  # frames hold paths of this machine
                output.traceback = [f"{output.ename}: {output.evalue}"]
    CoalesceStreamsPreprocessor().preprocess(nb, {})
    return nb


def serialised(nb):
    """The text of a notebook file."""
    return nbformat.v4.writes(nb).rstrip("\n") + "\n"


def execute(path):
    """Execute the notebook at path and write it back; return whether the file changed."""
    path = Path(path).resolve()
    before = path.read_text(encoding="utf-8")
    notebook = read(path)
    if notebook.nb.get("nbformat") != 4:
        raise NotebookError(f"{path.name}: not a notebook of format 4")
    name_cells(notebook.nb)
    notebook.nb.nbformat_minor = 5
    run(notebook)
    nb = canonical(notebook.nb)
    nbformat.validate(nb)
    after = serialised(nb)
    if after != before:
        path.write_text(after, encoding="utf-8", newline="\n")
    return after != before


def attempt(path):
    """Execute path and return one line about it, with whether it went well."""
    try:
        return f"{path}: {'written' if execute(path) else 'unchanged'}", True
    except (NotebookError, nbformat.ValidationError, OSError, ValueError) as error:
        return f"{path}: not written. {str(error).splitlines()[0]}", False


def copy_picture_to_readme():
    """Store the start page's picture as a file, for README.md."""
    (_, output), *_ = read(NOTEBOOKS / "index.ipynb").pictures()
    (ROOT / "docs" / "heatmap.png").write_bytes(base64.b64decode(output.data["image/png"]))


def main(paths):
    """Execute all paths, two at a time, and refresh README's picture; return the exit status."""
    if not paths:
        print(__doc__.strip())
        return 2
    use_own_settings()
    import matplotlib.font_manager  # noqa: F401 - builds its font cache here, not in a cell

    if without_weights():
        paths = [path for path in paths if Path(path).name != NEEDS_WEIGHTS]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for line, good in pool.map(attempt, paths):
            print(line, file=sys.stdout if good else sys.stderr, flush=True)
            failed += not good
    copy_picture_to_readme()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
