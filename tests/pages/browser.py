"""A headless Chromium, driven over its pipe: file descriptors 3 and 4, messages of JSON that end in a
zero byte (the DevTools protocol)."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")


def program():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One tab. `events` holds what the page reported since the last open()."""

    def __init__(self, width=1500, height=1000):
        child_reads, self._write = os.pipe()
        read, child_writes = os.pipe()
        self._read = read
        self._profile = tempfile.TemporaryDirectory()

        def give_pipes():
            # By way of high numbers: the pipes may be 3 and 4 themselves.
            os.dup2(child_reads, 103)
            os.dup2(child_writes, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self._process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}",
             "about:blank"],
            preexec_fn=give_pipes, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(child_reads)
        os.close(child_writes)
        self._buffer = b""
        self._number = 0
        self._session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target,
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def _message(self):
        while b"\0" not in self._buffer:
            data = os.read(self._read, 1 << 20)
            if not data:
                raise EOFError("the browser is gone")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def js(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def press(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def print_style(self, on):
        self.call("Emulation.setEmulatedMedia", media="print" if on else "")

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))

    def complaints(self):
        """Errors of the console and of scripts, and requests other than the page itself."""
        out = []
        for event in self.events:
            method, parameters = event.get("method", ""), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                out.append(str(parameters["exceptionDetails"])[:300])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
                out.append(str(parameters["args"])[:300])
            elif method == "Log.entryAdded":
                out.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if parameters.get("type") != "Document" and not url.startswith("data:"):
                    out.append("a request: " + url)
        return out

    def close(self):
        self._session = None
        try:
            self.call("Browser.close")
        except (EOFError, BrokenPipeError):
            pass
        self._process.wait(30)
        self._profile.cleanup()
