# SPDX-License-Identifier: MIT
"""The sessions of debug_dap.py once more, with each message in both directions against the protocol's own declarations:
npm's @vscode/debugprotocol, fetched for the test. Exit code 77 (skipped) without npm, or without a connection.

usage: debug_dap_schema.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import command
import debug_dap

PACKAGE, SKIPPED = "@vscode/debugprotocol@1.68.0", 77


class Declarations:
    """Interfaces and aliases of TypeScript, as far as the protocol's file uses them."""
    TOKEN = re.compile(r"""'[^']*'|"[^"]*"|[A-Za-z_]\w*|\[\]|[{}\[\]()<>|;:,?=]""")

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
        self.tokens, self.at = self.TOKEN.findall(text), 0
        self.types = {}  # name: a type, see `type`
        self.bases = {}
        while self.at < len(self.tokens):
            word = self.take()
            if word == "interface":
                name = self.take()
                if self.peek() == "extends":
                    self.take()
                    self.bases[name] = self.take()
                self.types[name] = self.primary()
            elif word == "type":
                name = self.take()
                assert self.take() == "="
                self.types[name] = self.type()

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def type(self):
        """("union", types), ("array", type), ("object", members, other), ("literal", text), ("name", text)"""
        alternatives = [self.primary()]
        while self.peek() == "|":
            self.take()
            alternatives.append(self.primary())
        return alternatives[0] if len(alternatives) == 1 else ("union", alternatives)

    def primary(self):
        word = self.take()
        if word == "(":
            found = self.type()
            assert self.take() == ")"
        elif word == "{":
            found = self.members()
        elif word[0] in "'\"":
            found = ("literal", word[1:-1])
        else:
            found = ("name", word)
        while self.peek() == "[]":
            self.take()
            found = ("array", found)
        return found

    def members(self):
        members, other = {}, None  # name: (optional, type)
        while self.peek() != "}":
            if self.peek() == "[":  # [key: string]: TYPE
                while self.take() != "]":
                    pass
                assert self.take() == ":"
                other = self.type()
            else:
                name = self.take().strip("'\"")
                optional = self.peek() == "?"
                self.at += optional
                assert self.take() == ":", name
                members[name] = (optional, self.type())
            if self.peek() == ";":
                self.take()
        self.take()
        return ("object", members, other)

    def members_of(self, name):
        members = dict(self.members_of(self.bases[name])) if name in self.bases else {}
        members.update(self.types[name][1])
        return members

    def wrong(self, kind, value, where):
        """Why the value is not of the type; None: it is."""
        if kind[0] == "name" and kind[1] in self.types and self.types[kind[1]][0] == "object":
            return self.wrong(("object", self.members_of(kind[1]), None), value, where)
        if kind[0] == "name" and kind[1] in self.types:
            return self.wrong(self.types[kind[1]], value, where)
        if kind[0] == "union":
            reasons = [self.wrong(one, value, where) for one in kind[1]]
            return None if None in reasons else reasons[0]
        if kind[0] == "array":
            if not isinstance(value, list):
                return f"{where} is no array"
            return next((why for i, one in enumerate(value) if (why := self.wrong(kind[1], one, f"{where}[{i}]"))), None)
        if kind[0] == "literal":
            return None if value == kind[1] else f"{where} is {value!r}, not {kind[1]!r}"
        if kind[0] == "object":
            if not isinstance(value, dict):
                return f"{where} is no object"
            for name, (optional, of) in kind[1].items():
                if name not in value and not optional:
                    return f"{where} has no {name}"
                if name in value and (why := self.wrong(of, value[name], f"{where}.{name}")):
                    return why
            return None
        python = {"string": str, "number": (int, float), "boolean": bool, "null": type(None)}.get(kind[1])
        if kind[1] in ("any", "object", "unknown"):
            return None
        assert python, kind
        good = isinstance(value, python) and not (kind[1] == "number" and isinstance(value, bool))
        return None if good else f"{where} is {value!r}, no {kind[1]}"

    def unknown(self, name, value, where):
        """A member that the interface does not declare, which a client would not look at."""
        members = self.members_of(name)
        return next((f"{where} has {one}, which {name} does not declare" for one in value if one not in members), None)


def declared(message):
    """The interface of a message."""
    name = message.get("event") or message["command"]
    kind = {"event": "Event", "request": "Request", "response": "Response"}[message["type"]]
    if kind == "Response" and not message["success"]:
        return "ErrorResponse"
    return name[0].upper() + name[1:] + kind


class Checked(debug_dap.Client):
    seen = set()

    def check(self, message):
        name = declared(message)
        self.case.assertIn(name, DECLARATIONS.types)
        self.seen.add(name)
        # Some bodies may be left out; an error's is optional in the specification, and required by this file.
        message = {"body": {}, **message} if name == "ErrorResponse" else message
        self.case.assertIsNone(DECLARATIONS.wrong(("name", name), message, name))
        self.case.assertIsNone(DECLARATIONS.unknown(name, message, name))
        if name == "InitializeResponse":
            self.case.assertIsNone(DECLARATIONS.unknown("Capabilities", message["body"], name))

    def read(self):
        message = super().read()
        if message is not None:
            self.check(message)
        return message


def fetch():
    """The text of the declarations; None: they cannot be had."""
    if not shutil.which("npm"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=100)
        if done.returncode:
            return None
        with open(f"{folder}/{done.stdout.split()[-1]}", "rb") as file, tarfile.open(fileobj=io.BytesIO(file.read())) as archive:
            return archive.extractfile("package/lib/debugProtocol.d.ts").read().decode()


class Dap(debug_dap.Dap):
    def test_zz_kinds(self):
        """The sessions before had messages of these kinds at least."""
        if len(sys.argv) == 3:
            self.assertGreaterEqual(Checked.seen, {
                "InitializeResponse", "InitializedEvent", "LaunchResponse", "SetBreakpointsResponse", "StoppedEvent", "ThreadsResponse",
                "StackTraceResponse", "ScopesResponse", "VariablesResponse", "EvaluateResponse", "DisassembleResponse", "ReadMemoryResponse",
                "StepBackResponse", "ReverseContinueResponse", "ErrorResponse"})


if __name__ == "__main__":
    TEXT = fetch()
    if TEXT is None:
        print("skipped: npm cannot fetch", PACKAGE)
        sys.exit(SKIPPED)
    DECLARATIONS = Declarations(TEXT)
    debug_dap.Client = Checked
    command.main()
