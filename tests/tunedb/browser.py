# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""A Chromium without a window, driven through its pipe with the standard library alone."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_browser():
    """The path of a Chromium, or None."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One page of one browser. Use it in a with statement."""

    def __init__(self, path, limit=120):
        self._limit = limit
        self._next = 0
        self._unread = b""
        self._events = []
        self._home = tempfile.mkdtemp(prefix="report_browser_")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"', "sh",
             str(to_browser), str(from_browser), path, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--remote-debugging-pipe", "--user-data-dir=" + self._home, "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self._home})
        os.close(to_browser)
        os.close(from_browser)
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = None
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(domain + ".enable")
        self._call("Emulation.setFocusEmulationEnabled", {"enabled": True})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._home, ignore_errors=True)

    def _message(self):
        while b"\0" not in self._unread:
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self._unread += part
        text, self._unread = self._unread.split(b"\0", 1)
        return json.loads(text)

    def _call(self, method, parameters=None):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters or {}}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self._events.append(answer)

    def resize(self, width, height, dark=False, forced_scale=1):
        """The window's size in CSS pixels, and the colours that the system asks for."""
        self._call("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": forced_scale, "mobile": False})
        self._call("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, url):
        """Opens a page and waits until its script has drawn it."""
        self._call("Page.navigate", {"url": "about:blank"})
        self._events.clear()
        self._call("Page.navigate", {"url": url})
        return self.wait("document.documentElement?.dataset.ready")

    def wait(self, expression):
        """Waits until an expression is true, and returns its value."""
        end = time.monotonic() + self._limit
        while time.monotonic() < end:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.05)
        raise RuntimeError(f"never true: {expression}; {self.errors()}")

    def evaluate(self, expression):
        answer = self._call("Runtime.evaluate", {
            "expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def key(self, name):
        """Presses and releases a key."""
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", {"type": kind, "key": name, "code": name})

    def drag(self, start, end):
        """Presses the mouse button at one point of the window and releases it at another."""
        points = [start] + [[start[i] + (end[i] - start[i]) * k / 4 for i in (0, 1)] for k in range(1, 5)]
        kinds = ["mousePressed"] + ["mouseMoved"] * 4
        for kind, (x, y) in list(zip(kinds, points)) + [("mouseReleased", points[-1])]:
            self._call("Input.dispatchMouseEvent", {
                "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1})

    def errors(self):
        """What the page has reported since it was opened: exceptions, and errors of the console."""
        self.evaluate("0")  # what was reported before this is here after it
        found = []
        for event in self._events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description")
                             or parameters["exceptionDetails"]["text"])
            if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                found.append(parameters["entry"]["text"])
            if event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
                found.append(str(parameters["args"]))
        return found

    def requests(self):
        """The addresses that the page has asked for since it was opened, data and blobs apart."""
        self.evaluate("0")
        urls = [event["params"]["request"]["url"] for event in self._events
                if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("data:", "blob:"))]

    def screenshot(self, path, selector=None):
        """The whole page, or the element of a selector with a margin at its sides, as a PNG."""
        if selector is None:
            size = self._call("Page.getLayoutMetrics")["cssContentSize"]
            box = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000)}
        else:
            box = self.evaluate(
                f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                "return {x: box.x + scrollX - 12, y: box.y + scrollY + 4, width: box.width + 24, height: box.height}; })()")
        picture = self._call("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {**box, "scale": 1}})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
