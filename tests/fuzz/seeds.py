#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes seeds of fuzz_trace, fuzz_merge, fuzz_pm4 and fuzz_debug to standard output.

usage: seeds.py records TRACE          what is compressed in a trace
       seeds.py traces PART PART       the records of the traces of two parts, for fuzz_trace
       seeds.py parts PART PART        two parts, for fuzz_merge
       seeds.py packets GPU            a command buffer with one of each packet, for fuzz_pm4
       seeds.py packets-of-gdb         packets of GDB's remote protocol, for fuzz_debug
       seeds.py messages-of-dap        messages of the Debug Adapter Protocol, for fuzz_debug
"""
import ctypes
import json
import struct
import sys

ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t


def decompress(frame, most=1 << 22):
    room = ctypes.create_string_buffer(most)
    size = ZSTD.ZSTD_decompress(room, ctypes.c_size_t(most), frame, ctypes.c_size_t(len(frame)))
    return room.raw[:size]


def records(trace):
    return decompress(trace[8:])


def open_part(content):
    """The head, the body and the trace of a part; source: tool/shard/part.h."""
    head, body, packed, _ = struct.unpack_from("<4Q", content, 8)
    return content[40:40 + head], decompress(content[40 + head:40 + head + packed], body + 1), content[40 + head + packed:]


def packets(gpu):
    """With the addresses of fuzz_pm4.c."""
    commands, data = 0x800000, 0x100000
    shader = data + 4096
    bodies = [(0x76, 0x20C, shader >> 8, 0), (0x76, 0x212, 0xC0000, 1 << 7 | 2 << 1), (0x76, 0x207, 64, 1, 1),
              (0x76, 0x204, 1, 0, 0), (0x76, 0x240, data, 0), (0xBA, 0x241, 5), (0xBB, 2, 0x02430242, 1, 2),
              (0x15, 2, 1, 1, 0x41), (0x15, 100, 1, 1, 0x65), (0x11, 1, data, 0), (0x16, 256, 5), (0x16, data + 256, 0, 5),
              (0x37, 5 << 8, data, 0, 1, 2, 3), (0x40, 1 | 5 << 8, data, 0, data + 64, 0), (0x40, 9 | 5 << 8, 0, 0, data + 64, 0),
              (0x50, 2 << 29, 7, 0, data + 512, 0, 64), (0x50, 0, data, 0, data + 1024, 0, 64), (0x41, data, 0, data + 64, 0, 16),
              (0x49, 0x528, 2 << 29, data + 200, 0, 1, 2, 0), (0x47, 0x528, data + 200, 1 << 29, 1, 0),
              (0x48, 0x52F, data + 204, 2 << 29, 1), (0x63, data, 0, 0x240, 3), (0x46, 0x115, data, 0), (0x46, 0x407),
              (0x20, 4 << 16 | 1 << 8, data + 32, 0), (0x20, 0, 0, 0), (0x22, data, 0, 0, 2), (0x10, 0),
              (0x3C, 0x13, data, 0, 0, 0, 4), (0x3F, commands + 0x8000, 0, 4)]
    words = [word for code, *body in bodies for word in (3 << 30 | (len(body) - 1) << 16 | code << 8 | 2, *body)]
    return bytes([gpu]) + struct.pack(f"<{len(words)}I", *words)


def packets_of_gdb():
    monitor = [f"qRcmd,{text.encode().hex()}" for text in ("info waves", "print a[3]", "break vecadd", "who c[1]", "bt", "info locals")]
    lines = ["qSupported:multiprocess+", "?", "qXfer:features:read:target.xml:0,ffb", "qXfer:memory-map:read::0,100", "g", "p20",
             "P5=00000001", "vCont?", "qfThreadInfo", "qsThreadInfo", "Hg1", "vCont;s:1", "vCont;c", "Z0,10000001900,4", "c", "bs", "bc",
             "Z2,10000020000,10", "z2,10000020000,10", "m10000020000,40", "M10000020000,4:00010203", "X10000020000,2:ab",
             "qC", "T1", "D", "s", *monitor, "k"]
    return bytes([0]) + "\n".join(lines).encode()


def messages_of_dap():
    requests = [("configurationDone", {}), ("threads", {}), ("stackTrace", {"threadId": 1}), ("scopes", {"frameId": 64}),
                ("variables", {"variablesReference": 1}), ("setBreakpoints", {"source": {"path": "vecadd.cl"}, "breakpoints": [{"line": 8}]}),
                ("setFunctionBreakpoints", {"breakpoints": [{"name": "vecadd", "condition": "$lane == 3"}]}),
                ("dataBreakpointInfo", {"name": "c"}), ("setDataBreakpoints", {"breakpoints": [{"dataId": "c", "accessType": "write"}]}),
                ("setInstructionBreakpoints", {"breakpoints": [{"instructionReference": "0x10000001900"}]}),
                ("continue", {"threadId": 1}), ("next", {"threadId": 1}), ("stepIn", {"threadId": 1, "granularity": "instruction"}),
                ("stepBack", {"threadId": 1}), ("reverseContinue", {"threadId": 1}), ("evaluate", {"expression": "a[3]", "context": "watch"}),
                ("evaluate", {"expression": "info waves", "context": "repl"}), ("setVariable", {"variablesReference": 2, "name": "s4", "value": "5"}),
                ("disassemble", {"memoryReference": "0x10000001900", "instructionOffset": -3, "instructionCount": 10}),
                ("readMemory", {"memoryReference": "0x10000020000", "count": 16}), ("pause", {"threadId": 1}), ("disconnect", {})]
    return bytes([1]) + "\n".join(json.dumps({"seq": i, "type": "request", "command": command, "arguments": arguments})
                                  for i, (command, arguments) in enumerate(requests, 3)).encode()


def main():
    if sys.argv[1] in ("packets-of-gdb", "messages-of-dap"):
        sys.stdout.buffer.write(packets_of_gdb() if sys.argv[1] == "packets-of-gdb" else messages_of_dap())
        return
    if sys.argv[1] == "packets":
        sys.stdout.buffer.write(packets(int(sys.argv[2])))
        return
    what, names = sys.argv[1], sys.argv[2:]
    files = []
    for name in names:
        with open(name, "rb") as file:
            files.append(file.read())
    if what == "records":
        made = records(files[0])
    elif what == "traces":
        first, second = [records(open_part(part)[2]) for part in files]
        made = bytes([4]) + struct.pack("<H", len(first)) + first + second
    else:
        made = bytes([0xFC])
        for head, body, trace in map(open_part, files):
            trace = records(trace) if trace else b""
            made += head + b"\0" + struct.pack("<HH", len(body), len(trace)) + body + trace
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
