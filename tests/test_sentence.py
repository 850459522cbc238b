"""The sentence: its labels and its numbers, which the lessons show and explain."""

import pytest
import torch
from lessons import NOTEBOOKS, read

from utils import sentence
from utils.sentence import AXES, LABELS, WORDS, hand_made_projections, input_embeddings, labels


def run(lesson, last):
    """Run the code cells of a lesson through the first one that holds the code `last`; return the names they define."""
    sources = [cell.source for cell in read(NOTEBOOKS / f"{lesson}.ipynb").code]
    end = next((i for i, source in enumerate(sources) if last in source), None)
    assert end is not None, f"{lesson} has no cell that holds {last!r}"
    names, before = {}, torch.get_default_dtype()
    try:
        for source in sources[: end + 1]:
            exec(compile(source, lesson, "exec"), names)
    finally:
        torch.set_default_dtype(before)
    return names


def test_labels_count_positions_from_one():
    assert WORDS == ["the", "fat", "cat", "sat", "on", "the", "mat"]
    assert LABELS == ["the₁", "fat₂", "cat₃", "sat₄", "on₅", "the₆", "mat₇"]
    assert labels(["a"] * 24)[9:] == [f"a{two}" for two in "₁₀ ₁₁ ₁₂ ₁₃ ₁₄ ₁₅ ₁₆ ₁₇ ₁₈ ₁₉ ₂₀ ₂₁ ₂₂ ₂₃ ₂₄".split()]
    assert labels([]) == []
    assert labels(word for word in "ab") == ["a₁", "b₂"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("the fat cat", "words is the single string 'the fat cat', expected a list of words: did you forget .split()?"),
        (["the", 6], "words holds 6 of type int, expected strings only"),
        (None, "words is None of type NoneType, expected a list of words"),
        (5, "words is 5 of type int, expected a list of words"),
        ({"the"}, "words is {'the'} of type set, expected a list of words"),
        (frozenset(["the"]), "words is frozenset({'the'}) of type frozenset, expected a list of words"),
        ({"the": 1}, "words is {'the': 1} of type dict, expected a list of words"),
    ],
)
def test_labels_refuse(words, message):
    with pytest.raises(ValueError) as caught:
        labels(words)
    assert str(caught.value) == message


def test_the_two_the_share_one_token_embedding_and_differ_by_position():
    without = input_embeddings(positions=False)
    torch.testing.assert_close(without[0], without[5])
    X = input_embeddings()
    assert X.shape == (len(WORDS), len(AXES)) == (7, 4)
    assert (X[0] - X[5]).abs().max() > 0.1


def test_fat_matters_to_cat_and_not_to_mat():
    X = input_embeddings()
    cat_fat, mat_fat = X[2] @ X[1], X[6] @ X[1]
    assert cat_fat > 2 and abs(mat_fat) < 1
    W_q, W_k, _ = hand_made_projections()
    Omega = (X @ W_q) @ (X @ W_k).mT
    assert Omega[2].argmax() == 1 and Omega[2, 1] > 4
    assert Omega[6, 1] < 0


def test_what_is_returned_is_fresh():
    for make in (lambda: [input_embeddings()], lambda: [input_embeddings(positions=False)], hand_made_projections):
        before = [values.clone() for values in make()]
        for values in make():
            values.fill_(9.0)
        for old, new in zip(before, make(), strict=True):
            torch.testing.assert_close(old, new, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_default_dtype_does_not_matter(dtype):
    expected = input_embeddings()
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        for values in (input_embeddings(), *hand_made_projections()):
            assert values.dtype == torch.float64
        torch.testing.assert_close(input_embeddings(), expected, rtol=0, atol=0)
    finally:
        torch.set_default_dtype(before)


def test_lesson_1_shows_the_same_embeddings():
    lesson = run("01_toy_attention", "positional_embeddings = ")
    assert tuple(lesson["AXES"]) == AXES
    assert lesson["vocabulary"] == list(sentence.TOKEN_EMBEDDINGS)
    torch.testing.assert_close(lesson["X_tokens"], input_embeddings(positions=False), rtol=0, atol=0)
    torch.testing.assert_close(lesson["X"], input_embeddings(), rtol=0, atol=0)


def test_lessons_2_and_4_show_the_same_projections():
    W_q, W_k, W_v = hand_made_projections()
    lesson_2 = run("02_projections", "W_q = torch.tensor")
    torch.testing.assert_close(lesson_2["W_q"], W_q, rtol=0, atol=0)
    torch.testing.assert_close(lesson_2["W_k"], W_k, rtol=0, atol=0)
    lesson_4 = run("04_context_vectors", "W_v = torch.tensor")
    torch.testing.assert_close(lesson_4["W_v"], W_v, rtol=0, atol=0)
