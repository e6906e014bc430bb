#!/usr/bin/env python3
"""One list each: what scripts, pages and options repeat of a list that the sources keep is the same there."""
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

sys.path.insert(0, str(cases.ROOT / "scripts"))
import kernels  # noqa: E402

COMMAND = cases.options.build / "bin/tessera"
# Without these a kernel does not tell the checker what it does, or rounds otherwise.
CHECKED = {"-DTESSERA_CHECK=1", "-ftrivial-auto-var-init=pattern"}
ALONE = CHECKED | {"-fstack-clash-protection", "-ffp-contract=off"}


def text(name):
    return (cases.ROOT / name).read_text()


def listed(section):
    """The first words of a section of `tessera --list`."""
    said = subprocess.run([COMMAND, "--list"], capture_output=True, text=True, check=True).stdout
    lines = re.search(rf"^{section}:\n((?:  .*\n)+)", said, re.M)[1].splitlines()
    return [line.split()[0] for line in lines] if len(lines) > 1 else lines[0].split()


class Lists(unittest.TestCase):
    @unittest.skipUnless(COMMAND.exists(), "the command is not built")
    def test_scripts_have_the_ladder_in_its_order(self):
        self.assertEqual(listed("algorithms"), kernels.KERNELS)

    @unittest.skipUnless(COMMAND.exists(), "the command is not built")
    def test_the_table_of_kernels_has_every_algorithm_with_its_idea_and_its_tiles(self):
        said = subprocess.run([COMMAND, "help", "algorithms"], capture_output=True, text=True, check=True).stdout
        known = re.findall(r"^  (\w+)\n      (.*)\n      tiles: (.*)$", said, re.M)
        rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|", text("docs/kernels.md"), re.M)
        shown = {name: (idea, tiles) for name, idea, tiles in rows}
        for name, idea, tiles in known:
            with self.subTest(name):
                self.assertEqual(shown[name][0], idea)
                for tile in re.findall(r"[\dx/]+x[\dx/]+", shown[name][1]):
                    self.assertIn(tile, tiles)

    def test_no_message_repeats_the_list_of_element_types(self):
        names = "|".join(name for row in re.findall(r'\{"(\w+)", "(\w+)", "\w+"\}', text("include/tessera/core/dtype.hpp")) for name in row)
        self.assertIn("bfloat16", names)
        listed = re.compile(rf"\b(?:{names})(?:, (?:{names}))+,? (?:or|and) (?:{names})\b")
        found = set()
        for file in (file for top in ("src", "include") for file in (cases.ROOT / top).rglob("*") if file.suffix in (".cpp", ".hpp", ".cu", ".cuh")):
            code = re.sub(r'"\s*\n\s*"', "", re.sub(r"//.*", "", file.read_text()))
            found |= {file.relative_to(cases.ROOT).as_posix()} if listed.search(code) else set()
        # Two docstrings, which tests/python/matmul_test.py compares with the list.
        self.assertEqual(found, {"src/python/fast_matmul.cpp", "src/python/products.cpp"})

    @unittest.skipUnless(COMMAND.exists(), "the command is not built")
    def test_every_gpu_of_the_checker_is_in_its_help(self):
        models = re.findall(r'^    \w+\("(\w+)", "NVIDIA', text("src/check/device_model.cpp"), re.M) + re.findall(r'\.name = "(\w+)"', text("src/check/device_model.cpp"))
        self.assertIn("h200", models)
        said = subprocess.run([COMMAND, "check", "--help"], capture_output=True, text=True, check=True).stdout
        for name in models:
            self.assertIn(name, said)
        for command in ("check", "explain", "judge"):
            page = re.search(r"^\*--device\* _(.*)_$", text(f"docs/man/tessera-{command}.1.scd"), re.M)[1]
            self.assertEqual(set(page.split("|")), set(models), command)
            self.assertRegex(said, rf"--device {re.escape(page)}\b")

    def test_the_flags_of_a_checked_compile_are_in_one_file(self):
        options = dict(re.findall(r"^set\((TESSERA_CHECK_\w*OPTIONS) ([^)]*)\)", text("cmake/TesseraFlags.cmake"), re.M))
        self.assertEqual(set(options["TESSERA_CHECK_OPTIONS"].split()), CHECKED)
        self.assertLessEqual(ALONE - CHECKED, set(options["TESSERA_CHECK_ALONE_OPTIONS"].split()))
        files = [path for top in ("src", "cmake", "examples", "tests") for name in ("*.cpp", "*.hpp", "*.cmake", "CMakeLists.txt")
                 for path in (cases.ROOT / top).rglob(name)] + [cases.ROOT / "CMakeLists.txt"]
        # A file in plain CUDA tells its accesses otherwise; what a message names is no flag of a compile.
        elsewhere = {cases.ROOT / name for name in
                     ("cmake/TesseraFlags.cmake", "src/plain_cuda/build.cpp", "src/device/kernel_entry.cpp")}
        for path in files:
            code = re.sub(r"^\s*(//|#).*$", "", path.read_text(), flags=re.M)
            if path not in elsewhere and (found := re.findall(r'(?:^|[\s"])(-ftrivial-auto-var-init=\w+|-DTESSERA_CHECK=1)(?=[\s")])', code)):
                self.fail(f"{path.relative_to(cases.ROOT)} has {found}: cmake/TesseraFlags.cmake has the list")

    @unittest.skipUnless(COMMAND.exists(), "the command is not built")
    def test_help_has_every_instruction_set_and_the_pages_refer_to_it(self):
        names = re.findall(r'case VectorPath::\w+: return "(\w+)"', text("include/tessera/core/cpu.hpp")) + ["portable", "amx"]
        self.assertGreater(len(names), 4)
        said = subprocess.run([COMMAND, "help", "environment"], capture_output=True, text=True, check=True).stdout
        listed = re.search(r"as far as this CPU has it:\s+(.*); else", said)[1]
        self.assertCountEqual(re.split(", | or ", listed), names)
        for page in ("docs/man/tessera.1.scd", "docs/cpu.md"):
            self.assertRegex(text(page).replace("\n", " ").replace("\t", ""), r"tessera help environment", page)


if __name__ == "__main__":
    cases.main()
