"""Every notebook in a real JupyterLab: it runs, shows what it should, and saves what the repository stores."""

from copy import deepcopy
from pathlib import Path

import pytest
import sample
from execute import canonical
from lessons import Notebook, notebook_paths, read
from nbformat.v4 import new_output
from test_pictures import difference

RED = {"application/vnd.jupyter.error", "application/vnd.jupyter.stderr"}
CELLS = """async () => {
    const shown = element => element.checkVisibility() && element.getBoundingClientRect().width > 0;
    const pictures = [...document.querySelectorAll(".jp-OutputArea img")];
    await Promise.all(pictures.map(picture => picture.decode().catch(() => 0)));
    return [...document.querySelectorAll(".jp-Notebook .jp-Cell")].map(cell => ({
        source: [...cell.querySelectorAll(".jp-InputArea-editor, .jp-MarkdownOutput")].some(shown),
        kinds: [...cell.querySelectorAll("[data-mime-type]")].map(output => output.dataset.mimeType),
        pictures: [...cell.querySelectorAll(".jp-OutputArea img")].map(img => img.naturalWidth > 0 && shown(img)),
    }));
}"""


def stripped(nb):
    """The notebook as if it had never run: what is saved later, JupyterLab's own run has made."""
    nb = deepcopy(nb)
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return nb


def is_collapsed(cell):
    """Whether the source of a cell has to be hidden when the notebook is opened."""
    return "hide-input" in cell.metadata.get("tags", []) or cell.metadata.get("jupyter", {}).get("source_hidden", False)


def shown_faults(cell, seen):
    """Yield what is wrong with a cell as JupyterLab shows it."""
    if seen["source"] == is_collapsed(cell):
        yield "shows its source" if seen["source"] else "does not show its source"
    if is_collapsed(cell) and not cell.source.startswith("#"):  # JupyterLab shows the first line all the same
        yield "has a first line that is no comment or heading"
    if RED & set(seen["kinds"]) and "raises-exception" not in cell.metadata.get("tags", []):
        yield "shows an error or stderr"
    stored = sum("image/png" in output.get("data", {}) for output in cell.get("outputs", []))
    if seen["pictures"] != [True] * stored:
        yield f"{stored} pictures are stored, {sum(seen['pictures'])} can be seen"


def saved_faults(cell, saved):
    """Yield what differs between a cell of the repository and the same cell as JupyterLab saved it."""
    cell, saved = deepcopy(cell), deepcopy(saved)
    pairs = zip(cell.get("outputs", []), saved.get("outputs", []), strict=False)
    for before, after in [(b.data, a.data) for b, a in pairs if "data" in b and "data" in a]:
        old, new = before.pop("image/png", ""), after.pop("image/png", "")  # noise in a picture is no difference
        if old != new and (not old or not new or difference(old, new)):
            yield "another picture"
    for part in ("id", "source", "metadata", "execution_count", "outputs"):
        if cell.get(part) != saved.get(part):
            yield f"{part} stored {str(cell.get(part))[:200]}, saved {str(saved.get(part))[:200]}"


def faults(notebook, lab, visit):
    """Run a stripped copy of a notebook in JupyterLab, save it, and return what is wrong, as [(cell id, what)]."""
    copy = sample.save(stripped(notebook.nb), lab.folder / notebook.path.name)
    tab = visit(lab.url)
    lab.open(tab.page, copy.name)
    lab.run_all(tab.page)
    seen = tab.page.evaluate(CELLS)
    lab.save(tab.page)
    lab.stop_kernels(tab.page)
    saved = canonical(read(copy).nb)
    found = [("", f"asks for {url}") for url in tab.elsewhere]
    for cell, shown, again in zip(notebook.nb.cells, seen, saved.cells, strict=True):
        found += [(cell.id, fault) for fault in [*shown_faults(cell, shown), *saved_faults(cell, again)]]
    return found


@pytest.mark.parametrize("path", notebook_paths(), ids=lambda path: path.stem)
def test_notebook_runs_in_jupyterlab(path, lab, visit):
    assert faults(read(path), lab, visit) == []


def test_jupyterlab_asks_nothing_about_news(lab, visit):
    """`make setup` has turned off the part that asks, and that looks for newer versions; its neighbour works."""
    page = visit(lab.url).page
    lab.open(page, "index.ipynb")
    part = "jupyterapp.isPluginActivated('@jupyterlab/apputils-extension:{}')"
    assert page.evaluate(part.format("notification")) and not page.evaluate(part.format("announcements"))
    lab.stop_kernels(page)


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def picture(data, alt):
    return new_output("display_data", {"image/png": data, "text/plain": "white 0.25"}, metadata={"image/png": alt})


def collapsed(cell, **metadata):
    """The cell with the tag that hides its code on the pages, and what JupyterLab needs in `metadata`."""
    cell.metadata.update(tags=["hide-input"], **metadata)
    return cell


def made_up(name, *cells):
    """A notebook of these cells, named a, b, c and so on."""
    for cell, identifier in zip(cells, "abcdefghij", strict=False):
        cell.id = identifier
    return Notebook(Path(name), sample.notebook(*cells))


def show(data, alt):
    """Code that displays a picture."""
    bundle = {"image/png": data, "text/plain": "white 0.25"}
    return f"display({bundle}, metadata={{'image/png': {alt}}}, raw=True)"


WHITE, NAMED = sample.png(), {"alt": "A white rectangle", "width": 100}
GOOD = [
    sample.markdown("# Good"),
    sample.code("print('same')", 1, [stream("same\n")]),
    sample.code(show(WHITE, NAMED), 2, [picture(WHITE, NAMED)]),
    collapsed(sample.code("# Solution\nprint('solved')", 3, [stream("solved\n")]), jupyter={"source_hidden": True}),
]


def test_a_good_notebook_has_no_fault(lab, visit):
    assert faults(made_up("good.ipynb", *GOOD), lab, visit) == []


def test_every_fault_of_a_bad_notebook_is_seen(lab, visit):
    what = {"ename": "ZeroDivisionError", "evalue": "division by zero"}
    error = new_output("error", **what, traceback=["ZeroDivisionError: division by zero"])
    bad = made_up(
        "bad.ipynb",
        sample.markdown("# Bad <img src='http://192.0.2.1/x.png' alt='asked for elsewhere'>"),
        sample.code("print('new')", 1, [stream("old\n")]),
        sample.code("import sys\n\nprint('careful', file=sys.stderr)", 2, [stream("careful\n", "stderr")]),
        collapsed(sample.code("# Solution\nprint('solved')", 3, [stream("solved\n")])),
        sample.code(show("AAAA", NAMED), 4, [picture("AAAA", NAMED)]),
        sample.code(show(sample.png("red"), NAMED), 5, [picture(WHITE, NAMED)]),
        sample.code(show(WHITE, {"alt": "Other words"}), 6, [picture(WHITE, NAMED)]),
        collapsed(sample.code("print('solved')", 7, [stream("solved\n")]), jupyter={"source_hidden": True}),
        sample.code("1 / 0", 8, [error]),
        sample.code("print('never')", 9, [stream("never\n")]),
    )
    found = faults(bad, lab, visit)
    assert {(cell, " ".join(what.split()[:3])) for cell, what in found} == {
        ("", "asks for http://192.0.2.1/x.png"),
        ("b", "outputs stored [{'output_type':"),
        ("c", "shows an error"),
        ("d", "shows its source"),
        ("e", "1 pictures are"),
        ("f", "another picture"),
        ("g", "outputs stored [{'output_type':"),
        ("h", "has a first"),
        ("i", "shows an error"),
        ("j", "execution_count stored 9,"),
        ("j", "outputs stored [{'output_type':"),
    }
