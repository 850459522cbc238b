"""The sentence of the course: its words, their labels, and literal embeddings that can be followed by hand."""

from collections.abc import Iterable

import torch

SENTENCE = "the fat cat sat on the mat"
WORDS = SENTENCE.split()

AXES = ("animal", "size", "place", "link")

TOKEN_EMBEDDINGS = {
    "the": (0.0, 0.0, 0.0, 1.5),
    "fat": (1.0, 1.5, 0.0, 0.0),
    "cat": (1.5, 0.5, 0.0, 0.0),
    "sat": (0.5, 0.0, 1.0, 0.0),
    "on": (0.0, 0.0, 1.0, 1.0),
    "mat": (0.0, 0.0, 1.5, 0.0),
}

POSITIONAL_EMBEDDINGS = (
    (0.2, 0.0, 0.0, 0.3),
    (0.2, 0.1, 0.1, 0.2),
    (0.1, 0.2, 0.2, 0.0),
    (0.0, 0.2, 0.1, -0.1),
    (-0.1, 0.2, 0.0, -0.2),
    (-0.2, 0.1, -0.1, -0.2),
    (-0.2, 0.0, -0.2, 0.0),
)


def labels(words):
    """Number the words by position, counting from 1, so that a doubled word has two labels.

    words: a list of strings.
    Returns a list of strings of the same length: ["the", "mat"] gives ["the₁", "mat₂"].
    Raises ValueError if words is a single string, has no order, or holds something that is not a string.
    """
    if isinstance(words, str):
        raise ValueError(f"words is the single string {words!r}, expected a list of words: did you forget .split()?")
    if isinstance(words, (set, frozenset, dict)) or not isinstance(words, Iterable):
        raise ValueError(f"words is {words!r} of type {type(words).__name__}, expected a list of words")
    words = list(words)
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"words holds {word!r} of type {type(word).__name__}, expected strings only")
    subscript = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return [word + str(position).translate(subscript) for position, word in enumerate(words, start=1)]


LABELS = labels(WORDS)


def input_embeddings(positions=True):
    """Return X, the input embeddings of the sentence: token embeddings plus positional embeddings.

    positions: False leaves the positional embeddings out.
    Returns a (7, 4) float64 tensor, one row per word, one column per name in AXES.
    Source: lesson 1, where X is built in the open from the same numbers.
    """
    X = torch.tensor([TOKEN_EMBEDDINGS[word] for word in WORDS], dtype=torch.float64)
    if positions:
        X = X + torch.tensor(POSITIONAL_EMBEDDINGS, dtype=torch.float64)
    return X


def hand_made_projections():
    """Return W_q, W_k, W_v as chosen by hand in lessons 2 and 4, before any training.

    Returns three (4, 2) float64 tensors: one row per name in AXES, one column per axis of the projected space.
    W_q: what a word looks for; W_k: what it offers to be found by; W_v: what it hands over.
    Source: lesson 2 (W_q, W_k) and lesson 4 (W_v), which show the same numbers.
    """
    W_q = torch.tensor([[2, 0], [-1, 0], [0, 1], [0, 0]], dtype=torch.float64)
    W_k = torch.tensor([[-1, -1], [2, 0], [0, 1], [0, 1]], dtype=torch.float64)
    W_v = torch.tensor([[1, 0], [0, 1], [-1, 0], [0, 0]], dtype=torch.float64)
    return W_q, W_k, W_v
