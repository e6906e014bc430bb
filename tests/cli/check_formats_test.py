#!/usr/bin/env python3
"""tessera check --format and --sarif: what editors, code scanning and GitHub read; and --sweep, one table of many shapes.

TESSERA_SARIF_SCHEMA names the schema of the standard, sarif-schema-2.1.0.json, where it is at hand: logs are then validated by it too.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import harness
from check_file_test import CCACHE, FILE

try:
    import jsonschema
except ImportError:
    jsonschema = None

SUBSET = pathlib.Path(__file__).resolve().parents[1] / "support/sarif_subset.json"
PRODUCT = """
#include "tessera/check/file.hpp"
#include "tessera/tensor/tile.hpp"
using namespace tessera;
struct Mine {
  static constexpr const char* name = "mine";
  static constexpr Dim3 block{8, 8};
  static Dim3 grid(index_t m, index_t n) { return {int((n + 7) / 8), int((m + 7) / 8)}; }
  void operator()(auto t, auto A, auto B, auto C) const {
    const index_t row = 8 * t.block.y + t.thread.y, col = 8 * t.block.x + t.thread.x;
    const auto mine = tile<8, 8>(C, t.block.y, t.block.x);
    if (!mine.contains(t.thread.y, t.thread.x)) return;
    auto sum = zero_of(C);
    for (index_t k = 0; k < DEPTH; ++k) sum = fma(A(row, k), B(k, col), sum);
    store(mine, t.thread.y, t.thread.x, sum);
  }
};
check::Report check_kernel(const check::Options& options, const check::ProductProblem& problem) {
  return check::check_product<Mine, float>(options, problem);
}
"""


class Formats(harness.CommandTest):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "--quiet", self.folder], check=True)
        self.path("kernels").mkdir()
        self.path("kernels/racy.cpp").write_text(FILE.replace("BARRIER", ""))
        self.env = {"CXX": CCACHE + "c++", "GITHUB_WORKSPACE": ""}

    def checked(self, *arguments, code=1, **named):
        run = self.tessera("check", *arguments, env=self.env, **named)
        self.assertEqual(run.code, code, run.err)
        return run

    def valid(self, log):
        """The log, when the schema has nothing against it."""
        if jsonschema is None:
            self.skipTest("logs of SARIF are NOT validated: install python3-jsonschema")
        schemas = [SUBSET, *([pathlib.Path(os.environ["TESSERA_SARIF_SCHEMA"])] if "TESSERA_SARIF_SCHEMA" in os.environ else [])]
        for file in schemas:
            schema = json.loads(file.read_text())
            validator = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
            self.assertEqual([f"{list(e.path)}: {e.message}" for e in validator.iter_errors(log)], [], file.name)
        return log

    def test_editors_get_both_places_of_a_race(self):
        lines = self.checked("kernels/racy.cpp", "--format", "gcc").out.splitlines()
        self.assertRegex(lines[0], r"^kernels/racy\.cpp:9:\d+: error: thread .* nothing orders the two.* \[race\]$")
        self.assertRegex(lines[1], r"^kernels/racy\.cpp:11:\d+: note: the other access \[race\]$")
        self.assertRegex(lines[-1], r"^.*: NOT clean: 1 error in 1 block$")
        clean = FILE.replace("BARRIER", "t.barrier();")
        self.path("clean.cpp").write_text(clean)
        self.assertEqual(len(self.checked("clean.cpp", "--format", "gcc", code=0).out.splitlines()), 1)

    def test_annotations_name_files_from_the_root_of_the_checkout(self):
        done = subprocess.run([harness.COMMAND, "check", "racy.cpp", "--format", "github"], cwd=self.path("kernels"),
                              capture_output=True, text=True, env=harness.environment(**self.env))
        self.assertEqual(done.returncode, 1, done.stderr)
        first = done.stdout.splitlines()[0]
        self.assertRegex(first, r"^::error file=kernels/racy\.cpp,line=9,col=\d+,title=[^,:]*%3A race in shared memory::thread ")
        self.assertIn("%0Athe other access: kernels/racy.cpp:11", first)

    def test_a_log_of_sarif_is_valid_and_has_both_places(self):
        log = self.valid(self.checked("kernels/racy.cpp", "--format", "sarif").json)
        [result] = log["runs"][0]["results"]
        [related] = result["relatedLocations"]

        def place(location):
            return location["physicalLocation"]["artifactLocation"]["uri"], location["physicalLocation"]["region"]["startLine"]

        self.assertEqual((place(result["locations"][0]), place(related)), (("kernels/racy.cpp", 9), ("kernels/racy.cpp", 11)))
        self.assertEqual(log["runs"][0]["automationDetails"]["id"], "tessera check/kernels/racy.cpp/")
        self.assertEqual(log["runs"][0]["invocations"][0]["exitCode"], 1)

    def test_accepted_findings_and_links_are_valid_too(self):
        self.path("known.txt").write_text('kind=race file=racy.cpp reason="looked at"\nkind=crash reason="never"\n')
        self.env["TESSERA_DOCS"] = "https://example.com/docs"
        log = self.valid(self.checked("kernels/racy.cpp", "--format", "sarif", "--suppress", "known.txt", code=0).json)
        [result] = log["runs"][0]["results"]
        self.assertEqual(result["suppressions"], [{"kind": "external", "status": "accepted", "justification": "looked at"}])
        self.assertEqual(log["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"], "https://example.com/docs/checker.md#what-it-finds")

    def test_a_program_that_dies_has_a_place_and_a_valid_log(self):
        self.path("odd name.cpp").write_text(FILE.replace("BARRIER", "").replace("const HostTensor<float> A(1, 64);", "std::abort();"
                                             " const HostTensor<float> A(1, 64);").replace("#include", "#include <cstdlib>\n#include", 1))
        log = self.valid(self.checked("odd name.cpp", "--format", "sarif").json)
        location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        self.assertEqual((log["runs"][0]["results"][0]["ruleId"], location["artifactLocation"]["uri"]), ("crash", "odd%20name.cpp"))

    def test_a_kernel_of_the_ladder_has_a_valid_log(self):
        self.valid(self.checked("tiled", "-m", 17, "-n", 9, "-k", 5, "--format", "sarif", code=0).json)

    def test_the_log_beside_another_format(self):
        run = self.checked("kernels/racy.cpp", "--format", "gcc", "--sarif", "log.sarif", "--junit", "log.xml")
        self.assertIn(": error: ", run.out)
        self.valid(json.loads(self.path("log.sarif").read_text()))
        self.assertIn("<testsuite", self.path("log.xml").read_text())
        self.fails(2, "check", "tiled", "--sarif", "log.sarif", says="log.sarif")

    def test_json_is_the_format_json(self):
        shape = ("-m", 8, "-n", 8, "-k", 8)
        self.assertEqual(self.succeeds("check", "tiled", *shape, "--json").raw, self.succeeds("check", "tiled", *shape, "--format", "json").raw)
        self.assertEqual(self.succeeds("check", "tiled", *shape).raw, self.succeeds("check", "tiled", *shape, "--format", "text").raw)
        self.assertIn("<!doctype html>", self.succeeds("check", "tiled", *shape, "--format", "html").out.lower())
        self.fails(2, "check", "tiled", "--format", "xml", says=["unknown choice 'xml'", "text, json, gcc, sarif, github, junit, html"])


class Sweep(harness.CommandTest):
    def test_a_kernel_of_the_ladder_in_one_table(self):
        run = self.succeeds("check", "tiled", "--tile", "16,16,16", "--sweep", "--time-limit", 600)
        lines = run.out.splitlines()
        self.assertRegex(lines[0], r"^kernel tiled: \d+ cases around tile 16x16x16, three orders")
        self.assertRegex(run.out, r"\n +17 +33 +17 +transposed-padded +ok +ok +ok *\n")
        self.assertRegex(run.out, r"\n *1021 +3 +5 +rows +ok +ok +ok *\n")
        self.assertRegex(lines[-1], r"^clean: \d+ cases$")

    def test_every_kind_of_strides_by_itself(self):
        for strides in ("rows", "transposed-a", "transposed-b", "transposed-c", "padded", "transposed-padded"):
            run = self.succeeds("check", "block_tiled_vectorized", "-m", 17, "-n", 31, "-k", 9, "--strides", strides)
            self.assertIn("C (17,31): 527 of 527 elements written once", run.out)
        self.assertIn("c=3:", self.succeeds("check", "naive", "-m", 3, "-n", 4, "--strides", "padded").out.replace("c=7:1", "c=3:"))
        self.fails(2, "check", "naive", "--strides", "column", says="unknown choice 'column'")

    def test_the_smallest_failing_case_of_a_file_can_be_run_again(self):
        self.path("mine.cpp").write_text(PRODUCT.replace("DEPTH", "16"))  # right for k >= 16 only
        run = self.tessera("check", "mine.cpp", "--sweep", "--json", "--time-limit", 600, env={"CXX": CCACHE + "c++"})
        self.assertEqual(run.code, 1, run.err)
        out = run.json
        self.assertEqual((out["kernel"], out["tile"]), ("mine", [8, 8, 8]))
        self.assertEqual(out["summary"]["clean"], False)
        self.assertGreater(out["summary"]["clean_cases"], 0)
        smallest = out["smallest_failing"]
        self.assertEqual((smallest["m"], smallest["n"], smallest["k"], smallest["order"]), (1, 1, 1, "forward"))
        self.assertEqual(smallest["report"]["kernel"], "mine")
        again = self.tessera(*smallest["command"].split()[1:], "--format", "gcc", env={"CXX": CCACHE + "c++"})
        self.assertEqual(again.code, 1, again.err)
        self.assertIn("mine.cpp:", again.out)
        lines = self.tessera("check", "mine.cpp", "--sweep", "--format", "gcc", "--time-limit", 600, env={"CXX": CCACHE + "c++"}).out.splitlines()
        self.assertRegex(lines[0], r"^mine\.cpp:\d+:\d+: error: .*, with m=1 n=1 k=1 strides=rows order=forward.* \[[a-z-]+\]$")

    def test_a_right_file_is_clean_and_takes_its_shape_from_the_command_line(self):
        self.path("mine.cpp").write_text(PRODUCT.replace("DEPTH", "extent<1>(A)"))
        run = self.succeeds("check", "mine.cpp", "--sweep", "--tile", "4,4,4", "--time-limit", 600, env={"CXX": CCACHE + "c++"})
        self.assertRegex(run.out.splitlines()[-1], r"^clean: \d+ cases$")
        run = self.succeeds("check", "mine.cpp", "-m", 5, "-n", 6, "-k", 7, "--strides", "padded", env={"CXX": CCACHE + "c++"})
        self.assertIn("kernel mine: m=5 n=6 k=7 strides=padded", run.out)

    def test_a_tile_that_is_not_built_in(self):
        run = self.succeeds("check", "tiled", "--tile", "4,8,4", "--sweep", "--json", "--time-limit", 600, env={"CXX": CCACHE + "c++"})
        self.assertEqual((run.json["kernel"], run.json["tile"], run.json["smallest_failing"]), ("tiled", [4, 8, 4], None))

    def test_the_time_limit_ends_it(self):
        self.path("slow.cpp").write_text("#include <unistd.h>\n" + PRODUCT.replace("DEPTH", "extent<1>(A)").replace(
            "return check::check_product", "usleep(100000);\n  return check::check_product"))
        run = self.tessera("check", "slow.cpp", "--sweep", "--time-limit", 1, env={"CXX": CCACHE + "c++"})
        self.assertEqual(run.code, 4, run.out)
        self.assertIn("not run: the time limit", run.out.splitlines()[-1])

    def test_what_is_refused(self):
        self.path("fixed.cpp").write_text(FILE.replace("BARRIER", "t.barrier();"))
        self.fails(2, "check", "fixed.cpp", "--sweep", env={"CXX": CCACHE + "c++"},
                   says=["fixed.cpp takes no shape, which --sweep chooses", "const check::ProductProblem& problem"])
        self.fails(2, "check", "tiled", "--sweep", "--html", "page.html", says="--sweep excludes --html and --stop-at")
        self.fails(2, "check", "tiled", "--sweep", "--stop-at", "block=0", says="--sweep excludes --html and --stop-at")


if __name__ == "__main__":
    harness.main()
