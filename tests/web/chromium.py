# SPDX-License-Identifier: MIT
"""Drives a headless Chromium by the DevTools protocol, over a pipe: needs nothing but Python and the browser.

Messages are JSON, each ended by a zero byte; Chromium reads them from descriptor 3 and writes to 4.
Source: https://chromedevtools.github.io/devtools-protocol/
"""
import fcntl
import json
import os
import select
import shutil
import time

PROGRAMS = ("chromium-headless-shell", "chromium")
SECONDS = 60  # for one answer, and for the browser to end
KEYS = {"Tab": (9, None), "Enter": (13, "\r")}  # code and text


def installed():
    """The path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Chromium:
    def __init__(self, program, home):
        """`home` is where the browser may write its profile."""
        reads, self.to_browser = os.pipe()
        self.from_browser, writes = os.pipe()
        # Out of the way of 3 and 4, which they become in the child.
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (reads, writes)]
        log = os.open(os.path.join(home, "chromium.log"), os.O_WRONLY | os.O_CREAT, 0o600)
        self.process = os.posix_spawn(
            program,
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={home}"],
            dict(os.environ, HOME=home),
            file_actions=[(os.POSIX_SPAWN_DUP2, theirs[0], 3), (os.POSIX_SPAWN_DUP2, theirs[1], 4),
                          (os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)])
        for end in (reads, writes, log, *theirs):
            os.close(end)
        self.sent = 0
        self.buffer = b""
        self.events = []  # (session, method, parameters) of all that was not an answer

    def read(self):
        """The next message."""
        while b"\0" not in self.buffer:
            if not select.select([self.from_browser], [], [], SECONDS)[0]:
                raise TimeoutError(f"Chromium said nothing for {SECONDS} s")
            data = os.read(self.from_browser, 1 << 16)
            if not data:
                raise EOFError("Chromium has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, **parameters):
        """Calls a method and returns its result."""
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.sent:
                break
            self.events.append((answer.get("sessionId"), answer.get("method"), answer.get("params")))
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait_for(self, session, method):
        """Reads until an event has come, now or before."""
        while not any(event[:2] == (session, method) for event in self.events):
            message = self.read()
            self.events.append((message.get("sessionId"), message.get("method"), message.get("params")))

    def close(self):
        self.send("Browser.close")
        os.close(self.to_browser)
        os.close(self.from_browser)
        end = time.monotonic() + SECONDS
        while os.waitpid(self.process, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.kill(self.process, 9)
            time.sleep(0.02)


class Page:
    """A page in a context of its own. Nothing is loaded before open()."""

    def __init__(self, browser, scripts=True, colour_scheme=None, size=(1280, 720)):
        self.browser, self.scripts = browser, scripts
        self.context = browser.send("Target.createBrowserContext")["browserContextId"]
        target = browser.send("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.send("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)
        if colour_scheme:
            self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colour_scheme}])
        if not scripts:
            self.send("Emulation.setScriptExecutionDisabled", value=True)

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def open(self, address):
        self.send("Page.navigate", url=address)
        self.browser.wait_for(self.session, "Page.loadEventFired")

    def close(self):
        self.browser.send("Target.disposeBrowserContext", browserContextId=self.context)

    def run(self, function, *arguments):
        """The value of a JavaScript function, given as text, called with values that JSON has."""
        call = f"({function})({', '.join(map(json.dumps, arguments))})"
        answer = self.send("Runtime.evaluate", expression=call, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{answer['exceptionDetails']['exception'].get('description')}\nin {call}")
        return answer["result"].get("value")

    def click(self, selector, text=None):
        """Clicks by mouse into the middle of the first element with the selector, and the text if one is given."""
        place = self.run("""(selector, text) => {
            const element = [...document.querySelectorAll(selector)].find((one) => text === null || one.textContent === text);
            if (!element) return null;
            element.scrollIntoView({ block: "center", inline: "center" });
            const box = element.getClientRects()[0];
            const at = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
            const hit = document.elementFromPoint(at.x, at.y);
            return element.contains(hit) || hit?.contains(element) ? at : `covered by ${hit?.outerHTML}`;
        }""", selector, text)
        if not isinstance(place, dict):
            raise AssertionError(f"{selector} {text or ''}: {place or 'is not there'}")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
        self.settle()

    def press(self, key):
        code, text = KEYS[key]
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        for parameters in (down, {"type": "keyUp"}):
            self.send("Input.dispatchKeyEvent", key=key, code=key, windowsVirtualKeyCode=code, **parameters)
        self.settle()

    def settle(self):
        """Waits for the handlers that an input started, until the next frame but one."""
        if self.scripts:
            self.run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def troubles(self, own):
        """What the page logged, threw, or asked for besides its own address."""
        found = []
        for session, method, event in self.browser.events:
            if session != self.session:
                continue
            if method == "Runtime.consoleAPICalled":
                found.append("console: " + " ".join(str(part.get("value")) for part in event["args"]))
            elif method == "Runtime.exceptionThrown":
                found.append("error: " + event["exceptionDetails"].get("exception", {}).get("description", "?"))
            elif method == "Log.entryAdded":
                found.append("log: " + event["entry"]["text"])
            elif method == "Network.requestWillBeSent" and event["request"]["url"] != own:
                found.append("asks for " + event["request"]["url"])
        return found
