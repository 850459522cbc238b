"""The notebooks as files: what nbval does not look at, and what a reader relies on. Nothing is executed here."""

import re
from collections import Counter
from itertools import pairwise
from urllib.parse import unquote

import nbformat.validator
from execute import CELL_METADATA, METADATA, is_stable, serialised
from lessons import anchors, headings, lesson_paths, links, prose, read, texts

LABELS = ("the₁", "fat₂", "cat₃", "sat₄", "on₅", "the₆", "mat₇")
FLOAT32_LESSONS = ("10_tiny_gpt.ipynb", "11_real_llm.ipynb")  # they say so in their prose
MINUTES = re.compile(r"\b(\d+)\smin\b|\|\s*(\d+)\s*(?=\|)")  # in words, or alone in a column
MAX_BYTES = 500_000
NOT_THE_SAME_TWICE = re.compile(
    r"0x[0-9a-fA-F]{6,}|grad_fn=<|Wall time|CPU times|per loop \(|\d\s?(?:ns|µs|μs|us|ms|sec|seconds)\b|\d\.\d+\s?s\b"
)
ABSOLUTE_PATH = re.compile(r"""(?:^|[\s"'`(=:])(?:~?/(?:[\w.-]+/)+[\w.-]+|[A-Za-z]:\\\w)""", re.MULTILINE)
HOST = re.compile(r"index-url|trusted-host|\bpypi\b|artifactory|//(?:localhost|[\d.]+[:/])")
EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u26ff\u2705\u2728\u274c\u2753-\u2757\u2b50\ufe0f]")
HOLES_IN_NBVAL = re.compile(r"^\s*#.*\b(NBVAL_\w+|PYTEST_VALIDATE_\w+)|^\s*%%capture", re.MULTILINE)
COMMAND_FILES = ("Makefile", ".ci/run", "pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini", ".github/workflows/*")


# Outputs


def test_every_code_cell_is_executed_in_order(notebook):
    counts = [cell.execution_count for cell in notebook.code]
    assert counts == list(range(1, len(counts) + 1)), f"{notebook.path.name}: execution counts are {counts}"
    for cell in notebook.code:
        for output in cell.outputs:
            assert output.get("execution_count", cell.execution_count) == cell.execution_count, notebook.place(cell)


def test_no_errors_and_no_stderr(notebook):
    for cell, output in notebook.outputs():
        expected = "raises-exception" in cell.metadata.get("tags", [])
        assert output.output_type != "error" or expected, f"{notebook.place(cell)}: stored error {output.ename}"
        assert output.get("name") != "stderr", f"{notebook.place(cell)}: stored stderr"


def test_outputs_are_the_same_on_every_machine(notebook):
    for cell, output in notebook.outputs():
        for pattern in (NOT_THE_SAME_TWICE, ABSOLUTE_PATH):
            found = pattern.search(texts(output))
            assert not found, f"{notebook.place(cell)}: output holds {found.group()!r}"
        kinds = set(output.get("data", {}))
        assert not any("widget" in kind for kind in kinds), f"{notebook.place(cell)}: stored widget"


def test_nothing_is_left_out_of_the_comparison(notebook):
    for cell in notebook.nb.cells:
        assert cell.cell_type in ("code", "markdown"), f"{notebook.place(cell)}: a {cell.cell_type} cell"
        failed = any(output.output_type == "error" for output in cell.get("outputs", []))
        solution = cell.metadata.get("jupyter", {}).get("source_hidden") and cell.source.startswith("# Solution")
        allowed = ["raises-exception"] * failed + ["hide-input"] * bool(solution)  # no other: nothing is skipped
        tags = cell.metadata.get("tags", [])
        assert set(tags) <= set(allowed), f"{notebook.place(cell)}: tags {tags}, expected {allowed}"
        found = HOLES_IN_NBVAL.search(cell.source)
        assert not found, f"{notebook.place(cell)}: {found.group()!r}"


def test_no_command_weakens_the_comparison(notebook):
    root = notebook.path.parents[1]
    for file in (file for pattern in COMMAND_FILES for file in root.glob(pattern) if file.is_file()):
        found = re.search(r"--(nbval-)?sanitize-with|--nbval-lax|nbval-sanitize", file.read_text(encoding="utf-8"))
        assert not found, f"{file.name}: {found.group()}"


# Pictures


def test_pictures_have_alt_text(notebook):
    for cell, output in notebook.pictures():
        alt = output.metadata.get("image/png", {}).get("alt", "")
        assert len(alt) >= 30 and " " in alt.strip(), f"{notebook.place(cell)}: alt text {alt!r}"
        odd = re.search(r"\bnan\b|^\S*/|\.(png|svg|jpe?g)$", alt, re.IGNORECASE)
        assert not odd, f"{notebook.place(cell)}: alt text {alt!r}"


def test_pictures_have_their_numbers_as_text(notebook):
    for cell, output in notebook.pictures():
        plain = output.data.get("text/plain", "").strip()
        assert plain and not re.fullmatch(r"<.*>", plain, re.DOTALL), f"{notebook.place(cell)}: text/plain {plain!r}"


def test_two_heatmaps_of_the_sentence(lesson):
    plain = [output.data.get("text/plain", "") for _, output in lesson.pictures()]
    heatmaps = [text for text in plain if all(text.count(label) >= 2 for label in LABELS)]  # as row and as column
    assert len(heatmaps) >= 2, f"{lesson.path.name}: {len(heatmaps)} heatmaps of the sentence"


# The file


def test_kernel_and_metadata_are_canonical(notebook):
    nb = notebook.nb
    assert (nb.nbformat, nb.nbformat_minor) == (4, 5), f"{notebook.path.name}: nbformat"
    assert set(nb.metadata) == set(METADATA), f"{notebook.path.name}: metadata {nb.metadata}, run `make execute`"
    assert nb.metadata.kernelspec == METADATA["kernelspec"], f"{notebook.path.name}: kernel {nb.metadata.kernelspec}"
    language = nb.metadata.language_info  # JupyterLab adds to it when a notebook is opened, `make execute` undoes that
    assert language.name == "python", f"{notebook.path.name}: language {language.name}"
    for cell in nb.cells:
        extra = set(cell.metadata) - set(CELL_METADATA)
        assert not extra, f"{notebook.place(cell)}: metadata {extra}, run `make execute`"


def test_cell_ids_are_unique_and_stable(notebook):
    ids = [cell.get("id", "") for cell in notebook.nb.cells]
    twice = [identifier for identifier, times in Counter(ids).items() if times > 1]
    assert not twice, f"{notebook.path.name}: ids used twice {twice}"
    random = [identifier for identifier in ids if not is_stable(identifier)]
    assert not random, f"{notebook.path.name}: invalid or random ids {random}, run `make execute`"


def test_file_is_small_and_canonical(notebook):
    size = notebook.path.stat().st_size
    assert size < MAX_BYTES, f"{notebook.path.name}: {size} bytes"
    errors = [error.message for error in nbformat.validator.iter_validate(notebook.nb)]
    assert not errors, f"{notebook.path.name}: not valid: {errors}"
    same = notebook.path.read_text(encoding="utf-8") == serialised(notebook.nb)
    assert same, f"{notebook.path.name}: not formatted as nbformat writes it, run `make execute`"


# Links and headings


def test_links_lead_somewhere(notebook):
    for cell in notebook.markdown:
        for link in links(cell.source):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = unquote(link).partition("#")
            target = notebook.path.parent / name if name else notebook.path
            assert target.exists() and not name.startswith("/"), f"{notebook.place(cell)}: no file {link}"
            if anchor and target.suffix in (".ipynb", ".md"):
                other = notebook if target == notebook.path else None
                known = all_anchors(target, other)
                assert anchor in known, f"{notebook.place(cell)}: no heading {link}"


def all_anchors(path, notebook=None):
    """The anchors of all headings of a notebook or Markdown file."""
    if path.suffix == ".md":
        return anchors(path.read_text(encoding="utf-8"))
    return set().union(*(anchors(cell.source) for cell in (notebook or read(path)).markdown))


def test_previous_and_next_are_the_neighbours(lesson):
    names = [path.name for path in lesson_paths(lesson.path.parent)]
    position = names.index(lesson.path.name)
    expected = {*names[max(position - 1, 0) : position], *names[position + 1 : position + 2], "index.ipynb"}
    last = lesson.markdown[-1]
    found = {link.partition("#")[0] for link in links(last.source) if re.fullmatch(r"[\w.]+\.ipynb(#.*)?", link)}
    assert found == expected, f"{lesson.place(last)}: links to {sorted(found)}, expected {sorted(expected)}"


def test_headings_do_not_jump(notebook):
    levels = [level for cell in notebook.markdown for level, _ in headings(cell.source)]
    assert levels[:1] == [1] and levels.count(1) == 1, f"{notebook.path.name}: heading levels {levels}"
    for above, below in pairwise(levels):
        assert below <= above + 1, f"{notebook.path.name}: a heading of level {below} follows one of level {above}"


# Lessons


def test_lesson_opens_with_goals_needs_and_minutes(lesson):
    first = lesson.nb.cells[0]
    assert first.cell_type == "markdown" and first.source.startswith("# "), f"{lesson.path.name}: no title first"
    for part in ("**You will be able to**", "**You need**", "**Time**: about", "**New notation**"):
        assert part in first.source, f"{lesson.place(first)}: no {part}"


def test_lesson_computes_in_float64(lesson):
    if lesson.path.name in FLOAT32_LESSONS:
        assert any("float32" in cell.source for cell in lesson.markdown), f"{lesson.path.name}: does not say float32"
    else:
        assert "torch.set_default_dtype(torch.float64)" in lesson.code[0].source, lesson.place(lesson.code[0])


def test_minutes_agree_with_index_and_readme(lesson):
    stated = re.search(r"\*\*Time\*\*: about (\d+) minutes", lesson.nb.cells[0].source)
    assert stated, f"{lesson.path.name}: no minutes"
    index = "\n".join(cell.source for cell in read(lesson.path.parent / "index.ipynb").markdown)
    readme = (lesson.path.parents[1] / "README.md").read_text(encoding="utf-8")
    for name, text in (("index.ipynb", index), ("README.md", readme)):
        rows = [MINUTES.search(line) for line in text.splitlines() if lesson.path.name in line]
        minutes = [row.group(1) or row.group(2) for row in rows if row]
        assert minutes == [stated.group(1)], f"{lesson.path.name}: {stated.group(1)} min, in {name} {minutes}"


# Prose


def test_prose_keeps_to_the_style(notebook):
    for cell in notebook.markdown:
        words = prose(cell.source)
        found = re.search(r"\b(?:simply|obviously|just)\b|!(?!=)", words, re.IGNORECASE) or EMOJI.search(words)
        assert not found, f"{notebook.place(cell)}: {found.group()!r}"
        assert "\\begin{align" not in cell.source.replace("\\begin{aligned", ""), f"{notebook.place(cell)}: bare align"


def test_no_machine_is_named(notebook):
    for cell in notebook.nb.cells:
        for pattern in (HOST, ABSOLUTE_PATH):
            found = pattern.search(re.sub(r"\]\([^)]*\)", "]", cell.source))
            assert not found, f"{notebook.place(cell)}: {found.group()!r}"
