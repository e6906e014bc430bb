#!/usr/bin/env python3
"""Bad input and bad luck: one clear line, the documented exit code, and nothing lost."""
import math
import os
import resource
import shutil
import struct
import subprocess
import tempfile

import harness
from harness import npy_header


class HostileFiles(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.write_npy("good.npy", [[1, 2], [3, 4]])

    def bad(self, data, *says, name="bad.npy", code=3):
        self.path(name).write_bytes(data)
        for order in ([name, "good.npy"], ["good.npy", name]):
            self.fails(code, "multiply", *order, "-o", "c.npy", says=says)
        self.assertFalse(self.path("c.npy").exists())
        self.no_leftovers()

    def test_npy(self):
        good = self.path("good.npy").read_bytes()
        self.bad(b"", "bad.npy")
        self.bad(good[:-1], "bad.npy")
        self.bad(good + b"x", "bad.npy")
        self.bad(good[:40], "bad.npy")
        self.bad(good[:7], "bad.npy")
        self.bad(b"\x93NUMPY\x07\x00" + good[8:], "bad.npy")
        self.bad(b"\x93NUMPY\x02\x00" + struct.pack("<I", 0xFFFFFFF0) + b"{'descr'", "bad.npy")
        self.bad(b"not a matrix at all, just some text\n" * 9, "bad.npy")
        for shape in [(-1, 2), (2**40, 2**40), (2**62, 4), (2**63, 1), (10**30, 1)]:
            self.bad(npy_header(shape, "f32") + b"\0" * 16, "bad.npy")
        for descr in ["|O", "|S5", "<c8", "|V3", "<M8[s]", "<f3", ">f16", ""]:
            self.bad(npy_header((2, 2), descr) + b"\0" * 64, "bad.npy")

    def test_wrong_ranks(self):
        for shape in [(), (1, 2, 2), (1,) * 33]:
            self.path("bad.npy").write_bytes(npy_header(shape, "f32") + b"\0" * 4 * math.prod(shape))
            run = self.tessera("multiply", "bad.npy", "good.npy", "-o", "c.npy")
            self.assertIn(run.code, (2, 3))
            self.assertEqual(len(run.lines), 1, run.err)

    def test_matrix_market(self):
        for text in ["", "%%MatrixMarket", "hello\n2 2\n", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
                     "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\nx\n",
                     "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5.0\n",
                     "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 5.0\n",
                     "%%MatrixMarket matrix coordinate real general\n-2 2 1\n1 1 5.0\n",
                     "%%MatrixMarket matrix coordinate real general\n999999999999 999999999999 1\n1 1 5.0\n",
                     "%%MatrixMarket matrix array complex general\n1 1\n1 2\n"]:
            self.path("bad.mtx").write_text(text)
            run = self.tessera("multiply", "bad.mtx", "good.npy", "-o", "c.npy")
            self.assertIn(run.code, (1, 3), text + run.err)
            self.assertEqual(len(run.lines), 1, run.err)
            self.assertIn("bad.mtx", run.err)

    def test_archives(self):
        self.bad(b"PK\x03\x04 no archive", "bad.npz", name="bad.npz")
        self.bad(struct.pack("<Q", 2**60) + b"{}", "bad.safetensors", name="bad.safetensors")
        for header in [b"{broken: ", b"", b"[", b"{\"a\": 1", b"\xff\xfe", b"{} x"]:
            self.path("bad.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
            run = self.fails(3, "multiply", "bad.safetensors", "good.npy", "-o", "c.npy", says="bad.safetensors")
            self.assertNotIn("exception", run.err)
            if header:
                self.assertIn("line 1, column ", run.err)
        self.path("bad.json").write_bytes(b"{\n \"context\": ]")
        self.fails(3, "bench", "--from", "nofile.json", says=["cannot read 'nofile.json': No such file", "check the name and the folder"])
        self.fails(3, "bench", "--from", ".", says=[".: is a folder", "a file that 'tessera bench -o' wrote"])
        run = self.fails(3, "bench", "--from", "bad.json", says=["'bad.json' is not JSON", "line 2, column 13"])
        self.assertNotIn("exception", run.err)
        self.succeeds("multiply", "good.npy", "good.npy", "-o", "two.npz:first")
        run = self.tessera("multiply", "two.npz:second", "good.npy", "-o", "c.npy")
        self.assertIn(run.code, (2, 3))
        self.assertIn("first", run.err)

    def test_what_is_no_file(self):
        self.fails(3, "multiply", "missing.npy", "good.npy", "-o", "c.npy", says=["missing.npy", "No such file"])
        os.mkdir(self.path("folder.npy"))
        self.fails(3, "multiply", "folder.npy", "good.npy", "-o", "c.npy", says="folder.npy")
        os.symlink("loop.npy", self.path("loop.npy"))
        self.fails(3, "multiply", "loop.npy", "good.npy", "-o", "c.npy", says="loop.npy")
        self.fails(3, "multiply", "/dev/null", "good.npy", "-o", "c.npy", says="/dev/null")
        self.fails(3, "multiply", "", "good.npy", "-o", "c.npy")
        self.fails(3, "multiply", "x" * 5000 + ".npy", "good.npy", "-o", "c.npy")

    def test_every_cut_and_many_damages_are_refused_or_right(self):
        good = self.path("good.npy").read_bytes()
        for at in range(0, 128, 5):
            damaged = bytearray(good)
            damaged[at] ^= 0x41
            self.path("bad.npy").write_bytes(damaged)
            run = self.tessera("multiply", "bad.npy", "good.npy", "-o", "c.npy", "--force")
            self.assertIn(run.code, (0, 1, 2, 3), run.err)
            self.assertEqual(len(run.lines), 1, run.err)


class Shapes(harness.CommandTest):
    def test_shapes_that_do_not_fit_name_both_and_the_way_out(self):
        self.write_npy("a.npy", [[1, 2, 3]] * 5)
        self.write_npy("b.npy", [[1, 2]] * 7)
        self.fails(2, "multiply", "a.npy", "b.npy", "-o", "c.npy",
                   says=["A (a.npy) has 3 columns but B (b.npy) has 7 rows", "(5,3)", "(7,2)"])
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.npy", says="try --transpose-b")
        self.write_npy("t.npy", [[1, 2]] * 5)
        self.fails(2, "multiply", "a.npy", "t.npy", "-o", "c.npy", says="try --transpose-a")
        self.write_npy("c0.npy", [[1, 2]])
        self.write_npy("k.npy", [[1, 2]] * 3)
        self.fails(2, "multiply", "a.npy", "k.npy", "--beta", 1, "--c", "c0.npy", "-o", "c.npy", says=["C0 (c0.npy)", "(5,2)"])
        self.fails(2, "multiply", "a.npy", "k.npy", "--beta", 1, "-o", "c.npy", says="--c")
        self.fails(2, "multiply", "a.npy", "k.npy", "--c", "c0.npy", "-o", "c.npy", says="--beta")

    def test_numbers_that_are_none(self):
        self.write_npy("a.npy", [[1]])
        for option in [["--alpha", "one"], ["--alpha", "1e999"], ["--threads", "-1"], ["--tile", "0x0"], ["--tile", "axb"]]:
            self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.npy", *option)
        self.fails(4, "multiply", "a.npy", "a.npy", "-o", "c.npy", "--device", "cuda:99", says="cuda:99")


class Values(harness.CommandTest):
    def test_nan_and_infinity_stay_in_their_row_and_column(self):
        nan, inf = math.nan, math.inf
        self.write_npy("a.npy", [[1, nan], [1, 1], [inf, 0]])
        self.write_npy("b.npy", [[1, 0], [1, 1]])
        for algorithm in harness.algorithms():
            with self.subTest(algorithm):
                self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.npy", "--force", "--verify", "--algorithm", algorithm)
                values = self.read_npy("c.npy")[2]
                lost = algorithm == "three_bf16"  # an infinity times a lesser plane that is 0 is NaN
                self.assertEqual([math.isnan(value) for value in values], [True, True, False, False, lost, True])
                self.assertEqual(values[2:4] if lost else values[2:5], [2, 1] if lost else [2, 1, inf])

    def test_beta_zero_does_not_read_c(self):
        self.write_npy("a.npy", [[1, 2], [3, 4]])
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "c.npy", "--beta", 0)
        self.assertEqual(self.read_npy("c.npy")[2], [7, 10, 15, 22])

    def test_alpha_nan_is_a_value(self):
        self.write_npy("a.npy", [[1]])
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "c.npy", "--alpha", "nan")
        self.assertTrue(math.isnan(self.read_npy("c.npy")[2][0]))


class Resources(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.write_npy("a.npy", [[float(i % 7) for i in range(300)]] * 300)
        self.path("old.npy").write_bytes(b"precious")

    def unchanged(self):
        self.assertEqual(self.path("old.npy").read_bytes(), b"precious")
        self.no_leftovers()

    def test_full_device(self):
        self.fails(1, "multiply", "a.npy", "a.npy", "-o", "/dev/full", says=["cannot write /dev/full", "No space left"])
        with open("/dev/full", "wb") as full:
            for form in ["npy", "npz", "mtx", "safetensors"]:
                self.fails(1, "multiply", "a.npy", "a.npy", "-o", "-", "--format", form, stdout=full,
                           says=["cannot write standard output", "No space left"])

    def test_full_disk(self):
        folder = tempfile.mkdtemp(prefix="tessera-small-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", folder], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no right to mount a small disk")
        try:
            for name in ["c.npy", "c.npz", "c.mtx", "c.safetensors"]:
                with self.subTest(name):
                    self.fails(1, "multiply", "a.npy", "a.npy", "-o", f"{folder}/{name}", says=["No space left", name])
                    self.assertEqual(os.listdir(folder), [])
        finally:
            subprocess.run(["umount", folder], check=True)

    def test_file_size_limit(self):
        for name in ["c.npy", "c.npz", "c.mtx", "c.safetensors", "old.npy"]:
            with self.subTest(name):
                self.fails(1, "multiply", "a.npy", "a.npy", "-o", name, "--force", says=name,
                           limits=[(resource.RLIMIT_FSIZE, 65536)])
                self.unchanged()
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.npy", "old.npy"])

    def test_out_of_memory(self):
        if harness.sanitized():
            self.skipTest("sanitizers need more address space than any limit allows")
        harness.write_npy(self.path("tall.npy"), [1.0] * 6000, (6000, 1))
        codes = set()
        for megabytes in [60, 80, 100, 140, 200, 300]:
            run = self.tessera("multiply", "tall.npy", "tall.npy", "--transpose-b", "-o", "old.npy", "--force", "--algorithm",
                               "block_tiled", "--threads", 1, limits=[(resource.RLIMIT_AS, megabytes << 20)])
            codes.add(run.code)
            if run.code == 0:
                self.path("old.npy").write_bytes(b"precious")
                continue
            self.assertEqual(len(run.lines), 1, run.err)
            self.unchanged()
        self.assertLessEqual(codes, {0, 1})
        self.assertIn(1, codes)

    def test_folder_without_permission(self):
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o700)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            done = subprocess.run([harness.COMMAND, "multiply", "a.npy", "a.npy", "-o", "c.npy"], cwd=self.folder,
                                  env=harness.environment(), capture_output=True, **nobody)
        except PermissionError:
            self.skipTest("the command lies where only root may run it")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr.decode(), r"^tessera multiply: .*c\.npy.*Permission denied.*\n$")


if __name__ == "__main__":
    harness.main()
