# SPDX-License-Identifier: MIT
"""Output files are either complete or absent, and on failure an existing file is kept.

usage: output.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import re
import resource
import stat
import subprocess
import threading
import unittest

import command
from command import TRANSPOSE, Case

RUN = ["-k", "transpose_naive"] + TRANSPOSE.split()
OLD = b"what was there before" * 1000


def without_command(page):
    """A page contains the command line, with the name of its file."""
    return re.sub(rb'<pre class="command">.*</pre>', b"", page)


class Output(Case):
    def writers(self):
        """Commands that write FILE, for each option that writes one."""
        transpose = self.example("transpose")
        self.path("k.s", b".rept 4000\ns_nop 0\n.endr\n")
        for option in ("--csv", "--html", "--counters", "--trace", "--json="):
            file = ["--json=FILE"] if option == "--json=" else [option, "FILE"]
            yield ["prof", *transpose, *RUN, *file]
        for verb in ("run", "prof"):
            for name in ("FILE", "FILE.npy"):
                yield [verb, *transpose, *RUN, "--out", "out=" + name]
        yield ["run", *transpose, *RUN, "--json=FILE"]
        yield ["asm", "-m", "gfx900", "k.s", "-o", "FILE"]
        yield ["tess", "--patches", "40", "--vertices", "3", "--attributes", "4", "--svg", "FILE"]

    def write(self, words, path, limit=None, stdout=subprocess.PIPE, code=0):
        """Runs the command with a path in place of FILE, with the same suffix; limit: of the file size, in bytes."""
        def limited():
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        name = next(word for word in words if "FILE" in word)
        path += name[name.index("FILE") + 4:]
        words = [word[:word.index("FILE")] + path if "FILE" in word else word for word in words]
        done = subprocess.run([command.WAVEMEM, *words], stdout=stdout, stderr=subprocess.PIPE, cwd=self.folder.name,
                              preexec_fn=limited, restore_signals=False, timeout=60)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stderr.decode()}")
        return path, done

    def test_a_write_that_fails_leaves_the_old_file(self):
        for words in self.writers():
            for old in (OLD, None):
                path, _ = self.write(words, "new")  # without errors
                whole = self.read(path)
                self.assertGreater(len(whole), 500, words)
                os.remove(self.path(path))
                if old:
                    self.path(path, old)
                path, done = self.write(words, "new", limit=len(whole) // 2, code=2)
                self.assertRegex(done.stderr.decode(), r"(?m)^wavemem: .*new.*: cannot be written: File too large$")
                self.assertEqual(self.read(path) if os.path.exists(self.path(path)) else None, old, words)
                self.assertEqual([name for name in os.listdir(self.folder.name) if "part" in name], [])
                path, _ = self.write(words, "new")
                if words[-1] != "--json=FILE":  # which contains the run time
                    self.assertEqual(self.read(path), whole)
                os.remove(self.path(path))

    def test_the_mode_of_a_file_is_kept(self):
        for words in self.writers():
            umask = os.umask(0o027)
            path, _ = self.write(words, "new")
            os.umask(umask)
            self.assertEqual(stat.S_IMODE(os.stat(self.path(path)).st_mode), 0o640)
            for mode in (0o600, 0o666, 0o755):
                os.chmod(self.path(path), mode)
                self.write(words, "new")
                self.assertEqual(stat.S_IMODE(os.stat(self.path(path)).st_mode), mode, words)
            os.remove(self.path(path))

    def test_links_stay(self):
        """Symbolic links are followed, whether the target exists or not, in any folder."""
        os.mkdir(self.path("there"))
        for words in self.writers():
            for old in (b"old", None):
                path, _ = self.write(words, "there/file")
                os.remove(self.path(path))
                link = path.replace("there/file", "link")
                os.symlink(path, self.path("first"))
                os.symlink("first", self.path(link))
                if old:
                    self.path(path, old)
                self.write(words, "link")
                self.assertEqual(os.readlink(self.path(link)), "first")
                self.assertGreater(os.path.getsize(self.path(path)), 500)
                self.assertEqual(os.listdir(self.path("there")), [os.path.basename(path)])
                for name in (link, "first", path):
                    os.remove(self.path(name))
        os.symlink("loop", self.path("loop"))
        for words in self.writers():
            if not words[-1].endswith(".npy"):
                self.assertIn("loop", self.write(words, "loop", code=2)[1].stderr.decode())

    def test_special_files_are_written_directly(self):
        for words in self.writers():
            if words[-1].endswith(".npy"):
                continue
            whole = without_command(self.read(self.write(words, "new")[0]))
            self.write(words, "/dev/null")
            self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
            _, done = self.write(words, "/dev/full", code=2)
            self.assertIn(b"No space left on device", done.stderr)
            got = []
            os.mkfifo(self.path("pipe"))
            reader = threading.Thread(target=lambda: got.append(self.read("pipe")))
            reader.start()
            self.write(words, "pipe")
            reader.join()
            self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
            os.remove(self.path("pipe"))
            _, done = self.write(words, "/dev/stdout")
            if words[-1] != "--json=FILE":
                self.assertEqual(without_command(got[0]), whole)
                self.assertIn(whole, without_command(done.stdout))

    def test_standard_output_as_a_file(self):
        """With /dev/stdout as FILE, the printed report precedes the file's content."""
        transpose = self.example("transpose")
        with open(self.path("all"), "wb") as file:
            file.write(b"before\n")
            file.flush()
            self.write(["prof", *transpose, *RUN, "--csv", "FILE"], "/dev/stdout", stdout=file)
        text = self.read("all").decode()
        self.assertTrue(text.startswith("before\nverdict    transpose_naive "), text)
        self.assertIn("\nkernel,offset,text,", text)
        with open(self.path("alone.csv"), "wb") as file:
            self.write(["prof", *transpose, *RUN, "--csv", "FILE"], self.path("alone.csv"), stdout=file)
        self.assertEqual(self.read("alone.csv").decode(), text[len("before\n"):])

    @unittest.skipIf(os.getuid() == 0, "root may write everywhere")
    def test_folders_that_take_no_file(self):
        os.mkdir(self.path("closed"))
        self.path("closed/old", b"old")
        os.chmod(self.path("closed"), 0o555)
        for words in self.writers():
            if not words[-1].endswith(".npy"):
                self.write(words, "closed/old")
                self.assertGreater(os.path.getsize(self.path("closed/old")), 500)
                self.assertIn(b"Permission denied", self.write(words, "closed/new", code=2)[1].stderr)
        os.chmod(self.path("closed/old"), 0o444)
        for words in self.writers():
            if not words[-1].endswith(".npy"):
                self.assertIn(b"Permission denied", self.write(words, "closed/old", code=2)[1].stderr)
        os.chmod(self.path("closed"), 0o755)


if __name__ == "__main__":
    command.main()
