#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes seeds of fuzz_trace and fuzz_merge to standard output.

usage: seeds.py records TRACE          what is compressed in a trace
       seeds.py traces PART PART       the records of the traces of two parts, for fuzz_trace
       seeds.py parts PART PART        two parts, for fuzz_merge
"""
import ctypes
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


def main():
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
