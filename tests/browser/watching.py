"""A browser that reaches no other host, and what each page opened in it asks for elsewhere and complains about."""

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
ONLY_THIS_HOST = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-proxy-server"]


def find_browser():
    """Return the path of Chromium or a relative; without one, skip the test, but fail it where CI is set.

    The environment variable CHROMIUM names one that is not on the path.
    """
    found = filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *NAMES)))
    if path := next(found, None):
        return path
    reason = f"no browser: none of {', '.join(NAMES)} is on the path; CHROMIUM=/path/to/one names it"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@dataclass
class Visit:
    """A page of the browser, with the requests it made outside `own` and the errors it reported so far."""

    page: Page
    own: str
    elsewhere: list = field(default_factory=list)
    errors: list = field(default_factory=list)

    def __post_init__(self):
        context = self.page.context
        context.on("request", lambda request: self.see(request.url))
        self.page.on("websocket", lambda socket: self.see(socket.url.replace("ws", "http", 1)))
        context.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def see(self, url):
        """Remember the address of a request if it is not one of `own`."""
        if not url.startswith((self.own, "data:", "blob:")):
            self.elsewhere.append(url)

    def open(self, address):
        """Go to an address and wait until its fonts are there too."""
        self.page.goto(address)
        self.page.evaluate("() => document.fonts.ready.then(() => true)")
        return self

    def resize(self, size):
        """Change the size of the window and wait until the page has been told and drawn."""
        self.page.set_viewport_size(size)
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and keeps no log."""

    def log_message(self, *arguments):
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server to which a browser may hang up, as it does when a page is closed early."""

    def handle_error(self, request, client_address):
        """Report every error except a lost connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve(folder):
    """Serve a folder on a free port while the block runs; the value is its address."""
    with Server(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
