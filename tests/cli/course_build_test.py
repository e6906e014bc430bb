#!/usr/bin/env python3
"""The build of the course alone (preset `course`, scripts/course): its sources suffice for `tessera puzzle`."""
import re
import unittest

import harness
import relink
from harness import cases
from relink import run

OWN = {"course_commands.cpp", "absent.cpp"}  # what no other build has, or none with CUDA


class CourseBuild(harness.CommandTest):
    def link(self):
        """The command, made of the tested build's objects."""
        build = self.path("build")
        made = run("cmake", "--preset", "course", "-B", build, "-DCMAKE_UNITY_BUILD=OFF",
                   *(option for option in relink.build_type(cases.options.build) if "UNITY" in option),
                   f"-DCMAKE_CXX_COMPILER={cases.options.compiler}", cwd=cases.ROOT)
        self.assertEqual(made.returncode, 0, made.stderr)
        compiled = relink.linked(build, cases.options.build, "tessera")
        self.assertLessEqual({file.rsplit("/", 1)[1] for file in compiled}, OWN)
        # Compiled many files at a time, as scripts/course does, all of it is linked.
        last = run("ninja", "-C", build, "-t", "commands", "tessera").stdout.splitlines()[-1]
        whole = re.sub(r"((?:\S+\.a\s+)+)", r"-Wl,--whole-archive \1-Wl,--no-whole-archive ", last.replace("-o bin/tessera", "-o whole"))
        relink.execute(whole, build)
        return build / "bin/tessera"

    @unittest.skipIf(harness.sanitized(), "the build of the course is NOT tested with a sanitizer")
    def test_the_first_puzzle_and_one_with_a_kernel_run(self):
        command = self.link()
        env = harness.environment(XDG_STATE_HOME=str(self.folder / "state"))
        started = run(command, "puzzle", "start", "p01", cwd=self.folder, env=env)
        self.assertIn("tessera puzzle run p01", started.stdout, started.stderr)
        unfilled = run(command, "puzzle", "run", "p01", cwd=self.folder, env=env)
        self.assertIn("nothing is filled in yet", unfilled.stdout, unfilled.stderr)
        solved = run(command, "puzzle", "run", "p16", "--solution", cwd=self.folder, env=env)
        self.assertIn("Puzzle 16 complete", solved.stdout, solved.stderr)
        other = run(command, "layout", "4:1", cwd=self.folder, env=env)
        self.assertEqual(other.returncode, 2)
        self.assertIn("this build has the course alone", other.stderr)

    def test_the_script_says_what_it_takes(self):
        script = cases.ROOT / "scripts/course"
        self.assertIn("scripts/course [FOLDER]", run(script, "--help").stdout)
        for words in (["--fast"], ["one", "two"]):
            self.assertEqual(run(script, *words).returncode, 2, words)


if __name__ == "__main__":
    harness.main()
