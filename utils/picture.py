"""What every picture of the course is made of: the object a cell displays, its figure, and its text."""

import base64
import io
import math

import matplotlib
import numpy
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter
from PIL import Image

from utils.checks import as_matrix, check_labels
from utils.lettering import FONT_FAMILY, display_width, isolated, text_width

CSS_PIXELS_PER_INCH = 96

# A picture looks the same whatever your matplotlibrc says, and reads nothing as markup.
SETTINGS = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
SETTINGS |= {"font.family": [FONT_FAMILY], "text.parse_math": False}


class Picture:
    """A drawn figure. As the last value of a cell it shows as PNG, with alt text, and reads as text.

    alt: one paragraph that says what is drawn, made from the data.
    text: the numbers behind the picture; this is its text/plain, which nbval compares.
    png: the image, drawn at twice the display size.
    width: how wide the picture is displayed, in CSS pixels.
    """

    def __init__(self, figure, alt, text):
        self.png = _png(figure)
        self.alt = alt
        self.text = text
        self.width = round(figure.get_figwidth() * CSS_PIXELS_PER_INCH)

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"image/png": base64.b64encode(self.png).decode("ascii"), "text/plain": self.text}
        return data, {"image/png": {"alt": self.alt, "width": self.width}}


class Table:
    """A labelled matrix as text; see `table`."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def table(matrix, rows, columns, decimals=2):
    """Show a matrix with a name for each row and each column, rounded.

    matrix: (len(rows), len(columns)) tensor, array or nested list of numbers.
    rows, columns: lists of strings.
    decimals: digits after the point, 0 to 15.
    Returns an object that displays, and prints, as an aligned text table.
    Raises ValueError if the labels do not fit the matrix or decimals is not such a number.
    """
    if isinstance(decimals, bool) or not isinstance(decimals, (int, numpy.integer)) or not 0 <= decimals <= 15:
        raise ValueError(f"decimals is {decimals!r}, expected a whole number from 0 to 15")
    matrix = as_matrix(matrix, "matrix")
    rows = check_labels(rows, matrix.shape[0], "rows", "rows")
    columns = check_labels(columns, matrix.shape[1], "columns", "columns")
    return Table(text_table([[number(x, decimals) for x in row] for row in matrix.tolist()], rows, columns))


def new_figure(width, height):
    """Return an empty white figure of that many inches, rounded up to whole pixels, that belongs to no global state."""
    inches = [math.ceil(side * CSS_PIXELS_PER_INCH) / CSS_PIXELS_PER_INCH for side in (width, height)]
    figure = Figure(figsize=inches, dpi=2 * CSS_PIXELS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def add_axes(figure, left, top, width, height):
    """Add axes to a figure, placed in inches from its left and its top."""
    across, down = figure.get_size_inches()
    return figure.add_axes([left / across, 1 - (top + height) / down, width / across, height / down])


def plain_numbers(axis):
    """Write the numbers of an axis in full, from millionths to thousands of millions."""
    numbers = ScalarFormatter(useOffset=False)
    numbers.set_powerlimits((-6, 9))
    axis.set_major_formatter(numbers)


def widen_for_numbers(figure, chart, left, size=9):
    """Widen a figure if the numbers at its left and the name of their axis need more inches than left."""
    widest = max((text_width(label.get_text(), size) for label in chart.get_yticklabels()), default=0.0)
    missing = math.ceil((widest + 0.45 - left) * CSS_PIXELS_PER_INCH) / CSS_PIXELS_PER_INCH
    if missing > 0:
        before = figure.get_figwidth()
        after = before + missing
        x, y, width, height = chart.get_position(original=True).bounds
        figure.set_figwidth(after)
        chart.set_position([(x * before + missing) / after, y, width * before / after, height])


def number(value, decimals=2):
    """Write a number rounded, with a true minus sign, and never as −0.00."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def text_table(cells, rows, columns, title=""):
    """Align strings in columns under their names; wide and right-to-left words keep the columns straight."""
    rows, columns = [isolated(label) for label in rows], [isolated(label) for label in columns]
    first = max(map(display_width, rows))
    widths = [max(display_width(name), *(display_width(line[i]) for line in cells)) for i, name in enumerate(columns)]
    lines = [title] if title else []
    for label, line in [("", columns), *zip(rows, cells, strict=True)]:
        padded = [" " * (width - display_width(cell)) + cell for cell, width in zip(line, widths, strict=True)]
        lines.append("  ".join([label + " " * (first - display_width(label)), *padded]).rstrip())
    return "\n".join(lines)


def _png(figure):
    """Draw a figure and store it with 256 colours, a third of the bytes: the most frequent 192 exactly, so that every
    area keeps its colour, and 64 chosen so that no rare shade of an edge or a colour bar moves far.
    """
    figure.canvas.draw()
    pixels = numpy.asarray(figure.canvas.buffer_rgba())
    flat = pixels.view(">u4").ravel()  # one number per pixel: red, green, blue, opacity
    starts = numpy.flatnonzero(numpy.append(True, flat[1:] != flat[:-1]))  # most pixels repeat the one before
    lengths = numpy.diff(starts, append=flat.size)
    codes, which = numpy.unique(flat[starts], return_inverse=True)
    frequent_first = numpy.lexsort((codes, numpy.bincount(which, lengths)))[::-1]
    colours = numpy.array([codes >> 24, codes >> 16 & 255, codes >> 8 & 255], numpy.int32)[:, frequent_first]
    distance = numpy.full(len(codes), numpy.iinfo(numpy.int32).max)
    nearest = numpy.zeros(len(codes), dtype=numpy.uint8)
    palette = []
    for index in range(min(256, len(codes))):
        palette.append(colours[:, index if index < 192 else distance.argmax()])
        to_new = ((colours - palette[-1][:, None]) ** 2).sum(axis=0)
        nearest[to_new < distance] = index
        numpy.minimum(distance, to_new, out=distance)
    entry = numpy.empty_like(nearest)
    entry[frequent_first] = nearest
    image = Image.fromarray(entry[which].repeat(lengths).reshape(pixels.shape[:2]))
    image.putpalette(numpy.array(palette, dtype=numpy.uint8).tobytes())
    file = io.BytesIO()
    image.save(file, format="png", compress_level=8)
    return file.getvalue()
