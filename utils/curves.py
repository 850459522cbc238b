"""Curves over a common x, and the colours, markers and dashes of every picture that has a legend."""

import math

import matplotlib
from matplotlib.ticker import LogLocator, NullLocator

from utils.checks import as_vector, check_flag, check_new, check_text
from utils.lettering import drawn_name, drawn_title, text_width
from utils.picture import SETTINGS, Picture, add_axes, new_figure, plain_numbers, text_table, widen_for_numbers

# Okabe and Ito's colours, darkened where needed to reach 4.5:1 on white; never colour alone: see MARKERS and DASHES.
INKS = ("#005a8e", "#b34700", "#00714f", "#8b3a74", "#333333", "#7a5c00", "#5a3fa0")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (1, 1)), (0, (6, 1, 1, 1)), (0, (8, 2)))
WIDTH, HEIGHT = 5.33, 2.45  # inches of the axes
LEFT = 0.85  # inches for the numbers and the name of the vertical axis
MOST_ROWS = 9  # of the text
LEAST_ON_LOG_AXIS = 1e-200  # so that the marks below it are not 0


@matplotlib.rc_context(SETTINGS)
def curves(x, ys, title="", x_label="", y_label="", x_log=False, y_log=False):
    """Draw one curve per entry of ys over the same x, told apart by colour, dashes and a legend.

    x: sequence of numbers. ys: a dictionary from name to a sequence of the same length; one to seven entries.
    x_log, y_log: logarithmic axes; the values must then be above 0.
    Returns a Picture: a PNG with alt text (first, last, lowest and highest value of each curve), and up to nine
    rows of the numbers as text.
    Raises ValueError if lengths differ, values are not finite, or a logarithmic axis meets a value that is not above 0.
    """
    check_flag(x_log, "x_log")
    check_flag(y_log, "y_log")
    x, ys = _checked(x, ys, x_log, y_log)
    title, x_label, y_label = (
        check_text(text, name) for text, name in ((title, "title"), (x_label, "x_label"), (y_label, "y_label"))
    )
    figure = _draw(x, ys, title, x_label, y_label, x_log, y_log)
    return Picture(figure, _alt(x, ys, title, x_label, y_label), _text(x, ys, title, x_label))


def _checked(x, ys, x_log, y_log):
    """Return x as a list and ys as a dictionary of lists, or raise ValueError."""
    if not isinstance(ys, dict):
        raise ValueError(
            f"ys is of type {type(ys).__name__}, expected a dictionary from the name of a curve to its values"
        )
    if not 1 <= len(ys) <= len(INKS):
        raise ValueError(f"ys has {len(ys)} curves, expected 1 to {len(INKS)}")
    x = as_vector(x, "x").tolist()
    checked = {}
    for name, y in ys.items():
        shown, y = check_text(name, "a name in ys"), as_vector(y, f"ys[{name!r}]").tolist()
        check_new(shown, checked, "names in ys")
        if len(y) != len(x):
            raise ValueError(f"ys[{name!r}] has {len(y)} values, expected {len(x)}, as many as x")
        checked[shown] = y
    ys = checked
    for log, name, values in ((x_log, "x", x), (y_log, "ys", [value for y in ys.values() for value in y])):
        if log and min(values) <= 0:
            raise ValueError(f"{name} holds {min(values):.3g}, expected values above 0 for a logarithmic axis")
        if log and min(values) < LEAST_ON_LOG_AXIS:
            raise ValueError(
                f"{name} holds {min(values):.3g}, expected at least {LEAST_ON_LOG_AXIS} for a logarithmic axis"
            )
    return x, ys


def _draw(x, ys, title, x_label, y_label, x_log, y_log):
    title = drawn_title(title, WIDTH, 12)
    top = 0.17 + 0.2 * max(1, len(title.splitlines()))
    names = [drawn_title(name, WIDTH - 0.7, 10) for name in ys] if len(ys) > 1 else []
    columns = 2 if max(text_width(name, 10) for name in ["", *names]) < WIDTH / 2 - 0.8 else 1
    legend = 0.22 * sum(len(name.splitlines()) for name in names[::columns])
    figure = new_figure(LEFT + WIDTH + 0.32, top + HEIGHT + 0.58 + legend)
    chart = add_axes(figure, LEFT, top, WIDTH, HEIGHT)
    for ink, dashes, name, y in zip(INKS, DASHES, names or ys, ys.values(), strict=False):
        marker = "o" if len(x) == 1 else ""
        chart.plot(x, y, marker=marker, color=ink, linestyle=dashes, linewidth=2, label=name)
    _scale(chart.set_xscale, chart.xaxis, x, x_log)
    _scale(chart.set_yscale, chart.yaxis, [value for y in ys.values() for value in y], y_log)
    if x_log and len(x) <= MOST_ROWS:
        chart.set_xticks(x, [_significant(value, _digits(x)) for value in x])
    chart.set_title(title, fontsize=12, loc="left")
    chart.set_xlabel(drawn_name(x_label, WIDTH, 10), fontsize=10)
    chart.set_ylabel(drawn_name(y_label, HEIGHT, 10), fontsize=10)
    chart.grid(color="#e6e6e6", linewidth=0.6)
    chart.tick_params(labelsize=9)
    chart.spines[["top", "right"]].set_visible(False)
    if names:
        below = {"loc": "upper left", "bbox_to_anchor": (0, -0.5 / HEIGHT), "borderaxespad": 0, "ncols": columns}
        chart.legend(**below, fontsize=10, frameon=False, handlelength=3.5)
    widen_for_numbers(figure, chart, LEFT)
    return figure


def _scale(set_scale, axis, values, logarithmic):
    """Choose the scale of an axis, and marks without markup: plain numbers, or powers of ten with what is between."""
    if not logarithmic:
        plain_numbers(axis)
        return
    set_scale("log")
    few = max(values) < 100 * min(values)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    plain = min(values) > 1e-4 and max(values) < 1e5
    axis.set_major_formatter(lambda value, position: _significant(value) if plain else _power_of_ten(value))
    axis.set_minor_locator(NullLocator())


def _power_of_ten(value):
    """Write a mark of a logarithmic axis that has many zeros: 10⁻⁶, 5 · 10⁷."""
    exponent = math.floor(math.log10(value) + 1e-9)
    power = "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    factor = _significant(value / 10.0**exponent)
    return power if factor == "1" else f"{factor} · {power}"


def _significant(value, digits=3):
    return f"{value:.{digits}g}".replace("-", "−")


def _digits(values):
    """Return how many significant digits, 3 or more, write each value within half a line's width."""
    half = (max(values) - min(values)) / 200
    for digits in range(3, 17):
        if not half or all(abs(float(f"{value:.{digits}g}") - value) <= half for value in values):
            break
    return digits


def _text(x, ys, title, x_label):
    count = len(x)
    picked = (
        range(count) if count <= MOST_ROWS else [round(i * (count - 1) / (MOST_ROWS - 1)) for i in range(MOST_ROWS)]
    )
    x_digits, y_digits = _digits(x), _digits([value for y in ys.values() for value in y])
    rows = [_significant(x[i], x_digits) for i in picked]
    cells = [[_significant(y[i], y_digits) for y in ys.values()] for i in picked]
    header = f"rows: {x_label or 'x'}"
    return text_table(cells, rows, list(ys), f"{title} ({header})" if title else header)


def _alt(x, ys, title, x_label, y_label):
    digits = _digits([value for y in ys.values() for value in y])
    sentences = [f"Curves{', ' + title if title else ''}: {y_label or 'values'} against {x_label or 'x'}."]
    for name, y in ys.items():
        first, last, low, high = (_significant(value, digits) for value in (y[0], y[-1], min(y), max(y)))
        sentences.append(f"{name}: starts at {first}, ends at {last}, lowest {low}, highest {high}.")
    return " ".join(sentences)
