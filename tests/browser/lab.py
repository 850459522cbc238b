"""A JupyterLab server of this environment, and what the tests do in it."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from lessons import use_own_settings

SECONDS = 120  # for the server to start, and for a notebook to run
OPTIONS = ["--no-browser", "--allow-root", "--expose-app-in-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"]
OPTIONS += ["--ServerApp.base_url=/some/where/"]  # as on a shared server
READY = """async () => {
    await window.jupyterapp.restored;
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.revealed;
    await panel.sessionContext.ready;
    await Promise.all(panel.content.widgets.map(cell => cell.ready));
}"""
COMMAND = """([command, seconds]) => Promise.race([
    window.jupyterapp.commands.execute(command).then(() => true),
    new Promise((_, stop) => setTimeout(() => stop(`${command}: not done after ${seconds} s`), 1000 * seconds)),
])"""


@dataclass(frozen=True)
class Lab:
    """A running server: the folder it shows, its address and the token that opens it."""

    folder: Path
    url: str
    token: str

    def open(self, page, name):
        """Open a notebook of the folder in a page, in a workspace of its own, and wait for its kernel."""
        page.goto(f"{self.url}lab/workspaces/{Path(name).stem}/tree/{name}?token={self.token}&reset")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        page.evaluate(READY)

    def run_all(self, page):
        """Do what the menu entry “Run All Cells” does, and wait until the last cell has run."""
        page.evaluate(COMMAND, ["notebook:run-all-cells", SECONDS])

    def save(self, page):
        """Do what the menu entry “Save Notebook” does."""
        page.evaluate(COMMAND, ["docmanager:save", SECONDS])

    def stop_kernels(self, page):
        """Stop all kernels of the server, so that they do not pile up in memory."""
        rights = {"Authorization": f"token {self.token}"}
        for kernel in page.request.get(f"{self.url}api/kernels", headers=rights).json():
            page.request.delete(f"{self.url}api/kernels/{kernel['id']}", headers=rights)


@contextmanager
def serve_lab(home, folder):
    """Show a folder in JupyterLab while the block runs; settings, workspaces and logs lie in `home`, not in yours."""
    use_own_settings()
    own = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
    environment = os.environ | own | {"JUPYTER_PREFER_ENV_PATH": "1"}  # python3 is the kernel of this environment
    with (home / "log.txt").open("w") as log:
        command = [sys.executable, "-m", "jupyterlab", *OPTIONS]
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        about = wait_for_server(server, home)
        yield Lab(folder, about["url"], about["token"])
    finally:
        server.terminate()
        server.wait(SECONDS)


def wait_for_server(server, home):
    """Return what the server says of itself, as soon as it says it."""
    start = monotonic()
    while monotonic() - start < SECONDS and server.poll() is None:
        for path in (home / "runtime").glob("jpserver-*.json"):
            try:
                return json.loads(path.read_text())
            except ValueError:  # written at this very moment
                pass
        sleep(0.1)
    raise RuntimeError("JupyterLab did not start:\n" + (home / "log.txt").read_text())
