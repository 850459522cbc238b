"""Stored pictures are those that the code draws: each notebook is executed once more and its PNGs are compared.

nbval compares neither pictures nor metadata, so alt texts are compared here too.
"""

import base64
import io
from copy import deepcopy

import numpy as np
from execute import run
from lessons import NOTEBOOKS, ROOT, Notebook, read
from PIL import Image

# One changed digit of 9 pt changes 80 pixels or more by a quarter of the range; noise in the edges of letters and
# lines, or a palette that comes out a little different, changes many pixels by a few levels.
STRONG, MOST_STRONG_PIXELS = 64, 40
WEAK, MOST_WEAK_SHARE = 8, 0.001


def pixels(png):
    """The pixels of a base64 PNG as (height, width, 4) integers."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")).astype(int)


def difference(stored, fresh):
    """Say in words how two base64 PNGs differ; an empty string means that they agree within the tolerance."""
    stored, fresh = pixels(stored), pixels(fresh)
    if stored.shape != fresh.shape:
        return f"stored {stored.shape[1]}×{stored.shape[0]} pixels, drawn {fresh.shape[1]}×{fresh.shape[0]}"
    distance = np.abs(stored - fresh).max(axis=-1)
    strong, weak = (distance > STRONG).sum(), (distance > WEAK).mean()
    if strong > MOST_STRONG_PIXELS or weak > MOST_WEAK_SHARE:
        return f"{strong} pixels differ strongly, {weak:.2%} visibly"
    return ""


def compare(stored, fresh):
    """Assert that two runs of a Notebook show the same pictures with the same alt texts."""
    for cell, again in zip(stored.nb.cells, fresh.nb.cells, strict=True):
        before, after = ([o for o in c.get("outputs", []) if "image/png" in o.get("data", {})] for c in (cell, again))
        assert len(before) == len(after), f"{stored.place(cell)}: {len(before)} pictures stored, {len(after)} drawn"
        for old, new in zip(before, after, strict=True):
            assert old.metadata == new.metadata, f"{stored.place(cell)}: alt text or size differs from the one computed"
            how = difference(old.data["image/png"], new.data["image/png"])
            assert not how, f"{stored.place(cell)}: the stored picture is not the one drawn: {how}"


def test_pictures_are_reproduced(notebook):
    fresh = Notebook(notebook.path, deepcopy(notebook.nb))
    run(fresh)
    compare(notebook, fresh)


def test_the_readme_shows_the_picture_of_the_start_page():
    (_, output), *_ = read(NOTEBOOKS / "index.ipynb").pictures()
    shown = (ROOT / "docs" / "heatmap.png").read_bytes()
    assert shown == base64.b64decode(output.data["image/png"]), "docs/heatmap.png is not the picture of index.ipynb"
