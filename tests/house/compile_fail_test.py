#!/usr/bin/env python3
"""Uses that must be refused at compile time, with a sentence.

Every tests/compile_fail/*.cpp must fail to compile; what the compiler says must contain
  - each `// expect: TEXT` of the file, and
  - the line number of each line that ends in `// refused`.
control*.cpp must compile: it shows that the other files fail for their own reason. The sentences are those of GCC, which
quotes them whole; with another compiler the cases are skipped.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402


def squeezed(text):
    return re.sub(r"\s+", " ", text)


def wrongs(name, text, status, output):
    """What is wrong with the outcome of one file: a list of sentences."""
    if name.startswith("control"):
        return [] if status == 0 else ["must compile but does not:\n" + output]
    expected = re.findall(r"^// expect: (.+)$", text, re.M)
    refused = [n for n, line in enumerate(text.splitlines(), 1) if line.rstrip().endswith("// refused")]
    if not expected:
        return ["has no `// expect:` line"]
    if status == 0:
        return ["compiles, but must be refused"]
    said = squeezed(output)
    found = [f"the compiler did not say: {each}" for each in expected if squeezed(each) not in said]
    found += [f"line {n} was not refused" for n in refused if f"{name}:{n}:" not in output]
    return found + ["it said:\n" + "\n".join(output.splitlines()[:40])] if found else []


def compiled(file):
    run = subprocess.run([cases.options.compiler, "-std=c++20", "-fsyntax-only", "-I", str(cases.ROOT / "include"), str(file)],
                         capture_output=True, text=True, timeout=60, env=dict(os.environ, LC_ALL="C"))
    return wrongs(file.name, file.read_text(), run.returncode, run.stderr)


def sentences(text):
    """(line, sentence) of each static_assert in a header; the sentence is empty where there is none."""
    for start in re.finditer(r"\bstatic_assert\(", text):
        at, depth = start.end(), 1
        while depth:
            if text[at] == '"':
                at = text.index('"', at + 1)
            depth += (text[at] == "(") - (text[at] == ")")
            at += 1
        literals = re.findall(r'"((?:[^"\\]|\\.)*)"', text[start.end():at - 1])
        yield text.count("\n", 0, start.start()) + 1, squeezed("".join(literals))


# What no program can reach, since the instructions that exist are few enough; and what only Clang meets, when it compiles for a GPU.
UNREACHABLE = {"both operands of a matrix instruction fit into half of the warp's scratch",
               "a lane's values are at the same distances in every lane",
               "a value that is given to a GPU is aligned to 8 bytes or less",
               "this kernel exchanges values between the lanes of a warp, which OpenCL does not have: use shared storage and barriers, or run "
               "it on cpu, checked or cuda"}


class CompileFail(unittest.TestCase):
    def test_every_file_is_refused_with_its_sentence(self):
        version = subprocess.run([cases.options.compiler, "--version"], capture_output=True, text=True).stdout
        if "Free Software Foundation" not in version:
            self.skipTest("refusals at compile time are checked with GCC only")
        files = sorted((cases.ROOT / "tests/compile_fail").glob("*.cpp"))
        self.assertTrue(any(f.name.startswith("control") for f in files), "there is no control file")
        self.assertGreater(len(files), 10)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for file, found in zip(files, pool.map(compiled, files)):
                with self.subTest(file.name):
                    self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_static_rule_has_a_sentence_and_a_file_that_breaks_it(self):
        expected = [squeezed(each) for file in (cases.ROOT / "tests/compile_fail").glob("*.cpp")
                    for each in re.findall(r"^// expect: (.+)$", file.read_text(), re.M)]
        missing, count = [], 0
        for header in sorted((cases.ROOT / "include/tessera").rglob("*.hpp")):
            for line, sentence in sentences(header.read_text()):
                count += 1
                if sentence not in UNREACHABLE and not any(sentence and (e in sentence or sentence in e) for e in expected):
                    missing.append(f"{header.relative_to(cases.ROOT)}:{line}: {sentence or 'has no sentence'}")
        self.assertGreater(count, 50)
        self.assertEqual(missing, [], "no file in tests/compile_fail expects these:\n" + "\n".join(missing))

    def test_sentences_are_found_in_a_header(self):
        text = 'static_assert(f(")") > 0,\n  "one "\n  "two");\n  static_assert(a == b);'
        self.assertEqual(list(sentences(text)), [(1, ")one two"), (4, "")])

    def test_the_check_itself_can_fail(self):
        text = "// expect: BM is positive\nuse();  // refused\n"
        good = "x.cpp:2:1: required from here\nerror: static assertion failed: BM is\n positive"
        self.assertEqual(wrongs("x.cpp", text, 1, good), [])
        for what, outcome in {"compiles": (text, 0, ""), "another message": (text, 1, "x.cpp:2: error: something else"),
                              "another line": (text, 1, "x.cpp:1: error: BM is positive"),
                              "nothing expected": ("use();\n", 1, good)}.items():
            with self.subTest(what):
                self.assertNotEqual(wrongs("x.cpp", *outcome), [])
        self.assertNotEqual(wrongs("control.cpp", "", 1, "error"), [])


if __name__ == "__main__":
    cases.main()
