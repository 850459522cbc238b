"""`make execute` writes every notebook in one form, and leaves alone one that fails."""

import execute
import nbformat
import pytest
import sample
from lessons import read
from nbformat.v4 import new_output


def test_an_error_is_one_sentence_and_the_file_stays(tmp_path):
    cells = [sample.markdown("# Weights"), sample.code("raise KeyError('mat')")]
    path = sample.save(nbformat.v4.new_notebook(cells=cells), tmp_path / "bad.ipynb")
    before = path.read_bytes()
    line, good = execute.attempt(path)
    assert not good and line.endswith("bad.ipynb, under “Weights”, cell weights-02: KeyError: 'mat'")
    assert path.read_bytes() == before


def test_a_missing_or_unreadable_file_is_one_sentence(tmp_path):
    assert not execute.attempt(tmp_path / "none.ipynb")[1]
    (tmp_path / "text.ipynb").write_text("no JSON")
    assert not execute.attempt(tmp_path / "text.ipynb")[1]


def test_cells_get_readable_names_and_keep_good_ones():
    sources = ["# Why √c", "a", "b", "c", "## Ω", "d"]
    nb = nbformat.v4.new_notebook(cells=[sample.markdown(source) for source in sources])
    for cell, identifier in zip(nb.cells, ["deadbee1", "mine", "mine", "not valid", "why-c-04", "x" * 65], strict=True):
        cell["id"] = identifier
    execute.name_cells(nb)
    assert [cell.id for cell in nb.cells] == ["why-c-01", "mine", "why-c-03", "why-c-05", "why-c-04", "section-02"]
    execute.name_cells(nb)
    assert nb.cells[3].id == "why-c-05"


def test_only_what_belongs_in_the_file_is_kept():
    cell = sample.code("1", 1)
    cell.metadata.update({"tags": ["hide-input"], "execution": {"iopub.execute_input": "now"}, "collapsed": True})
    cell.outputs = [new_output("stream", name="stdout", text=text) for text in ("a\n", "b\n")]
    cell.outputs.append(new_output("error", ename="KeyError", evalue="1", traceback=["frame in a file", "KeyError: 1"]))
    nb = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}, "title": "mine"})
    execute.canonical(nb)
    assert nb.metadata == execute.METADATA
    assert nb.cells[0].metadata == {"tags": ["hide-input"]}
    assert [output.get("text") for output in nb.cells[0].outputs] == ["a\nb\n", None]
    assert nb.cells[0].outputs[1].traceback == ["KeyError: 1"]


@pytest.mark.parametrize("text", ["", "# one\n"])
def test_the_file_ends_with_one_newline(text, tmp_path):
    path = sample.save(sample.notebook(sample.markdown(text)), tmp_path / "a.ipynb")
    assert path.read_text(encoding="utf-8").endswith("}\n")
    assert execute.serialised(read(path).nb) == path.read_text(encoding="utf-8")
