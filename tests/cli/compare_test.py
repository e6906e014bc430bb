#!/usr/bin/env python3
"""tessera compare: the JSON contract, every type, order and option, and what is refused."""
import resource

import harness

KEYS = ["algorithm", "device", "status", "same_bits", "max_error_ratio", "seconds", "gflops"]
SAME_BITS = set(harness.algorithms()) - {"tensor_core"}


class Compare(harness.CommandTest):
    def compare(self, m, n, k, *options):
        return self.succeeds("compare", "-m", m, "-n", n, "-k", k, "--json", *options).json

    def check(self, document, dtype):
        self.assertEqual(set(document), {"problem", "results"})
        for result in document["results"]:
            with self.subTest(f"{result['algorithm']} {dtype}"):
                self.assertEqual(list(result)[:7], KEYS)
                self.assertEqual(result["device"], "cpu")
                if result["status"] == "unsupported":
                    self.assertTrue(result["reason"])
                    self.assertIsNone(result["seconds"])
                    continue
                self.assertEqual(result["status"], "ok")
                self.assertLessEqual(result["max_error_ratio"], 1)
                self.assertGreaterEqual(result["seconds"], 0)
                self.assertEqual(result["outside"], 0)
                if dtype in ("f32", "f64") and result["algorithm"] in SAME_BITS:
                    self.assertIs(result["same_bits"], True)

    def test_every_type_and_algorithm(self):
        for dtype in ["f64", "f32", "f16", "bf16", "i32"]:
            document = self.compare(37, 41, 29, "--dtype", dtype, "--seed", 5)
            self.check(document, dtype)
            self.assertEqual([result["algorithm"] for result in document["results"]], harness.algorithms())
            self.assertEqual(document["problem"]["dtype"], dtype)
            self.assertGreaterEqual(sum(result["status"] == "ok" for result in document["results"]), 5)

    def test_orders_give_the_same(self):
        for order in ["forward", "backward", "shuffled"]:
            document = self.compare(33, 65, 17, "--order", order, "--seed", 18446744073709551615)
            self.check(document, "f32")
            self.assertEqual(document["problem"]["order"], order)

    def test_data_alpha_and_beta(self):
        for data in ["uniform", "integers", "graded"]:
            self.check(self.compare(20, 30, 40, "--data", data, "--alpha", "-1.5", "--beta", "0.25", "--dtype", "f64"), "f64")
        self.check(self.compare(20, 30, 40, "--alpha", 0, "--algorithms", "naive,tiled"), "f32")
        self.check(self.compare(9, 9, 9, "--alpha", 3, "--beta", -2, "--dtype", "i32"), "i32")

    def test_integers_are_exact(self):
        for result in self.compare(16, 16, 50, "--data", "integers", "--dtype", "f64")["results"]:
            if result["status"] == "ok":
                self.assertEqual(result["max_error_ratio"], 0)

    def test_odd_and_empty_extents(self):
        for m, n, k in [(0, 5, 5), (5, 0, 5), (5, 5, 0), (0, 0, 0), (1, 1, 1), (229, 1, 3), (1, 7, 129)]:
            for dtype in ["f32", "i32"]:
                self.check(self.compare(m, n, k, "--dtype", dtype), dtype)

    def test_one_seed_one_result(self):
        ratios = [[result["max_error_ratio"] for result in self.compare(30, 30, 30, "--seed", seed, "--threads", threads)["results"]]
                  for seed, threads in [(3, 1), (3, 2), (4, 2)]]
        self.assertEqual(ratios[0], ratios[1])
        self.assertNotEqual(ratios[0], ratios[2])

    def test_named_algorithms_and_tiles(self):
        document = self.compare(64, 64, 64, "--algorithms", "tiled,naive,tiled")
        self.assertEqual([result["algorithm"] for result in document["results"]], ["naive", "tiled"])
        tiled = self.compare(64, 64, 64, "--algorithms", "tiled", "--tile", "16x16x16")["results"][0]
        self.assertEqual(tiled["tile"], "16x16x16")
        for dtype in ["f64", "f16", "bf16", "i32"]:
            self.check(self.compare(64, 64, 64, "--algorithms", "tiled", "--tile", "16x16x16", "--dtype", dtype), dtype)
            self.check(self.compare(64, 64, 64, "--algorithms", "block_tiled", "--tile", "64x64", "--dtype", dtype), dtype)
        everyone = self.compare(8, 8, 8, "--tile", "16x16x16")["results"]
        self.assertEqual({result["status"] for result in everyone}, {"ok", "unsupported"})

    def test_table_for_people(self):
        text = self.succeeds("compare", "-m", 8, "-n", 8, "-k", 8).out
        self.assertIn("A (8,8), B (8,8)", text)
        self.assertRegex(text, r"algorithm +tile +status +same bits +error/bound +time +GFLOP/s +idea\n")
        for algorithm in harness.algorithms():
            self.assertRegex(text, rf"\n{algorithm} +\S+ +ok +(yes|no) ")


class Refused(harness.CommandTest):
    def refused(self, code, *options, says=(), **named):
        base = {"-m": 4, "-n": 4, "-k": 4}
        given = dict(zip(options[::2], options[1::2]))
        self.fails(code, "compare", *[word for pair in {**base, **given}.items() for word in pair], says=says, **named)

    def test_extents(self):
        self.refused(2, "-m", -1, says="-m: the number is too small")
        self.refused(2, "-k", "three", says="not a number")
        self.refused(2, "-n", "4.5", says="not a number")
        self.refused(2, "-n", "", says="-n")
        self.refused(2, "-n", "9223372036854775808", says="too large")

    def test_sizes_that_memory_cannot_hold(self):
        self.refused(1, "-m", 10**9, "-n", 10**9, says=["memory", "are available"])
        self.refused(1, "-m", 2**62, "-n", 2**62, "-k", 2**62, says="memory")
        self.refused(1, "-m", 2**63 - 1, "-n", 0, "-k", 2**63 - 1, says="memory")

    def test_memory_limit_gives_a_message(self):
        if harness.sanitized():
            self.skipTest("sanitizers need more address space than any limit allows")
        for megabytes in [400, 200, 100, 60]:
            run = self.tessera("compare", "-m", 3000, "-n", 3000, "-k", 3000, "--algorithms", "block_tiled", "--threads", 1,
                               limits=[(resource.RLIMIT_AS, megabytes << 20)])
            self.assertEqual(run.code, 1, run.err)
            self.assertRegex(run.err, r"memory|stacks")
            self.assertEqual(len(run.lines), 1, run.err)
        for megabytes in range(30, 150, 12):
            run = self.tessera("compare", "-m", 30, "-n", 30, "-k", 30, limits=[(resource.RLIMIT_AS, megabytes << 20)])
            self.assertIn(run.code, (0, 1, 127))  # 127: not even the libraries fit
            if run.code == 1:
                self.assertEqual(len([line for line in run.lines if line.startswith("tessera")]), 1, run.err)

    def test_numbers(self):
        self.refused(2, "--alpha", "nan", says="finite")
        self.refused(2, "--beta", "inf", says="finite")
        self.refused(2, "--alpha", "1e999", says="f64")
        self.refused(2, "--alpha", "x", says="not a number")
        self.refused(2, "--seed", "-1", says="--seed")
        self.refused(2, "--threads", "0", says="too small")
        self.refused(2, "--threads", "99999999999", says="too large")
        self.refused(2, "--threads", "100000", says="4096")
        self.refused(2, "--alpha", "0.5", "--dtype", "i32", says="whole number")

    def test_names(self):
        self.refused(2, "--algorithms", "", says="no algorithm named")
        self.refused(2, "--algorithms", "naive,,tiled", says="unknown algorithm ''")
        self.refused(2, "--dtype", "i8", says="i8")
        self.refused(2, "--tile", "7x7x7/3x5", says="no algorithm")
        self.refused(2, "--algorithms", "tiled", "--tile", "100x100x100", says="10,000 threads in a block, at most 1,024")
        self.refused(2, "--algorithms", "tiled", "--tile", "24x24x24", says=["is possible", "built: 32x32x64", "Tiled<TileShape{.bm = 24,"])
        self.refused(2, "--tile", "-1x3", says="tile")
        self.refused(2, "--tile", "0x0", says="tile")
        self.refused(2, "--tile", "99999999999x1", says="tile")
        self.refused(2, "--algorithms", "tensor_core", "--dtype", "i32", says="tensor_core cannot run this product")


if __name__ == "__main__":
    harness.main()
