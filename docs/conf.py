"""How the notebooks become pages: sphinx-build -c docs -n -W --keep-going notebooks build/html.

Nothing is executed, and the pages load nothing from another host. Formulas become MathML while the pages are built,
so that a page needs one small font for them and no script.
"""

import base64
import hashlib
import json
import sys
from pathlib import Path

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.util import logging

sys.path.insert(0, str(Path(__file__).parent))
from math_font import CHARACTERS

sys.modules["rfc3987_syntax"] = None  # a check of addresses that takes most of a second to load and is not needed

project = html_title = "Trainable self-attention"
author = "The authors of the course"
language = "en"
root_doc = "index"
exclude_patterns = ["**/.ipynb_checkpoints"]
extensions = ["myst_nb"]
nb_execution_mode = "off"
nb_code_prompt_show = "Show the code"
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_labels = False
myst_heading_anchors = 3
smartquotes = False

html_theme = "furo"
html_static_path = ["_static"]
html_extra_path = ["../notebooks/explorer.js"]  # beside the pages, as it is beside the notebooks
html_css_files = ["course.css"]
html_favicon = "_static/favicon.svg"
templates_path = ["_templates"]
html_math_renderer = "mathml"
html_sourcelink_suffix = ""  # a page's notebook keeps its own name
html_show_sourcelink = html_show_copyright = html_use_index = html_domain_indices = False
html_scaled_image_link = False
pygments_style, pygments_dark_style = "a11y-light", "a11y-high-contrast-dark"

warning = logging.getLogger(__name__).warning
TOCTREE = "```{toctree}\n:hidden:\n:glob:\n\n[0-9]*\n*\n```"
to_mathml = LatexToMathML(fancy_error=False).convert_with_local_state


def add_toctree(app, docname, source):
    """Put the list of all pages, the lessons first, at the end of the start page as it is read; its file has none."""
    if docname == root_doc:
        notebook = json.loads(source[0])
        notebook["cells"].append({"cell_type": "markdown", "id": "toctree", "metadata": {}, "source": TOCTREE})
        source[0] = json.dumps(notebook)


def describe_pictures(app, doctree):
    """Give each picture the alt text and the width that its notebook stores, and warn of one without alt text."""
    path, stored = Path(app.env.doc2path(app.env.docname)), {}
    if path.suffix == ".ipynb":
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                if "image/png" in output.get("data", {}):
                    png = base64.b64decode("".join(output["data"]["image/png"]))
                    about = output["metadata"].get("image/png", {})
                    stored[hashlib.sha256(png).hexdigest()] = (png, about)  # myst-nb names the file so
    for image in doctree.findall(nodes.image):
        image["loading"] = "lazy"
        if Path(image["uri"]).stem in stored:
            png, about = stored[Path(image["uri"]).stem]
            image["alt"] = about.get("alt", "")
            across, down = (int.from_bytes(png[i : i + 4]) for i in (16, 20))
            width = about.get("width", across // 2)
            image["width"], image["height"] = str(width), str(round(width * down / across))
        if not image.get("alt", "").strip():
            warning("a picture has no alt text", location=image)


def keep_punctuation(app, doctree):
    """Tie the sign after an inline formula to it, or a comma may begin a line."""
    for formula in list(doctree.findall(nodes.math)):
        after = formula.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and after[0] in ",.;:?)":
            formula.parent.replace(after, nodes.Text(after[1:]))
            formula.replace_self(nodes.inline("", "", formula.deepcopy(), nodes.Text(after[0]), classes=["nowrap"]))


def write_math(self, node):
    """Write a formula as MathML; warn of TeX that is not understood and of a character that the font lacks."""
    block = isinstance(node, nodes.math_block)
    try:
        mathml = to_mathml(node.astext(), displaystyle=block)
        mathml = mathml.replace("<msqrt>", '<msqrt><mspace height="0.75em"/>')  # or the sign of √c hangs too low
        if missing := sorted(set(mathml) - CHARACTERS - {"\n"}):
            warning("the math font has no %s", " ".join(missing), location=node)
    except LatexError as error:
        warning("cannot read the formula %r: %s", node.astext(), error, location=node)
        mathml = self.encode(node.astext())
    self.body.append(f'<div class="math">{mathml}</div>\n' if block else mathml)
    raise nodes.SkipNode


def open_hidden(self, node):
    """Begin the box that hides a cell's code; its visible words are its name."""
    self.body.append(f"<details>\n<summary>{node['prompt_show']}</summary>\n")


def close_hidden(self, node):
    """End the box."""
    self.body.append("</details>\n")


def drop_unused(app, pagename, templatename, context, doctree):
    """Leave out two large style sheets; course.css has the few rules of them that the course needs."""
    unused = ("furo-extensions", "mystnb.")
    context["css_files"] = [f for f in context["css_files"] if not any(u in str(f.filename) for u in unused)]


def add_explorer(app, pagename, templatename, context, doctree):
    """Load the program of the attention explorers on a page that shows any: the first one's mark becomes the script."""
    script = '<script src="explorer.js" defer></script>'
    context["body"] = context.get("body", "").replace('<i src="explorer.js"></i>', script, 1)


def setup(app):
    """Connect the functions above; Sphinx calls this."""
    from myst_nb.sphinx_ import HideCodeCellNode

    app.add_html_math_renderer("mathml", inline_renderers=(write_math, None), block_renderers=(write_math, None))
    app.add_node(HideCodeCellNode, override=True, html=(open_hidden, close_hidden))
    app.connect("source-read", add_toctree)
    app.connect("doctree-read", describe_pictures)
    app.connect("doctree-read", keep_punctuation)
    app.connect("html-page-context", drop_unused, priority=900)
    app.connect("html-page-context", add_explorer)
