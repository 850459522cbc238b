"""What the tests of pictures share: the figure behind a picture, its pixels and its contrast."""

import io
import itertools

import numpy
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image

from utils.picture import Picture


class KeptPicture(Picture):
    """A picture that keeps its figure."""

    def __init__(self, figure, alt, text):
        super().__init__(figure, alt, text)
        self.figure = figure


def keep_figures(monkeypatch):
    """Let every picture keep its figure as `picture.figure`."""
    for module in ("heatmaps", "planes", "curves"):
        monkeypatch.setattr(f"utils.{module}.Picture", KeptPicture)


def as_array(picture):
    """Return the pixels of a picture as a (height, width, 3) array."""
    with Image.open(io.BytesIO(picture.png)) as image:
        return numpy.asarray(image.convert("RGB"))


def pixel(picture, panel, x, y):
    """Return the colour drawn at x, y, in the data coordinates of the panel with that number."""
    if not hasattr(picture, "pixels"):
        picture.pixels = as_array(picture)
    across, up = picture.figure.axes[panel].transData.transform((x, y))
    return tuple(map(int, picture.pixels[picture.pixels.shape[0] - 1 - int(up), int(across)]))


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2.2 defines it, from 1 to 21."""

    def luminance(colour):
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def texts(figure):
    """Return every text that is drawn in a figure; marks of an axis beyond its limits are not."""
    hidden = set()
    for axes in figure.axes:
        for axis, (low, high) in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
            for tick in axis.get_major_ticks():
                hidden.add(tick.label2 if low <= tick.get_loc() <= high else tick.label1)
    return [text for text in figure.findobj(Text) if text.get_text() and text.get_visible() and text not in hidden]


def inked(figure):
    """Return what is written in a figure."""
    return [text.get_text() for text in texts(figure)]


def nothing_overlaps_or_is_cut(figure):
    """Check that all texts lie inside the figure, do not touch each other, and are at least 9 points high."""
    width, height = figure.bbox.size
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(figure)]
    assert len(boxes) > 3
    for written, box in boxes:
        assert min(box.x0, box.y0) > 0 and box.x1 < width and box.y1 < height, f"{written!r} is cut"
    for (first, a), (second, b) in itertools.combinations(boxes, 2):
        across, up = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(across, up) <= 1, f"{first!r} overlaps {second!r}"
    assert min(text.get_fontsize() for text in texts(figure)) >= 9
