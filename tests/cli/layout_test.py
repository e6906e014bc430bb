#!/usr/bin/env python3
"""tessera layout: tables, pictures, JSON, expressions, and carets under mistakes."""
import xml.etree.ElementTree

import harness


class Layout(harness.CommandTest):
    def test_table(self):
        self.assertEqual(self.succeeds("layout", "(2,2):(2,1)").out,
                         "(2,2):(2,1)\n    0   1\n  +---+---+\n0 | 0 | 1 |\n  +---+---+\n1 | 2 | 3 |\n  +---+---+\n")

    def test_marked_tile(self):
        text = self.succeeds("layout", "row_major(2,6)", "--tile", "2,2", "--at", "0,1").out
        for marked in ["[ 2]", "[ 3]", "[ 8]", "[ 9]"]:
            self.assertIn(marked, text)
        self.assertEqual(text.count("["), 4)
        self.assertIn("[ 0]", self.succeeds("layout", "row_major(2,6)", "--tile", "2,2").out)

    def test_index_of_a_coordinate(self):
        self.assertEqual(self.succeeds("layout", "(4,2):(2,1)", "--at", "3,1").out, "7\n")
        self.assertEqual(self.succeeds("layout", "(4,2):(2,1)", "--at", "4").out, "1\n")
        self.assertEqual(self.succeeds("layout", "((2,2),2):((1,4),2)", "--at", "(1,1),1").out, "7\n")
        for at in ["4,0", "-1,0", "0,0,0", "8", "(0,0),1"]:
            self.fails(2, "layout", "(4,2):(2,1)", f"--at={at}", says="outside")

    def test_json_holds_every_index(self):
        document = self.succeeds("layout", "(4,2):(2,1)", "--json").json
        self.assertEqual(document, {"layout": "(4,2):(2,1)", "shape": "(4,2)", "stride": "(2,1)", "rank": 2, "size": 8,
                                    "cosize": 8, "indices": [0, 2, 4, 6, 1, 3, 5, 7]})
        document = self.succeeds("layout", "row_major(8,8)", "--swizzle", "3,0,3", "--json").json
        self.assertEqual(sorted(document["indices"]), list(range(64)))
        self.assertNotEqual(document["indices"], [8 * (i % 8) + i // 8 for i in range(64)])

    def test_json_answers_what_was_asked_however_large_the_layout(self):
        document = self.succeeds("layout", "row_major(100000,100000)", "--at", "70000,3", "--json").json
        self.assertEqual((document["index"], document["at"]), (70000 * 100000 + 3, "(70000,3)"))
        self.assertNotIn("indices", document)
        document = self.succeeds("layout", "row_major(2,6)", "--tile", "2,2", "--at", "0,1", "--json").json
        self.assertEqual((document["tile"], document["at"], document["tile_indices"]), ("(2,2)", "(0,1)", [2, 8, 3, 9]))
        self.assertEqual(len(document["indices"]), 12)
        document = self.succeeds("layout", "row_major(100001,100000)", "--tile", "2,3", "--at", "50000,33333", "--json").json
        self.assertEqual(document["tile_indices"], [10**10 + 99999])  # clipped at both edges
        document = self.succeeds("layout", "row_major(8,8)", "--swizzle", "3,0,3", "--tile", "1,8", "--at", "1,0", "--json").json
        self.assertEqual(document["tile_indices"], [9, 8, 11, 10, 13, 12, 15, 14])
        self.assertEqual(self.succeeds("layout", "8:2", "--tile", "3", "--json").json["tile_indices"], [0, 2, 4])
        self.fails(2, "layout", "row_major(9999,9999)", "--tile", "999,999", "--json", says="too large to list")
        self.fails(2, "layout", "row_major(9,9)", "--tile", "2,2", "--at", "5,0", "--json", says="no tile (5,0)")

    def test_options_that_would_be_ignored_are_refused(self):
        self.fails(2, "layout", "((2,2),(2,2)):((1,4),(2,8))", "--thread-values", "4,4", says=["--thread-values", "--svg"])
        self.fails(2, "layout", "((2,2),(2,2)):((1,4),(2,8))", "--thread-values", "4,4", "--tile", "2,2", "--svg", says="--tile")
        self.fails(2, "layout", "row_major(8,8)", "--swizzle", "3,0,3", "--tile", "2,2", "--svg", says="no tile")
        self.fails(2, "layout", "row_major(8,8)", "--at", "1,1", "--svg", says="--tile")
        self.fails(2, "layout", "row_major(8,8)", "--banks", "16", says=["--swizzle", "--svg"])
        self.succeeds("layout", "row_major(8,8)", "--swizzle", "3,0,3", "--banks", "16", "--svg")

    def test_pictures_are_xml(self):
        for options in [["(4,2):(2,1)"], ["row_major(2,6)", "--tile", "2,2", "--at", "0,1"], ["row_major(8,8)", "--swizzle", "3,0,3"],
                        ["((2,2),(2,2)):((1,4),(2,8))", "--thread-values", "4,4"]]:
            with self.subTest(options):
                text = self.succeeds("layout", *options, "--svg").out
                self.assertTrue(xml.etree.ElementTree.fromstring(text).tag.endswith("svg"))
                self.succeeds("layout", *options, "--svg", "picture.svg", "--force")
                self.assertEqual(self.path("picture.svg").read_text(), text)
        self.fails(2, "layout", "4:1", "--svg", "picture.svg", says="exists already")
        self.fails(1, "layout", "4:1", "--svg", "/dev/full", says="No space left")

    def test_refused(self):
        self.fails(2, "layout", says="no layout given")
        self.fails(2, "layout", "(9999999,9999999):(1,1)", says="too large to draw")
        self.fails(2, "layout", "4:1", "--swizzle", "1,2", says="BITS,BASE,SHIFT")
        self.fails(2, "layout", "4:1", "--swizzle", "1,0,x", says=["--swizzle", "BITS,BASE,SHIFT", "'1,0,x'"])
        self.fails(2, "layout", "4:1", "--swizzle", "99,1,2", says="swizzle(99,1,2) is impossible")
        self.fails(2, "layout", "(4,2):(2,1)", "--tile", "2,2,2", says="does not fit")
        self.fails(2, "layout", "4:1", "--json", "--svg", says="stdout")
        self.fails(2, "layout", "4:1", "--banks", "0", says="--banks")


class Eval(harness.CommandTest):
    VALUES = {
        "composition((6,2):(8,2),(4,3):(3,1))": "((2,2),3):((24,2),8)",
        "composition(20:2,(5,4):(4,1))": "(5,4):(8,2)",
        "complement(4:1,24)": "6:4",
        "coalesce((2,(1,6)):(1,(6,2)))": "12:1",
        "right_inverse((4,8):(8,1))": "(8,4):(4,1)",
        "logical_divide((4,2,3):(2,1,8),4:2)": "((2,2),(2,3)):((4,1),(2,8))",
        "zipped_divide((9,(4,8)):(59,(13,1)),<3:3,(2,4):(1,8)>)": "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
        "logical_product((2,2):(4,1),6:1)": "((2,2),(2,3)):((4,1),(2,8))",
        "row_major(4,2)": "(4,2):(2,1)",
        "col_major(4,2)": "(4,2):(1,4)",
        "size((4,(2,3)):(1,(4,8)))": "24",
        "cosize((4,2):(1,10))": "14",
        "row_major(4,2)(3,1)": "7",
        "size(composition(row_major(8,8),4:2))": "4",
    }

    def test_values(self):
        for expression, value in self.VALUES.items():
            with self.subTest(expression):
                self.assertEqual(self.succeeds("layout", "eval", expression).out, value + "\n")
        self.assertEqual(self.succeeds("layout", "eval", "size(4:1)", "--json").json, {"expression": "size(4:1)", "value": "4"})

    def test_mistakes_have_a_caret(self):
        for expression, column in {"bogus(3)": 0, "(4,2:(2,1)": 5, "size(4:1": 4, "composition(4:1,)": 16, "4:1)": 3}.items():
            with self.subTest(expression):
                run = self.tessera("layout", "eval", expression)
                self.assertEqual((run.code, run.out), (2, ""))
                self.assertEqual(run.err.count("\n"), 3, run.err)
                self.assertTrue(run.lines[0].startswith("tessera layout eval: "))
                self.assertEqual(run.lines[1], expression)
                self.assertRegex(run.lines[2], r"^ *\^$")
                self.assertLessEqual(abs(run.lines[2].index("^") - column), 1, run.err)

    def test_a_refusal_names_the_function_and_the_text_once(self):
        run = self.tessera("layout", "eval", "logical_divide(row_major(4,4),(3,3):(1,1))")
        self.assertEqual(run.lines[0], "tessera layout eval: logical_divide of (4,4):(4,1) and (3,3):(1,1): "
                                       "two coordinates of (3,3):(1,1) have one index")
        self.assertEqual(self.tessera("layout", "eval", "(4").lines[0], "tessera layout eval: this bracket is never closed")

    def test_hostile_expressions_end_in_time(self):
        for expression in ["(" * 100000, "1" * 5000, "size(" * 2000 + "4:1" + ")" * 2000, "(" + "2," * 1000 + "2)", "4:1" * 3000,
                           "9223372036854775807:9223372036854775807", "complement(4:1,9223372036854775807)", "\x01\x7f", "é:1",
                           "complement((2,2,2,2,2,2):(1,2,4,8,16,32),9223372036854775807)", "0:0", "(0,0):(1,1)"]:
            run = self.tessera("layout", "eval", expression, timeout=10)
            self.assertIn(run.code, (0, 2), run.err[:300])


if __name__ == "__main__":
    harness.main()
