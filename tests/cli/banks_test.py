#!/usr/bin/env python3
"""tessera banks: counts, pictures, JSON, and what it refuses. tests/check/warp_pattern_test.cpp has the patterns themselves."""
import xml.etree.ElementTree

import harness


class Banks(harness.CommandTest):
    def test_says_what_an_access_costs(self):
        text = self.succeeds("banks", "row_major(32,32)").out
        self.assertTrue(text.startswith("(32,32):(32,1), f32: 32 lanes, 4 bytes each\n"
                                        "shared memory, load:  32 wavefronts, 1 without conflicts: 32-way bank conflict\n"
                                        "shared memory, store: 32 wavefronts, 1 without conflicts: 32-way bank conflict\n"
                                        "global memory:        32 sectors, 4 if dense\n\nbank "), text)
        self.assertEqual(text.count("\npass "), 32)

    def test_padding_swizzles_and_vectors_help(self):
        for words in (["--pad", "1"], ["--swizzle", "5,0,5"], ["--along", "1"]):
            self.assertIn("load:  1 wavefront, no bank conflict", self.succeeds("banks", "row_major(32,32)", *words).out)
        self.assertIn("load:  4 wavefronts, no", self.succeeds("banks", "row_major(8,64)", "--along", "1", "--vector", "4").out)
        self.assertIn("load:  1 wavefront, no bank conflict, merged",
                      self.succeeds("banks", "lane / 2", "--dtype", "f64", "--lanes", "32").out)

    def test_lines_fit_the_terminal(self):
        for columns in (60, 80, 120):
            for memory in ("shared", "global"):
                run = self.succeeds("banks", "2*lane", "--memory", memory, env={"COLUMNS": str(columns)})
                self.assertLessEqual(max(map(len, run.out.split("\n\n")[1].splitlines())), columns)

    def test_json(self):
        document = self.succeeds("banks", "33 * lane", "--lanes", "2", "--dtype", "f16", "--json").json
        self.assertEqual(document, {"pattern": "33 * lane", "dtype": "f16", "lane_bytes": 2, "elements": [0, 33], "global": {"sectors": 2, "ideal": 1},
                                    "shared_load": {"wavefronts": 1, "ideal": 1, "ways": 1, "basis": "rule"},
                                    "shared_store": {"wavefronts": 1, "ideal": 1, "ways": 1, "basis": "rule"}})

    def test_pictures_are_xml(self):
        for memory in ("shared", "global"):
            text = self.succeeds("banks", "5*lane", "--memory", memory, "--svg").out
            self.assertTrue(xml.etree.ElementTree.fromstring(text).tag.endswith("svg"))
            self.succeeds("banks", "5*lane", "--memory", memory, "--svg", "picture.svg", "--force")
            self.assertEqual(self.path("picture.svg").read_text(), text)
        self.fails(2, "banks", "lane", "--svg", "picture.svg", says="exists already")
        self.fails(2, "banks", "lane", "--svg", "--json", says="stdout")

    def test_refused(self):
        self.fails(2, "banks", says="no pattern given")
        self.fails(2, "banks", "lane", "--swizzle", "1,2", says=["--swizzle", "BITS,BASE,SHIFT"])
        self.fails(2, "banks", "lane", "--memory", "local", says="--memory")
        self.fails(2, "banks", "lane", "--vector", "4", says="lane 1 begins at byte 4: a GPU stops there")
        done = self.tessera("banks", "lane + tid")
        self.assertEqual((done.code, done.lines[1:]), (2, ["lane + tid", "       ^"]))


class Mcp(harness.CommandTest):
    """`tessera mcp`; tests/python/mcp_test.py has the server."""

    def test_says_in_one_line_what_is_missing(self):
        self.fails(4, "mcp", env={"TESSERA_PYTHON": "/nonexistent"}, says=["Python does not start", "TESSERA_PYTHON"])
        self.fails(4, "mcp", env={"PYTHONPATH": "", "PYTHONNOUSERSITE": "1", "TESSERA_PYTHON": "/usr/bin/python3"},
                   says=["no package tessera", "docs/python.md"])


if __name__ == "__main__":
    harness.main()
