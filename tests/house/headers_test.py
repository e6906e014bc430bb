#!/usr/bin/env python3
"""What is installed is for users: each header of include/ is included by another one, an example, the course or the programs that the
command makes of a user's file, or a document names it. What only src and its tests include belongs to src: its component or src/base."""
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

INCLUDED = re.compile(r'#\s*include\s*[<"](tessera/[\w/]+\.(?:hpp|cuh|h))[>"]')
WRITTEN = re.compile(r'#include \\"(tessera/[\w/]+\.hpp)\\"')  # into a program that src makes
CUDA = "tessera/plain_cuda/"  # replaces CUDA's own headers: programs in plain CUDA include these by CUDA's names
NAMED = re.compile(r"\b(tessera/[\w/]+\.(?:hpp|cuh|h))\b")  # by a document
USERS = ("include", "examples", "course", "scripts", "site")
DOCUMENTS = ("docs", "README.md")
VOCABULARY = ("tessera/kernels/", "tessera/ops/")  # docs/kernels.md has a table of each: kernels by name, functions by use


def named_in(pattern, files):
    """The headers that these files name, but for what a header says of itself."""
    found = set()
    for file in files:
        if file.is_file() and file.suffix in (".hpp", ".cuh", ".h", ".cpp", ".cu", ".c", ".md", ".py"):
            found |= {name for name in pattern.findall(file.read_text(encoding="utf-8", errors="replace"))
                      if file.parts[-len(pathlib.Path(name).parts):] != pathlib.Path(name).parts}
    return found


def only_for_src(root):
    """The installed headers that nobody but src uses."""
    def files(tops):
        return [file for top in tops for file in ([root / top] if (root / top).is_file() else (root / top).rglob("*"))]

    used = named_in(INCLUDED, files(USERS)) | named_in(NAMED, files(DOCUMENTS)) | named_in(WRITTEN, (root / "src").rglob("*"))
    return sorted(name for file in (root / "include").rglob("*.*")
                  if file.suffix in (".hpp", ".cuh", ".h") and (name := file.relative_to(root / "include").as_posix()) not in used
                  and not name.startswith((CUDA, *VOCABULARY)))


class Headers(unittest.TestCase):
    def test_every_installed_header_is_used_by_somebody_but_src_and_its_tests(self):
        self.assertGreater(len(list((cases.ROOT / "include").rglob("*.hpp"))), 100)
        self.assertEqual(only_for_src(cases.ROOT), [], "move these to src, or show in a document or an example what they are for")

    def test_a_header_that_only_src_uses_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)

            def plant(name, text):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)

            plant("include/tessera/core/alone.hpp", '// "tessera/core/alone.hpp"\n#include "tessera/core/below.hpp"\n')
            plant("include/tessera/core/below.hpp", "")
            plant("include/tessera/core/shown.hpp", "")
            plant("include/tessera/core/compiled.hpp", "")
            plant("docs/page.md", "```cpp\n#include <tessera/core/shown.hpp>\n```\n")
            plant("include/tessera/core/tested.hpp", "")
            plant("include/tessera/ops/verb.hpp", "")
            plant("tests/core/tested_test.cpp", '#include "tessera/core/tested.hpp"\n')
            plant("src/core/a.cpp", '#include "tessera/core/alone.hpp"\nconst char* kMain = "#include \\"tessera/core/compiled.hpp\\"";\n')
            self.assertEqual(only_for_src(root), ["tessera/core/alone.hpp", "tessera/core/tested.hpp"])


if __name__ == "__main__":
    cases.main()
