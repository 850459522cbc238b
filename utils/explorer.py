"""The attention explorer: a matrix that reads as a table anywhere, and moves where its script may run."""

import html

import numpy
import torch
from matplotlib import colormaps
from matplotlib.colors import to_hex

from utils.checks import LARGEST_SCORE, MOST_WORDS, as_matrix, check_flag, check_labels, refuse
from utils.heatmaps import COLOURS
from utils.lettering import isolated, named
from utils.panels import readable_ink
from utils.picture import number, text_table
from utils.sentence import labels

LARGEST_WIDTH = 1_000_000
MOST_VALUES = 16  # numbers per word in V: a longer row cannot be read in a ledger
DECIMALS = 6  # of the scores and values that the script reads

LIGHT, BLACK, GREY = "background:#fff", "color:#000", "color:#595959"  # a light figure, in dark themes too

# JupyterLab turns a src into the address of that file beside the notebook, whatever its base URL and folder, even on a
# tag that loads nothing by itself. The loader takes the script from there. Where nobody does so, it has no effect.
LOADER = """<i src="explorer.js"></i><script>
{
  const mark = document.currentScript.previousSibling, load = () => {
    const src = mark.attributes.src.value;
    if (src !== "explorer.js" && !window.attentionExplorer)
      document.head.append(Object.assign(document.createElement("script"), {src}));
  };
  new MutationObserver(load).observe(mark, {attributes: true});
  load();
}
</script>"""


class Explorer:
    """The attention of one sentence, to look into row by row: from scores to weights to context vectors.

    Omega: (n, n) scores before division and masking; Omega[m, p] = how much word m should look at word p. n is 1 to 24.
    c: width of the query and key space, a whole number; the weights are softmax(Omega / √c) along each row.
    tokens: n words, or words that are numbered already, as utils.sentence.LABELS.
    V: (n, width) values, at most 16 per word, for the context vectors C = A V; without V they are left out.
    causal: True masks later words; the reader may switch the mask off and on.

    As the last value of a cell it displays as a table of weights, complete without scripts. Where scripts may run,
    notebooks/explorer.js adds a slider for the divisor, the stages, and the ledger of a row. Scores and values are
    rounded to six decimals first, and both the table and the script compute from these.
    text: the labelled weights; this is its text/plain. html: the figure; nbval compares both.
    Raises ValueError, in one sentence, for what does not fit together or cannot be drawn.
    Source of the formula: Vaswani et al. 2017, equation 1.
    """

    def __init__(self, Omega, c, tokens, V=None, causal=False):
        Omega = _check_scores(Omega)
        _check_width(c)
        words = _numbered(check_labels(tokens, len(Omega), "tokens", "rows"))
        values = [None] * len(words) if V is None else _check_values(V, len(words)).tolist()
        check_flag(causal, "causal")
        seen = Omega.masked_fill(torch.ones_like(Omega).triu(1).bool(), -torch.inf) if causal else Omega
        A = torch.softmax(seen / c**0.5, dim=-1)
        looks = seen.argmax(dim=-1).tolist()  # of the rounded scores, so that every machine breaks a tie alike
        cells = [
            ["masked" if score == -torch.inf else number(weight) for score, weight in zip(*row, strict=True)]
            for row in zip(seen.tolist(), A.tolist(), strict=True)
        ]
        sums = [number(total) for total in A.sum(dim=-1).tolist()]
        formula = f"A = softmax(Ω/√c), c = {c}" + (", later words masked" if causal else "")
        lines = [[*row, total] for row, total in zip(cells, sums, strict=True)]
        self.text = text_table(lines, words, [*words, "row sum"], formula)
        rows = [
            _row(words, m, looks[m], line, scores, v)
            for m, (line, scores, v) in enumerate(zip(lines, Omega.tolist(), values, strict=True))
        ]
        hardest = A.fill_diagonal_(0.0).amax(dim=-1).round(decimals=DECIMALS).argmax().item()  # at another word
        data = f'data-c="{c}" data-row="{hardest}"' + (" data-causal" if causal else "")
        self.html = _figure(words, rows, formula, data)

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.text}


def _figure(words, rows, formula, data):
    """Return the whole figure as HTML, without the end tags that HTML lets one leave out: 12 kB do for everything."""
    heads = "".join(f'<th scope="col">{html.escape(word)}' for word in [*words, "row sum"])
    return f"""<figure class="attention-explorer mathjax_ignore" {data} style="{LIGHT};{BLACK};margin:0;padding:8px">
<figcaption>Attention weights {formula}. Rows are the words that look, columns the words looked at.</figcaption>
<div style="overflow-x:auto"><table style="{LIGHT};{BLACK};text-align:right">
<thead><tr style="{LIGHT}"><th scope="col">query ↓ key →{heads}
<tbody>
{"".join(rows)}</table></div>
{LOADER}
</figure>"""


def _row(words, m, p, line, scores, values):
    """Return the row of word m, which looks most at word p, as HTML: with the numbers for the script."""
    title = f"{isolated(words[m])} looks most at {isolated(words[p])}: {line[p]}"
    data = f'title="{html.escape(title)}" data-omega="{" ".join(map(_plain, scores))}"'
    if values is not None:
        data += f' data-v="{" ".join(map(_plain, values))}"'
    head, cells = html.escape(words[m]), "".join(map(_cell, line[:-1]))
    return f'<tr style="{LIGHT}" {data}><th scope="row">{head}{cells}<td>{line[-1]}\n'


def _cell(shown):
    """Return one cell as HTML. Its colour is that of the shown number, so that it is the same on every machine."""
    if shown == "masked":
        return f'<td style="{GREY}">masked'
    colour = colormaps[COLOURS["weights"]](float(shown))
    ink = ";color:#fff" if readable_ink(colour) == "white" else ""
    return f'<td style="background:{to_hex(colour)}{ink}">{shown}'


def _plain(value):
    """Write a number with as many of its six decimals as say something."""
    return f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}".rstrip("0").rstrip(".")


def _numbered(words):
    """Number words by position, as utils.sentence.labels does, unless all of them are numbered so already."""
    words = [word if named(word, 0) == word else "word" for word in words]  # one that leaves no ink is called word
    numbered = labels(words)
    already = all(word.endswith(label[len(word) :]) for word, label in zip(words, numbered, strict=True))
    return words if already else numbered


def _check_scores(Omega):
    """Return the scores rounded to what the script reads."""
    Omega = as_matrix(Omega, "Omega")
    n = len(Omega)
    if Omega.shape[1] != n:
        raise ValueError(f"Omega has shape {tuple(Omega.shape)}, expected (n, n): one row and one column per word")
    if n > MOST_WORDS:
        raise ValueError(f"Omega has {n} words, expected at most {MOST_WORDS}: more cannot be read in a table")
    expected = "finite scores below a million: give them unmasked, causal=True hides later words"
    refuse(~(Omega.abs() < LARGEST_SCORE), Omega, "Omega", expected)
    return torch.tensor([[float(_plain(score)) for score in row] for row in Omega.tolist()], dtype=torch.float64)


def _check_values(V, n):
    V = as_matrix(V, "V")
    if len(V) != n or V.shape[1] > MOST_VALUES:
        expected = f"({n}, at most {MOST_VALUES}): one row per word of Omega"
        raise ValueError(f"V has shape {tuple(V.shape)}, expected {expected}")
    refuse(~(V.abs() < LARGEST_SCORE), V, "V", "finite values below a million")
    return V


def _check_width(c):
    whole = isinstance(c, (int, numpy.integer)) and not isinstance(c, bool)
    if not whole or not 1 <= c <= LARGEST_WIDTH:
        raise ValueError(
            f"c is {c!r}, expected a whole number from 1 to a million: the width of queries and keys, K.shape[-1]"
        )
