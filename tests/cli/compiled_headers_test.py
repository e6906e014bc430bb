#!/usr/bin/env python3
"""The headers that the build compiles for `tessera puzzle run` and `tessera check FILE.cpp` (cmake/compiled_header.cmake): used where they
fit, left aside where not."""
import os
import shutil
import subprocess
import time
import unittest

import harness
from harness import cases

COMPILED = cases.options.build / "compiled_headers"
MINE = """#include "tessera/check/file.hpp"
using namespace tessera;
struct Mine {
  static constexpr Dim3 block{32};
  void operator()(auto t, auto C) const { C(0, t.thread) = 1; }
};
check::Report check_kernel(const check::Options& options) {
  HostTensor<float> C(1, 32);
  return check::check(options, Dim3{1}, Mine{}, C.view());
}
"""


def is_gcc():
    said = subprocess.run([cases.options.compiler, "--version"], capture_output=True, text=True).stdout
    return "Free Software Foundation" in said


@unittest.skipIf(harness.sanitized(), "headers are NOT compiled with a sanitizer")
@unittest.skipUnless(is_gcc(), "headers are compiled by GCC only")
class CompiledHeaders(harness.CommandTest):
    def setUp(self):
        """An installation with the headers of the build, which it may spoil."""
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

    def is_used(self, header, words, says, **more):
        """In a run of the command: GCC notes it with '!', one that does not fit with 'x'."""
        self.path("read").write_text("")
        env = harness.environment(XDG_STATE_HOME=str(self.folder), TESSERA_COURSE=str(cases.ROOT / "course"), CXX=str(self.path("c++")), **more)
        run = subprocess.run([self.path("bin/tessera"), *words], capture_output=True, text=True, env=env, cwd=self.folder)
        self.assertIn(says, run.stdout, run.stderr)
        read = self.path("read").read_text().splitlines()
        self.assertEqual(any(line.startswith(". ") and line.endswith(header) for line in read), not read[0].startswith("!"), read[:2])
        return read[0].startswith("!")

    def expect_used_while_it_fits(self, header, *words, says):
        def is_used(**more):
            return self.is_used(header, words, says, **more)

        self.assertTrue(COMPILED.joinpath(header + ".gch").exists(), "is it built? See tessera_compile_header")
        self.assertTrue(is_used())
        self.assertFalse(is_used(MORE="-DNDEBUG"))  # other options
        changed = self.path("include/tessera/simt/dim3.hpp")
        os.utime(changed, (time.time() + 60,) * 2)
        self.assertFalse(is_used())
        os.utime(changed, (0, 0))
        self.assertTrue(is_used())
        self.path("lib/compiled_headers").unlink()
        self.assertFalse(is_used())

    def test_that_of_the_puzzles(self):
        self.expect_used_while_it_fits("tessera/puzzle/run.hpp", "puzzle", "run", "p01", "--solution", says="Puzzle 1 complete")

    def test_that_of_checked_files(self):
        self.path("mine.cpp").write_text(MINE)
        self.expect_used_while_it_fits("tessera/check/file.hpp", "check", "mine.cpp", says="clean: no findings")


if __name__ == "__main__":
    harness.main()
