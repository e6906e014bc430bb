#!/usr/bin/env python3
"""tessera multiply: results, inputs and outputs."""
import math
import os
import random
import resource
import signal
import struct
import subprocess
import time

import harness
from harness import product


class Multiply(harness.CommandTest):
    def setUp(self):
        super().setUp()
        random.seed(1)
        self.a = [[random.randint(-9, 9) for _ in range(7)] for _ in range(5)]
        self.b = [[random.randint(-9, 9) for _ in range(4)] for _ in range(7)]
        self.write_npy("a.npy", self.a)
        self.write_npy("b.npy", self.b)

    def expect(self, name, rows, dtype="f32"):
        found = self.read_npy(name)
        self.assertEqual(found, (dtype, (len(rows), len(rows[0])), [value for row in rows for value in row]))
        self.no_leftovers()

    def test_elements_of_one_byte_by_warpgroups(self):
        for dtype in ("i8", "u8"):
            a, b = ([[abs(each) if dtype == "u8" else each for each in row] for row in rows] for rows in (self.a, self.b))
            self.write_npy("a8.npy", a, dtype)
            self.write_npy("b8.npy", b, dtype)
            run = self.succeeds("multiply", "a8.npy", "b8.npy", "-o", f"{dtype}.npy", "--algorithm", "warpgroup", "--verify")
            self.assertIn("warpgroup 128x128/64x128", run.err)
            self.expect(f"{dtype}.npy", product(a, b), "i32")

    def test_product_of_two_files(self):
        run = self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.npy")
        self.assertEqual(run.out, "")
        self.assertRegex(run.err, r"^tessera multiply: c\.npy: \(5,4\) = \(5,7\) \* \(7,4\) in f32; \w+ .* GFLOP/s\n$")
        self.assertNotIn("none", run.err)  # packed has no tile to name
        run = self.succeeds("multiply", "a.npy", "b.npy", "-o", "d.npy", "--algorithm", "tiled", "--tile", "16x16x16", "--threads", 7)
        self.assertIn("; tiled 16x16x16 on up to 7 threads (requested); ", run.err)
        self.expect("c.npy", product(self.a, self.b))
        # Such a small product uses one thread: the plan's number is the maximum.
        run = self.succeeds("multiply", "a.npy", "b.npy", "-o", "e.npy", "--threads", 3, env={"TESSERA_VERBOSE": "1"})
        self.assertIn(" taking_part=1 ", run.err)
        self.assertIn("; packed on up to 3 threads (", run.err)
        run = self.succeeds("multiply", "a.npy", "b.npy", "-o", "f.npy", "--threads", 1)
        self.assertIn("; packed on 1 thread (", run.err)

    def test_arithmetic_is_the_order_of_summation(self):
        # 5 joins a chain of its own in lanes, and is swallowed by 2^30 in one chain; the 1 at 16 the other way round.
        row = [2.0**30, 5.0] + [0.0] * 6 + [-2.0**30] + [0.0] * 7 + [1.0, 0.0]
        self.write_npy("row.npy", [row])
        self.write_npy("ones.npy", [[1.0]] * 18)
        for asked, total in (([], 1.0), (["--arithmetic", "chain"], 1.0), (["--arithmetic", "lanes"], 5.0)):
            run = self.succeeds("multiply", "row.npy", "ones.npy", "--dtype", "f32", *asked, "-o", "sum.npy", "--force", "--json")
            self.assertEqual(self.read_npy("sum.npy")[2], [total], asked)
            self.assertIn(f'"arithmetic": "{asked[-1] if asked else "chain"}"', run.out)
        for wrong, said in ((["--algorithm", "tiled"], "tiled on cpu does not sum in lanes"), (["--memory", "1GiB"], "--memory cannot be combined")):
            run = self.fails(2, "multiply", "row.npy", "ones.npy", "--arithmetic", "lanes", *wrong, "-o", "no.npy")
            self.assertIn(said, run.err)
        self.assertIn("sums", self.fails(2, "multiply", "row.npy", "ones.npy", "--arithmetic", "sums", "-o", "no.npy").err)

    def test_transposition_and_fortran_order(self):
        turned_a = [list(column) for column in zip(*self.a)]
        turned_b = [list(column) for column in zip(*self.b)]
        self.write_npy("at.npy", turned_a)
        # The transposed values in Fortran order are the values of b in C order.
        self.write_npy("bt.npy", [value for row in self.b for value in row], fortran=True, shape=(4, 7))
        self.succeeds("multiply", "at.npy", "bt.npy", "--transpose-a", "--transpose-b", "-o", "c.npy")
        self.expect("c.npy", product(self.a, self.b))
        self.succeeds("multiply", "a.npy", "a.npy", "--transpose-b", "-o", "s.npy")
        self.expect("s.npy", product(self.a, turned_a))
        self.assertEqual(len(turned_b), 4)

    def test_alpha_and_beta(self):
        c0 = [[float(i * 4 + j) for j in range(4)] for i in range(5)]
        self.write_npy("c0.npy", c0)
        self.succeeds("multiply", "a.npy", "b.npy", "--alpha", "-2", "--beta", "0.5", "--c", "c0.npy", "-o", "c.npy")
        self.expect("c.npy", [[-2 * x + 0.5 * y for x, y in zip(*rows)] for rows in zip(product(self.a, self.b), c0)])

    def test_beta_zero_checks_the_shape_of_c0_and_does_not_read_it(self):
        self.write_npy("c0.npy", [[math.nan] * 4] * 5)
        for beta in ["0", "-0.0", "0e9"]:
            self.succeeds("multiply", "a.npy", "b.npy", "--beta", beta, "--c", "c0.npy", "-o", "c.npy", "--force", "--verify")
            self.expect("c.npy", product(self.a, self.b))
        self.write_npy("c0.npy", [[1.5] * 4] * 4)
        self.fails(2, "multiply", "a.npy", "b.npy", "--beta", 0, "--c", "c0.npy", "-o", "d.npy", says=["C0 (c0.npy)", "(5,4)"])
        self.fails(2, "multiply", "a.npy", "b.npy", "--c", "c0.npy", "-o", "d.npy", says="--beta")

    def test_every_algorithm_gives_the_product(self):
        for algorithm in harness.algorithms():
            with self.subTest(algorithm):
                self.succeeds("multiply", "a.npy", "b.npy", "--algorithm", algorithm, "--verify", "--force", "-o", "c.npy")
                self.expect("c.npy", product(self.a, self.b))

    def test_product_type_follows_the_documented_rule(self):
        rule = {("f32", "f32"): "f32", ("f64", "f64"): "f64", ("i32", "i32"): "i32", ("i8", "i8"): "i32", ("u8", "i16"): "i32",
                ("i32", "f32"): "f64", ("i8", "f32"): "f32", ("f32", "f64"): "f64", ("i64", "i64"): "f64", ("u32", "i8"): "f64"}
        self.assertIn("i8 u8 i16 u16 bool", self.succeeds("help", "types").out)
        for (left, right), expected in rule.items():
            with self.subTest(f"{left} {right}"):
                self.write_npy("l.npy", [[1, 2], [3, 4]], left)
                self.write_npy("r.npy", [[5, 6], [7, 8]], right)
                run = self.succeeds("multiply", "l.npy", "r.npy", "-o", "t.npy", "--force")
                self.expect("t.npy", [[19, 22], [43, 50]], expected)
                self.assertEqual("2^53" in run.err, "64" in left and left[0] != "f" or left == "u32")

    def test_bytes_are_multiplied_as_they_are(self):
        for kind, others in (("i8", "u8"), ("u8", "i8")):
            self.write_npy("x.npy", [[-128 if kind == "i8" else 255, 3], [5, 127]], kind)
            self.write_npy("y.npy", [[1, 2], [3, 4]], others)
            bytes_plan = self.succeeds("multiply", "x.npy", "x.npy", "--dry-run").out
            self.assertIn(f"in={kind} out=i32", bytes_plan)
            self.succeeds("multiply", "x.npy", "x.npy", "-o", "bytes.npy", "--verify", "--force")
            self.succeeds("multiply", "x.npy", "x.npy", "-o", "words.npy", "--algorithm", "naive", "--force")
            self.assertEqual(self.path("bytes.npy").read_bytes(), self.path("words.npy").read_bytes())
            mixed = self.succeeds("multiply", "x.npy", "y.npy", "--dry-run").out
            self.assertIn(f"in={kind} in_b={others} out=i32", mixed)
            self.succeeds("multiply", "x.npy", "y.npy", "-o", "bytes.npy", "--verify", "--force")
            self.succeeds("multiply", "x.npy", "y.npy", "-o", "words.npy", "--algorithm", "naive", "--force")
            self.succeeds("multiply", "x.npy", "y.npy", "-o", "parts.npy", "--algorithm", "split_k", "--force")
            self.assertEqual(self.path("parts.npy").read_bytes(), self.path("words.npy").read_bytes())
            self.assertEqual(self.path("bytes.npy").read_bytes(), self.path("words.npy").read_bytes())

    def test_dtype_option_wins(self):
        self.succeeds("multiply", "a.npy", "b.npy", "--dtype", "float64", "-o", "c.npy")
        self.expect("c.npy", product(self.a, self.b), "f64")
        run = self.fails(2, "multiply", "a.npy", "b.npy", "--dtype", "i8", "-o", "d.npy", says="i8")
        self.assertEqual(run.err.count("multiply: "), 1, run.err)
        run = self.fails(2, "multiply", "a.npy", "b.npy", "--alpha", "1e99", "-o", "d.npy")
        self.assertEqual(run.err.count("multiply: "), 1, run.err)

    def test_dtype_says_what_elements_without_a_type_are(self):
        for dtype, one in [("f16", 0x3c00), ("bf16", 0x3f80)]:
            self.path("raw.npy").write_bytes(harness.npy_header((1, 1), "<V2") + struct.pack("<H", one))
            self.fails(3, "multiply", "raw.npy", "raw.npy", "-o", "c.npz", says=["--dtype bf16 or f16", "or use .safetensors"])
            self.succeeds("multiply", "raw.npy", "raw.npy", "--dtype", dtype, "-o", "c.safetensors", "--force")
            self.succeeds("multiply", "c.safetensors", "c.safetensors", "--dtype", "f32", "-o", "c.npy", "--force")
            self.expect("c.npy", [[1]])

    def test_dtype_loses_nothing_but_rounding(self):
        nan, inf = math.nan, math.inf
        refused = [("f64", "i32", [[1, 2.5], [3.5, 4]], ["2 of 4 elements do", "first (0,1) = 2.5, a fraction", "multiply in f64"]),
                   ("f32", "i32", [[1, 2], [nan, 4]], ["1 of 4 elements does", "(1,0) = nan", "no integer", "multiply in f32"]),
                   ("f64", "i32", [[1, 2], [3, -2147483649]], ["(1,1) = -2147483649, beyond"]),
                   ("f64", "i32", [[inf, 2], [3, 4]], ["(0,0) = inf, beyond"]),
                   ("i64", "i32", [[1, 2], [2**31, 4]], ["(1,0) = 2147483648, beyond"]),
                   ("u64", "f16", [[1, 2], [3, 65520]], ["(1,1) = 65520, beyond"]),
                   ("f32", "f16", [[1, -65520], [3, 4]], ["(0,1) = -65520, beyond"]),
                   ("f64", "f32", [[1, 2], [3, 1e39]], ["(1,1) = 1e+39, beyond"]),
                   ("f64", "bf16", [[1, 2], [3, 3.4e38]], ["(1,1) = 3.4e+38, beyond"])]
        for source, dtype, rows, says in refused:
            with self.subTest(f"{source} {dtype} {rows}"):
                self.write_npy("x.npy", rows, source)
                self.write_npy("one.npy", [[1, 0], [0, 1]], source)
                for order in [["x.npy", "one.npy"], ["one.npy", "x.npy", "--transpose-b"]]:
                    which = ["A", "B"][order.index("x.npy")]
                    self.fails(2, "multiply", *order, "--dtype", dtype, "-o", "t.npy", says=[f"{which} (x.npy): ", *says])
                self.fails(2, "multiply", "one.npy", "one.npy", "--beta", 1, "--c", "x.npy", "--dtype", dtype, "-o", "t.npy",
                           says=["C0 (x.npy): ", *says])
        kept = [("f64", "i32", [[1, -2147483648], [3, 2147483647]]), ("f64", "f32", [[inf, 1e-60], [3, nan]]),
                ("f64", "f16", [[1, 65519], [3, 4]]), ("i64", "f32", [[2**62, 2], [3, 4]])]
        for source, dtype, rows in kept:
            with self.subTest(f"{source} {dtype} {rows}"):
                self.write_npy("x.npy", rows, source)
                run = self.succeeds("multiply", "x.npy", "x.npy", "--dtype", dtype, "-o", "t.npz", "--force")
                self.assertNotIn("rounded", run.err)
        self.write_npy("x.npy", [[1, 0.1], [0.3, 4]], "f64")
        run = self.succeeds("multiply", "x.npy", "x.npy", "--dtype", "f32", "-o", "t.npy", "-v")
        self.assertIn("A (x.npy): 2 of 4 elements rounded to f32", run.err)
        self.assertIn("a fraction or NaN for i32", self.succeeds("help", "types").out)

    def test_conversion_of_many_elements_names_the_first(self):
        # More than one piece of work, and rows against columns.
        m, n = 700, 900
        values = [0.0] * (m * n)
        for at in (699 * n, 5 * n + 800, 600 * n + 2):
            values[at] = 0.5
        for fortran in (False, True):
            stored = values if not fortran else [values[i * n + j] for j in range(n) for i in range(m)]
            harness.write_npy(self.path("x.npy"), stored, (m, n), "f64", fortran)
            self.fails(2, "multiply", "x.npy", "x.npy", "--transpose-b", "--dtype", "i32", "-o", "t.npy",
                       says="3 of 630000 elements do not fit into i32, first (5,800) = 0.5")

    def test_alpha_and_beta_must_fit_the_type(self):
        self.write_npy("square.npy", [[1.0] * 7] * 7)
        for option, value in [("--alpha", "1e300"), ("--alpha", "-3.5e38"), ("--alpha", "1e-50"), ("--beta", "1e39")]:
            c0 = ["--c", "square.npy"] if option == "--beta" else []
            self.fails(2, "multiply", "square.npy", "square.npy", option, value, *c0, "-o", "t.npy",
                       says=[f"{option[2:]} is applied in f32", "multiply in f64"])
        self.succeeds("multiply", "a.npy", "b.npy", "--alpha", "1e300", "--dtype", "f64", "-o", "t.npy")
        self.succeeds("multiply", "a.npy", "b.npy", "--alpha", "inf", "-o", "t.npy", "--force")

    def test_vectors_are_row_and_column(self):
        write = harness.write_npy
        write(self.path("row.npy"), [1, 2, 3], (3,))
        write(self.path("column.npy"), [4, 5, 6], (3,))
        self.succeeds("multiply", "row.npy", "column.npy", "-o", "dot.npy")
        self.expect("dot.npy", [[32]])

    def test_other_formats_and_members(self):
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.npz:result")
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.mtx")
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.safetensors:result")
        self.write_npy("one.npy", [[1 if i == j else 0 for j in range(4)] for i in range(4)])
        for name in ["c.npz:result", "c.mtx", "c.safetensors"]:
            with self.subTest(name):
                self.succeeds("multiply", name, "one.npy", "-o", "back.npy", "--force", "--dtype", "f32")
                self.expect("back.npy", product(self.a, self.b))
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "odd.name", "--format", "npy")
        self.expect("odd.name", product(self.a, self.b))

    def test_stdin_and_stdout(self):
        run = self.succeeds("multiply", "-", "b.npy", "-o", "-", stdin=self.path("a.npy").read_bytes())
        self.path("piped.npy").write_bytes(run.raw)
        self.expect("piped.npy", product(self.a, self.b))
        self.fails(2, "multiply", "-", "-", "-o", "x.npy", says="stdin")
        self.fails(2, "multiply", "a.npy", "b.npy", "-o", "-", "--json", says="stdout")

    def test_empty_extents(self):
        for m, k, n in [(0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0)]:
            with self.subTest(f"{m} {k} {n}"):
                harness.write_npy(self.path("l.npy"), [1] * (m * k), (m, k))
                harness.write_npy(self.path("r.npy"), [1] * (k * n), (k, n))
                self.succeeds("multiply", "l.npy", "r.npy", "-o", "e.npy", "--force", "--verify")
                self.assertEqual(self.read_npy("e.npy"), ("f32", (m, n), [0] * (m * n)))

    def test_json_says_what_was_done(self):
        document = self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.npy", "--verify", "--json").json
        self.assertEqual(document["output"], "c.npy")
        self.assertEqual({key: document["problem"][key] for key in "mnk"}, {"m": 5, "n": 4, "k": 7})
        self.assertTrue(document["verified"]["same_bits"])
        self.assertLessEqual(document["verified"]["max_error_ratio"], 1)
        self.assertIn(document["plan"]["algorithm"], harness.algorithms())

    def test_names_that_are_no_text_still_give_json(self):
        name = os.fsdecode(b"c\xff.npy")
        self.assertEqual(self.succeeds("multiply", "a.npy", "b.npy", "-o", name, "--json").json["output"], "c\ufffd.npy")
        self.expect(name, product(self.a, self.b))

    def test_dry_run_writes_nothing(self):
        before = sorted(os.listdir(self.folder))
        text = self.succeeds("multiply", "a.npy", "b.npy", "--dry-run").out
        self.assertRegex(text, r"^m=5 n=4 k=7 in=f32 .*algorithm=\w+ .*reason=\"")
        self.assertIn("plan", self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.npy", "--dry-run", "--json").json)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_verbose_says_why_not_the_others(self):
        run = self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.npy", "-v")
        said = [line for line in run.err.splitlines() if ": not " in line]
        self.assertRegex(said[0], "not naive, .*: slower wherever it was measured")
        self.assertLess(len(said), 5)  # a line for each reason

    def test_bands_give_the_same_bits_as_one_piece(self):
        # Above two thousand million operations the product runs in bands of rows.
        random.seed(2)
        m, k, n = 1300, 256, 3200
        harness.write_npy(self.path("l.npy"), [random.uniform(-1, 1) for _ in range(m * k)], (m, k))
        harness.write_npy(self.path("r.npy"), [random.uniform(-1, 1) for _ in range(k * n)], (k, n))
        document = self.succeeds("multiply", "l.npy", "r.npy", "-o", "c.npy", "--verify", "--json").json
        self.assertTrue(document["verified"]["same_bits"])


    def test_result_larger_than_memory(self):
        if harness.sanitized():
            self.skipTest("sanitizers need more address space than any limit allows")
        n = 10000  # 400 MB, in 300 MB of address space
        harness.write_npy(self.path("column.npy"), [float(i % 1000) for i in range(n)], (n, 1))
        self.succeeds("multiply", "column.npy", "column.npy", "--transpose-b", "-o", "outer.npy", "--threads", 1,
                      limits=[(resource.RLIMIT_AS, 300 << 20)])
        with open(self.path("outer.npy"), "rb") as file:
            for row, column in [(0, 0), (1, n - 1), (7777, 3), (n - 1, n - 1)]:
                file.seek(128 + 4 * (row * n + column))
                self.assertEqual(struct.unpack("<f", file.read(4))[0], float((row % 1000) * (column % 1000)))


class Outputs(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.write_npy("a.npy", [[1, 2], [3, 4]])
        self.path("old.npy").write_bytes(b"precious")

    def unchanged(self):
        self.assertEqual(self.path("old.npy").read_bytes(), b"precious")
        self.no_leftovers()

    def test_existing_output_needs_force(self):
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "old.npy", says=["exists already", "--force"])
        self.unchanged()
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "old.npy", "--force")
        self.assertEqual(self.read_npy("old.npy")[2], [7, 10, 15, 22])

    def test_output_may_be_an_input_with_force(self):
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "a.npy", says="exists already")
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "a.npy", "--force")
        self.assertEqual(self.read_npy("a.npy")[2], [7, 10, 15, 22])
        self.succeeds("multiply", "a.npy", "a.npy", "--beta", "1", "--c", "a.npy", "-o", "a.npy", "--force")
        self.assertEqual(self.read_npy("a.npy")[2], [7 * 7 + 10 * 15 + 7, 7 * 10 + 10 * 22 + 10, 15 * 7 + 22 * 15 + 15,
                                                     15 * 10 + 22 * 22 + 22])
        self.no_leftovers()

    def test_symbolic_link_keeps_its_place(self):
        os.symlink("old.npy", self.path("link.npy"))
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "link.npy", "--force")
        self.assertTrue(self.path("link.npy").is_symlink())
        self.assertEqual(self.read_npy("old.npy")[2], [7, 10, 15, 22])

    def test_a_member_is_added_and_the_others_stay(self):
        for end in ("npz", "safetensors"):
            with self.subTest(end):
                self.succeeds("multiply", "a.npy", "a.npy", "-o", f"w.{end}:W1")
                self.succeeds("multiply", f"w.{end}:W1", "a.npy", "-o", f"w.{end}:W2")
                self.succeeds("multiply", f"w.{end}:W1", f"w.{end}:W2", "-o", f"w.{end}:P", "--force")
                self.fails(2, "multiply", "a.npy", "a.npy", "-o", f"w.{end}:P", says=[f"w.{end}:P", "exists already", "--force"])
                self.fails(2, "multiply", "a.npy", "a.npy", "-o", f"w.{end}", says=[f"w.{end}", "exists already"])
                self.fails(2, "multiply", f"w.{end}", "a.npy", "-o", "d.npy", says="holds 3 arrays")
                self.succeeds("multiply", "a.npy", f"w.{end}:W1", "-o", f"w.{end}:P", "--force")
                for name, power in (("W1", 2), ("W2", 3), ("P", 3)):
                    one = [[1, 0], [0, 1]]
                    self.write_npy("one.npy", one)
                    self.succeeds("multiply", f"w.{end}:{name}", "one.npy", "-o", "c.npy", "--force")
                    rows = [[1, 2], [3, 4]]
                    for _ in range(power - 1):
                        rows = product(rows, [[1, 2], [3, 4]])
                    self.assertEqual(self.read_npy("c.npy")[2], [value for row in rows for value in row], name)
        self.path("w.npz").write_bytes(b"no archive")
        self.fails(3, "multiply", "a.npy", "a.npy", "-o", "w.npz:P", "--force", says=["cannot write w.npz:P", "whole file"])
        self.assertEqual(self.path("w.npz").read_bytes(), b"no archive")
        self.no_leftovers()

    def test_hard_links_that_keep_the_old_content_are_named(self):
        os.link(self.path("old.npy"), self.path("second.npy"))
        run = self.succeeds("multiply", "a.npy", "a.npy", "-o", "old.npy", "--force")
        self.assertIn("old.npy has 1 other name (a hard link), which will keep the old content", run.err)
        self.assertEqual(self.path("second.npy").read_bytes(), b"precious")
        self.assertNotIn("hard link", self.succeeds("multiply", "a.npy", "a.npy", "-o", "old.npy", "--force").err)
        os.link(self.path("old.npy"), self.path("third.svg"))
        self.assertIn("hard link", self.succeeds("layout", "row_major(2,2)", "--svg", "third.svg", "--force").err)

    def test_a_pipe_that_nobody_reads(self):
        os.mkfifo(self.path("pipe"))
        begin = time.monotonic()
        self.fails(3, "multiply", "a.npy", "a.npy", "-o", "pipe", says=["cannot write pipe", "no process reads", "one second"], timeout=60)
        self.assertGreater(time.monotonic() - begin, 0.9)
        # A reader that comes within the second, and one that takes its time.
        process = subprocess.Popen([harness.COMMAND, "multiply", "a.npy", "a.npy", "-o", "pipe"], cwd=self.folder,
                                   env=harness.environment(), stderr=subprocess.PIPE)
        time.sleep(0.2)
        with open(self.path("pipe"), "rb") as pipe:
            time.sleep(1.5)
            self.assertEqual(len(pipe.read()), 128 + 16)
        self.assertEqual(process.wait(timeout=60), 0, process.stderr.read())
        process.stderr.close()

    def test_a_peer_that_stalls_is_left_by_ctrl_c(self):
        os.mkfifo(self.path("pipe"))
        harness.write_npy(self.path("large.npy"), [1.0] * 300 * 300, (300, 300))  # more than a pipe holds
        for arguments, mode in ((("pipe", "a.npy", "-o", "c.npy"), os.O_WRONLY), (("large.npy", "large.npy", "-o", "pipe"), os.O_RDONLY)):
            for number in (signal.SIGINT, signal.SIGTERM):
                process = subprocess.Popen([harness.COMMAND, "multiply", *arguments], cwd=self.folder, env=harness.environment(),
                                           stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                stalled = os.open(self.path("pipe"), mode)  # waits for the other end
                if mode == os.O_WRONLY and number == signal.SIGINT:
                    self.assertIn(b"tessera multiply: reading pipe: 0 %, ", process.stderr.readline())  # after 5 s
                time.sleep(1.2)
                self.assertIsNone(process.poll())
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), 128 + number)
                process.stderr.close()
                os.close(stalled)
        self.no_leftovers()

    def test_impossible_outputs_are_refused_before_the_work(self):
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.npz:", says=["c.npz: names no array", "colon"])
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.safetensors:", says="c.safetensors: names no array")
        self.fails(2, "multiply", "c.npz:", "a.npy", "-o", "c.npy", says="c.npz: names no array")
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "missing/c.npy", says="create the folder first")
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", ".", says=".")
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.xyz", says=".npy, .npz, .mtx or .safetensors")
        self.fails(2, "multiply", "a.npy", "a.npy", says="no output named")
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.npy", "--format", "csv", says="npy, npz, mtx, safetensors")
        self.unchanged()


if __name__ == "__main__":
    harness.main()
