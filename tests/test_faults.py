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
MODULES = ["tests/test_chain.py", "-k", "shares or fast_path or leak or padded or alone or split"]
PICTURES = ["tests/test_plots.py", "-k", "colour or scale or stand_at or the_text or the_alt or hatched"]
SENTENCE = ["tests/test_sentence.py", "-k", "labels"]
EXERCISES = ["tests/test_exercises.py", "-k", "said_of_an_answer or number_may_be_asked"]

WEIGHTS = "A = softmax(Omega / K.shape[-1] ** 0.5)"
MASKED = "Omega = Omega.masked_fill(~may_look, -torch.inf)"
BUFFER = "torch.ones(n_max, n_max, dtype=torch.bool).tril(), persistent=False"
TRIANGLE = "torch.ones(n, n, dtype=torch.bool, device=X.device).tril()"
SPLIT = "return Y.unflatten(-1, (self.h, self.c)).transpose(-3, -2)"
MERGE = "return C.transpose(-3, -2).flatten(-2)"
OPEN = "C, A = attend(Q, K, V, self.may_look(X, real))"
FAST = "F.scaled_dot_product_attention(Q, K, V, attn_mask=may_look, is_causal=only_causal)"
LAYERS = "(self.split(W(X)) for W in (self.W_q, self.W_k, self.W_v))"
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
    "scaling by the width of V": ("attention", WEIGHTS, "A = softmax(Omega / V.shape[-1] ** 0.5)", ATTENTION),
    "scaling by the width of X": (
        "attention",
        "return attend(Q, K, V)",
        "return attend(Q * (K.shape[-1] / X.shape[-1]) ** 0.5, K, V)",
        ATTENTION,
    ),
    "scaling after softmax": ("attention", WEIGHTS, "A = softmax(Omega) / K.shape[-1] ** 0.5", ATTENTION),
    "Q and K swapped": ("attention", "Omega = Q @ K.mT", "Omega = K @ Q.mT", ATTENTION),
    "K not transposed where shapes allow it": (
        "attention",
        "Omega = Q @ K.mT",
        "Omega = Q @ (K if K.shape[0] == K.shape[1] else K.mT)",
        ATTENTION,
    ),
    "AᵀV": ("attention", "C = A @ V", "C = A.mT @ V", ATTENTION),
    "K and V swapped where shapes allow it": (
        "attention",
        "return attend(Q, K, V)",
        "return attend(Q, V, K) if V.shape == K.shape else attend(Q, K, V)",
        ATTENTION,
    ),
    "mask transposed": ("attention", MASKED, MASKED.replace("~may_look", "~may_look.mT"), MODULES),
    "mask upside down": ("attention", MASKED, MASKED.replace("~may_look", "may_look"), MODULES),
    "mask of 0": ("attention", MASKED, MASKED.replace("-torch.inf", "0.0"), MODULES),
    "mask after softmax": (
        "attention",
        WEIGHTS,
        """A = softmax((Q @ K.mT) / K.shape[-1] ** 0.5)
    A = A if may_look is None else A * may_look""",
        MODULES,
    ),
    "diagonal masked in one head": ("attention", BUFFER, BUFFER.replace("tril()", "tril(-1)"), MODULES),
    "diagonal masked in several heads": ("attention", TRIANGLE, TRIANGLE.replace("tril()", "tril(-1)"), MODULES),
    "one word too many seen by one head": ("attention", BUFFER, BUFFER.replace("tril()", "tril(1)"), MODULES),
    "one word too many seen by several heads": ("attention", TRIANGLE, TRIANGLE.replace("tril()", "tril(1)"), MODULES),
    "triangle upside down": ("attention", TRIANGLE, TRIANGLE.replace("tril()", "triu()"), MODULES),
    "fast path not causal": ("attention", FAST, FAST.replace("=only_causal", "=False"), MODULES),
    "fast path without a mask": ("attention", FAST, FAST.replace("=may_look", "=None"), MODULES),
    "padding ignored": (
        "attention",
        "return real if causal is None else causal & real",
        "return causal",
        MODULES,
    ),
    "causal mask lost with padding": (
        "attention",
        "return real if causal is None else causal & real",
        "return real",
        MODULES,
    ),
    "heads merged without transposing back": (
        "attention",
        MERGE,
        "return C.reshape(*C.shape[:-3], C.shape[-2], -1)",
        MODULES,
    ),
    "plain view in place of split and transpose": (
        "attention",
        SPLIT,
        "return Y.reshape(*Y.shape[:-2], self.h, Y.shape[-2], self.c)",
        MODULES,
    ),
    "every h-th number to a head": (
        "attention",
        SPLIT,
        "return Y.unflatten(-1, (self.c, self.h)).movedim(-1, -3)",
        MODULES,
    ),
    "√ of the model width where weights are returned": (
        "attention",
        OPEN,
        "C, A = attend(Q / self.h**0.5, K, V, self.may_look(X, real))",
        MODULES,
    ),
    "√ of the model width in the fast path": (
        "attention",
        FAST,
        FAST.replace("Q, K, V,", "Q / self.h**0.5, K, V,"),
        MODULES,
    ),
    "keys and values swapped in one head": (
        "attention",
        "attend(self.W_q(X), self.W_k(X), self.W_v(X),",
        "attend(self.W_q(X), self.W_v(X), self.W_k(X),",
        MODULES,
    ),
    "keys and values swapped in several heads": (
        "attention",
        LAYERS,
        LAYERS.replace("self.W_k, self.W_v", "self.W_v, self.W_k"),
        MODULES,
    ),
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
    "every answer is right": ("exercise", "if self.same(results, expected):", "if True:", EXERCISES),
    "only the first input counts": ("exercise", "in self.inputs or [()]", "in self.inputs[:1] or [()]", EXERCISES),
    "no mistake is looked up": ("exercise", "{next(known, None) or ", "{", EXERCISES),
    "the gradient is not looked at": ("exercise", "problem = self._gradient(answer) if", 'problem = "" if', EXERCISES),
    "a changed input is not noticed": ("exercise", "if not same(old, new, 0):", "if False:", EXERCISES),
    "integers will do": ("exercise", "if right.dtype.is_floating_point and", "if False and", EXERCISES),
    "a constant will do": (
        "exercise",
        "if self.inputs and self._constant(results)",
        "if False and self._constant(results)",
        EXERCISES,
    ),
    "far off is near enough": ("answers", "rtol=tolerance", "rtol=1", EXERCISES),
    "the shape does not count": ("answers", "return a.shape == b.shape and", "return", EXERCISES),
    "causes are not named": ("answers", 'f" Likely: {cause}." if cause', '"" if cause', EXERCISES),
}
NO_FAULT = {
    "attention": ATTENTION,
    "modules": MODULES,
    "pictures": PICTURES,
    "sentence": SENTENCE,
    "exercises": EXERCISES,
}

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
