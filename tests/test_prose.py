"""Prose cannot drift from the numbers: each decimal number in it occurs in an output or a code cell of its notebook."""

import re

from lessons import texts

# A minus belongs to the number unless it stands between two operands, as in 2−0.5. Nothing is taken from 1.2.3.
NUMBER = re.compile(r"(?<![A-Za-z0-9.])(?:(?<![)\]}])[-−])?\d*\.\d+(?!\d*\.\d)")
ADDRESS = re.compile(r"""\]\([^)]*\)|https?://[^\s)>\]]+|</?[a-z][\w-]*(?:\s+[\w-]+=(?:"[^"]*"|'[^']*'))*\s*/?>""")
REFERENCE = re.compile(
    r"\b(?:sections?|equations?|versions?)[\s\[]+[1-9]\d*(?:\.\d+)+(?:(?:,| and| to|–)\s*[1-9]\d*(?:\.\d+)+)*\b"
    r"|\b(?:arXiv|doi)[\s:]+[\w./]+",
    re.IGNORECASE,
)
COMMAND = re.compile(r"\\[A-Za-z]+")


def numbers(text):
    """The decimal numbers in text as they are written, with one minus sign and a leading 0."""
    plain = [number.replace("−", "-") for number in NUMBER.findall(text)]
    return {re.sub(r"^(-?)\.", r"\g<1>0.", number) for number in plain}


def numbers_in_prose(markdown):
    """The decimal numbers a reader sees in Markdown text, formulas and code included, addresses and references not."""
    for pattern in (ADDRESS, REFERENCE, COMMAND):
        markdown = pattern.sub(" ", markdown)
    return numbers(markdown)


def computed(notebook):
    """The decimal numbers in all outputs and code cells of a notebook."""
    shown = [cell.source for cell in notebook.code]
    for _, output in notebook.outputs():
        html = output.get("data", {}).get("text/html", "")
        shown += [texts(output).replace(html, "") if html else texts(output)]
        shown += [re.sub(r"<style.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL)]
    return numbers("\n".join(shown))


def test_numbers_in_prose_are_computed(notebook):
    known = computed(notebook)
    drifted = {notebook.place(cell): numbers_in_prose(cell.source) - known for cell in notebook.markdown}
    lines = [f"{place}: {', '.join(sorted(missing))}" for place, missing in drifted.items() if missing]
    assert not lines, "in prose, but in no output or code cell:\n" + "\n".join(lines)
