#!/usr/bin/env python3
"""tessera explain: what bounds a kernel, what to change, two kernels side by side, and the page."""
import json
import pathlib
import re
import xml.etree.ElementTree

import harness

RACE = """#include "tessera/check/file.hpp"
using namespace tessera;
struct Mine {
  static constexpr const char* name = "mine";
  static constexpr Dim3 block{64};
  struct Shared { Tile<float, 1, 64> a; };
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    s.a(0, t.thread) = A(0, t.thread);
    C(0, t.thread) = s.a(0, 63 - t.thread);
  }
};
check::Report check_kernel(const check::Options& options) {
  const HostTensor<float> A(1, 64);
  HostTensor<float> C(1, 64);
  return check::check(options, Dim3{1}, Mine{}, A.view(), C.view());
}
"""
SMALL = ["-m", "256", "-n", "256", "-k", "64"]


class Explain(harness.CommandTest):
    def test_naive_is_told_to_coalesce(self):
        text = " ".join(self.succeeds("explain", "naive", *SMALL).out.split())
        self.assertIn("naive is bound by shared memory and L1", text)
        self.assertRegex(text, r"naive\.hpp:\d+: each load of a warp touches 16\.5 sectors")
        self.assertIn("A: 32 where 4 would do", text)
        self.assertIn("The next step, coalescing:", text)
        self.assertIn("tessera explain naive --against coalescing", text)

    def test_the_occupancy_of_a_kernel_that_ships_has_its_registers(self):
        text = self.succeeds("explain", "block_tiled", *SMALL).out
        self.assertRegex(text, r"occupancy +12 %, 1 block on an SM, limited by registers \(189 registers each\)")
        self.assertNotRegex(text, r"ridge [0-9.]+: ")  # one verdict: the bound is at the top
        for other in (["block_tiled", "--device", "a100"], ["tiled_idiomatic"]):
            self.assertRegex(self.succeeds("explain", *other, *SMALL).out, r"\(registers unknown: fewer blocks fit from \d+ on\)")
        made = json.loads((pathlib.Path(__file__).resolve().parents[2] / "bench/results/gpu/ladder-machine-code.json").read_text())
        table = (pathlib.Path(__file__).resolve().parents[2] / "src/inspect/kernel_registers.inc").read_text()
        for step, of in made["steps"].items():
            tile = of["tile"] + ("x1" if re.search(r"/\d+$", of["tile"]) else "")
            self.assertIn(f'{{"{step}", "{tile}", {of["registers"]}}},\n', table)

    def test_each_step_has_the_next_one_until_the_matrix_units(self):
        ladder = harness.algorithms()
        ladder = ladder[:ladder.index("tensor_core") + 1]
        for name, following in zip(ladder, ladder[1:]):
            with self.subTest(name):
                document = self.succeeds("explain", name, "-m", "128", "-n", "128", "-k", "64", "--json").json
                self.assertEqual(document["next"]["algorithm"], following)
        self.assertIsNone(self.succeeds("explain", "tensor_core", "-m", "128", "-n", "128", "-k", "64", "--json").json["next"])

    def test_the_counters_are_those_of_the_rules(self):
        document = self.succeeds("explain", "naive", *SMALL, "--blocks", "1", "--json").json
        counters = document["counters"]
        self.assertEqual(document["blocks"], {"grid": 64, "counted": 1})
        # A block of 32 warps: for each k a load of 32 rows of A and a broadcast of B.
        self.assertEqual(counters["global_load_requests"], 32 * 64 * 2)
        self.assertEqual(counters["global_load_sectors"], 32 * 64 * 33)
        self.assertEqual(counters["flops"], 2 * 32 * 32 * 64)
        self.assertEqual(document["roofline"]["flops"], 2 * 256 * 256 * 64)
        self.assertEqual(document["roofline"]["compulsory_bytes"], 4 * (256 * 64 + 64 * 256 + 256 * 256))

    def test_json_names_what_it_says(self):
        document = self.succeeds("explain", "tiled", *SMALL, "--device", "a100", "--json").json
        self.assertEqual(set(document), {"kernel", "problem", "remark", "device", "blocks", "clean", "verdict", "busiest", "busiest_uncached",
                                         "resources", "roofline", "occupancy", "sectors_per_request", "conflict_factor", "advice",
                                         "counters", "next"})
        self.assertEqual((document["kernel"], document["device"], document["clean"]), ("tiled", "a100", True))
        self.assertEqual(document["sectors_per_request"], 4)
        self.assertEqual(document["occupancy"]["limit"], "warps")
        for advice in document["advice"]:
            self.assertEqual(set(advice), {"problem", "remedy", "location", "saved_us"})

    def test_two_kernels_side_by_side(self):
        text = self.succeeds("explain", "naive", "--against", "coalescing", *SMALL).out
        self.assertRegex(text, r"global_load_sectors +\d+ +\d+ +0\.\d+")
        self.assertIn("naive is bound by", text)
        self.assertIn("coalescing is bound by", text)
        self.assertIn("fma(A(row, k), B(k, col), acc)", text)
        document = self.succeeds("explain", "naive", "--against", "coalescing", *SMALL, "--json").json
        self.assertEqual([each["kernel"] for each in document["kernels"]], ["naive", "coalescing"])
        self.assertLess(document["ratios"]["global_load_sectors"], 0.2)
        self.assertEqual(document["ratios"]["flops"], 1)

    def test_two_kernels_side_by_side_are_advised_too(self):
        text = " ".join(self.succeeds("explain", "naive", "--against", "coalescing", *SMALL).out.split())
        self.assertRegex(text, r"What to change in naive 1\. naive\.hpp:\d+: each load of a warp touches 16\.5 sectors")
        self.assertRegex(text, r"What to change in coalescing 1\. ")

    def test_one_sector_is_one_sector(self):
        text = self.succeeds("explain", "naive", *SMALL).out
        self.assertRegex(text, r"load of B +naive\.hpp:\d+ +4 +1 sector +1\n")
        self.assertNotRegex(text, r"\b1 (sectors|wavefronts|blocks)\b")

    def test_registers_limit_the_occupancy(self):
        document = self.succeeds("explain", "naive", *SMALL, "--registers", "64", "--json").json
        self.assertEqual((document["occupancy"]["warps"], document["occupancy"]["limit"]), (32, "registers"))
        device = self.succeeds("check", "naive", *SMALL, "--registers", "64", "--json").json["device"]
        self.assertEqual((device["warps_per_sm"], device["limited_by"], device["registers"]), (32, "registers", 64))
        self.assertIn("32 of 64 warps, limited by registers (64 registers each)", self.succeeds("check", "naive", *SMALL, "--registers", "64").out)
        self.assertEqual(self.succeeds("check", "naive", *SMALL, "--json").json["device"]["registers"], 56)  # as nvcc made it
        self.assertIsNone(self.succeeds("check", "naive", *SMALL, "--device", "a100", "--json").json["device"]["registers"])

    def test_the_page(self):
        self.succeeds("explain", "tiled", *SMALL, "--html", "page.html")
        page = self.path("page.html").read_text()
        root = xml.etree.ElementTree.fromstring(page.split("\n", 1)[1])
        self.assertEqual(root.find(".//h1").text, "tiled")
        self.assertIn('class="roofline"', page)
        self.assertIn('class="timeline"', page)
        self.assertIn('t.superstep("multiply"'.replace('"', "&quot;"), page)
        self.assertNotRegex(page, r"<script|src=|https?:")
        links = set(re.findall(r'href="#([^"]*)"', page))
        self.assertEqual({link for link in links if f'id="{link}"' not in page}, set())
        self.fails(2, "explain", "tiled", *SMALL, "--html", "page.html", says="exists already")
        self.succeeds("explain", "tiled", "--against", "tiled_register", *SMALL, "--html", "page.html", "--force")
        self.assertIn("tiled against tiled_register", self.path("page.html").read_text())
        self.fails(1, "explain", "tiled", *SMALL, "--html", "/dev/full", says="No space left")
        self.no_leftovers()

    def test_check_writes_the_page_too(self):
        self.succeeds("check", "tiled", "-m", "17", "-n", "31", "-k", "9", "--html", "clean.html")
        self.assertIn('<span class="badge good">clean</span>', self.path("clean.html").read_text())
        self.path("mine.cpp").write_text(RACE)
        run = self.tessera("check", "mine.cpp", "--html", "race.html")
        self.assertEqual(run.code, 1, run.err)
        page = self.path("race.html").read_text()
        xml.etree.ElementTree.fromstring(page.split("\n", 1)[1])
        self.assertIn("error: race", page)
        line = 1 + RACE.splitlines().index("    C(0, t.thread) = s.a(0, 63 - t.thread);")
        self.assertIn(f'<tr id="mine.cpp-{line}"', page)
        self.assertIn("s.a(0, 63 - t.thread)", page)
        self.fails(2, "check", "mine.cpp", "--html", "race.html", says="exists already")

    def test_refused(self):
        self.fails(2, "explain", "niave", says=["unknown kernel 'niave'", "did you mean 'naive'?"])
        self.fails(2, "explain", "naive", "--against", "niave", *SMALL, says="did you mean 'naive'?")
        self.fails(2, "explain", "naive", "--device", "h220", says="did you mean 'h200'?")
        self.fails(2, "explain", "naive", "--against", "tiled", "--tile", "16x16x16", says="--tile")
        self.fails(2, "explain", "packed", says="unknown kernel 'packed'")
        for command in ("explain", "check"):
            self.fails(2, command, "naive", "--registers", "256", says=["--registers", "from 1 to 255", "got 256"])
        for extent in ("-m", "-n"):
            self.fails(2, "explain", "naive", extent, "0", says=["nothing to explain", "at least 1"])
        self.succeeds("explain", "naive", "-k", "0")  # it stores zeros
        self.path("mine.cpp").write_text(RACE)
        text = self.succeeds("explain", "mine.cpp").out
        self.assertIn("What to change in mine", text)
        self.assertRegex(text, r"mine\.cpp:9 ")
        self.fails(2, "explain", "mine.cpp", "--against", "naive", "--html", "two.html", says="omit --html")
        self.fails(2, "explain", "naive", "--launch", "k<<<1, 1>>>()", says="need a kernel in a file")
        self.fails(2, "explain")

    def test_a_product_takes_the_options_of_products(self):
        for option in ("--html", "page.html"), ("-m", "3"), ("--strides", "transposed-b"), ("--device", "a100"):
            self.fails(2, "explain", "--cpu", 64, 64, 64, *option, says=[f"{option[0]} is for kernels", "M N K, --dtype"])
        self.fails(2, "explain", "naive", "--arithmetic", "lanes", says="--arithmetic is for --cpu")
        product = ["explain", "--cpu", 500, 500, 500, "--threads", 1, "--json"]
        routes = [json.loads(self.succeeds(*product, "--beta", beta).out)["fields"] for beta in (0, 1)]
        self.assertNotEqual(*routes)


if __name__ == "__main__":
    harness.main()
