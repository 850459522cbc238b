"""Lesson 11 computes the model: its own cells, run here, agree with an independent implementation.

tests/data/README.md says where the numbers come from.
"""

import json
import re

import pytest
import torch
from lessons import NEEDS_WEIGHTS, NOTEBOOKS, ROOT, read

from utils import weights

REFERENCE = json.loads((ROOT / "tests" / "data" / "smollm2_reference.json").read_text(encoding="utf-8"))
SENTENCES = REFERENCE["sentences"]
TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def model():
    """Run the lesson's cells up to the one that reads out the next token; return their names."""
    threads = torch.get_num_threads()
    names = {}
    for cell in read(NOTEBOOKS / NEEDS_WEIGHTS).code:
        exec(compile(cell.source, cell.id, "exec"), names)
        if "next_token" in names:
            break
    yield names
    names.clear()
    torch.set_num_threads(threads)


def logits(model, ids):
    """The scores of all tokens after the last one."""
    Xs, _ = model["run"](ids)
    return model["read_out"](Xs[-1][-1])


def test_the_weights_are_those_of_the_reference():
    assert weights.SHA256 == REFERENCE["gguf_sha256"]


@pytest.mark.parametrize("text", SENTENCES)
def test_tokens_agree(model, text):
    assert model["ids_of"](text).tolist() == SENTENCES[text]["ids"]


@pytest.mark.parametrize("text", SENTENCES)
def test_logits_agree(model, text):
    expected = SENTENCES[text]
    best = logits(model, torch.tensor(expected["ids"])).topk(5)
    assert best.indices.tolist() == expected["top5_ids"]
    difference = (best.values - torch.tensor(expected["top5_logits"])).abs().max().item()
    assert difference < TOLERANCE, f"logits differ by {difference:.6f}"


@pytest.mark.parametrize("text", SENTENCES)
def test_probabilities_are_those_of_the_logits(model, text):
    expected = torch.softmax(logits(model, model["ids_of"](text)), dim=-1)
    assert torch.allclose(model["next_token"](text), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "name"), [(text, name) for text in SENTENCES for name in SENTENCES[text].get("attention", {})]
)
def test_attention_agrees(model, text, name):
    expected = torch.tensor(SENTENCES[text]["attention"][name])
    k, q = map(int, re.fullmatch(r"L(\d+)H(\d+)", name).groups())
    _, A = model["run"](torch.tensor(SENTENCES[text]["ids"]))
    difference = (A[k, q] - expected).abs().max().item()
    assert difference < TOLERANCE, f"{name} differs by {difference:.6f}"


FAULTS = {
    "halves for neighbours": lambda model: {
        "rotate": lambda Y: model["rotate"](Y.unflatten(-1, (2, 32)).mT.flatten(-2))
    },
    "no rotation": lambda model: {"rotate": lambda Y: Y},
    "no weight in the normalisation": lambda model: {
        "normalised": lambda X, g: model["normalised"](X, torch.ones_like(g))
    },
    "another base": lambda model: {"base": 10_000.0},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_comparison_sees_a_fault(model, fault, monkeypatch):
    for name, value in FAULTS[fault](dict(model)).items():
        monkeypatch.setitem(model, name, value)
    with pytest.raises(AssertionError):
        test_attention_agrees(model, "the fat cat sat on the mat", "L13H1")
    with pytest.raises(AssertionError):
        test_logits_agree(model, "The opposite of hot is")
