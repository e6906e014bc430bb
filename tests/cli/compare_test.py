#!/usr/bin/env python3
"""tessera compare: the JSON contract, every type, order and option, and errors."""
import resource
import shlex

import harness

KEYS = ["algorithm", "device", "status", "same_bits", "max_error_ratio", "seconds", "gflops"]
TYPES = ["f64", "f32", "f16", "bf16", "i32"]
SAME_BITS = set(harness.algorithms()) - {"tensor_core", "warpgroup", "thin", "three_bf16", "split_k"}


class Compare(harness.CommandTest):
    def compare(self, m, n, k, *options):
        return self.succeeds("compare", "-m", m, "-n", n, "-k", k, "--json", *options).json

    def results(self, m, n, k, *options):
        """Of a comparison in which every result holds what is promised."""
        document = self.compare(m, n, k, *options)
        self.assertEqual(set(document), {"problem", "results"})
        for result in document["results"]:
            with self.subTest(f"{m} {n} {k} {options} {result['algorithm']}"):
                self.assertEqual(list(result)[:7], KEYS)
                self.assertEqual(result["device"], "cpu")
                if result["status"] == "unsupported":
                    self.assertTrue(result["reason"])
                    self.assertIsNone(result["seconds"])
                    continue
                self.assertEqual((result["status"], result["outside"]), ("ok", 0))
                self.assertLessEqual(result["max_error_ratio"], 1)
                self.assertGreaterEqual(result["seconds"], 0)
                if document["problem"]["dtype"] in ("f32", "f64") and result["algorithm"] in SAME_BITS:
                    self.assertIs(result["same_bits"], True)
        return document["results"]

    def test_every_type_and_algorithm(self):
        for dtype in TYPES:
            results = self.results(37, 41, 29, "--dtype", dtype, "--seed", 5)
            self.assertEqual([result["algorithm"] for result in results], harness.algorithms())
            self.assertGreaterEqual(sum(result["status"] == "ok" for result in results), 5)

    def test_operands_of_other_types_than_the_result(self):
        for dtype in ("bf16:f32", "f16:f32", "i8:i32", "u8:i32", "u8:i8:i32", "i8:u8:f32", "f32:bf16"):
            for options in ([], ["--alpha", 2, "--beta", 1]):
                results = self.results(37, 41, 29, "--dtype", dtype, *options)
                self.assertEqual([result["status"] for result in results if result["algorithm"] == "packed"], ["ok"], dtype)
            self.assertEqual(self.compare(3, 4, 5, "--dtype", dtype)["problem"]["dtype"], dtype)
        # As other commands name it: with bytes, C has the type of their sums.
        for short, whole in (("i8", "i8:i32"), ("u8:u8:i32", "u8:i32"), ("f8e4m3", "f8e4m3:f32")):
            self.assertEqual(self.compare(3, 4, 5, "--dtype", short)["problem"]["dtype"], whole)
        self.fails(2, "compare", "-m", 1, "-n", 1, "-k", 1, "--dtype", "i8:i8", says=["no product of i8 into i8", "i8:i32"])
        self.fails(2, "compare", "-m", 1, "-n", 1, "-k", 1, "--dtype", "i8:i33", says=["'i33'", "did you mean 'i32'"])

    def test_elements_of_one_byte_by_warpgroups(self):
        for dtype in ("f8e4m3:f32", "f8e5m2:f32", "i8:i32", "u8:i32"):
            for options in ([], ["--alpha", 2, "--beta", 1, "--order", "late"]):
                results = self.results(37, 41, 229, "--dtype", dtype, "--algorithms", "warpgroup", *options)
                self.assertEqual([result["status"] for result in results], ["ok"], dtype)
        self.fails(2, "compare", "-m", 3, "-n", 4, "-k", 5, "--dtype", "u8:i8:i32", "--algorithms", "warpgroup", says=["bytes of one sign only"])
        self.assertIn("128x128/64x128", self.succeeds("compare", "--list").out)

    def test_every_option_gives_right_results_and_says_what_it_did(self):
        for options in [["--order", "forward"], ["--order", "backward"], ["--order", "shuffled", "--seed", 2**64 - 1],
                        *[["--data", data, "--alpha", -1.5, "--beta", 0.25, "--dtype", "f64"] for data in ("uniform", "integers", "graded")],
                        ["--alpha", 0, "--algorithms", "naive,tiled"], ["--alpha", 3, "--beta", -2, "--dtype", "i32"]]:
            self.results(33, 65, 17, *options)
            problem = self.compare(3, 3, 3, *options)["problem"]
            for name, value in zip(options[::2], options[1::2]):
                if name != "--algorithms":
                    self.assertEqual(problem[name[2:]], value)

    def test_whoever_stands_first_is_not_the_slowest_for_that(self):
        """The ratio of the times of one algorithm at the first and at the second place; a loaded machine gets more than one try."""
        for _ in range(5):
            places = [{result["algorithm"]: result["seconds"] for result in self.results(64, 64, 64, "--threads", 1, "--algorithms", order)}
                      for order in ("naive,coalescing", "coalescing,naive")]
            ratios = [places[0][name] / places[1][name] for name in ("naive", "coalescing")]
            if all(1 / 3 < ratio < 3 for ratio in ratios):
                return
        self.fail(f"first to second place: {ratios}")

    def test_a_short_product_runs_again_and_a_long_one_once(self):
        for beta in (0, 2):
            self.assertGreater(self.results(16, 16, 16, "--beta", beta, "--algorithms", "naive")[0]["runs"], 1)
        self.assertEqual(self.results(900, 900, 900, "--threads", 1, "--algorithms", "naive")[0]["runs"], 1)

    def test_integers_are_exact(self):
        ratios = {result["max_error_ratio"] for result in self.results(16, 16, 50, "--data", "integers", "--dtype", "f64")}
        self.assertEqual(ratios, {0, None})

    def test_i32_is_labelled_by_the_integers_it_holds(self):
        for options in [[], ["--data", "uniform"], ["--data", "graded"]]:
            self.assertEqual(self.compare(4, 4, 4, "--dtype", "i32", *options)["problem"]["data"], "integers")
        self.assertIn(", integers data", self.succeeds("compare", "-m", 4, "-n", 4, "-k", 4, "--dtype", "i32").out)

    def test_odd_and_empty_extents(self):
        for m, n, k in [(0, 5, 5), (5, 0, 5), (5, 5, 0), (0, 0, 0), (1, 1, 1), (229, 1, 3), (1, 7, 129)]:
            for dtype in ["f32", "i32"]:
                self.results(m, n, k, "--dtype", dtype)

    def test_one_seed_one_result(self):
        ratios = [[result["max_error_ratio"] for result in self.results(30, 30, 30, "--seed", seed, "--threads", threads)]
                  for seed, threads in [(3, 1), (3, 2), (4, 2)]]
        self.assertEqual(ratios[0], ratios[1])
        self.assertNotEqual(ratios[0], ratios[2])

    def test_named_algorithms_answer_in_the_order_named_each_once(self):
        for named, answered in [("tiled,naive,tiled", ["tiled", "naive"]), ("naive,tiled", ["naive", "tiled"]),
                                ("packed,tiled,naive,naive,packed", ["packed", "tiled", "naive"]), ("all", harness.algorithms())]:
            results = self.results(64, 64, 64, "--algorithms", named)
            self.assertEqual([result["algorithm"] for result in results], answered)
        table = self.succeeds("compare", "-m", 8, "-n", 8, "-k", 8, "--algorithms", "tiled,naive").out
        self.assertLess(table.index("\ntiled "), table.index("\nnaive "))

    def test_no_tile_is_shown_of_a_kernel_that_did_not_run(self):
        for k, tile in ((63, None), (64, "128x256/64x256")):
            result = self.results(64, 64, k, "--algorithms", "warpgroup", "--dtype", "bf16")[0]
            self.assertEqual(result["tile"], tile)
            self.assertEqual("tensor_core takes its place" in result.get("reason", ""), tile is None)
            self.assertEqual("128x256" in self.succeeds("compare", "-m", 64, "-n", 64, "-k", k, "--algorithms", "warpgroup", "--dtype",
                                                        "bf16").out, tile is not None)

    def test_named_algorithms_and_tiles(self):
        for dtype in TYPES:
            for algorithm, tile, shown in [("tiled", "16x16x16", "16x16x16"), ("block_tiled", "64x64", "64x64x8/8x8")]:
                results = self.results(64, 64, 64, "--algorithms", algorithm, "--tile", tile, "--dtype", dtype)
                self.assertEqual(results[0]["tile"], shown)
        self.assertEqual({result["status"] for result in self.results(8, 8, 8, "--tile", "16x16x16")}, {"ok", "unsupported"})

    def test_table_for_people(self):
        text = self.succeeds("compare", "-m", 8, "-n", 8, "-k", 8, "--threads", 3).out
        self.assertIn("A (8,8), B (8,8)", text)
        self.assertIn("threads of a block forward, 3 threads\n", text)
        self.assertRegex(text, r"algorithm +tile +status +same bits +error/bound +time +GFLOP/s +idea\n")
        for algorithm in harness.algorithms():
            self.assertRegex(text, rf"\n{algorithm} +\S+ +ok +(yes|no) ")


class Refused(harness.CommandTest):
    # Beside -m 4 -n 4 -k 4: options, exit code, what is said.
    TABLE = [("-m -1", 2, "-m: the number is too small"), ("-k three", 2, "not a number"), ("-n 4.5", 2, "not a number"),
             ("-n 9223372036854775808", 2, "too large"), ("-n ''", 2, "-n"),
             (f"-m {10**9} -n {10**9}", 1, "memory"), (f"-m {2**62} -n {2**62} -k {2**62}", 1, "memory"),
             (f"-m {2**63 - 1} -n 0 -k {2**63 - 1}", 1, "memory"),
             ("--alpha nan", 2, "finite"), ("--beta inf", 2, "finite"), ("--alpha 1e999", 2, "f64"), ("--alpha x", 2, "not a number"),
             ("--alpha 1e39", 2, "applied in f32"), ("--alpha 0.5 --dtype i32", 2, "whole number"), ("--seed -1", 2, "--seed"),
             ("--threads 0", 2, "too small"), ("--threads 99999999999", 2, "too large"), ("--threads 100000", 2, "4096"),
             ("--algorithms ''", 2, "no algorithm named"), ("--algorithms naive,,tiled", 2, "unknown algorithm ''"),
             ("--dtype i8:i8", 2, "no product of i8 into i8"), ("--algorithms tensor_core --dtype i32", 2, "choose another algorithm, or let it be chosen"),
             ("--tile 7x7x7/3x5", 2, "no algorithm"), ("--tile=-1x3", 2, "tile"), ("--tile 0x0", 2, "tile"),
             ("--tile 99999999999x1", 2, "tile"), ("--tile 0x0x0", 2, "expected at least 1, got 0 in '0x0x0'"),
             ("--algorithms tiled --tile 100x100x100", 2, "10,000 threads in a block, at most 1,024"),
             ("--algorithms tiled --tile 24x24x24", 2, "launch Tiled<TileShape{.bm = 24,")]

    def test_every_mistake_is_one_line_and_its_exit_code(self):
        for options, code, says in self.TABLE:
            words = shlex.split(options)
            base = [word for name in ("-m", "-n", "-k") if name not in words for word in (name, 4)]
            with self.subTest(options):
                self.fails(code, "compare", *base, *words, says=says)

    def test_memory_limit_gives_a_message(self):
        if harness.sanitized():
            self.skipTest("sanitizers need more address space than any limit allows")
        for megabytes in [400, 200, 100, 60]:
            self.fails(1, "compare", "-m", 3000, "-n", 3000, "-k", 3000, "--algorithms", "block_tiled", "--threads", 1,
                       limits=[(resource.RLIMIT_AS, megabytes << 20)])
        for megabytes in range(30, 150, 12):
            run = self.tessera("compare", "-m", 30, "-n", 30, "-k", 30, limits=[(resource.RLIMIT_AS, megabytes << 20)])
            self.assertIn(run.code, (0, 1, 127))  # 127: not even the libraries fit
            if run.code == 1:
                self.assertEqual(len([line for line in run.lines if line.startswith("tessera")]), 1, run.err)


if __name__ == "__main__":
    harness.main()
