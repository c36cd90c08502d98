# SPDX-License-Identifier: MIT
"""Input of the command: pipes, which can be read only once, and standard input.

usage: input.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import struct
import threading

import command
from command import TRANSPOSE, Case, npy, pack


class Input(Case):
    def pipe(self, path, ending=""):
        """A pipe that delivers the file's content once."""
        name = self.path(f"pipe{len(os.listdir(self.folder.name))}{ending}")
        os.mkfifo(name)
        with open(path, "rb") as file:
            content = file.read()

        def write():
            with open(name, "wb") as pipe:
                pipe.write(content)
        writer = threading.Thread(target=write, daemon=True)  # a second reader would wait forever
        writer.start()
        return name

    def same(self, words, path, **kept):
        """The words with a pipe in place of FILE give the same output as with the file."""
        expected = self.run_tool([path if word == "FILE" else word for word in words], **kept)
        pipe = self.pipe(path)
        out, err = self.run_tool([pipe if word == "FILE" else word for word in words], **kept)
        self.assertEqual((out.replace(pipe, path), err.replace(pipe, path)), expected)

    def test_info(self):
        bundle = os.path.join(command.EXAMPLES, "..", "hip", "segments.plain.hipfb")
        for file in (*self.example("transpose"), bundle, bundle.replace("plain", "packed")):
            self.same(["info", "FILE"], file)
            self.same(["info", "--json", "FILE"], file)
        self.same(["info", "-m", "gfx906", "FILE"], bundle)
        self.same(["info", "-k", "transpose_lds", "FILE"], self.example("transpose")[0])
        self.same(["info", "-m", "gfx1030", "FILE"], bundle, code=2)
        self.same(["info", "FILE"], self.path("text", b"neither"), code=2)
        self.same(["info", "FILE"], self.path("empty", b""), code=2)
        self.refused("a folder", "info .")

    def test_large_files(self):
        """Unneeded parts of a file take no memory, and the size of code objects is limited."""
        with open(self.example("transpose")[0], "rb") as file:
            head = file.read(64)
        for size, why in ((1 << 33, "a code object of 8589934592 bytes; at most 4294967296"),
                          (1 << 43, "a code object of 8796093022208 bytes; at most 4294967296")):
            with open(self.path("sparse.co"), "wb") as file:
                file.write(head)
                try:
                    file.truncate(size)
                except OSError:
                    continue
            for verb in ("info", "dis", "run -g 1 -b 1"):
                self.refused(why, verb, "sparse.co")

    def test_other_verbs(self):
        transpose, = self.example("transpose")
        words = ["-k", "transpose_naive", "-g", "4,4", "-b", "4,4", "--arg", "out=zero:f32:16", "--arg", "n=4"]
        self.same(["run", "FILE", *words, "--arg", "in=iota:f32:16", "--expect", "out=bytes:" + pack(
            "f32", [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]).hex(), "--then", "-g", "4,4"], transpose)
        self.same(["prof", "FILE", *words, "--arg", "in=iota:f32:16"], transpose)
        self.same(["dis", "FILE"], transpose)
        self.same(["dis", "-k", "transpose_lds", "--lines", "FILE"], transpose)
        job = self.path("job", " ".join([*words, "--arg in=iota:f32:16"]).encode())
        self.same(["run", transpose, "--job", "FILE", "--fidelity"], job)
        array = npy("<f4", "(16,)", pack("f32", range(16)))
        pipe = self.pipe(self.path("array.npy", array), ".npy")
        self.run_tool(["run", transpose, *words, "--arg", f"in=@{pipe}", "--expect", "out=@array.npy"], code=1)
        self.run_tool(["prof", transpose, *words, "--arg", "in=iota:f32:16", "--trace", "x.trace", "--json=x.json"])
        self.same(["replay", "FILE"], self.path("x.trace"))
        self.same(["diff", "--all", "FILE", self.path("x.json")], self.path("x.json"))
        self.same(["asm", "-m", "gfx900", "--raw", "FILE", "-o", "-"], self.path("k.s", b"s_nop 1\n"))

    def test_standard_input(self):
        """asm and dis read standard input with "-", as their help says."""
        words = struct.pack("<2I", 0xbf800001, 0xbf810000)
        text = b"s_nop 1\ns_endpgm\n"
        self.run_tool("asm -m gfx900 --raw - -o out.bin", stdin=text)
        self.assertEqual(self.read("out.bin"), words)
        self.assertEqual(self.run_tool("asm -m gfx900 --raw -o - -", stdin=text[:8])[0].encode("utf-8", "replace"),
                         words[:4].decode(errors="replace").encode())
        self.assertEqual(self.run_tool("dis -m gfx900 --raw --plain -", stdin=words)[0].encode(), text)
        self.path("more.inc", b"s_endpgm\n")  # without a source file: in the current folder
        self.run_tool("asm -m gfx900 --raw - -o out.bin", stdin=b's_nop 1\n.include "more.inc"\n')
        self.assertEqual(self.read("out.bin"), words)
        _, err = self.run_tool("asm -m gfx900 - -o out.bin", stdin=b"s_nop 1\n  s_nix\n", code=2)
        self.assertTrue(err.startswith("<stdin>:2:3: error: unknown instruction 's_nix'"), err)
        self.path("-", b"s_nop 1\n")
        self.run_tool("asm -m gfx900 --raw ./- -o out.bin", stdin=b"")
        self.assertEqual(self.read("out.bin"), words[:4])
        for verb in ("asm", "dis"):
            self.assertRegex(self.run_tool(verb, "--help")[0], r"(?s)- reads standard\s+input")


if __name__ == "__main__":
    command.main()
