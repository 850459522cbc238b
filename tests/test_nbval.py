"""The comparison is alive: strict nbval passes a good notebook and fails a changed one. And what it does not see."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
import sample
import test_notebooks
import test_pictures
from execute import execute
from lessons import lesson_paths, read


def nbval(folder):
    """Run strict nbval over a folder; return {file name: [whether each cell passed]}."""
    report = folder / "report.xml"
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", "-q", "-p", "no:cacheprovider"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", *options, f"--rootdir={folder}", f"--junitxml={report}", "."]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    passed = {}
    for case in ET.parse(report).iter("testcase"):
        passed.setdefault(case.get("classname").removesuffix(".ipynb"), []).append(
            case.find("failure") is None and case.find("error") is None
        )
    return passed


def change_last_digit(text):
    """Change the last digit of a text."""
    return re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit.group()) + 1) % 10), text)


def test_nbval_compares_text_and_nothing_else(tmp_path):
    good = read(sample.tiny(tmp_path / "good.ipynb"))
    execute(good.path)
    assert not execute(good.path), "a second run changed the file"

    changed = read(good.path).nb
    stream, value, picture, _ = (cell.outputs[0] for cell in changed.cells[1:])
    stream.text = change_last_digit(stream.text)
    value.data["text/plain"] = change_last_digit(value.data["text/plain"])
    picture.data["image/png"] = sample.png("red")
    sample.save(changed, tmp_path / "changed.ipynb")

    stripped = read(good.path).nb
    for cell in stripped.cells[1:]:
        cell.outputs, cell.execution_count = [], None
    sample.save(stripped, tmp_path / "stripped.ipynb")

    passed = nbval(tmp_path)
    assert passed["good"] == [True] * 4
    assert passed["changed"] == [False, False, True, True]
    assert passed["stripped"] == [True] * 4  # so another check has to see it:
    with pytest.raises(AssertionError, match="execution counts"):
        test_notebooks.test_every_code_cell_is_executed_in_order(read(tmp_path / "stripped.ipynb"))
    test_pictures.test_pictures_are_reproduced(read(good.path))
    with pytest.raises(AssertionError, match="not the one drawn"):
        test_pictures.compare(read(tmp_path / "changed.ipynb"), read(good.path))


@pytest.mark.parametrize("path", lesson_paths()[:1], ids=lambda path: path.stem)
def test_nbval_sees_one_changed_digit_of_a_heatmap(path, tmp_path):
    lesson = read(path)
    nb = lesson.nb
    cell, picture = next(lesson.pictures())
    nb.cells = nb.cells[: nb.cells.index(cell) + 1]
    picture.data["text/plain"] = change_last_digit(picture.data["text/plain"])
    passed = nbval(sample.save(nb, tmp_path / path.name).parent)[path.stem]
    assert passed == [True] * (len(passed) - 1) + [False]
