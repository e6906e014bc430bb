#!/usr/bin/env python3
"""The course: `tessera puzzle`, as a learner and a teacher use it. The texts of the course are run in book_test.py."""
import concurrent.futures
import ctypes
import json
import os
import shutil
import unittest

import harness
from harness import cases

CCACHE = "ccache " if shutil.which("ccache") else ""
# The exact output of the puzzles that the course contains: facts of their pages.
NINE = [[2 * sum((9 * i + k) * (9 * k + j) for k in range(9)) for j in range(9)] for i in range(9)]
COMPILES = unittest.skipIf(harness.sanitized(), "NOT tested with a sanitizer: the learner's program would need it too")


def buffer(rows):
    return "HostBuffer([" + ", ".join(f"{x:.1f}" for row in rows for x in row) + "])"


class Puzzle(harness.CommandTest):
    def puzzle(self, *arguments, code=0, **named):
        env = {"XDG_STATE_HOME": str(self.folder / "state"), "CXX": CCACHE + "c++"}
        run = self.tessera("puzzle", *arguments, env=env, **named)
        self.assertEqual(run.code, code, f"{arguments}: {run.out}{run.err}")
        return run

    def solution(self, name, old="", new=""):
        text = self.puzzle("solution", name).out
        self.assertEqual(text.count(old) if old else 1, 1, old)
        return text.replace(old, new)


class Course(Puzzle):
    @COMPILES
    def test_a_course_of_ones_own_and_one_with_a_fault(self):
        self.puzzle("new", "p90_mine", "--course", "own")
        self.puzzle("new", "p90_mine", "--course", "own", code=2)
        self.puzzle("new", "mine", code=2)
        page = self.path("own/p90_mine/mistakes.txt")
        page.write_text(page.read_text().replace("all-wrong", "guard"))
        said = self.puzzle("test", "--course", "own", code=1).out
        self.assertIn("FAILED: p90: tripled: expected guard, got all-wrong", said)
        self.assertIn("1 puzzles: 2 as they must be, 1 not", said)
        page.write_text("== no such line\ncause: guard\n-  nowhere\n+x\n")
        self.assertIn("lines that occur once in the solution", self.puzzle("test", "--course", "own", code=3).err)
        source = self.path("own/p90_mine/puzzle.cpp")
        source.write_text(source.read_text().replace("//> end", ""))
        self.assertIn("the last region has no '//> end'", self.puzzle("solution", "p90", "--course", "own", code=3).err)


class Learner(Puzzle):
    @COMPILES
    def test_the_original_commands_print_what_theirs_do(self):
        for flag in ("--tiled", "--idiomatic-tiled"):
            out = self.puzzle("run", "p16", flag, "--solution").out.splitlines()
            self.assertEqual(out, ["✓ " + flag[2:] + ": 9 x 9 in tiles of 3 x 3", "out: " + buffer(NINE), "expected: " + buffer(NINE),
                                   "✓ " + flag[2:] + ": 9 x 9, other numbers", "Puzzle 16 complete ✅"])
        out = self.puzzle("run", "p14", "--solution").out.splitlines()
        two = ["out: " + buffer([[4, 6], [12, 22]]), "expected: " + buffer([[4, 6], [12, 22]])]
        more = ": 2 x 2, other numbers"
        self.assertEqual(out, ["✓ naive: 2 x 2", *two, "✓ naive" + more, "✓ single-block: 2 x 2", *two, "✓ single-block" + more, "Puzzle 14 complete ✅"])
        self.assertEqual((NINE[0][0], NINE[8][8]), (3672, 61272))

    @COMPILES
    def test_from_the_start_to_the_solution(self):
        self.assertIn("there is no file p14.cpp", self.puzzle("run", "p14", code=3).err)
        self.assertIn("--single-block", self.puzzle("run", "p14", "--tiled", code=2).err)
        self.assertIn("tessera puzzle run: there is no puzzle 'p99'", self.puzzle("run", "p99", code=2).err)
        self.assertIn("unexpected 'more' after the file", self.puzzle("run", "p14", "a.cpp", "more", code=2).err)
        self.assertIn("the flag is --naive", self.puzzle("run", "p14", "naive", code=3).err)
        self.path("folder").mkdir()
        self.assertRegex(self.puzzle("run", "p14", "folder", code=3).err, "folder is a folder.*name it: folder/p14.cpp")
        for name in ("4", "04", "p4", "P04", "p04"):
            self.assertIn("Puzzle 4:", self.puzzle("explain", name).out)
        for name in ("p", "-4", "4x", "", "pp4"):
            self.puzzle("explain", "--", name, code=2)
        self.puzzle("start", "p14")
        self.assertIn("FILL ME IN", self.path("p14.cpp").read_text())
        self.assertIn("tessera puzzle reset p14", self.puzzle("start", "p14", code=2).err)  # nothing is overwritten
        self.assertIn(f"Edit {self.folder}/there/p14.cpp\n", self.puzzle("start", "p14", "./there/../there/").out)
        self.puzzle("start", "p14", ".", "--force")
        run = self.puzzle("run", "p14", "--naive", code=1)
        self.assertIn("tessera puzzle run: runs p14.cpp\n", run.err)
        self.assertIn("out: " + buffer([[0, 0], [0, 0]]), run.out)
        self.assertIn("4 of 4 elements of C are wrong. The first: row 0, column 0: expected 4, got 0.", run.out)
        self.assertTrue(run.out.startswith("likely cause: nothing is filled in yet\n"), run.out)
        self.path("p14.cpp").write_text(self.solution("p14", "    t.barrier();  // both are complete\n"))
        run = self.puzzle("run", "p14", "--html", "p14.html", "--json", code=1)
        wrong = run.json["cases"][-1]
        self.assertEqual((run.json["solved"], run.json["cause"]["id"], wrong["findings"][0]["kind"]), (False, "missing-barrier", "race"))
        self.assertGreater(run.json["seconds"]["compile"], run.json["seconds"]["run"])
        lines = self.path("p14.cpp").read_text().splitlines()
        self.assertIn("s.a(row, col) = A(row, col)", lines[wrong["findings"][0]["line"] - 1])
        page = self.path("p14.html").read_text()
        self.assertIn("a barrier is missing", page)
        self.assertRegex(page, r"race at p14.cpp:\d+, \d+ times")
        self.assertRegex(page, r"<pre><code> *\d+ s.a.*</code><code> *\d+ ")  # without the blanks in front
        self.assertRegex(page, r"<details><summary>\d+ accesses cost no more than needed</summary>")
        self.assertIn('<rect class="wrong"', page)
        self.assertIn("store to C", page)  # which lane touched what
        self.assertIn('<svg class="cells"', page)
        self.path("p14.cpp").write_text(self.solution("p14"))
        half = self.puzzle("run", "p14", "--single-block", "-v")
        self.assertIn("puzzle 14 still needs --naive", half.out)
        self.assertRegex(half.err, r"compiled in \d+\.\d+ s, run in \d+\.\d+ s")
        self.assertIn("Puzzle 14 complete ✅\nnow: tessera puzzle explain p14; next: tessera puzzle start p15\n", self.puzzle("run", "p14").out)
        progress = self.puzzle("progress", "--json").json
        self.assertEqual(progress["solved"], 1)
        self.assertIn("1 of", self.puzzle("progress").out)
        self.puzzle("reset", "p14")
        self.assertIn("FILL ME IN", self.path("p14.cpp").read_text())
        self.assertNotIn("FILL ME IN", self.path("p14.cpp.bak").read_text())
        self.assertEqual(self.puzzle("progress", "--json").json["solved"], 0)

    def test_no_reset_loses_what_was_written(self):
        self.puzzle("start", "p05")
        for name in ("p05.cpp.bak", "p05.cpp.bak2"):
            self.path("p05.cpp").write_text(name)
            self.assertIn(f"your version is {self.folder}/{name}", self.puzzle("reset", "p05").out)
            self.assertNotIn(".bak", self.puzzle("reset", "p05").out)  # it is unfilled: there is nothing to keep
        self.assertEqual([self.path(name).read_text() for name in ("p05.cpp.bak", "p05.cpp.bak2")], ["p05.cpp.bak", "p05.cpp.bak2"])
        self.assertFalse(self.path("p05.cpp.bak3").exists())

    @COMPILES
    def test_an_unfilled_file_prints_its_numbers_only_when_asked_for(self):
        self.puzzle("start", "p16")
        for flags, numbers in ((["--tiled"], 2), ([], 0)):
            run = self.puzzle("run", "p16", *flags, code=1)
            self.assertTrue(run.out.startswith("likely cause: nothing is filled in yet\n"), run.out)
            self.assertEqual(run.out.count("HostBuffer(["), numbers)

    @COMPILES
    def test_the_part_that_is_not_filled_is_named(self):
        given = self.solution("p16")
        begin, end = given.index("    float sum = 0;"), given.index("  }\n};\n\n// tessera puzzle run p16 --idiomatic")
        self.path("p16.cpp").write_text(given[:begin] + given[end:])
        for flags in (["--tiled"], []):
            out = self.puzzle("run", "p16", *flags, code=1).out
            self.assertIn("likely cause: nothing is filled in yet in the part --tiled\n", out)
            self.assertIn("asks for; --idiomatic-tiled runs that part alone\n", out)

    @COMPILES
    def test_what_others_follow_from_comes_first(self):
        outside = self.solution("p09", "t.block.x * 8", "t.block.x * 32")
        barrier = self.solution("p07", "t.barrier();", "if (i < 32) t.barrier();")
        for name, text, first in (("p09", outside, "out-of-bounds"), ("p07", barrier, "diverged-barrier")):
            self.path(name + ".cpp").write_text(text)
            kinds = [each["kind"] for each in self.puzzle("run", name, "--json", code=1).json["cases"][-1]["findings"]]
            self.assertEqual(kinds[0], first)
            self.assertIn("race", kinds[1:])
        run = self.puzzle("run", "p09", code=1)
        self.assertNotIn("race", run.out)  # it is none: the one finding is the other's consequence
        self.assertLess(run.out.index("likely cause"), run.out.index("out-of-bounds"))
        self.assertRegex(run.out, r"  \d more findings follow from it: --all shows them")
        self.assertIn("race", self.puzzle("run", "p09", "--all", code=1).out)
        run = self.puzzle("run", "p07", code=1)
        self.assertRegex(run.out, r"thread \(0,0,0\) waits at the barrier at p07.cpp:19, and 32 of 64 threads run to their end without it")

    @COMPILES
    def test_two_faults_are_two_findings(self):
        text = self.solution("p17", "if (row < M && col < N) C(row, col) = sum;", "C(row, col) = sum;")
        self.path("p17.cpp").write_text(text.replace("      t.barrier();\n      for", "      for"))
        found = self.puzzle("run", "p17", "--json", code=1).json["cases"][-1]["findings"]
        own = [(each["kind"], each["line"]) for each in found if not each["follows"]]
        self.assertEqual([kind for kind, _ in own], ["out-of-bounds", "race"], found)
        self.assertIn("outside-view", [each["kind"] for each in found if each["follows"]])

    @COMPILES
    def test_elements_that_nobody_read_are_placed_where_others_are(self):
        self.path("p17.cpp").write_text(self.solution("p17", "k < K; k += T", "k + T <= K; k += T"))
        found = self.puzzle("run", "p17", "--json", code=1).json["cases"][-1]["findings"]
        self.assertEqual([(each["kind"], each["line"], each["follows"]) for each in found], [("never-read", 22, True), ("never-read", 23, True)])

    @COMPILES
    def test_what_ends_a_kernel_is_placed(self):
        right = "    if (i < SIZE) out(i) = a(i) + 10;\n"
        self.path("p04.cpp").write_text(self.solution("p04", right, "    for (volatile int n = 1; n > 0;) {\n    }\n" + right))
        run = self.puzzle("run", "p04", "--time-limit", "1", code=1)
        self.assertIn("the loop in line 14 never comes to its end", run.out)
        self.assertIn("  endless at p04.cpp:14\n", run.out)
        self.path("p04.cpp").write_text(self.solution("p04", right, "    *static_cast<volatile int*>(nullptr) = 1;\n" + right))
        self.assertIn("it had touched no tensor, so it was in one of the lines 13 to 15", self.puzzle("run", "p04", code=1).out)
        self.path("p04.cpp").write_text(self.solution("p04", right, "    if (i < SIZE) out(i) = a(i);\n    const int none = SIZE / (i - i);\n"))
        out = self.puzzle("run", "p04", code=1).out
        self.assertIn("crash, last seen at p04.cpp:14", out)
        self.assertIn("which whole number is divided by", out)

    @COMPILES
    def test_an_index_outside_of_a_local_array_is_named_outside_of_kernels_too(self):
        wrong = "static int one(int i) {\n  const int strides[3] = {5, 3, 1};\n  return strides[i];\n}\nconst Layout by_rows(tuple(3, 5), tuple(5, one(3)));"
        self.path("p01.cpp").write_text(self.solution("p01", "constexpr Layout by_rows(tuple(3, 5), tuple(5, 1));", wrong))
        out = self.puzzle("run", "p01", code=1).out
        self.assertRegex(out, r"likely cause: an access to an element that does not exist.*\n  p01.cpp:9: index 3 of a local array, which is a 'int \[3\]'")

    @COMPILES
    def test_a_number_that_is_none_gets_a_word(self):
        self.path("p07.cpp").write_text(self.solution("p07", "    t.barrier();  // all values are there\n"))
        run = self.puzzle("run", "p07", code=1)
        self.assertIn("got nan.\n  nan is not a number: 0 / 0 and inf / inf give it, and so does shared memory that is not written yet", run.out)

    @COMPILES
    def test_a_tile_is_called_as_the_line_calls_it(self):
        self.puzzle("start", "p11")
        self.assertIn("load from s.tile: 32 passes", self.puzzle("run", "p11", code=1).out)

    @COMPILES
    def test_another_compiler_gives_the_same_answers(self):
        clang = next(filter(None, map(shutil.which, ("clang++-14", "clang++"))), None)
        if clang is None:
            self.skipTest("NOT tested with Clang as the learner's compiler: scripts/setup clang installs it")
        env = {"XDG_STATE_HOME": str(self.folder / "state"), "CXX": CCACHE + clang}
        run = self.tessera("puzzle", "run", "p16", "--solution", env=env)
        self.assertIn("Puzzle 16 complete", run.out, run.err)
        self.path("p07.cpp").write_text(self.solution("p07", "    t.barrier();  // all values are there\n"))
        run = self.tessera("puzzle", "run", "p07", "--json", env=env)
        finding = run.json["cases"][0]["findings"][0]
        self.assertEqual((run.json["cause"]["id"], finding["kind"]), ("missing-barrier", "race"), run.out)
        self.assertIn("s.values", self.path("p07.cpp").read_text().splitlines()[finding["line"] - 1])
        self.path("p07.cpp").write_text(self.solution("p07", "= a(i);", "= shared<int>(a);"))
        run = self.tessera("puzzle", "run", "p07", env=env)
        self.assertIn("p07.cpp:18", run.out)
        self.assertNotIn("include/tessera", run.out + run.err)

    def test_commands_at_the_same_time_lose_no_progress(self):
        names = [f"p{i:02}" for i in range(1, 13)]
        with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
            list(pool.map(lambda name: self.puzzle("hint", name), names))
        shown = {each["id"]: each["hints"] for each in self.puzzle("progress", "--json").json["each"]}
        self.assertEqual({name: shown[name] for name in names}, dict.fromkeys(names, 1))

    @COMPILES
    def test_a_file_of_another_name_is_spoken_of_by_that(self):
        self.path("mine.cpp").write_text(self.solution("p03", "out(i) = a(i) + 10;", "out(i) = a(i + 1) + 10;"))
        self.assertIn("out-of-bounds at mine.cpp:12", self.puzzle("run", "p03", "mine.cpp", code=1).out)

    def test_which_file_and_which_puzzle_come_next_is_said(self):
        self.puzzle("start", "p04")
        moved = self.puzzle("start", "4", "other").err
        self.assertIn(f"uses this file from now on, no longer {self.folder}/p04.cpp", moved)
        self.assertNotIn("from now on", self.puzzle("start", "4", "other", "--force").err)
        self.assertIn("--naive belongs to p14: 'tessera puzzle run p14 --naive'", self.puzzle("run", "p16", "--naive", code=2).err)
        done = {"file": "", "solved": [""], "hints": 0, "runs": 1}
        for solved, following in (([], "p01"), (["p03", "p05"], "p06"), (["p04", "p48"], "p01")):
            self.path("state/tessera/puzzles.json").write_text(json.dumps({"puzzles": dict.fromkeys(solved, done)}))
            self.assertIn(f"next: tessera puzzle start {following}\n", self.puzzle("progress").out)

    def test_hints_come_one_by_one(self):
        self.assertEqual(self.puzzle("hint", "p16").out.count("Hint "), 1)
        self.assertEqual(self.puzzle("hint", "p16").out.count("Hint "), 2)
        for _ in range(3):
            last = self.puzzle("hint", "p16").out
        self.assertIn("That was the last hint", last)
        self.assertIn("second is between", self.puzzle("explain", "p16").out)
        self.assertIn("p26", self.puzzle("list").out)
        lost = self.tessera("puzzle", "hint", "p16", env={"XDG_STATE_HOME": "/proc/no/such"})
        self.assertEqual((lost.code, lost.out.count("Hint ")), (0, 1))
        self.assertIn("your progress is not saved: cannot write", lost.err)
        self.path("state/tessera/puzzles.json").write_text("{")
        self.assertIn("is damaged", self.puzzle("list", code=3).err)

    @COMPILES
    def test_what_does_not_compile_is_shown_at_the_learners_line(self):
        self.path("p03.cpp").write_text(self.solution("p03", "out(i) = a(i) + 10;", "auto x = a(i)\n    out(i) = x;"))
        run = self.puzzle("run", "p03", code=1)
        self.assertIn("p03.cpp:12: expected", run.out)  # the line that lacks its ;
        self.assertIn("  12 |     auto x = a(i)", run.out)
        self.assertNotIn("include/tessera", run.out + run.err)
        for wrong, advice in (("out[i] = a[i];", "round brackets"), ("__syncthreads();", "try: t.barrier()"), ("a(i) = 1;", "write to the output")):
            self.path("p03.cpp").write_text(self.solution("p03", "out(i) = a(i) + 10;", wrong))
            run = self.puzzle("run", "p03", code=1)
            self.assertIn(advice, run.out)
            self.assertLess(max(map(len, run.out.splitlines())), 300)
        self.assertEqual(self.puzzle("run", "p03", "--json", code=1).json["errors"][0]["advice"], "write to the output")
        self.path("p03.cpp").write_text(self.solution("p03", "a(i) + 10;", "shared<int>(a);"))
        run = self.puzzle("run", "p03", code=1)
        self.assertIn("p03.cpp:12:", run.out)
        self.assertNotIn("include/tessera", run.out + run.err)

    @COMPILES
    def test_a_compilation_without_end_is_ended(self):
        double = "template <int N, int M> struct F { static constexpr int v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n" \
                 "template <int M> struct F<0, M> { static constexpr int v = 1; };\n"
        endless = self.solution("p03", "out(i) = a(i) + 10;", "out(i) = a(i) + F<30, 0>::v;")
        self.path("p03.cpp").write_text(endless.replace("struct ", double + "struct ", 1))
        self.assertIn("the compiler was still at work after 3.6 s and was ended", self.puzzle("run", "p03", "--time-limit", "0.3", code=1).out)


class PlainCuda(Puzzle):
    @COMPILES
    def test_solutions_are_right_and_files_at_the_start_and_mistakes_get_their_causes(self):
        names = self.puzzle("list", "--cuda", "--json").json
        self.assertGreater(len(names), 35)
        said = self.puzzle("test", "--cuda").out
        self.assertRegex(said, rf"^{len(names)} puzzles in CUDA: \d+ as they must be, 0 not\n$")
        self.assertGreater(int(said.split()[4]), 3 * len(names))

    @COMPILES
    def test_from_the_start_to_a_race(self):
        said = self.puzzle("start", "p07", "--cuda").out
        self.assertIn("then: tessera puzzle run p07 --cuda\n", said)
        self.assertNotRegex(said, r"t\.(thread|block|barrier)")
        self.assertIn("__global__ void reversed(const float* a, float* out)", self.path("p07.cu").read_text())
        self.assertFalse(self.path("p07.cpp").exists())
        text = self.puzzle("solution", "p07", "--cuda").out
        self.path("p07.cu").write_text(text.replace("  __syncthreads();  // all values are there\n", ""))
        run = self.puzzle("run", "p07", "--cuda", "--json", code=1)
        finding = run.json["cases"][-1]["findings"][0]
        self.assertEqual((run.json["cause"]["id"], finding["kind"]), ("missing-barrier", "race"), run.out)
        self.assertIn("values[i] = a[i]", self.path("p07.cu").read_text().splitlines()[finding["line"] - 1])
        self.path("p07.cu").write_text(text.replace("reversed", "another"))
        self.assertIn("p07.cu: there is no kernel '__global__ void reversed(...)', which the puzzle launches", self.puzzle("run", "p07", "--cuda", code=1).out)
        self.path("p07.cu").write_text(text.replace("out[i] =", "out(i) ="))
        run = self.puzzle("run", "p07", "--cuda", code=1)
        self.assertRegex(run.out, r"p07.cu:\d+: .out. cannot be used as a function\n.*\n.*\^\nlikely cause: .*\n  out is a pointer in line \d+: it has one index.\n  try: out\[i\]\n")
        self.assertNotIn("error", run.err)
        self.puzzle("reset", "p07", "--cuda")
        self.assertIn("FILL ME IN", self.path("p07.cu").read_text())
        self.assertIn("p27 has no form in plain CUDA", self.puzzle("start", "p27", "--cuda", code=4).err)


def landlock():
    """Requests the version of its interface."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 0


BAD = {
    "for (;;) {}": ("endless", ""),
    "for (;;) t.barrier();": ("endless", ""),
    "*static_cast<volatile int*>(nullptr) = 1;": ("crash", ""),
    "std::abort();": ("crash", ""),
    "std::exit(0);": ("crash", ""),
    "for (;;) std::memset(new char[1 << 20], 1, 1 << 20);": ("exception", "1 GiB"),
    "std::remove(\"PATH/p03.cpp\"); std::remove(\"PATH/other\");": ("unfilled", ""),
    "for (int n = 0; n < 3000000; ++n) std::puts(\"so many words\");": ("unfilled", "so many words"),
}


class BadInput(Puzzle):
    @COMPILES
    def test_a_line_that_never_ends_is_read_all_the_same(self):
        endless = f"    const auto text = \"{'x' * 300000}\";\n    static_cast<void>(text);\n"
        self.path("p07.cpp").write_text(self.solution("p07", "    t.barrier();  // all values are there\n", endless))
        self.assertIn("likely cause: a barrier is missing", self.puzzle("run", "p07", code=1).out)
        self.path("p07.cpp").write_text(self.solution("p07", "    t.barrier();  // all values are there\n", endless.replace("const auto", "wrong")))
        self.assertLess(len(self.puzzle("run", "p07", code=1).out), 2000)

    @COMPILES
    def test_nothing_that_a_program_does_harms_anything_else(self):
        self.path("other").write_text("mine")
        branches = "".join(f"if (t.thread == 0 && how == {i}) {{ {what.replace('PATH', str(self.folder))} }}\n" for i, what in enumerate(BAD))
        source = self.solution("p03", "    out(i) = a(i) + 10;\n", f"static const int how = std::atoi(std::getenv(\"HOW\"));\n{branches}")
        self.path("p03.cpp").write_text("#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n" + source)

        def attempt(i):
            env = {"XDG_STATE_HOME": str(self.folder / "state"), "CXX": CCACHE + "c++", "HOW": str(i)}
            limit = 2 if list(BAD.values())[i][0] == "endless" else 60  # a busy machine is no mistake
            return self.tessera("puzzle", "run", "p03", "--time-limit", limit, "--json", env=env)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            runs = list(pool.map(attempt, range(len(BAD))))
        for (what, (cause, says)), run in zip(BAD.items(), runs):
            with self.subTest(what=what):
                self.assertEqual(run.code, 1, run.err)
                self.assertEqual(run.json["cause"]["id"], cause, run.out)
                self.assertIn(says, run.out)
                self.assertLess(len(run.out), 20000)
        self.assertIn("how", self.path("p03.cpp").read_text())
        env = {"XDG_STATE_HOME": str(self.folder / "state"), "CXX": CCACHE + "c++", "HOW": str(len(BAD) - 1)}
        self.assertIn("  ... this is its beginning; more than 8 MiB in all", self.tessera("puzzle", "run", "p03", env=env).out)
        if not landlock():
            self.skipTest("that a program cannot remove files of others is NOT tested: this Linux has no Landlock")
        self.assertEqual(self.path("other").read_text(), "mine")


if __name__ == "__main__":
    harness.main()
