"""The tests catch faults: each fault is put into a copy of utils, and the tests must fail on that copy.

One more process runs pytest once per copy, so that PyTorch is imported only once.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lessons import ROOT

ATTENTION = ["tests/test_attention.py", "-k", "is_the_definition or is_pytorchs or is_by_rows"]
PICTURES = ["tests/test_plots.py", "-k", "colour or scale or stand_at or the_text or the_alt or hatched"]
SENTENCE = ["tests/test_sentence.py", "-k", "labels"]

WEIGHTS = "A = softmax(Omega / K.shape[-1] ** 0.5)"
COLOURED = 'shown = panel.values.masked_fill(~panel.may_look, float("nan")).numpy()'
WORDS = "words = [drawn(label, position, size) for position, label in enumerate(labels, start=1)]"
LIMITS = "low, high = 0.0, 1.0"

# fault: (module, code, code with the fault, tests that must fail)
FAULTS = {
    "softmax along the wrong axis": (
        "attention",
        "exponentials / exponentials.sum(dim=-1, keepdim=True)",
        "exponentials / exponentials.sum(dim=0, keepdim=True)",
        ATTENTION,
    ),
    "no scaling": ("attention", WEIGHTS, "A = softmax(Omega)", ATTENTION),
    "scaling by c": ("attention", WEIGHTS, "A = softmax(Omega / K.shape[-1])", ATTENTION),
    "scaling by the width of X": ("attention", WEIGHTS, "A = softmax(Omega / X.shape[-1] ** 0.5)", ATTENTION),
    "scaling after softmax": ("attention", WEIGHTS, "A = softmax(Omega) / K.shape[-1] ** 0.5", ATTENTION),
    "Q and K swapped": ("attention", "Omega = Q @ K.mT", "Omega = K @ Q.mT", ATTENTION),
    "K not transposed where shapes allow it": (
        "attention",
        "Omega = Q @ K.mT",
        "Omega = Q @ (K if K.shape[0] == K.shape[1] else K.mT)",
        ATTENTION,
    ),
    "AᵀV": ("attention", "C = A @ V", "C = A.mT @ V", ATTENTION),
    "colours transposed": ("panels", COLOURED, f"{COLOURED}.T", PICTURES),
    "numbers transposed": ("panels", "numbers[m][p], fontsize", "numbers[p][m], fontsize", PICTURES),
    "heatmap flipped": ("panels", "ylim=(n, 0)", "ylim=(0, n)", PICTURES),
    "words reversed": ("panels", WORDS, f"{WORDS}[::-1]", PICTURES),
    "words off by one": ("panels", WORDS, f"{WORDS}\n    words = words[1:] + words[:1]", PICTURES),
    "words reversed in the text": (
        "heatmaps",
        "list(labels), list(labels)",
        "list(labels)[::-1], list(labels)",
        PICTURES,
    ),
    "positions counted from 0": ("sentence", "enumerate(words, start=1)", "enumerate(words, start=0)", SENTENCE),
    "weights up to the largest one": (
        "heatmaps",
        LIMITS,
        "low, high = 0.0, max(values.max().item() for values, _ in panels.values())",
        PICTURES,
    ),
    "weights from the smallest one": (
        "heatmaps",
        LIMITS,
        "low, high = min(values.min().item() for values, _ in panels.values()), 1.0",
        PICTURES,
    ),
    "scores from the smallest one": (
        "heatmaps",
        "low = -high",
        "low = min(values.min().item() for values, _ in panels.values())",
        PICTURES,
    ),
    "masked cells not hatched": ("panels", '"hatch": "////", ', "", PICTURES),
}
NO_FAULT = {"attention": ATTENTION, "pictures": PICTURES, "sentence": SENTENCE}

RUNNER = """
import json, sys
from pathlib import Path
import pytest

class Seen:
    def pytest_exception_interact(self, call):
        errors.append(call.excinfo.typename)

PLAIN = ["-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:unraisableexception"]  # the last collects garbage slowly
results = {}
for name, folder, arguments in json.loads(sys.argv[1]):
    for module in [m for m in sys.modules if m.split(".")[0] in ("utils", "drawing") or m.startswith("test_")]:
        del sys.modules[module]
    errors = []
    sys.path.insert(0, folder)
    code = pytest.main([*arguments, "-x", "-q", "--no-header", *PLAIN], plugins=[Seen()])
    sys.path.remove(folder)
    results[name] = [int(code), errors, sys.modules["utils"].__file__]
Path(sys.argv[2]).write_text(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Run the tests on each copy; return name: (exit code, names of the exceptions, the copy that was imported)."""
    runs = []
    for name, (module, code, fault, tests) in FAULTS.items():
        folder = copy_of_utils(tmp_path_factory)
        path = folder / "utils" / f"{module}.py"
        source = path.read_text(encoding="utf-8")
        assert source.count(code) == 1, f"{name}: utils/{module}.py holds {code!r} {source.count(code)} times"
        path.write_text(source.replace(code, fault), encoding="utf-8")
        runs.append((name, str(folder), tests))
    runs += [(name, str(copy_of_utils(tmp_path_factory)), tests) for name, tests in NO_FAULT.items()]
    found = tmp_path_factory.mktemp("results") / "results.json"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(
        [sys.executable, "-c", RUNNER, json.dumps(runs), found],
        cwd=ROOT,
        env={**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert found.exists(), ran.stdout + ran.stderr
    return {name: (*json.loads(found.read_text())[name], Path(folder), ran.stdout) for name, folder, _ in runs}


def copy_of_utils(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "utils", folder / "utils", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(results, name):
    code, errors, imported, folder, output = results[name]
    assert Path(imported).is_relative_to(folder), f"{imported} was tested instead of the copy"
    assert (code, errors) == (pytest.ExitCode.TESTS_FAILED, ["AssertionError"]), output


@pytest.mark.parametrize("name", NO_FAULT)
def test_a_copy_without_a_fault_passes(results, name):
    code, errors, imported, folder, output = results[name]
    assert Path(imported).is_relative_to(folder), f"{imported} was tested instead of the copy"
    assert (code, errors) == (pytest.ExitCode.OK, []), output
