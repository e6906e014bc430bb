#!/usr/bin/env python3
"""Files have at most 400 lines and functions 60. What is longer says why: a file at its top, a function above it. docs has a limit, too."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
from lengths import cpp_functions, python_functions  # noqa: E402

FILE, FUNCTION, KERNEL = 400, 60, 150  # a kernel's loops share registers and tiles: it is read in one piece
KERNELS = ("include/tessera/kernels/", *(f"src/cpu/{name}.hpp" for name in ("axpy", "dots", "microkernel", "scheduled_tile_avx512", "strips")))
CPP = (".hpp", ".cpp", ".h", ".cuh", ".cu")
WORDS = 45_000  # of all pages in docs: a new page makes others shorter
TOP = 20  # lines in which a file may say why it is long
ITSELF = "tests/house/lengths_test.py"
REASON = re.compile(r"\bOver (\d+) lines: \w")


def sources(root):
    for top in ("include", "src", "examples", "course", "python", "scripts", "bench", "tests"):
        for file in sorted((root / top).rglob("*")):
            if file.is_file() and (file.suffix in (*CPP, ".inc", ".py") or top == "scripts" and file.read_bytes().startswith(b"#!")):
                yield file


def reason(lines):
    """The number of lines beyond which these lines give a reason, or None."""
    found = REASON.search("\n".join(lines))
    return found and int(found[1])


def comment_above(lines, first):
    """The comment that ends before line `first`, counted from 1."""
    begin = first - 1
    while begin > 0 and lines[begin - 1].lstrip().startswith(("//", "#")):
        begin -= 1
    return lines[begin:first - 1]


def measured(name, text, is_python):
    """(what, its lines, how many it may have, beyond how many it says why) of a file and its functions."""
    lines = text.splitlines()
    yield name, len(lines), FILE, reason(lines[:TOP])
    functions = cpp_functions(text) if name.endswith(CPP) else python_functions(text) if is_python else []
    most = KERNEL if name.startswith(KERNELS) else FUNCTION
    for function, first, length in functions:
        yield f"{name}:{first}: {function}", length, most, reason(comment_above(lines, first))


def mistakes(name, text, is_python):
    found = [f"{what} has {length} lines: split it, or say why above: `Over {most} lines: ...`"
             for what, length, most, over in measured(name, text, is_python) if length > most and over != most]
    due = sum(length > most for _, length, most, _ in measured(name, text, is_python))
    if (given := len(REASON.findall(text))) > due and name != ITSELF:
        found.append(f"{name} gives {given} reasons for length, expected {due}: delete those of what is short")
    return found


class Lengths(unittest.TestCase):
    def test_files_and_functions_are_short_or_have_a_reason(self):
        found, files = [], 0
        for file in sources(cases.ROOT):
            text = file.read_text(encoding="utf-8")
            is_python = file.suffix == ".py" or text.startswith("#!/usr/bin/env python3")
            found += mistakes(file.relative_to(cases.ROOT).as_posix(), text, is_python)
            files += 1
        self.assertGreater(files, 700)
        self.assertEqual(found, [])

    def test_docs_are_short(self):
        words = {page.name: len(page.read_text(encoding="utf-8").split()) for page in (cases.ROOT / "docs").glob("*.md")}
        self.assertGreater(len(words), 20)
        longest = sorted(words, key=words.get)[-3:]
        self.assertLessEqual(sum(words.values()), WORDS, f"shorten pages, such as {', '.join(longest)}")

    def test_a_reason_is_due_for_what_is_long_only(self):
        long_function = "void f() {\n" + "  g();\n" * 70 + "}\n"
        for text, many in (("// A.\n" * 400, 0), ("// A.\n" * 401, 1), ("// A.\n// Over 400 lines: a list.\n" + "// A.\n" * 400, 0),
                           ("// A.\n" * 400 + "// Over 400 lines: too far below.\n", 1), ("// Over 400 lines: it is short.\n", 1),
                           (long_function, 1), ("// Over 60 lines: a list.\n" + long_function, 0), ("// Over 400 lines: x.\n" + long_function, 1)):
            with self.subTest(text=text[:50]):
                self.assertEqual(len(mistakes("src/a.cpp", text, False)), many)

    def test_functions_are_measured(self):
        text = ("template <class T = std::vector<int>>\nstruct alignas(16) S : Base<f(1)> {\n  int g() const { return 1; }\n"
                "  bool operator()(int a,\n                  int b) {\n    // {\n    const char* c = \"{'\";\n    if (a) {\n    }\n    return b;\n  }\n};\n"
                "#define M {\nnamespace a::b {\nconst int k{1'000};\nint h() {\n  struct L {\n    void m() {}\n  };\n  return k;\n}\n}\n")
        self.assertEqual(cpp_functions(text), [("g", 3, 1), ("operator()", 4, 8), ("h", 16, 6)])
        self.assertEqual(python_functions("def f():\n    return 1\n\n\nasync def g():\n    pass\n"), [("f", 1, 2), ("g", 5, 2)])


if __name__ == "__main__":
    cases.main()
