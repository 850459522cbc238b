"""Every check of the notebooks can fail: each passes a good course and fails on a copy with one thing broken."""

import base64
import io
from pathlib import Path

import nbformat
import pytest
import sample
import test_notebooks
import test_pictures
import test_prose
from lessons import Notebook, read
from nbformat.v4 import new_output
from PIL import Image, ImageDraw, ImageFont

FIRST, WEIGHT, PRINT, MAP, LAST = 0, 2, 3, 4, 6  # cells of a sample lesson


def source(cell, old, new):
    """Replace text in the source of a cell."""

    def change(nb, root):
        assert old in nb.cells[cell].source
        nb.cells[cell].source = nb.cells[cell].source.replace(old, new)

    return change


def add(text):
    """Add a Markdown paragraph in the middle of the lesson."""
    return source(WEIGHT, "The weight", f"{text}\n\nThe weight")


def cell(position, **values):
    """Set parts of a cell."""
    return lambda nb, root: nb.cells[position].update(nbformat.from_dict(values))


def metadata(position, **values):
    """Add to the metadata of a cell."""
    return lambda nb, root: nb.cells[position].metadata.update(values)


def shows(text):
    """Let a cell print text."""
    return lambda nb, root: nb.cells[PRINT].outputs.append(new_output("stream", name="stdout", text=text))


def alt(text):
    """Set the alt text of the first picture."""
    return lambda nb, root: nb.cells[MAP].outputs[0].metadata["image/png"].update(alt=text)


def plain(text):
    """Set the text/plain of the first picture."""
    return lambda nb, root: nb.cells[MAP].outputs[0].data.update({"text/plain": text})


def file(name, old, new):
    """Replace text in a file of the course."""

    def change(nb, root):
        text = (root / name).read_text(encoding="utf-8")
        assert old in text
        (root / name).write_text(text.replace(old, new), encoding="utf-8")

    return change


def stripped(nb, root):
    for each in nb.cells:
        if each.cell_type == "code":
            each.outputs, each.execution_count = [], None


def error(nb, root):
    nb.cells[PRINT].outputs = [new_output("error", ename="KeyError", evalue="1", traceback=["KeyError: 1"])]


def stderr(nb, root):
    nb.cells[PRINT].outputs = [new_output("stream", name="stderr", text="a warning")]


def widget(nb, root):
    data = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "x"}
    nb.cells[PRINT].outputs = [new_output("display_data", data)]


def reformatted(nb, root):
    path = root / "notebooks" / "01_first.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("\n ", "\n  "), encoding="utf-8")
    nb.clear()  # the file is written already


N, P = test_notebooks, test_prose
BROKEN = {
    N.test_every_code_cell_is_executed_in_order: [stripped, cell(PRINT, execution_count=7)],
    N.test_no_errors_and_no_stderr: [error, stderr],
    N.test_outputs_are_the_same_on_every_machine: [
        shows("<object at 0x7f12ab34cd56>"),
        shows("grad_fn=<MmBackward0>"),
        shows("Wall time: 3 ms"),
        shows("took 1.25 s"),
        shows("saved in /srv/course/file.txt"),
        shows("saved in C:\\Course\\file.txt"),
        widget,
    ],
    N.test_nothing_is_left_out_of_the_comparison: [
        metadata(PRINT, tags=["nbval-ignore-output"]),
        metadata(PRINT, tags=["nbval-skip"]),
        metadata(PRINT, tags=["skip-execution"]),
        metadata(PRINT, tags=["raises-exception"]),
        metadata(MAP, tags=["remove-cell"]),
        metadata(MAP, tags=["hide-input"]),
        metadata(MAP, tags=["hide-input"], jupyter={"source_hidden": True}),
        metadata(WEIGHT, tags=["remove-cell"]),
        lambda nb, root: nb.cells.append(nbformat.v4.new_raw_cell("a raw cell")),
        source(PRINT, "print", "# NBVAL_IGNORE_OUTPUT\nprint"),
        source(PRINT, "print", "# NBVAL_SKIP\nprint"),
        source(PRINT, "print", "%%capture\nprint"),
    ],
    N.test_no_command_weakens_the_comparison: [
        file("Makefile", "--nbval", "--nbval --nbval-sanitize-with rules"),
        file("Makefile", "--nbval", "--nbval-lax"),
    ],
    N.test_pictures_have_alt_text: [
        lambda nb, root: nb.cells[MAP].outputs[0].metadata.clear(),
        alt("A heatmap"),
        alt("_images/0a1b2c3d4e5f60718293a4b5c6d7.png"),
        alt("Heatmap of weights: the largest weight is nan"),
    ],
    N.test_pictures_have_their_numbers_as_text: [plain("<Figure size 640x480 with 1 Axes>"), plain("")],
    N.test_two_heatmaps_of_the_sentence: [plain("a 0.14"), plain(sample.MATRIX.replace("mat₇", "the₁"))],
    N.test_kernel_and_metadata_are_canonical: [
        lambda nb, root: nb.metadata.kernelspec.update(name="mine"),
        lambda nb, root: nb.metadata.language_info.update(name="julia"),
        lambda nb, root: nb.update(nbformat_minor=4),
        metadata(PRINT, execution={"iopub.status.busy": "now"}),
    ],
    N.test_cell_ids_are_unique_and_stable: [
        cell(PRINT, id="first-01"),
        cell(PRINT, id="0a1b2c3d"),
        cell(PRINT, id="not valid"),
        lambda nb, root: nb.cells[PRINT].pop("id"),
    ],
    N.test_file_is_small_and_canonical: [
        shows("x" * 500_000),
        cell(PRINT, outputs=[{"output_type": "none"}]),
        reformatted,
    ],
    N.test_links_lead_somewhere: [
        source(LAST, "02_second", "02_other"),
        source(WEIGHT, "notation.md#words", "notation.md#word"),
        source(WEIGHT, "notation.md#words", "#no-heading"),
        source(WEIGHT, "notation.md", "/notation.md"),
        add('<img src="none.png" alt="none">'),
    ],
    N.test_previous_and_next_are_the_neighbours: [
        source(LAST, "02_second", "01_first"),
        source(LAST, "index.ipynb", "notation.md"),
        lambda nb, root: (root / "notebooks" / "02_second.ipynb").rename(root / "notebooks" / "02_renamed.ipynb"),
    ],
    N.test_headings_do_not_jump: [source(WEIGHT, "## ", "### "), source(WEIGHT, "## ", "# "), source(FIRST, "# ", "")],
    N.test_lesson_opens_with_goals_needs_and_minutes: [
        source(FIRST, "# ", "## "),
        source(FIRST, "You need", "Needed"),
        source(FIRST, "You will be able to", "Goals"),
        source(FIRST, "New notation", "Notation"),
    ],
    N.test_lesson_computes_in_float64: [source(1, "float64", "float32")],
    N.test_minutes_agree_with_index_and_readme: [
        source(FIRST, "10 minutes", "11 minutes"),
        source(FIRST, "about 10 minutes", "short"),
        file("README.md", "(01_first.ipynb) | 10 |", "(01_first.ipynb) | 15 |"),
        file("README.md", "(01_first.ipynb) | 10 |", "(01_first.ipynb) |"),
        file("notebooks/index.ipynb", "(01_first.ipynb) | 10 min", "(01_first.ipynb) | 15 min"),
    ],
    N.test_prose_keeps_to_the_style: [
        *map(add, ["It is simply this.", "Obviously.", "just so", "Look!", "A \U0001f600.", "<b>Look!</b>"]),
        add("$$\\begin{align}a\\end{align}$$"),
    ],
    N.test_no_machine_is_named: [
        source(PRINT, "print", "# pip install --index-url x\nprint"),
        add("Open <http://localhost:8888>."),
        add("Look into `/srv/course/file.txt`."),
    ],
    P.test_numbers_in_prose_are_computed: [
        source(WEIGHT, "0.14", "0.15"),
        source(WEIGHT, "0.14", "0.140"),
        source(WEIGHT, "$-1.25$", "$1.25$"),
        source(WEIGHT, "0.14", ".15"),
        *map(add, ["`0.99`", "$\\approx0.99$", "$2-0.99$", "_0.99_", "a−0.99", "| 0.99 |"]),
        lambda nb, root: nb.cells[PRINT].outputs[0].update(text="weight 0.14, score 1.25"),
    ],
}
CASES = [
    pytest.param(check, each, id=f"{check.__name__}-{i}") for check in BROKEN for i, each in enumerate(BROKEN[check])
]


@pytest.mark.parametrize(("check", "breaking"), CASES)
def test_check_fails_on_a_broken_copy(check, breaking, tmp_path):
    path = sample.course(tmp_path)
    check(read(path))
    nb = read(path).nb
    breaking(nb, tmp_path)
    if nb:
        sample.save(nb, path)
    with pytest.raises(AssertionError):
        check(read(path))


def test_no_check_is_forgotten():
    checks = [value for module in (N, P) for name, value in vars(module).items() if name.startswith("test_")]
    assert checks == list(BROKEN)


def test_what_need_not_be_computed(tmp_path):
    path = sample.course(tmp_path)
    nb = read(path).nb
    add(
        "See section 3.4, equations 1.2 and 1.3, version 2.13.0, "
        "[section 8.1](https://example.org/0.99), arXiv:1706.03762, "
        '<img width="0.99">, 1.2.3, $-1.25$, −1.25, 2−0.14 and .14.'
    )(nb, tmp_path)
    P.test_numbers_in_prose_are_computed(read(sample.save(nb, path)))


def test_an_expected_error_may_be_stored(tmp_path):
    path = sample.course(tmp_path)
    nb = read(path).nb
    error(nb, tmp_path)
    nb.cells[PRINT].metadata["tags"] = ["raises-exception"]
    for check in (N.test_no_errors_and_no_stderr, N.test_nothing_is_left_out_of_the_comparison):
        check(read(sample.save(nb, path)))


def test_float32_lessons_must_say_so(tmp_path):
    path = sample.course(tmp_path).rename(tmp_path / "notebooks" / "10_tiny_gpt.ipynb")
    with pytest.raises(AssertionError):
        N.test_lesson_computes_in_float64(read(path))


def drawn(weight="0.14", colour=(198, 219, 239), blur=0, dots=0):
    """A lesson with one picture: a cell of a heatmap with its number, `blur` levels of noise, a few black dots."""
    image = Image.new("RGB", (400, 300), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((100, 100, 199, 199), fill=colour)
    draw.text((120, 130), weight, fill="black", font=ImageFont.load_default(24))  # 9 pt at twice the display size
    image = image.point(lambda level: max(level - blur, 0))
    for x in range(dots):
        image.putpixel((x, 10), (0, 0, 0))
    buffer = io.BytesIO()
    image.quantize(256).save(buffer, format="png")
    output = sample.heatmap()
    output.data["image/png"] = base64.b64encode(buffer.getvalue()).decode("ascii")
    return Notebook(Path("sample.ipynb"), sample.notebook(sample.code("heatmap(A)", 1, [output])))


@pytest.mark.parametrize("noise", [{}, {"blur": 7}, {"dots": 20}])
def test_noise_in_a_picture_passes(noise):
    test_pictures.compare(drawn(), drawn(**noise))


@pytest.mark.parametrize("change", [{"weight": "0.15"}, {"colour": (158, 202, 225)}, {"blur": 9}, {"dots": 60}])
def test_a_changed_picture_is_seen(change):
    with pytest.raises(AssertionError, match="not the one drawn"):
        test_pictures.compare(drawn(), drawn(**change))


def test_a_changed_alt_text_size_or_number_of_pictures_is_seen():
    for part, value in (("metadata", {}), ("data", {"image/png": sample.png(size=(10, 10))}), ("data", {})):
        changed = drawn()
        changed.nb.cells[0].outputs[0][part] = nbformat.from_dict(value)
        with pytest.raises(AssertionError):
            test_pictures.compare(changed, drawn())
