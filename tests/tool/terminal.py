# SPDX-License-Identifier: MIT
"""What differs on a terminal: colours, unless NO_COLOR is set, and progress with the time that remains.

usage: terminal.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import pty
import re
import signal
import subprocess
import time

import command
from command import Case

# Each wave counts to 2^14.
KERNEL = b"""
    s_mov_b32 s3, 0
1:  s_add_u32 s3, s3, 1
    s_cmp_lt_u32 s3, 0x4000
    s_cbranch_scc1 1b
    s_endpgm
"""


class Terminal(Case):
    def on_terminal(self, *words, until=None, **environment):
        """What the command writes to a terminal for both outputs, until a text appears or it ends."""
        ours, theirs = pty.openpty()
        kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        process = subprocess.Popen([command.WAVEMEM, *words], cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=theirs,
                                   stderr=theirs, env={**kept, "TERM": "xterm", **environment})
        os.close(theirs)
        out, end = b"", time.monotonic() + 60
        while time.monotonic() < end and not (until and re.search(until, out)):
            try:
                more = os.read(ours, 4096)
            except OSError:  # closed
                break
            if not more:
                break
            out += more
        if until:
            process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        os.close(ours)
        return out.decode(), process.returncode

    def test_colours(self):
        out, code = self.on_terminal("run", "missing.co")
        self.assertEqual((out, code), ("\x1b[31mwavemem:\x1b[0m missing.co: No such file or directory\r\n", 2))
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", self.on_terminal("run", "missing.co", **environment)[0])
        self.assertIn("\x1b[31mwavemem:", self.on_terminal("run", "missing.co", NO_COLOR="")[0])  # no-color.org: not empty
        vecadd = self.vecadd("--on-violation", "continue", a="zero:f32:10")[1:]
        out, code = self.on_terminal("check", *vecadd)
        self.assertEqual(code, 1)
        self.assertIn("\x1b[31merror:\x1b[0m load of 4 bytes", out)
        self.assertIn("\x1b[33mnote:\x1b[0m -g 100 fills", out)
        self.assertNotIn("\x1b", "".join(self.run_tool("check", vecadd, code=1)))  # no terminal

    def test_progress(self):
        self.path("k.s", KERNEL)
        self.run_tool("asm -m gfx900 --raw k.s -o k.bin")
        words = "run k.bin -m gfx900 -j 1 -g 64M -b 64".split()
        out, code = self.on_terminal(*words, until=rb" s left")
        self.assertEqual(code, 130)
        self.assertRegex(out, r"raw: \d+ of 1048576 workgroups, \d+%, \d+ s, [\d.e+]+ workgroups/s, about \d+ s left")

    def test_progress_at_once(self):
        """WAVEMEM_PROGRESS is the delay; the line is removed before other output; none without a terminal."""
        self.path("k.s", KERNEL)
        self.run_tool("asm -m gfx900 --raw k.s -o k.bin")
        words = "run k.bin -m gfx900 -j 1 -g 64k -b 64 --stats".split()
        out, code = self.on_terminal(*words, WAVEMEM_PROGRESS="0")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^\rraw: \d+ of 1024 workgroups, ")
        self.assertRegex(out, r"\r\x1b\[Kraw: 1024 workgroups, 1024 waves")
        piped = subprocess.run([command.WAVEMEM, *words], capture_output=True, cwd=self.folder.name, timeout=60,
                               env={**os.environ, "WAVEMEM_PROGRESS": "0"})
        self.assertEqual((piped.returncode, piped.stderr), (0, b""))


if __name__ == "__main__":
    command.main()
