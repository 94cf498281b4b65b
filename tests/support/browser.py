"""A page in a real browser: headless Chromium, driven over its DevTools protocol."""

import atexit
import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import ROOT

_AXE = ROOT / ".tools" / "axe" / "axe_playwright_python" / "axe.min.js"
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
)  # fmt: skip


def found() -> str:
    """Where a Chromium is, ``""`` for nowhere."""
    return next(filter(None, map(shutil.which, _NAMES)), "")


def installed() -> str:
    """Where a Chromium is; a test is skipped without one, unless ``VIRT_RENDER_REQUIRE_BROWSER=1``."""
    if name := found():
        return name
    if os.environ.get("VIRT_RENDER_REQUIRE_BROWSER") == "1":
        pytest.fail("no Chromium, and a browser is required")
    pytest.skip("no Chromium (apt-get install chromium-headless-shell)")


class _Browser:
    """A browser with an empty profile, which ends with this process."""

    def __init__(self) -> None:
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        atexit.register(profile.cleanup)
        to_read, self._to = os.pipe()
        self._of, of_write = os.pipe()
        # Chromium reads what it is asked from descriptor 3, and answers on 4.
        command = f'exec "$@" 3<&{to_read} 4>&{of_write}'
        child = subprocess.Popen(
            ["bash", "-c", command, "browser", installed(), *_OPTIONS, f"--user-data-dir={profile.name}"],
            pass_fds=(to_read, of_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        atexit.register(child.wait)
        atexit.register(child.kill)
        os.close(to_read)
        os.close(of_write)
        self._number = 0
        self._rest = b""

    def send(self, message: dict[str, Any]) -> int:
        """Send *message* under a number of its own, which the answer will have."""
        self._number += 1
        os.write(self._to, json.dumps({"id": self._number, **message}).encode() + b"\0")
        return self._number

    def receive(self) -> Any:
        """The next message."""
        while b"\0" not in self._rest:
            more = os.read(self._of, 1 << 16)
            assert more, "the browser is gone"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)


@cache
def _browser() -> _Browser:
    """The browser of this process, which is started now."""
    return _Browser()


class Page:
    """One tab, which knows nothing of others. *errors* is what its console says, and what no script caught."""

    def __init__(self) -> None:
        self._browser = _browser()
        self._session = ""
        self._events: list[str] = []
        self._path = Path()
        self.errors: list[str] = []
        self._context = self.ask("Target.createBrowserContext")["browserContextId"]
        context = {"browserContextId": self._context}
        target = self.ask("Target.createTarget", url="about:blank", **context)["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        """Close it, with all that it has stored."""
        self._session = ""
        self.ask("Target.disposeBrowserContext", browserContextId=self._context)

    def ask(self, method: str, **parameters: Any) -> Any:
        """What the browser answers."""
        message = {"method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        number = self._browser.send(message)
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> Any:
        message = self._browser.receive()
        if message.get("sessionId", "") == self._session:
            if message.get("method") in (
                "Runtime.consoleAPICalled",
                "Runtime.exceptionThrown",
                "Log.entryAdded",
            ):
                self.errors.append(json.dumps(message["params"]))
            self._events.append(message.get("method", ""))
        return message

    def open(self, path: Path, **look: Any) -> None:
        """Load a file, shown with this *look*, and wait until it is there.

        What was there is left first: to lay it out anew for another width takes the browser seconds.
        """
        self._load("about:blank")
        self.show(**look)
        self._path = path
        self._load(path.as_uri())

    def reopen(self, **look: Any) -> None:
        """Load the file anew, shown with this *look*."""
        self.open(self._path, **look)

    def _load(self, address: str) -> None:
        self.ask("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def wait_for(self, event: str) -> None:
        """Wait until this has happened since it was last waited for."""
        while event not in self._events:
            self._next()
        self._events.clear()

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        found = self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def show(
        self, *, width: int = 1280, height: int = 900, scheme: str = "light", media: str = ""
    ) -> None:
        """Show it so wide, in a colour scheme, on a screen or on paper."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)

    def press(self, key: str, code: int) -> None:
        """Press and release a key."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **text,
            )

    def violations(self) -> list[str]:
        """What axe-core finds in the page with all its details open, but for the rows that are filtered away.

        Rules look at each element: of a large table, filter all but a few rows away, which have the same in them.
        """
        if not _AXE.exists() and os.environ.get("VIRT_RENDER_REQUIRE_TOOLS") != "1":
            pytest.skip("no axe-core; `make tools` installs it")
        self.run("document.querySelectorAll('tbody[hidden]').forEach((one) => one.remove())")
        self.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        self.run(f"{_AXE.read_text(encoding='utf-8')};0")
        found: list[str] = (
            self.run("""axe.run(document, {resultTypes: ["violations"]}).then((found) =>
            found.violations.map((one) => `${one.id}: ${one.nodes[0].html}`))""")
        )
        return found

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def paper(self) -> bytes:
        """What is printed, as PDF."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])


@contextmanager
def page() -> Iterator[Page]:
    """A tab."""
    opened = Page()
    yield opened
    opened.close()
