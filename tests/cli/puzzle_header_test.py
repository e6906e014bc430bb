#!/usr/bin/env python3
"""The header that the build compiles for `tessera puzzle run` (src/puzzle/header.cmake): used where it fits, left aside where not."""
import os
import shutil
import subprocess
import time
import unittest

import harness
from harness import cases

HEADER = "tessera/puzzle/run.hpp"
COMPILED = cases.options.build / "compiled_headers"


def is_gcc():
    said = subprocess.run([cases.options.compiler, "--version"], capture_output=True, text=True).stdout
    return "Free Software Foundation" in said


@unittest.skipIf(harness.sanitized(), "the header of the puzzles is NOT compiled with a sanitizer")
@unittest.skipUnless(is_gcc(), "the header of the puzzles is compiled by GCC only")
class CompiledHeader(harness.CommandTest):
    def setUp(self):
        """An installation with the header of the build, which it may spoil."""
        super().setUp()
        shutil.copytree(cases.ROOT / "include", self.path("include"), symlinks=True)
        for folder in ("bin", "lib"):
            self.path(folder).mkdir()
        shutil.copy2(harness.COMMAND, self.path("bin/tessera"))
        for library in cases.options.build.glob("libtessera.*"):
            self.path("lib/" + library.name).symlink_to(library)
        self.path("lib/compiled_headers").symlink_to(COMPILED)
        self.path("c++").write_text(f'#!/bin/sh\n"{cases.options.compiler}" $MORE -H "$@" 2>> "{self.folder}/read"\n')
        self.path("c++").chmod(0o755)

    def is_used(self, **more):
        """In a run that solves a puzzle: GCC notes it with '!', one that does not fit with 'x'."""
        self.path("read").write_text("")
        env = harness.environment(XDG_STATE_HOME=str(self.folder), TESSERA_COURSE=str(cases.ROOT / "course"), CXX=str(self.path("c++")), **more)
        run = subprocess.run([self.path("bin/tessera"), "puzzle", "run", "p01", "--solution"], capture_output=True, text=True, env=env)
        self.assertIn("Puzzle 1 complete", run.stdout, run.stderr)
        read = self.path("read").read_text().splitlines()
        self.assertEqual(any(line.startswith(". ") and line.endswith(HEADER) for line in read), not read[0].startswith("!"), read[:2])
        return read[0].startswith("!")

    def test_it_is_used_while_it_fits(self):
        self.assertTrue(COMPILED.joinpath(HEADER + ".gch").exists(), "is the target tessera_puzzle_header built?")
        self.assertTrue(self.is_used())
        self.assertFalse(self.is_used(MORE="-DNDEBUG"))  # other options
        changed = self.path("include/tessera/simt/dim3.hpp")
        os.utime(changed, (time.time() + 60,) * 2)
        self.assertFalse(self.is_used())
        os.utime(changed, (0, 0))
        self.assertTrue(self.is_used())
        self.path("lib/compiled_headers").unlink()
        self.assertFalse(self.is_used())


if __name__ == "__main__":
    harness.main()
