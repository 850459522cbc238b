"""Small notebooks that pass every check, for the tests to break."""

import base64
import io

import nbformat
from execute import canonical, serialised
from PIL import Image

LABELS = ["the₁", "fat₂", "cat₃", "sat₄", "on₅", "the₆", "mat₇"]
MATRIX = "\n".join(["      " + " ".join(LABELS), *(label + " 0.14" * 7 for label in LABELS)])
ALT = "Heatmap of attention weights, 7 × 7: each word looks at each word alike."

TINY_CODE = [
    "print('three quarters:', 0.75)",
    "0.5 + 0.25",
    """\
import base64, io
from PIL import Image

class Picture:
    def __repr__(self):
        return "white 0.25"

    def _repr_mimebundle_(self, **kwargs):
        buffer = io.BytesIO()
        Image.new("RGB", (200, 100), "white").save(buffer, format="png")
        png = base64.b64encode(buffer.getvalue()).decode()
        return {"image/png": png, "text/plain": repr(self)}, {"image/png": {"alt": "A white rectangle, 200 × 100"}}

Picture()""",
    "print('the end')",
]


def markdown(source):
    return nbformat.v4.new_markdown_cell(source)


def code(source, count=None, outputs=()):
    return nbformat.v4.new_code_cell(source, execution_count=count, outputs=list(outputs))


def png(colour="white", size=(200, 100), dots=0):
    """A base64 PNG of one colour with a row of black dots."""
    image = Image.new("RGB", size, colour)
    for x in range(dots):
        image.putpixel((x, 10), (0, 0, 0))
    buffer = io.BytesIO()
    image.save(buffer, format="png")
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def heatmap():
    """The output of a cell that shows a heatmap of the sentence."""
    data = {"image/png": png(), "text/plain": MATRIX}
    return nbformat.v4.new_output("display_data", data, metadata={"image/png": {"alt": ALT, "width": 100}})


def save(nb, path):
    """Write a notebook as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(serialised(nb), encoding="utf-8")
    return path


def notebook(*cells):
    """A canonical notebook of these cells."""
    return canonical(nbformat.v4.new_notebook(cells=list(cells)))


def lesson(title, neighbours):
    """A lesson that passes all checks, as if executed."""
    stream = nbformat.v4.new_output("stream", name="stdout", text="weight 0.14, score −1.25\n")
    return notebook(
        markdown(
            f"# {title}\n\n**You will be able to** read.\n\n**You need** nothing.\n\n"
            "**Time**: about 10 minutes\n\n**New notation** $A$"
        ),
        code("import torch\n\ntorch.set_default_dtype(torch.float64)", 1),
        markdown("## A weight\n\nThe weight is 0.14 and the score $-1.25$, see [notation](notation.md#words)."),
        code("print(weight)", 2, [stream]),
        code("heatmap(A)", 3, [heatmap()]),
        code("heatmap(A)", 4, [heatmap()]),
        markdown("## Where next\n\n" + " · ".join(f"[{name}]({name})" for name in [*neighbours, "index.ipynb"])),
    )


def course(root):
    """Write a course of two lessons into root and return the path of its first lesson."""
    folder = root / "notebooks"
    names = ["01_first.ipynb", "02_second.ipynb"]
    rows = "\n".join(f"| [{name}]({name}) | 10 min |" for name in names)
    table = f"| lesson | time |\n|---|---|\n{rows}\n"
    save(notebook(markdown(f"# Start\n\n{table}"), code("1 + 1", 1)), folder / "index.ipynb")
    save(lesson("First", [names[1]]), folder / names[0])
    save(lesson("Second", [names[0]]), folder / names[1])
    (folder / "notation.md").write_text("# Notation\n\n## Words\n", encoding="utf-8")
    (root / "README.md").write_text(f"# Course\n\n{table}".replace(" min", ""), encoding="utf-8")
    (root / "Makefile").write_text("test:\n\tpytest --nbval notebooks\n", encoding="utf-8")
    return folder / names[0]


def tiny(path):
    """Write a notebook that runs without torch, in about a second, not yet executed."""
    cells = [markdown("# Tiny"), *(code(source) for source in TINY_CODE)]
    return save(nbformat.v4.new_notebook(cells=cells), path)
