"""How words become text and letters: always literally, whatever script they are in and whatever signs they hold."""

import unicodedata
from functools import cache

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

FONT_FAMILY = "DejaVu Sans"  # comes with matplotlib
LONGEST = 1.8  # inches a label may take; a longer one is drawn with … in its middle
TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
JOINER = "\u200d"
SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def visible(text):
    """Spell out control characters, which would break lines or turn the direction of the text around them."""
    return "".join(
        sign.encode("unicode_escape").decode("ascii")
        if unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or sign in TURNING
        else sign
        for sign in text
    )


def isolated(text):
    """Keep the numbers beside a right-to-left word in their order: wrap the word in Unicode isolates."""
    if any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in text):
        return f"\u2068{text}\u2069"
    return text


def display_width(text):
    """Return how many columns a text takes in a fixed-width font, where East Asian signs and emoji take two."""
    width = 0
    for before, sign in zip(" " + text, text, strict=False):
        if unicodedata.category(sign) in ("Mn", "Me", "Cf") or before == JOINER or sign in SKIN_TONES:
            continue
        width += 2 if unicodedata.east_asian_width(sign) in "WF" else 1
    return width


def named(label, position):
    """Return a label, or `word₃`, for the third word, if it would stay empty."""
    return label if _leaves_ink(label) else "word" + str(position).translate(SUBSCRIPTS)


def drawn(label, position, size):
    """Return a label as it is drawn at a font size.

    A label is drawn as it is; as `word₃`, for the third word, if it would stay empty or if the font lacks one of its
    characters; with … in its middle if it is longer than LONGEST.
    """
    label = label if all(map(_in_font, label)) else ""
    return _shortened(named(label, position), LONGEST, size)


def drawn_name(name, width, size):
    """Return the name of an axis as it is drawn: on one line of at most that many inches, if need be with … in it."""
    return _shortened(_drawable(name), width, size)


def drawn_title(title, width, size):
    """Return a title as it is drawn, in lines of at most that many inches; □ stands for what the font lacks."""
    lines = []
    for word in _drawable(title).split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += " " + word
            continue
        while text_width(word, size) > width and len(word) > 1:
            fits = max(1, int(len(word) * width / text_width(word, size)) - 1)
            lines.append(word[:fits])
            word = word[fits:]
        lines.append(word)
    return "\n".join(lines)


def _drawable(text):
    return "".join(sign if _in_font(sign) else "□" for sign in text)


def _shortened(text, width, size):
    """Leave out signs before the last five until a text fits; its end tells numbered words apart."""
    if text_width(text, size) <= width:
        return text
    end, start = text[-5:], text[:-5][:150]
    while start and text_width(start + "…" + end, size) > width:
        start = start[:-1]
    return start + "…" + end


@cache
def text_width(text, size):
    """Return the width in inches of a text drawn at a font size in points."""
    ruler = _ruler()
    measured = ruler.text(0, 0, text, fontsize=size, fontfamily=FONT_FAMILY, parse_math=False)
    width = measured.get_window_extent(ruler.canvas.get_renderer()).width / ruler.dpi
    measured.remove()
    return width


@cache
def _ruler():
    return FigureCanvasAgg(Figure(figsize=(1, 1), dpi=192)).figure


@cache
def _font_characters():
    return frozenset(get_font(findfont(FontProperties(family=FONT_FAMILY))).get_charmap())


def _in_font(sign):
    return ord(sign) in _font_characters()


def _leaves_ink(label):
    return any(unicodedata.category(sign)[0] not in "CMZ" for sign in label)
