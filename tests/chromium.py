# SPDX-License-Identifier: BSD-3-Clause
"""A page in headless Chromium, driven over the pipe of its DevTools protocol, which needs no client library."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

BINARY = shutil.which("chromium") or shutil.which("chromium-browser")
WAIT_S = 120.0
SIZE = (1200, 1000)
_ABOVE = 10
"""Descriptors below may be those that Chromium wants, 3 and 4."""


class Browser:
    """One page. `errors` is all that its console, its script or its network complained of."""

    def __init__(self, profile: Path) -> None:
        assert BINARY is not None
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, _ABOVE) for end in (to_read, to_write)]
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", f"--window-size={SIZE[0]},{SIZE[1]}", f"--user-data-dir={profile}",
            "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        # bash, because of numbers above 9.
        script = f'exec "$0" "$@" 3<&{ends[0]} 4>&{ends[1]} {ends[0]}<&- {ends[1]}>&-'
        self._log = (profile.parent / "chromium.log").open("wb")
        self._process = subprocess.Popen(
            ["bash", "-c", script, BINARY, *options], pass_fds=ends, stdout=self._log, stderr=self._log
        )
        for end in (to_read, to_write, *ends):
            os.close(end)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=WAIT_S)
        os.close(self._write)
        os.close(self._read)
        self._log.close()

    @property
    def errors(self) -> list[str]:
        found = []
        for event in self._events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(parameters["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(parameters["args"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(json.dumps(parameters["entry"]))
        return found

    @property
    def requests(self) -> list[str]:
        """Everything that was fetched, the page itself first."""
        sent = [event["params"] for event in self._events if event["method"] == "Network.requestWillBeSent"]
        return [str(one["request"]["url"]) for one in sent if not one["request"]["url"].startswith("data:")]

    def open(self, page: Path) -> None:
        self._events.clear()
        self.call("Page.navigate", url=page.as_uri())
        end = time.monotonic() + WAIT_S
        while self.js("document.documentElement?.dataset.ready") != "yes":
            if self.errors or time.monotonic() > end:
                raise AssertionError(f"{page}: not ready; {self.errors}")
            time.sleep(0.05)

    def width(self, pixels: int | None) -> None:
        """Show the page as if the window were so wide; None is the window's own size again."""
        if pixels is None:
            self.call("Emulation.clearDeviceMetricsOverride")
        else:
            size = {"width": pixels, "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False}
            self.call("Emulation.setDeviceMetricsOverride", **size)

    def js(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        held: dict[str, Any] = {"button": "left", "buttons": 1, "clickCount": 1}
        self.mouse("mousePressed", *start, **held)
        self.mouse("mouseMoved", *end, buttons=1)
        self.mouse("mouseReleased", *end, **held)

    def key(self, name: str, text: str = "") -> None:
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message: dict[str, object] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            if "method" in answer:
                self._events.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], WAIT_S)
            read = os.read(self._read, 1 << 20) if ready else b""
            assert read, "chromium said nothing more"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer
