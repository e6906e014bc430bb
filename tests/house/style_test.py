#!/usr/bin/env python3
"""Formatting (clang-format 14), names (clang-tidy), shell scripts (shellcheck), and what every file begins with.

A tool that is not installed is a loud skip: ./test does not install tools that only the authors of a change need.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402


def sources(*suffixes):
    return sorted(f for top in ("include", "src", "tests", "examples") for f in (cases.ROOT / top).rglob("*")
                  if f.suffix in suffixes)


def clang_format():
    """clang-format 14: other versions lay out the same text differently."""
    for name in ("clang-format-14", "clang-format"):
        tool = shutil.which(name)
        if tool and "version 14." in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout:
            return tool
    return None


def badly_formatted(tool, files):
    def ask(chunk):
        run = subprocess.run([tool, "--dry-run", "-Werror", "--ferror-limit=1", *map(str, chunk)], capture_output=True, text=True,
                             cwd=cases.ROOT)
        return [line for line in run.stderr.splitlines() if "error:" in line]

    chunks = [files[i:i + 20] for i in range(0, len(files), 20)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for lines in pool.map(ask, chunks) for line in lines]


def badly_named(tool, text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "all.cpp")
        file.write_text(text)
        run = subprocess.run([tool, f"--config-file={cases.ROOT}/.clang-tidy", "--checks=-*,readability-identifier-naming", "--quiet",
                              "--header-filter=.*/include/tessera/.*", str(file), "--", "-std=c++20", f"-I{cases.ROOT}/include"],
                             capture_output=True, text=True)
        return [line for line in run.stdout.splitlines() if "error:" in line]


# clang-tidy would need every source with its flags, minutes of them; declarations at the margin of a file are easy to parse.
CONSTANT = re.compile(r"^(?:inline |static |extern )*(?:constexpr|const) [^=({;\n]*?\b(?!operator)(\w+)(?:\[\w*\])*"
                      r"(?: =|\{|;)", re.M)
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (?:alignas\([^)]*\) )?(\w+)(?: final)?(?: [:{]|;)", re.M)
FUNCTION = re.compile(r"^(?=[a-zA-Z])(?:[\w:&*<>, \[\]]+[ &*])(?<!\breturn )(?<!\belse )([A-Za-z]\w*)\((?!\*)[^;]*?\) "
                      r"(?:noexcept )?\{", re.M)
MACRO = re.compile(r"^ *# *define (\w+)", re.M)
RULES = ((CONSTANT, "k[A-Z][A-Za-z0-9]*|dynamic", "a constant is kPascal, but for the layouts' dynamic"),
         (TYPE, r"[A-Z][A-Za-z0-9]*|CU\w+_st|tessera_\w+", "a type is PascalCase, but for the handles that CUDA and tessera.h declare"),
         (FUNCTION, "[a-z][a-z0-9_]*", "a function is snake_case"),
         (MACRO, "TESSERA_([A-Z0-9_]+|BY_[a-z0-9]+)", "a macro is TESSERA_UPPER, but for a pasted TESSERA_BY_ and a word of a list"))


def misnamed(text):
    """What is declared at the margin of a source with a name against the rules."""
    return [f"{name[1]}: {rule}" for pattern, good, rule in RULES for name in pattern.finditer(text)
            if not re.fullmatch(good, name[1])]


class Style(unittest.TestCase):
    def test_files_are_formatted(self):
        tool = clang_format()
        if tool is None:
            self.skipTest("formatting is NOT checked: install clang-format-14")
        found = badly_formatted(tool, sources(".hpp", ".cpp", ".h", ".cuh", ".cu"))
        self.assertEqual(found, [], "\n" + "\n".join(found) + "\nrun clang-format-14 -i on these files")

    def test_a_badly_formatted_file_is_named(self):
        tool = clang_format()
        if tool is None:
            self.skipTest("formatting is NOT checked: install clang-format-14")
        with tempfile.NamedTemporaryFile("w", suffix=".cpp", dir=cases.ROOT / "tests") as file:
            file.write("int  x ;\n")
            file.flush()
            self.assertEqual(len(badly_formatted(tool, [pathlib.Path(file.name)])), 1)

    def test_shell_scripts_pass_shellcheck(self):
        tool = shutil.which("shellcheck")
        if tool is None:
            self.skipTest("shell scripts are NOT checked: install shellcheck")
        candidates = [cases.ROOT / "test", cases.ROOT / "demo", cases.ROOT / ".ci/run", *(cases.ROOT / "scripts").iterdir()]
        scripts = [f for f in candidates if f.is_file() and f.read_bytes().startswith((b"#!/usr/bin/env bash", b"#!/bin/sh"))]
        self.assertGreaterEqual(len(scripts), 4)
        run = subprocess.run([tool, *map(str, scripts)], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_public_names_follow_the_rules(self):
        tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
        if tool is None:
            self.skipTest("names are NOT checked: install clang-tidy-14")
        headers = [f.relative_to(cases.ROOT / "include") for f in sources(".hpp") if f.is_relative_to(cases.ROOT / "include")]
        self.assertEqual(badly_named(tool, "".join(f'#include "{f}"\n' for f in headers)), [])
        self.assertEqual(len(badly_named(tool, "struct planted_name { void PlantedName(); };\n")), 2)

    def test_names_in_the_sources_follow_the_rules(self):
        checked = [f for f in sources(".hpp", ".cpp", ".cuh") if f.relative_to(cases.ROOT).parts[0] in ("include", "src")
                   and not f.is_relative_to(cases.ROOT / "src/plain_cuda/runtime")]  # defines CUDA's own names
        wrong = [f"{f.relative_to(cases.ROOT)}: {found}" for f in checked for found in misnamed(f.read_text())]
        self.assertEqual(wrong, [])
        planted = ("constexpr int planted_constant = 1;\nconst char* const kGood[] = {};\nstruct planted_type {\n};\n"
                   "struct sigaction previous;\nint PlantedFunction(int x) {\n}\nint good_function(int x) {\n}\n"
                   "#define PLANTED 1\n")
        self.assertEqual([found.split(":")[0] for found in misnamed(planted)],
                         ["planted_constant", "planted_type", "PlantedFunction", "PLANTED"])

    def test_the_macros_that_users_meet_are_in_one_header(self):
        public = [f for f in sources(".hpp", ".cuh", ".h") if f.is_relative_to(cases.ROOT / "include")
                  and not f.is_relative_to(cases.ROOT / "include/tessera/plain_cuda")]  # CUDA's words, for programs that have them
        defined = {f.relative_to(cases.ROOT / "include/tessera").as_posix(): MACRO.findall(f.read_text()) for f in public}
        self.assertEqual([name for name, macros in defined.items() if macros], ["blas.h", "core/config.hpp", "simt/cuda_wgmma.cuh", "tessera.h"])
        for name, guard in (("blas.h", {"TESSERA_BLAS_H"}), ("simt/cuda_wgmma.cuh", set()), ("tessera.h", {"TESSERA_TESSERA_H", "TESSERA_OPTIONS"})):
            left = set(defined[name]) - set(re.findall(r"^#undef (\w+)", (cases.ROOT / "include/tessera" / name).read_text(), re.M))
            self.assertEqual(left, guard, f"{name} takes back what it defines")

    def test_kernel_text_contains_no_template_keyword(self):
        """A kernel asks with verbs that its arguments find: extent<1>(A), not A.template extent<1>()."""
        def found(text):
            return [line.strip() for line in text.splitlines() if re.search(r"\.\s*template\b", line)]

        kernels = sorted((cases.ROOT / "include/tessera/kernels").glob("*.hpp")) + sorted((cases.ROOT / "examples").glob("*.cpp"))
        self.assertGreater(len(kernels), 11)
        self.assertEqual([f"{f.relative_to(cases.ROOT)}: {line}" for f in kernels for line in found(f.read_text())], [])
        self.assertEqual(len(found("  k < A.template extent<1>();\n  template <class T>\n")), 1)

    def test_every_header_and_source_says_what_it_is(self):
        files = [f for f in sources(".hpp", ".cuh", ".cpp") if f.relative_to(cases.ROOT).parts[0] in ("include", "src")]
        self.assertGreater(len(files), 150)
        silent = [str(f.relative_to(cases.ROOT)) for f in files if not f.read_text().startswith("//")]
        self.assertEqual(silent, [], "these files lack an introducing comment: what it is, the invariant, who calls it")
        twice = [str(f.relative_to(cases.ROOT)) for f in files if f.suffix != ".cpp" and "\n#pragma once\n" not in f.read_text()]
        self.assertEqual(twice, [], "these headers lack #pragma once")


if __name__ == "__main__":
    cases.main()
