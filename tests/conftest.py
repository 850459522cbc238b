"""Fixtures and settings for all checks."""

from pathlib import Path

import pytest
from lessons import NEEDS_WEIGHTS, lesson_paths, notebook_paths, read, use_own_settings, without_weights

from utils.weights import WeightsError, find_weights

collect_ignore = ["browser"]  # they need a browser: `make test-browser` names them, and then they run


def stem(path):
    return path.stem


@pytest.fixture(params=notebook_paths(), ids=stem)
def notebook(request):
    """Each notebook of the course."""
    return read(request.param)


@pytest.fixture(params=lesson_paths(), ids=stem)
def lesson(request):
    """Each lesson of the course."""
    return read(request.param)


def pytest_configure(config):
    """Keep out of the kernels' output what is not a lesson's: your settings and the font cache's messages.

    And stop at once, with one sentence, a run that would need the weights of lesson 11 and does not have them.
    """
    use_own_settings()
    if not hasattr(config, "workerinput"):
        import matplotlib.font_manager  # noqa: F401

        if not without_weights() and any(Path(argument).is_dir() for argument in config.args):
            try:
                find_weights()
            except WeightsError as error:
                what, how = str(error).splitlines()
                raise pytest.UsageError(f"{what} {how} Or leave the lesson out with WITHOUT_WEIGHTS=1.") from None


def needs_weights(item):
    """Whether a test executes lesson 11."""
    name = item.path.name
    return name in (NEEDS_WEIGHTS, "test_real_llm.py") or (
        name in ("test_pictures.py", "test_lab.py") and Path(NEEDS_WEIGHTS).stem in item.name
    )


def pytest_collection_modifyitems(config, items):
    """Leave out what executes lesson 11 if told so by WITHOUT_WEIGHTS=1."""
    if without_weights():
        left_out = [item for item in items if needs_weights(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Under `pytest -n 2`, keep the cells of a notebook together in one kernel and let every other test go anywhere."""
    from xdist.scheduler import LoadScopeScheduling

    class ByNotebook(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return nodeid.split("::")[0] if ".ipynb" in nodeid else nodeid

    return ByNotebook(config, log)


def pytest_terminal_summary(terminalreporter):
    """Print what a test has counted."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in getattr(report, "user_properties", []):
            if name == "counted":
                terminalreporter.write_line(f"Counted: {value}.")
