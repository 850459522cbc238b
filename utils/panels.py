"""How the panels of a heatmap are drawn: measure first, then draw each piece. Lengths are in inches."""

from dataclasses import dataclass

from matplotlib.patches import Rectangle
from torch import Tensor

from utils.lettering import drawn, drawn_title, text_width
from utils.picture import add_axes, new_figure, number

QUERY_AXIS = "query: the word that looks"
KEY_AXIS = "key: the word looked at"

SMALL, MEDIUM, LARGE = 9, 10, 12  # points; nothing is smaller

PAGE_WIDTH = 8.5  # the cells shrink so that panels side by side fit into it,
WIDEST = 10.5  # as long as the numbers fit into the cells; beyond this width the panels stand below each other
LARGEST_CELL, SMALLEST_CELL = 0.62, 0.36
SHORTEST_SIDE = 1.9  # what the words along an axis take
MARGIN = 0.3  # left of each panel, where the first one has the words of its axis
BESIDE = 0.1  # between the words and the cells
STRIP = 0.62  # the row sums
LINE = 0.2  # one line of text
BAR = 0.16


@dataclass
class Panel:
    """One matrix of a picture: (n, n) values, where they are seen, and the sums to be written, if any."""

    title: str
    values: Tensor
    may_look: Tensor
    row_sums: list
    column_sums: list

    def numbers(self, masked=""):
        """Write each value with two decimals; masked stands in the masked cells."""
        return [
            [number(x) if seen else masked for x, seen in zip(*row, strict=True)]
            for row in zip(self.values.tolist(), self.may_look.tolist(), strict=True)
        ]


@dataclass
class Space:
    """The room that each piece takes, the same in all panels."""

    across: int  # panels side by side
    cell: float
    words: float  # the longest word beside the rows
    head: float  # the words above the columns
    title: float
    strip: float
    foot: float
    side: float  # n cells

    @property
    def left(self):
        return MARGIN + self.words + BESIDE

    @property
    def top(self):
        return 0.15 + self.title + 0.1 + self.head

    @property
    def width(self):
        return self.left + self.side + self.strip

    @property
    def height(self):
        return self.top + self.side + self.foot


def draw(panels, labels, scale, unit):
    """Draw panels of one sentence on one scale.

    panels: a list of Panel. labels: n strings. scale: a ScalarMappable from value to colour. unit: name of the scale.
    Returns a matplotlib Figure.
    """
    size = 10.5 if len(panels) == 1 else 9.5
    words = [drawn(label, position, size) for position, label in enumerate(labels, start=1)]
    ticks = _ticks(scale)
    bar_room = 0.2 + BAR + max(text_width(tick, SMALL) for tick in ticks.values()) + 0.42
    space = _measure(panels, words, size, bar_room)
    title_room = space.side + space.strip if len(panels) > 1 else max(space.side + space.strip, 4.5)
    titles = [drawn_title(panel.title, title_room, LARGE) for panel in panels]
    space.title = LINE * max(len(title.splitlines()) for title in titles)
    longest = max(text_width(line, LARGE) for title in titles for line in ["", *title.splitlines()])
    down = -(-len(panels) // space.across)
    figure = new_figure(
        max(space.across * space.width + bar_room, space.left + longest + 0.2),
        down * space.height,
    )
    for index, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        left = index % space.across * space.width + space.left
        top = index // space.across * space.height + space.top
        axes = add_axes(figure, left, top, space.side, space.side)
        _draw_cells(axes, panel, scale, space.cell)
        _write_words(axes, words, size, space)
        _write_sums(axes, panel)
        _write(axes, 0, 0, title, LARGE, up=space.head + 0.1, ha="left", va="bottom")
        _write(axes, len(words) / 2, len(words), KEY_AXIS, MEDIUM, up=0.18 - space.foot)
        if index % space.across == 0:
            _write(axes, 0, len(words) / 2, QUERY_AXIS, MEDIUM, right=0.18 - space.left, rotation=90)
    _draw_bar(figure, space, scale, ticks, unit)
    return figure


def _measure(panels, words, size, bar_room):
    """Find the room for each piece; the titles come later."""
    n = len(words)
    longest = max(text_width(word, size) for word in words)
    strip = STRIP if panels[0].row_sums else 0.0
    value = max(text_width(value, SMALL) for panel in panels for row in _written(panel) for value in row)
    least = max(value + 0.06, SMALLEST_CELL, SHORTEST_SIDE / n)
    for across in (min(len(panels), 2), 1):
        fixed = across * (MARGIN + longest + BESIDE + strip) + bar_room
        if fixed + across * n * least <= WIDEST:
            break
    cell = max(min((PAGE_WIDTH - fixed) / (across * n), LARGEST_CELL), least)
    head = LINE if longest <= 0.95 * cell else longest + 0.06
    foot = 0.66 if panels[0].column_sums else 0.36
    return Space(across, cell, longest, head, 0.0, strip, foot, n * cell)


def _written(panel):
    """Return what has to fit into the width of a cell: the numbers, and the sums below them."""
    return [*panel.numbers(), panel.column_sums]


def _draw_cells(axes, panel, scale, cell):
    """Colour the cells and write the values into them; hatch the masked ones."""
    n = len(panel.values)
    shown = panel.values.masked_fill(~panel.may_look, float("nan")).numpy()
    axes.pcolormesh(shown, norm=scale.norm, cmap=scale.cmap, edgecolors="white", linewidth=1.2)
    axes.set(xlim=(0, n), ylim=(n, 0), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    numbers = panel.numbers()
    fits = max(text_width(value, MEDIUM) for row in _written(panel) for value in row) + 0.06 <= cell
    size = MEDIUM if cell > 0.5 and fits else SMALL
    for m in range(n):
        for p in range(n):
            if panel.may_look[m, p]:
                ink = readable_ink(scale.to_rgba(panel.values[m, p].item()))
                axes.text(p + 0.5, m + 0.5, numbers[m][p], fontsize=size, color=ink, ha="center", va="center")
            else:
                axes.add_patch(_hatched_cell(m, p))


def _hatched_cell(m, p):
    look = {"hatch": "////", "facecolor": "#f4f4f4", "edgecolor": "#8a8a8a", "linewidth": 0}
    return Rectangle((p + 0.04, m + 0.04), 0.92, 0.92, **look)


def readable_ink(rgba):
    """Return black or white, whichever contrasts more with a colour (WCAG 2.2, relative luminance)."""
    channels = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgba[:3]]
    luminance = sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), channels, strict=True))
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "black"


def _write_words(axes, words, size, space):
    """Write the words beside the rows and above the columns, there on end if they are longer than a cell."""
    for position, word in enumerate(words):
        _write(axes, 0, position + 0.5, word, size, right=-BESIDE, ha="right")
        if space.head > LINE:
            _write(axes, position + 0.5, 0, word, size, up=0.06, rotation=90, va="bottom")
        else:
            _write(axes, position + 0.5, 0, word, size, up=0.12)


def _write_sums(axes, panel):
    """Write the row sums at the right, bold if they are not 1, and the column sums below."""
    n = len(panel.values)
    if panel.row_sums:
        _write(axes, n, 0, "row sum", SMALL, right=0.34, up=0.12)
    for m, total in enumerate(panel.row_sums):
        _write(axes, n, m + 0.5, total, SMALL, right=0.34, weight="normal" if total == "1.00" else "bold")
    if panel.column_sums:
        _write(axes, 0, n, "sum", SMALL, right=-BESIDE, up=-0.16, ha="right")
    for p, total in enumerate(panel.column_sums):
        _write(axes, p + 0.5, n, total, SMALL, up=-0.16)


def _write(axes, x, y, text, size, right=0.0, up=0.0, **style):
    """Write a text at x, y, counted in cells, moved by so many inches to the right and up."""
    style = {"ha": "center", "va": "center", "annotation_clip": False, **style}
    axes.annotate(text, (x, y), (72 * right, 72 * up), textcoords="offset points", fontsize=size, **style)


def _ticks(scale):
    """Return the marks of the colour bar: every fifth of the weights; both ends, the middle and halfway of scores."""
    low, high = scale.norm.vmin, scale.norm.vmax
    if low == 0:
        return {fifth / 5: number(fifth / 5, 1) for fifth in range(6)}
    return {part * high: number(part * high) for part in (-1, -0.5, 0, 0.5, 1)}


def _draw_bar(figure, space, scale, ticks, unit):
    """Draw the colour bar at the right of the upper panels."""
    height = min(space.side, 3.0)
    left, top = space.across * space.width + 0.2, space.top + (space.side - height) / 2
    bar = figure.colorbar(scale, cax=add_axes(figure, left, top, BAR, height))
    bar.set_ticks(list(ticks), labels=list(ticks.values()))
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label(unit, fontsize=SMALL, labelpad=3)
