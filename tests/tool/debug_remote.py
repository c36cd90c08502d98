# SPDX-License-Identifier: MIT
"""GDB's remote protocol: a client of our own, lldb and gdb, which are skipped where they are not installed; and nonsense.

usage: debug_remote.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import random
import re
import shutil
import struct
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

import command
from command import Case

REDUCTION = "-g 1024 -b 256 --arg in=iota:f32:1024 --arg sums=zero:f32:4 --arg n=1024"
SUMS = [float(sum(range(256 * i, 256 * i + 256))) for i in range(4)]


class Client:
    """Speaks the protocol over the standard input and output of the command."""

    def __init__(self, case):
        self.process = subprocess.Popen([command.WAVEMEM, "debug", *case.example("reduction"), *REDUCTION.split(), "--gdb", "-"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        case.addCleanup(self.end)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)

    def send(self, packet):
        data = packet.encode() if isinstance(packet, str) else packet
        self.process.stdin.write(b"$" + data + b"#%02x" % (sum(data) & 255))
        self.process.stdin.flush()

    def receive(self):
        """The next packet, decoded; None: the end."""
        out = self.process.stdout
        while (byte := out.read(1)) != b"$":
            if not byte:
                return None
        raw = b""
        while (byte := out.read(1)) != b"#":
            raw += byte
        assert int(out.read(2), 16) == sum(raw) & 255
        self.process.stdin.write(b"+")
        return re.sub(rb"}(.)", lambda m: bytes([m.group(1)[0] ^ 0x20]), raw, flags=re.S).decode()

    def ask(self, packet):
        self.send(packet)
        return self.receive()


class Remote(Case):
    def monitor(self, client, text):
        answer = client.ask("qRcmd," + text.encode().hex())
        return "" if answer == "OK" else bytes.fromhex(answer).decode()

    def address(self, client, name):
        return int(re.search(r"0x([0-9a-f]+)", self.monitor(client, f"p {name}")).group(1), 16)

    def test_session(self):
        client = Client(self)
        self.assertIn("qXfer:features:read+", client.ask("qSupported:xmlRegisters=i386"))
        self.assertEqual(client.ask("?"), "T05thread:1;")
        self.assertEqual(client.ask("qfThreadInfo"), "m1,2,3,4")  # 256 work-items, waves of 64
        store = int(self.monitor(client, "info breakpoints") and
                    re.search(r"0x([0-9a-f]+)", self.monitor(client, "break insn global_store*")).group(1), 16)
        self.monitor(client, "delete")
        sums, values = self.address(client, "sums"), self.address(client, "in")
        self.assertEqual(bytes.fromhex(client.ask(f"m{values:x},10")), struct.pack("<4f", 0, 1, 2, 3))
        self.assertEqual(client.ask(f"Z0,{store:x},4"), "OK")
        self.assertEqual(client.ask("vCont;c"), "T05thread:1;hwbreak:;")
        self.assertEqual(client.ask(f"m{sums:x},4"), "00000000")
        self.assertEqual(client.ask("vCont;s:1"), "T05thread:1;")
        self.assertEqual(bytes.fromhex(client.ask(f"m{sums:x},4")), struct.pack("<f", SUMS[0]))
        self.assertEqual(client.ask("bs"), "T05thread:1;")
        self.assertEqual(client.ask(f"m{sums:x},4"), "00000000")
        self.assertEqual(client.ask("bc"), "T05thread:1;replaylog:begin;")
        self.assertEqual(client.ask(f"z0,{store:x},4"), "OK")
        self.assertEqual(client.ask(f"Z2,{sums + 8:x},4"), "OK")
        self.assertEqual(client.ask("c"), f"T05thread:9;watch:{sums + 8:x};")  # workgroup 2, its first wave
        self.assertEqual(bytes.fromhex(client.ask(f"m{sums:x},10")), struct.pack("<4f", *SUMS[:3], 0))
        self.assertEqual(client.ask(f"M{sums:x},4:0000803f"), "OK")
        self.assertEqual(client.ask(f"m{sums:x},4"), "0000803f")
        self.assertEqual(bytes.fromhex(client.ask(f"m{1 << 48:x},4")), struct.pack("<f", SUMS[2]))  # LDS
        self.assertEqual(client.ask(f"z2,{sums + 8:x},4"), "OK")
        self.assertEqual(client.ask("vCont;c"), "W00")
        client.send("k")

    def test_registers(self):
        """The description, and reading and writing registers by it."""
        client = Client(self)
        xml, part = "", "m"
        while part[0] == "m":
            part = client.ask(f"qXfer:features:read:target.xml:{len(xml):x},400")
            xml += part[1:]
        registers = {r.get("name"): r for r in ElementTree.fromstring(xml).iter("reg")}
        self.assertEqual([registers[n].get("bitsize") for n in ("pc", "exec", "scc", "s0", "v0")], ["64", "64", "32", "32", "2048"])
        number = {name: int(r.get("regnum")) for name, r in registers.items()}
        self.assertEqual(bytes.fromhex(client.ask(f"p{number['v0']:x}")), struct.pack("<64I", *range(64)))
        self.assertEqual(client.ask(f"p{number['exec']:x}"), "ff" * 8)
        self.assertEqual(client.ask(f"P{number['s7']:x}=78563412"), "OK")
        self.assertEqual(client.ask(f"p{number['s7']:x}"), "78563412")
        every = client.ask("g")
        self.assertEqual(len(every), sum(int(r.get("bitsize")) for r in registers.values()) // 4)
        self.assertEqual(client.ask("G" + every), "OK")
        self.assertEqual(client.ask(f"P{number['pc']:x}=0000000000000000"), "E02")
        client.send("k")

    def test_documents(self):
        client = Client(self)
        threads = ElementTree.fromstring(client.ask("qXfer:threads:read::0,10000")[1:])
        self.assertEqual([t.get("id") for t in threads], ["1", "2", "3", "4"])
        regions = ElementTree.fromstring(client.ask("qXfer:memory-map:read::0,10000")[1:])
        sums = self.address(client, "sums")
        self.assertIn((hex(sums), "0x10"), [(r.get("start"), r.get("length")) for r in regions])
        client.send("k")

    def test_nonsense(self):
        """Packets of any content are answered, or end the session; the command goes on and ends well."""
        seed = random.Random(7)
        letters = [b"g", b"G", b"p", b"P", b"m", b"M", b"X", b"H", b"T", b"Z", b"z", b"vCont", b"qXfer:features:read:target.xml:",
                   b"qRcmd,", b"qThreadExtraInfo,", b"qMemoryRegionInfo:", b"b", b"?", b"Q", b"qXfer:threads:read::", b"vCont;r"]
        client = Client(self)
        for _ in range(200):
            packet = seed.choice(letters) + bytes(seed.choice(b"0123456789abcdef,:;=-+ifcsgzZ\x00\xff}") for _ in range(seed.randrange(40)))
            packet = packet.replace(b"}", b"}]")
            client.send(packet)
            self.assertIsNotNone(client.receive(), packet)
        self.assertRegex(client.ask("?"), "^[TWX]")
        client.process.stdin.write(b"$" + b"m" * 70000)  # never ends
        client.end()
        self.assertEqual(client.process.returncode, 0)

    def serve(self):
        """Listens on a free port; returns it."""
        process = subprocess.Popen([command.WAVEMEM, "debug", *self.example("reduction"), *REDUCTION.split(), "--gdb", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.stdout.close)
        return process.stdout.readline().strip().rsplit(":", 1)[1]

    def places(self):
        """The addresses of the store, and of sums, which are the same in each session."""
        out, _ = self.run_tool("debug", self.example("reduction"), REDUCTION, "--batch", "--eval-command", "starti",
                               ["--eval-command", "break insn global_store*", "--eval-command", "p sums"])
        return re.search(r"Breakpoint 1 at (0x\w+)", out).group(1), re.search(r"\*\) (0x\w+)", out).group(1)

    @unittest.skipUnless(shutil.which("lldb-19"), "no lldb-19")
    def test_lldb(self):
        store, sums = self.places()
        commands = [f"gdb-remote {self.serve()}", f"breakpoint set -a {store}", "continue", "register read exec v1", "thread step-inst",
                    f"memory read -s 4 -f f -c 4 {sums}", "thread list", "breakpoint delete -f", "continue"]
        done = subprocess.run(["lldb-19", "-x", "-b", *[word for c in commands for word in ("-o", c)]], capture_output=True,
                              encoding="utf-8", timeout=120)
        self.assertIn("stop reason = breakpoint 1.1", done.stdout, done.stderr)
        self.assertIn("exec = 0x0000000000000001", done.stdout)
        self.assertIn("v1 = {0x%08x 0x" % struct.unpack("<I", struct.pack("<f", SUMS[0])), done.stdout)
        self.assertIn(f"{sums}: {SUMS[0]:.0f}", done.stdout)
        self.assertIn("exited with status = 0", done.stdout)

    @unittest.skipUnless(shutil.which("gdb-multiarch"), "no gdb-multiarch")
    def test_gdb(self):
        store, sums = self.places()
        commands = [f"target remote 127.0.0.1:{self.serve()}", f"hbreak *{store}", "continue", "p/x $exec", "stepi", f"x/1fw {sums}",
                    "reverse-stepi", f"x/1fw {sums}", "p $v0[3]", "delete", f"watch *(float *) ({sums} + 8)", "continue",
                    "reverse-continue", "monitor who sums[1]", "kill"]
        done = subprocess.run(["gdb-multiarch", "-nx", "-batch", *[word for c in commands for word in ("-ex", c)]],
                              capture_output=True, encoding="utf-8", timeout=120)
        self.assertIn("$1 = 0x1", done.stdout, done.stderr)
        self.assertRegex(done.stdout, rf"(?s){sums}:\t{SUMS[0]:.0f}\n.*{sums}:\t0\n")
        self.assertIn(f"Old value = 0\nNew value = {SUMS[2]:.0f}", done.stdout)
        self.assertIn(f"Old value = {SUMS[2]:.0f}\nNew value = 0", done.stdout)
        self.assertIn(f"sums[1] = {SUMS[1]:.0f} was last written by workgroup (1,0,0)", done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("gdb-multiarch"), "no gdb-multiarch")
    def test_gdb_above_v255(self):
        """Registers that gfx1250 names with bits of MODE."""
        lines = ["  s_set_vgpr_msb 0x80", "  v_mov_b32 v44, 5", "  s_set_vgpr_msb 0", "  s_endpgm"]
        with open(self.path("upper.s"), "w", encoding="utf-8") as file:
            file.write("\n".join([".globl k", ".p2align 8", ".type k,@function", "k:", *lines, ".size k, .-k", ".rodata", ".p2align 6",
                                  ".amdhsa_kernel k", ".amdhsa_next_free_vgpr 768", ".amdhsa_next_free_sgpr 16", ".end_amdhsa_kernel", ""]))
        server = f"target remote | {command.WAVEMEM} debug {self.path('upper.s')} -m gfx1250 -g 32 -b 32 --gdb -"
        commands = [server, "stepi 2", "p $v556", "set $v767[3] = 77", "p $v767", "kill"]
        done = subprocess.run(["gdb-multiarch", "-nx", "-batch", *[word for c in commands for word in ("-ex", c)]],
                              capture_output=True, encoding="utf-8", timeout=120)
        self.assertIn("$1 = {5 <repeats 32 times>}\n$2 = {0, 0, 0, 77, 0 <repeats 28 times>}", done.stdout, done.stderr)


if __name__ == "__main__":
    command.main()
