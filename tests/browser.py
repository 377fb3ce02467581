"""Drives a headless Chromium for tests of pages, by the DevTools protocol over a pipe: no driver, no other package.

Found as `chromium`, `chromium-browser`, `google-chrome` or where `TABLETOP_ENVS_BROWSER` says.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT = 60  # seconds for an answer
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
# a browser reads commands from descriptor 3 and writes answers to 4
_LAUNCH = (
    "import os, sys; r, w = map(int, sys.argv[1:3]); os.dup2(r, 3); os.dup2(w, 4); os.execvp(sys.argv[3], sys.argv[3:])"
)


def find() -> str | None:
    """The path of a browser, None where there is none."""
    named = os.environ.get("TABLETOP_ENVS_BROWSER")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of a headless browser.

    complaints: what the page wrote to the console as warning or error, exceptions, and what its policy refused.
    """

    def __init__(self, path: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="browser-")
        ends = [os.pipe(), os.pipe()]
        self.complaints: list[str] = []
        # beyond 3 and 4, which they are moved to
        high = [os.dup2(end, 60 + number) for number, end in enumerate((ends[0][0], ends[1][1]))]
        command = [sys.executable, "-c", _LAUNCH, *map(str, high), path, *FLAGS, f"--user-data-dir={self._profile}"]
        self._process = subprocess.Popen(
            command, pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        for end in (*high, ends[0][0], ends[1][1]):
            os.close(end)
        self._write, self._read = ends[0][1], ends[1][0]
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._session: str | None = None
        self._loaded = False
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command of the protocol."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            pass
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + TIMEOUT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self._read, 1 << 16) if ready else b""
            assert data, "the browser says nothing more"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, facts: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(facts["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(facts["args"]))
        elif event == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
            self.complaints.append(facts["entry"]["text"])

    def open(self, address: str | Path) -> None:
        """Go to an address, or to a file, and wait until it is loaded."""
        self._loaded = False
        answer = self("Page.navigate", url=address.absolute().as_uri() if isinstance(address, Path) else address)
        assert "errorText" not in answer, answer
        while not self._loaded:
            self._next()

    def do(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        """Until an expression of the page holds."""
        deadline = time.monotonic() + TIMEOUT
        while not self.do(f"!!({script})"):
            assert time.monotonic() < deadline, f"{script} does not come to hold"
            time.sleep(0.02)

    def press(self, key: str, text: str = "") -> None:
        """A key, as a person presses it."""
        self("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text)
        self("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def click(self, selector: str) -> None:
        """The middle of an element, as a person clicks it."""
        place = self.do(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); "
            f"return [r.x + r.width / 2, r.y + r.height / 2]; }})(document.querySelector({json.dumps(selector)}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """From now on with a window of this size, by day or by night."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        scheme = "dark" if dark else "light"
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """What is seen, as PNG; the whole page, or the window."""
        answer = self("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        """End the browser."""
        os.close(self._write)  # upon which it leaves
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)


def driven(path: str, what: Callable[[Browser], None]) -> None:
    """Do something with a browser, and close it."""
    browser = Browser(path)
    try:
        what(browser)
    finally:
        browser.close()
