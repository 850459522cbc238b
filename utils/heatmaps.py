"""Attention heatmaps: rows are the words that look, columns the words looked at, the first row at the top."""

import matplotlib
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from utils.checks import check_flag, check_labels, check_panels, score_limit
from utils.lettering import isolated, named
from utils.panels import Panel, draw
from utils.picture import SETTINGS, Picture, number, text_table

COLOURS = {"weights": "Blues", "scores": "PuOr"}
NAMES = {"weights": "attention weights", "scores": "attention scores"}


def heatmap(matrix, labels, title="", kind="weights", may_look=None, limit=None, rows_sum_to_1=True, column_sums=False):
    """Draw one attention matrix of a sentence.

    matrix: (n, n) tensor, array or nested list; matrix[m, p] = how much word m looks at word p. n is 1 to 24.
    labels: n strings, one per word (see utils.sentence.labels).
    title: what the matrix is, for example "A = softmax(Ω/√c)".
    kind: "weights" (Blues from 0 to 1, row sums at the right) or "scores" (diverging colours, symmetric about 0).
    may_look: (n, n) boolean, True where word m may look at word p; the other cells are hatched and left empty.
    limit: for scores, the value of the strongest colour; the largest absolute score if None.
    rows_sum_to_1: False permits weights whose rows do not sum to 1, to show a mistake.
    column_sums: True adds the column sums below.
    Returns a Picture: a PNG with alt text, and the labelled matrix as text.
    Raises ValueError, in one sentence, for more than 24 words, labels that do not fit, NaN or infinity that is not
    masked, weights outside [0, 1] and rows that do not sum to 1.
    """
    return heatmaps({title: matrix}, labels, kind, may_look, limit, rows_sum_to_1, column_sums)


@matplotlib.rc_context(SETTINGS)
def heatmaps(matrices, labels, kind="weights", may_look=None, limit=None, rows_sum_to_1=True, column_sums=False):
    """Draw several attention matrices of one sentence on one scale, two panels to a row if they fit.

    matrices: a dictionary from title to (n, n) matrix, at most 16 of them.
    The other arguments, the returned Picture and the errors are those of `heatmap`; may_look holds for all panels.
    """
    check_flag(rows_sum_to_1, "rows_sum_to_1")
    check_flag(column_sums, "column_sums")
    panels = check_panels(matrices, kind, may_look, rows_sum_to_1)
    n = len(next(iter(panels.values()))[0])
    labels = [named(label, m) for m, label in enumerate(check_labels(labels, n, "labels", "rows"), start=1)]
    low, high = 0.0, 1.0
    if kind == "scores":
        high = score_limit(panels, limit)
        low = -high
    elif limit is not None:
        raise ValueError(f"limit is {limit!r}, expected None: weights are always drawn from 0 to 1")
    scale = ScalarMappable(Normalize(low, high), matplotlib.colormaps[COLOURS[kind]])
    panels = [
        Panel(
            title,
            values,
            may_look,
            row_sums=_sums(values, may_look, -1) if kind == "weights" else [],
            column_sums=_sums(values, may_look, 0) if column_sums else [],
        )
        for title, (values, may_look) in panels.items()
    ]
    figure = draw(panels, labels, scale, NAMES[kind].removesuffix("s"))
    text = "\n\n".join(_text(panel, labels) for panel in panels)
    alt = " ".join(_alt(panel, labels, kind) for panel in panels)
    return Picture(figure, alt, text)


def _sums(values, may_look, dim):
    """Write the sum of each row (dim=-1) or column (dim=0), or "none" where everything is masked."""
    sums, looks = values.sum(dim=dim).tolist(), may_look.any(dim=dim).tolist()
    return [number(total) if look else "none" for total, look in zip(sums, looks, strict=True)]


def _text(panel, labels):
    """Return the matrix as a table, with the sums that are drawn."""
    cells, rows, columns = panel.numbers(masked="masked"), list(labels), list(labels)
    if panel.row_sums:
        cells = [[*line, total] for line, total in zip(cells, panel.row_sums, strict=True)]
        columns.append("row sum")
    if panel.column_sums:
        cells.append(panel.column_sums + [""] * bool(panel.row_sums))
        rows.append("column sum")
    return text_table(cells, rows, columns, panel.title)


def _alt(panel, labels, kind):
    """Say in words what a panel shows."""
    names = [isolated(label) for label in labels]
    n, title = len(names), f", {panel.title}" if panel.title else ""
    sentences = [
        f"Heatmap of {NAMES[kind]}{title}, {n} × {n}: rows are the words that look, columns the words looked at."
    ]
    if not panel.may_look.all():
        sentences.append(f"{(~panel.may_look).sum().item()} cells are masked and hatched.")
    looks = [f"{name}: {_largest(panel, m, names)}" for m, name in enumerate(names)]
    sentences.append(f"Largest {kind.removesuffix('s')} of each row: {'; '.join(looks)}.")
    if kind == "weights":
        sums = zip(names, panel.row_sums, strict=True)
        odd = [f"{name} {total}" for name, total in sums if total not in ("1.00", "none")]
        if odd:
            sentences.append("Row sums that are not 1: " + "; ".join(odd) + ".")
        elif panel.may_look.any():
            sentences.append(f"Each {'other ' if 'none' in panel.row_sums else ''}row sums to 1.")
    return " ".join(sentences)


def _largest(panel, m, names):
    """Say which word has the largest value of row m, on the rounded values that the picture shows."""
    row = zip(panel.values[m].tolist(), panel.may_look[m].tolist(), names, strict=True)
    shown = [(round(x, 2), name) for x, seen, name in row if seen]
    if not shown:
        return "masked everywhere"
    top = max(x for x, _ in shown)
    highest = [name for x, name in shown if x == top]
    who = " and ".join(highest) if len(highest) < 4 else f"{len(highest)} words alike"
    return f"{who} {number(top)}"
