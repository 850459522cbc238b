"""Pictures in the plane: points, arrows and outlines."""

import math
import operator
from dataclasses import dataclass

import matplotlib

from utils.checks import LARGEST_DRAWN, as_matrix, check_labels, check_text
from utils.curves import DASHES, INKS, MARKERS
from utils.lettering import drawn, drawn_name, drawn_title, isolated, named, text_width
from utils.picture import SETTINGS, Picture, add_axes, new_figure, number, plain_numbers, text_table, widen_for_numbers

SIZE = 4.6  # inches of the drawn plane
LEFT = 0.75  # inches for the numbers and the name of the vertical axis


@dataclass
class Layer:
    """One set of vectors in a plane; made by points, arrows or outline."""

    shape: str
    name: str
    xy: list
    labels: list
    lines: list


def points(xy, labels, name):
    """Draw each row of xy as a point. xy: (rows, 2). labels: one string per row, "" for none. name: for the legend."""
    return _layer("points", xy, labels, name)


def arrows(xy, labels, name):
    """Draw each row of xy as an arrow from the origin. Arguments as for points."""
    return _layer("arrows", xy, labels, name)


def outline(xy, lines, labels, name):
    """Draw the corners xy, (rows, 2), and straight lines between them. lines: pairs of row numbers, from 0."""
    layer = _layer("lines", xy, labels, name)
    try:
        layer.lines = [(operator.index(start), operator.index(end)) for start, end in lines]
    except (TypeError, ValueError):
        raise ValueError(
            "lines holds something else than pairs, expected pairs of row numbers such as (0, 1)"
        ) from None
    if any(not 0 <= end < len(layer.xy) for line in layer.lines for end in line):
        raise ValueError(f"lines names a corner that is not there, expected row numbers from 0 to {len(layer.xy) - 1}")
    return layer


def _layer(shape, xy, labels, name):
    xy = as_matrix(xy, "xy")
    if xy.shape[1] != 2:
        raise ValueError(f"xy has shape {tuple(xy.shape)}, expected (rows, 2): only vectors of the plane can be drawn")
    if not xy.isfinite().all():
        raise ValueError("xy holds NaN or infinity, expected finite coordinates")
    if xy.abs().max() > LARGEST_DRAWN:
        raise ValueError(f"xy holds a coordinate of size {xy.abs().max():.3g}, expected at most {LARGEST_DRAWN:.0g}")
    labels = check_labels(labels, xy.shape[0], "labels", "rows")
    labels = [label and named(label, position) for position, label in enumerate(labels, start=1)]  # "" is for none
    return Layer(shape, check_text(name, "name"), xy.tolist(), labels, [])


@matplotlib.rc_context(SETTINGS)
def plane(*layers, title="", axes=("axis 1", "axis 2")):
    """Draw layers in one plane, both axes on one scale and through the origin.

    layers: one to seven results of points, arrows or outline.
    title: what is drawn. axes: the names of the two axes.
    Returns a Picture: a PNG with alt text, and the coordinates as text.
    Raises ValueError if there is no layer or more than seven.
    """
    if not 1 <= len(layers) <= len(INKS):
        raise ValueError(f"plane got {len(layers)} layers, expected 1 to {len(INKS)} made by points, arrows or outline")
    for layer in layers:
        if not isinstance(layer, Layer):
            raise ValueError(f"plane got {type(layer).__name__}, expected layers made by points, arrows or outline")
    if not isinstance(axes, (list, tuple)) or len(axes) != 2:
        raise ValueError(f"axes is {axes!r}, expected the names of two axes")
    title, axes = check_text(title, "title"), [check_text(name, "a name in axes") for name in axes]
    text = "\n\n".join(_text(layer, axes) for layer in layers)
    alt = [f"Plane{', ' + title if title else ''}: horizontal {axes[0]}, vertical {axes[1]}.", *map(_alt, layers)]
    return Picture(_draw(layers, title, axes), " ".join(alt), f"{title}\n{text}" if title else text)


def _text(layer, axes):
    rows = [label or _unnamed(layer, position) for position, label in enumerate(layer.labels, start=1)]
    cells = [[number(x) for x in point] for point in layer.xy]
    return text_table(cells, rows, list(axes), f"{layer.name} ({layer.shape})")


def _unnamed(layer, position):
    return f"{'corner' if layer.shape == 'lines' else layer.shape[:-1]} {position}"


def _alt(layer):
    rows = [isolated(label) or _unnamed(layer, position) for position, label in enumerate(layer.labels, start=1)]
    places = "; ".join(f"{row} at ({number(x)}, {number(y)})" for row, (x, y) in zip(rows, layer.xy, strict=True))
    return f"{layer.name} ({layer.shape}): {places}."


def _draw(layers, title, axes):
    title = drawn_title(title, SIZE + 0.35, 12)
    names = [drawn_title(f"{layer.name} ({layer.shape})", SIZE - 0.4, 10) for layer in layers]
    top = 0.2 + 0.2 * max(1, len(title.splitlines()))
    legend = 0.25 * sum(len(name.splitlines()) for name in names)
    figure = new_figure(LEFT + SIZE + 0.45, top + SIZE + 0.55 + legend)
    chart = add_axes(figure, LEFT, top, SIZE, SIZE)
    _frame(chart, [point for layer in layers for point in layer.xy])
    chart.set_title(title, fontsize=12, loc="left")
    chart.set_xlabel(drawn_name(axes[0], SIZE, 10), fontsize=10)
    chart.set_ylabel(drawn_name(axes[1], SIZE, 10), fontsize=10)
    for layer, name, ink, marker, dashes in zip(layers, names, INKS, MARKERS, DASHES, strict=False):
        _draw_layer(chart, layer, name, ink, marker, dashes)
    taken = [box for layer in layers for box in _drawn_boxes(chart, layer)]
    for layer, ink in zip(layers, INKS, strict=False):
        _label_layer(chart, layer, ink, taken)
    chart.legend(loc="upper left", bbox_to_anchor=(0, -0.1), fontsize=10, frameon=False, borderaxespad=0)
    widen_for_numbers(figure, chart, LEFT)
    return figure


def _frame(chart, xy):
    """Set one scale for both axes, with the origin inside and room for labels."""
    low = [min(0.0, *(point[i] for point in xy)) for i in (0, 1)]
    high = [max(0.0, *(point[i] for point in xy)) for i in (0, 1)]
    half = 0.58 * (max(high[0] - low[0], high[1] - low[1]) or 1.0)
    middle = [(low[i] + high[i]) / 2 for i in (0, 1)]
    chart.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half), aspect="equal")
    chart.axhline(0, color="#666666", linewidth=0.8, zorder=0)
    chart.axvline(0, color="#666666", linewidth=0.8, zorder=0)
    chart.grid(color="#e6e6e6", linewidth=0.6)
    chart.set_axisbelow(True)
    chart.spines[:].set_color("#bbbbbb")
    chart.tick_params(labelsize=9)
    plain_numbers(chart.xaxis)
    plain_numbers(chart.yaxis)


def _draw_layer(chart, layer, name, ink, marker, dashes):
    """Draw what a layer holds and enter it into the legend; an arrow of length zero is a dot at the origin."""
    x, y = zip(*layer.xy, strict=True)
    if layer.shape == "arrows":
        look = {"arrowstyle": "-|>", "color": ink, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13}
        for tip in layer.xy:
            if tip == [0, 0]:
                chart.plot(0, 0, "o", color=ink, markersize=5)
            else:
                chart.annotate("", tip, (0, 0), arrowprops=look)
        chart.plot([], [], color=ink, marker=">", linewidth=1.6, label=name)
    elif layer.shape == "points":
        chart.plot(x, y, marker, color=ink, markersize=7, label=name)
    else:
        for start, end in layer.lines:
            chart.plot([x[start], x[end]], [y[start], y[end]], color=ink, linestyle=dashes, linewidth=1.8)
        chart.plot(x, y, marker, color=ink, markersize=4)
        chart.plot([], [], color=ink, linestyle=dashes, marker=marker, markersize=4, label=name)


def _drawn_boxes(chart, layer):
    """Return the boxes that no label should cover: one around each point, and a chain of them along each line."""
    lines = {"arrows": [((0, 0), tip) for tip in layer.xy]}.get(
        layer.shape, [(layer.xy[start], layer.xy[end]) for start, end in layer.lines]
    )
    boxes = [_box(chart, *point, 0.12, 0.12) for point in layer.xy]
    for (x0, y0), (x1, y1) in lines:
        parts = [i / 40 for i in range(41)]
        boxes += [_box(chart, x0 + (x1 - x0) * part, y0 + (y1 - y0) * part, 0.06, 0.06) for part in parts]
    return boxes


def _label_layer(chart, layer, ink, taken):
    """Write each label at the nearest place around its point that covers nothing drawn or written before."""
    for position, ((x, y), label) in enumerate(zip(layer.xy, layer.labels, strict=True), start=1):
        if label:
            label = drawn(label, position, 10)
            place = _best_place(chart, x, y, text_width(label, 10) + 0.06, taken)
            taken.append(place)
            left, bottom, right, top = (side / SIZE for side in place)
            look = {"fontsize": 10, "color": ink, "ha": "center", "va": "center", "transform": chart.transAxes}
            chart.text((left + right) / 2, (bottom + top) / 2, label, **look)


def _best_place(chart, x, y, width, taken, height=0.17):
    """Return the box for a label around a point: it covers least of what is taken, and among those it is nearest."""
    best, least = None, math.inf
    for ring in (1, 1.8, 2.6, 3.6):
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            place = _box(chart, x, y, width, height, right * (width / 2 + 0.1 * ring), up * height * ring)
            outside = max(0.0, -place[0], place[2] - SIZE, -place[1], place[3] - SIZE)
            covered = sum(_overlap(place, box) for box in taken) + 10 * outside
            if covered < least - 1e-6:
                best, least = place, covered
    return best


def _box(chart, x, y, width, height, right=0.0, up=0.0):
    """Return left, bottom, right, top in inches of a box around a point of the plane, moved to the right and up."""
    (left, end), (bottom, top) = chart.get_xlim(), chart.get_ylim()
    middle_x = (x - left) / (end - left) * SIZE + right
    middle_y = (y - bottom) / (top - bottom) * SIZE + up
    return middle_x - width / 2, middle_y - height / 2, middle_x + width / 2, middle_y + height / 2


def _overlap(a, b):
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
