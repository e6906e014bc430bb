#!/usr/bin/env python3
"""tessera check: kernels of the ladder: output for people and scripts, errors, exit codes."""
import xml.etree.ElementTree

import harness

# Of `tessera --list`, whose others are for the CPU alone.
KERNELS = [name for name in harness.algorithms() if name not in {"packed", "split_k"}]


class Ladder(harness.CommandTest):
    def test_every_kernel_is_clean_and_says_so(self):
        for name in KERNELS:
            run = self.succeeds("check", name, "-m", 17, "-n", 31, "-k", 9)
            self.assertRegex(run.out.splitlines()[-1], r"^clean: no findings in \d+ blocks?$")
            self.assertIn("C (17,31): 527 of 527 elements written once", run.out)
            other = {"warpgroup": "tensor_core", "thin": "tensor_core", "bulk_tiled": "pipelined"}.get(name)
            self.assertEqual(run.err, "")
            if other:
                self.assertRegex(run.out, rf"(?m)^kernel {other}: .*\n{name}: {other} takes its place\. \w: .*$")
            else:
                self.assertNotIn("takes its place", run.out)

    def test_the_document_has_the_names_others_script_against(self):
        out = self.succeeds("check", "tiled", "-m", 17, "-n", 31, "-k", 9, "--tile", "16,16,16", "--json").json
        self.assertEqual(out["kernel"], "tiled")
        self.assertEqual(out["summary"], {"clean": True, "errors": 0, "warnings": 0, "notes": 0, "blocks": 4, "checked_blocks": 4,
                                          "suppressed": 0, "timed_out": False, "incomplete": None})
        self.assertEqual(out["findings"], [])
        self.assertEqual(out["counters"]["total"]["fma_threads"], 4 * 256 * 16)
        self.assertEqual(sum(line["counters"]["flops"] for line in out["counters"]["by_line"]), out["counters"]["total"]["flops"])
        for line in out["counters"]["by_line"]:
            self.assertIn("file", line)
            self.assertGreater(line["line"], 0)
        self.assertEqual([each["superstep"] for each in out["counters"]["by_superstep"]], ["load", "multiply", "end"])
        self.assertEqual([each["tensor"] for each in out["tensors"]], ["A", "B", "C"])
        self.assertEqual(out["device"]["name"], "h200")

    def test_the_report_is_the_same_for_any_number_of_threads_and_any_order_finds_nothing(self):
        reports = {self.succeeds("check", "tiled_register", "--threads", n, "--json").raw for n in (1, 2, 3)}
        self.assertEqual(len(reports), 1)
        self.succeeds("check", "sarek_tiled", "--order", "shuffled", "--seed", 5, "--dtype", "f16")

    def test_a_part_of_the_blocks(self):
        run = self.succeeds("check", "naive", "-m", 500, "-n", 500, "-k", 3, "--blocks", 5, "--counters-only", "--device", "a100")
        self.assertIn("in 5 of 256 blocks", run.out)
        self.assertIn("on a100", run.out)

    def test_products_without_elements_have_their_shapes_all_the_same(self):
        run = self.succeeds("check", "tiled", "-m", 0, "-n", 7, "-k", 5)
        for line in ("A (0,5): 0 of 0 elements read", "B (5,7): 0 of 35 elements read", "C (0,7): 0 of 0 elements written"):
            self.assertIn(line, run.out)
        run = self.succeeds("check", "naive", "-m", 3, "-n", 2, "-k", 0)
        self.assertIn("A (3,0): 0 of 0 elements read", run.out)
        self.assertNotIn("no flops", run.out)

    def test_lines_that_only_wait_are_in_no_table(self):
        run = self.succeeds("check", "tiled", "-m", 8)
        self.assertNotRegex(run.out, r"tiled\.hpp:\d+ +- +- +-\n")
        self.assertRegex(run.out, r"barrier of a block +\d+")

    def test_junit(self):
        self.succeeds("check", "naive", "--junit", "report.xml", "--quiet")
        suite = xml.etree.ElementTree.parse(self.path("report.xml")).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "0"))
        self.fails(2, "check", "naive", "--junit", "report.xml", says="report.xml")
        self.succeeds("check", "naive", "--junit", "report.xml", "--force", "--quiet")

    def test_the_text_beside_json(self):
        plain = self.succeeds("check", "naive").out
        run = self.succeeds("check", "naive", "--json", "--text", "report.txt")
        self.assertEqual((self.path("report.txt").read_text(), run.json["kernel"]), (plain, "naive"))
        self.fails(2, "check", "naive", "--text", "report.txt", says="report.txt")
        plain = self.succeeds("explain", "naive", "--against", "tiled").out
        run = self.succeeds("explain", "naive", "--against", "tiled", "--json", "--text", "report.txt", "--force")
        self.assertEqual((self.path("report.txt").read_text(), len(run.json["kernels"])), (plain, 2))

    def test_what_is_refused(self):
        self.fails(2, "check", "tield", says=["unknown kernel 'tield'", "did you mean 'tiled'?"])
        self.fails(2, "check", "packed", says="unknown kernel 'packed'")
        self.fails(2, "check", "naive", "--device", "h20", says="h200")
        self.fails(2, "check", "tiled", "--tile", "40,40,8", says=["tile 40x40x8 is impossible", "1,600 threads in a block, at most 1,024"])
        self.fails(2, "check", "tensor_core", "--dtype", "i32", says="no i32 product")
        self.fails(2, "check", "tiled", "--stop-at", "lane=3", says="unknown key 'lane'")

    def test_a_tile_and_a_type_that_are_not_built_in_are_compiled(self):
        out = self.succeeds("check", "tiled", "-m", 17, "-n", 31, "-k", 9, "--tile", "8,4,12", "--json").json
        self.assertEqual((out["kernel"], out["block_dim"], out["grid"]), ("tiled", [4, 8, 1], [8, 3, 1]))
        self.assertIn("m=17 n=31 k=9", out["problem"])
        self.assertIn("tile=8x4x12", out["problem"])
        self.assertEqual([each["written_once"] for each in out["tensors"]][2], 17 * 31)
        run = self.succeeds("check", "tiled_register", "--dtype", "f64", "-m", 17, "--beta", 2, "--html", "page.html")
        self.assertIn("in=f64 out=f64", run.out)
        self.assertIn("beta=2", run.out)
        self.assertIn("tiled_register.hpp", self.path("page.html").read_text())
        self.fails(4, "check", "tiled", "--tile", "8,4,12", env={"CXX": "no-such-compiler"},
                   says=["no-such-compiler cannot be started", "GCC 12 or newer", "CXX"])
        self.succeeds("check", "tiled", env={"CXX": "no-such-compiler"})
        self.fails(2, "check", says="NAME")


if __name__ == "__main__":
    harness.main()
