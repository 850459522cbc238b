"""Fixtures and settings for all checks."""

import pytest
from lessons import lesson_paths, notebook_paths, read, use_own_settings

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
    """Keep out of the kernels' output what is not a lesson's: your settings and the font cache's messages."""
    use_own_settings()
    if not hasattr(config, "workerinput"):
        import matplotlib.font_manager  # noqa: F401


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
