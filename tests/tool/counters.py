# SPDX-License-Identifier: MIT
"""--counters: AMD's counters, compared with published ones.

usage: counters.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import command
from command import Case, pack


class Counters(Case):
    def counters(self, *words):
        self.run_tool("prof", *words, "--counters counters.csv")
        lines = self.read("counters.csv").decode().splitlines()
        self.assertEqual(lines[0], "kernel,name,value")
        values = {}
        for kernel, name, value in (line.rsplit(",", 2) for line in lines[1:]):
            values.setdefault(kernel, {})[name] = int(value)
        return values

    def test_published_counters(self):
        """rocprofiler-compute's vcopy -n 1048576 -b 256 on MI200: c[i] = a[i] for doubles, 16384 waves."""
        self.path("vcopy.bin", pack("u32", [
            0xC00A0100, 0x00000000,  # s_load_dwordx4 s[4:7], s[0:1], 0x0
            0x8E028802,              # s_lshl_b32 s2, s2, 8
            0x68000002,              # v_add_u32_e32 v0, s2, v0
            0x24000083,              # v_lshlrev_b32_e32 v0, 3, v0
            0xBF8CC07F,              # s_waitcnt lgkmcnt(0)
            0xDC548000, 0x02040000,  # global_load_dwordx2 v[2:3], v0, s[4:5]
            0xBF8C0F70,              # s_waitcnt vmcnt(0)
            0xDC748000, 0x00060200,  # global_store_dwordx2 v0, v[2:3], s[6:7]
            0xBF810000]))              # s_endpgm
        values = self.counters("vcopy.bin -m gfx90a -g 1048576 -b 256",
                               "--arg 0=zero:f64:1048576 --arg 1=zero:f64:1048576")
        self.assertEqual(set(values), {"", "*"})  # raw instructions have no symbol
        published = {"TA_TOTAL_WAVEFRONTS": 32768, "TCP_TOTAL_ACCESSES": 2097152,
                     "TCP_TOTAL_CACHE_ACCESSES": 524288, "TCP_TCC_READ_REQ": 131072,
                     "TCP_TCC_WRITE_REQ": 131072}
        for kernel in values.values():
            self.assertEqual({name: kernel[name] for name in published}, published)

    def test_counters(self):
        words = self.example("transpose") + ["-g", "64,64", "-b", "16,16", "--arg", "in=iota:f32:4096",
                                             "--arg", "out=zero:f32:4096", "--arg", "n=64", "-k"]
        values = self.counters(words, "transpose_lds --then -k transpose_unpadded --arg in=same:in",
                               "--arg out=same:out --arg n=64")
        self.assertEqual(list(values), ["transpose_lds", "transpose_unpadded", "*"])
        for name, total in values["*"].items():
            self.assertEqual(values["transpose_lds"][name] + values["transpose_unpadded"][name], total)
        expected = {"SQ_INSTS_LDS": 128, "SQ_INSTS_VMEM_RD": 64, "SQ_INSTS_VMEM_WR": 64,
                    "SQ_LDS_IDX_ACTIVE": 64 * 18, "SQ_LDS_BANK_CONFLICT": 64 * 14,
                    "TA_FLAT_READ_WAVEFRONTS": 64, "TA_BUFFER_WAVEFRONTS": 0, "TD_COALESCABLE_WAVEFRONT": 128,
                    "TCP_TOTAL_ACCESSES": 128 * 16}
        self.assertEqual({name: values["transpose_unpadded"][name] for name in expected}, expected)
        self.refused("'wavemem prof' counts, 'run' does not", ["run"] + words, "transpose_lds --counters x.csv")
        self.refused("--counters no/x.csv: cannot be written", ["prof"] + words,
                     "transpose_lds --counters no/x.csv")


if __name__ == "__main__":
    command.main()
