"""What the checks share: find the notebooks, read one, and read the Markdown in it."""

import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat.v4
from markdown_it import MarkdownIt
from mdit_py_plugins.anchors.index import slugify
from mdit_py_plugins.dollarmath import dollarmath_plugin

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
LESSON_NAME = re.compile(r"\d\d_\w+\.ipynb")
NEEDS_WEIGHTS = "11_real_llm.ipynb"


def use_own_settings():
    """Keep your settings of matplotlib and IPython, and the debugger's messages, out of the kernels started here."""
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    if os.access(sys.prefix, os.W_OK):  # beside the packages, as in the Makefile
        os.environ.setdefault("MPLCONFIGDIR", str(Path(sys.prefix, "matplotlib")))
        os.environ.setdefault("IPYTHONDIR", str(Path(sys.prefix, "ipython")))


def without_weights():
    """Whether the checks were told to leave out what needs the weights of lesson 11."""
    return os.environ.get("WITHOUT_WEIGHTS") == "1"


@dataclass(frozen=True)
class Notebook:
    """A notebook and where it lies. `nb` is exactly what the file says: nothing is upgraded or repaired."""

    path: Path
    nb: nbformat.NotebookNode

    @property
    def is_lesson(self):
        """Whether the name is that of a lesson, NN_title.ipynb."""
        return bool(LESSON_NAME.fullmatch(self.path.name))

    @property
    def code(self):
        """The code cells that hold any code."""
        return [cell for cell in self.nb.cells if cell.cell_type == "code" and cell.source.strip()]

    @property
    def markdown(self):
        """The Markdown cells."""
        return [cell for cell in self.nb.cells if cell.cell_type == "markdown"]

    def outputs(self):
        """Yield every (cell, output)."""
        for cell in self.nb.cells:
            for output in cell.get("outputs", []):
                yield cell, output

    def pictures(self):
        """Yield (cell, output) for every output that holds a PNG."""
        for cell, output in self.outputs():
            if "image/png" in output.get("data", {}):
                yield cell, output

    def place(self, cell):
        """Say where a cell is, for messages: file, nearest heading above, id."""
        heading = ""
        for candidate in self.nb.cells:
            if candidate.cell_type == "markdown":
                heading = ([title for _, title in headings(candidate.source)] or [heading])[-1]
            if candidate is cell:
                break
        return f"{self.path.name}, under “{heading}”, cell {cell.get('id', 'without id')}"


def read(path):
    """Read the notebook at path as it is, without the repairs that nbformat.read makes."""
    return Notebook(Path(path), nbformat.v4.reads(Path(path).read_text(encoding="utf-8")))


def notebook_paths():
    """All notebooks of the course."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def lesson_paths(folder=NOTEBOOKS):
    """The lessons in folder, in their order."""
    return [path for path in sorted(folder.glob("*.ipynb")) if LESSON_NAME.fullmatch(path.name)]


@cache
def tokens(text):
    """Markdown as a flat list of markdown-it tokens, with tables and $math$."""
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, double_inline=True)
    return [leaf for token in parser.parse(text) for leaf in [token, *(token.children or [])]]


@cache
def headings(text):
    """The headings in Markdown text as (level, title)."""
    parsed = tokens(text)
    found = []
    for token, inline in pairwise(parsed):
        if token.type == "heading_open":
            found.append((int(token.tag[1]), "".join(leaf.content for leaf in inline.children)))
    return found


def anchors(text):
    """The targets that `#…` can name in Markdown text: as the rendered pages and as JupyterLab write them."""
    titles = [title for _, title in headings(text)]
    return {slugify(title) for title in titles} | {title.replace(" ", "-") for title in titles}


def links(text):
    """The targets of all links and images in Markdown text."""
    targets = [token.attrGet("href") or token.attrGet("src") for token in tokens(text)]
    html = " ".join(token.content for token in tokens(text) if token.type in ("html_block", "html_inline"))
    return [target for target in targets if target] + re.findall(r"""(?:href|src)=["']([^"']+)["']""", html)


def prose(text):
    """The words of Markdown text: no code, no formulas, no link targets, no HTML tags."""
    words = [token.content for token in tokens(text) if token.type in ("text", "html_block")]
    return re.sub(r"<[^>]*>", " ", " ".join(words))


def texts(output):
    """The parts of an output that a reader sees as text, joined."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}\n" + "\n".join(output.traceback)
    return "\n".join(text for kind, text in output.data.items() if kind.startswith("text/"))
