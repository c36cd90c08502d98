# SPDX-License-Identifier: MIT
"""Arguments of kernels: scalars, buffers, names and positions.

usage: arguments.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import command
from command import Case, pack


class Arguments(Case):
    def test_scalars(self):
        for value, why in {"1.5": "'1.5' is no uint; expected a whole number",
                           "-1": "'-1' does not fit into uint",
                           "4294967296": "does not fit into uint", "f32:1": "f32 is not uint; expected u32",
                           "u64:1": "u64 has 8 bytes; expected u32",
                           "bits:0x100000000": "does not fit into 4 bytes",
                           "bits:12": "expected bits:0x", "bytes:0102": "2 bytes given; expected 4",
                           "bytes:0": "do not come in pairs", "bytes:0g": "'g' is no hexadecimal digit",
                           "1,2": "2 values given; expected 1", "0x": "is no uint", "": "expected NAME=VALUE",
                           "zero:u32:4": "is no value", "same:a": "is a buffer; expected a value",
                           "lds:4": "is no value"}.items():
            self.refused(why, self.vecadd(n=value))
        sums = self.path("sums.bin", pack("f32", [i + 0.5 for i in range(100)]))
        for value in ("100", "0x64", "u32:100", "i32:100", "bits:0x64", "bytes:64000000"):
            out, _ = self.run_tool(self.vecadd("--expect", f"c=@{sums}", n=value))
            self.assertIn("all 100 elements agree", out)
        saxpy = ["run"] + self.example("saxpy") + ["-g", "4", "-b", "4"]
        self.refused("'x' is no float; expected a number like 1.5", saxpy, "--arg alpha=x")
        self.refused("i32 is not float", saxpy, "--arg alpha=i32:2")

    def test_buffers(self):
        self.path("odd.bin", b"12345")
        self.path("none.bin", b"")
        self.path("here", b"")
        for value, why in {"3": "expected a buffer", "x.npy": "'x.npy' is no value; a file is @x.npy", "here": "a file is @here",
                           "zero:u32:4": "the elements are u32; expected f32",
                           "zero:f64:4": "the elements are f64; expected f32",
                           "zero:f32:0": "no number of elements",
                           "zero:f32:-4": "no number of elements", "zero:f32": "no number of elements",
                           "zero:g32:4": "'g32' is no type", "zero:f32:4:1": "unexpected ':1'",
                           "fill:f32:4": "expected fill:TYPE:N:VALUE", "fill:f32:4:x": "'x' is no f32 number",
                           "rand:f32:4:1.5": "is no seed", "f32:1,x": "'x' is no f32 number; expected f32:V,V,...",
                           "f32:": "'' is no f32 number", "i8:300": "'300' does not fit into i8", "f32:1,": "'' is no f32",
                           "zero:f32:4x4": "like 4096, 4k or 64*64",
                           "zero:f32:4X": "no number of elements", "zero:f32:1024*": "no number of elements",
                           "zero:f32:17179869184G": "no number of elements",
                           "zero:f32:99999999999999999999": "no number of elements",
                           "zero:f32:9999999999999999": "do not fit into memory",
                           "@": "a file name must follow",
                           "@missing.npy": "missing.npy: cannot be read",
                           "@odd.bin": "no whole number of f32",
                           "@none.bin": "holds no elements", "bytes:": "needs hexadecimal digits",
                           "same:q": "no buffer 'q' is made", "same:a": "no buffer 'a' is made",
                           "same:c+400": "byte 400 lies behind the buffer, which has 400",
                           "lds:4": "expected a buffer"}.items():
            self.refused(why, self.vecadd(a=value))

    def test_product_as_target(self):
        """The target of MI300X: LLVM AMDGPUUsage, "Processors"."""
        self.refused("-m mi300x: this is a product (--gpu); its target is -m gfx942", self.vecadd("-m", "mi300x"))

    def test_names_and_positions(self):
        b, n = ["--arg b=rand:f32:N", "argument 1 'b': float*"], ["--arg n=VALUE", "argument 3 'n': uint, 4 bytes"]
        self.lacks([b], self.vecadd(b=None))
        self.lacks([n], self.vecadd(n=None))
        self.lacks([b, n], self.vecadd(b=None, n=None))
        grid = ["-g X[,Y[,Z]]", "work-items of the whole grid; or --blocks: workgroups"]
        workgroup = ["-b X[,Y[,Z]]", "work-items of a workgroup"]
        self.lacks([grid, workgroup, b], "run", self.example("vecadd"), "--arg a=null --arg c=null --arg n=1")
        self.refused("it takes: 0 a (float*), 1 b (float*), 2 c (float*), 3 n (uint, 4 bytes)",
                     self.vecadd(nix="3"))
        self.refused("no such argument", self.vecadd("--arg", "4=0"))
        self.refused("--arg a is given twice", self.vecadd("--arg", "a=null"))
        self.refused("--arg 0 is given twice", self.vecadd("--arg", "0=null"))
        self.refused("--arg n: expected NAME=VALUE", self.vecadd("--arg", "n"))
        doubled = pack("f32", [0, 2, 4, 6]).hex()
        out, _ = self.run_tool(["run"] + self.example("vecadd"), "-g 4 -b 4 --arg 3=4 --arg 2=zero:f32:4",
                               f"--arg 0=iota:f32:4 --arg 1=same:0 --expect c=bytes:{doubled}")
        self.assertIn("all 4 elements agree", out)


if __name__ == "__main__":
    command.main()
