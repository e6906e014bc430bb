#!/usr/bin/env python3
"""Files have at most 400 lines and functions 60. What is longer stands here with its reason; it may get shorter, not longer."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
from lengths import cpp_functions, python_functions  # noqa: E402

FILE, FUNCTION, KERNEL = 400, 60, 150  # a kernel's loops share registers and tiles: it is read in one piece
KERNELS = ("include/tessera/kernels/", "src/cpu/microkernel.hpp", "src/cpu/scheduled_tile_avx512.hpp", "src/cpu/unpacked.hpp")
CPP = (".hpp", ".cpp", ".h", ".cuh", ".cu")
# How many lines at most, and why.
ONE_STATE = "its functions share one state, which a second file would have to show"
ONE_LAW = "cases of one law on one fixture"
TABLE = "a list of cases or of fields, one a line"
LONG = {
    "include/tessera/simt/cuda_mma.cuh: mma_sync": (65, TABLE),
    "src/check/block_recorder.cpp": (500, ONE_STATE),
    "src/check/block_recorder.hpp": (450, ONE_STATE),
    "src/check/rules.cpp: size": (70, TABLE),
    "src/cli/completion.cpp: bash_script": (75, "a script of another language"),
    "src/cli/doctor.cpp: to_json": (70, TABLE),
    "src/cli/doctor.cpp: to_text": (75, TABLE),
    "src/core/team.cpp": (550, ONE_STATE),
    "src/core/team.cpp: run_team": (65, "the order of its steps is what makes it safe"),
    "src/cpu/make_kernels.hpp: make_kernels": (65, TABLE),
    "src/cpu/packed_product.hpp": (1050, ONE_STATE),
    "src/cpu/packed_product.hpp: Product": (90, "the plan of a product: what is decided here is used everywhere below"),
    "src/cpu/packed_product.hpp: multiply_share": (75, "the loops around the microkernel, one in another"),
    "src/cpu/unpacked.hpp": (550, "one algorithm, by columns and by rows"),
    "src/cpu/unpacked.hpp: dot_transposed": (170, "a transposition in registers, written out"),
    "src/io/atomic_file.cpp": (420, ONE_STATE),
    "src/io/matrix_market.cpp": (420, "one format, read and written"),
    "src/matmul/verify.cpp": (470, "one verifier for all types"),
    "src/matmul/verify.cpp: Verifier::Verifier": (125, "its passes over C, one after another on the same sums"),
    "src/python/layout.cpp: add_layout": (70, TABLE),
    "tests/blas/library_test.py": (430, ONE_LAW),
    "tests/cli/bad_input_test.py": (410, TABLE),
    "tests/cpu/kernels_epilogue_test.cpp: TYPED_TEST": (75, TABLE),
    "tests/graphs/jax_test.py": (470, ONE_LAW),
    "tests/graphs/torch_test.py": (430, ONE_LAW),
    "tests/layout/expression_test.cpp: TEST": (75, TABLE),
    "tests/matmul/plan_test.cpp: TEST": (70, TABLE),
    "tests/matmul/problem_test.cpp: TEST": (90, TABLE),
    "tests/plain_cuda/debug_info_test.cpp: TEST_P": (70, TABLE),
}


def sources(root):
    for top in ("include", "src", "examples", "course", "python", "scripts", "bench", "tests"):
        for file in sorted((root / top).rglob("*")):
            if file.is_file() and (file.suffix in (*CPP, ".py") or top == "scripts" and file.read_bytes().startswith(b"#!")):
                yield file


def too_long(root):
    """What is longer than it may be, and how many lines it has."""
    for file in sources(root):
        text = file.read_text(encoding="utf-8")
        name = file.relative_to(root).as_posix()
        yield name, len(text.splitlines()), FILE
        is_python = file.suffix == ".py" or text.startswith("#!/usr/bin/env python3")
        functions = cpp_functions(text) if file.suffix in CPP else python_functions(text) if is_python else []
        most = KERNEL if name.startswith(KERNELS) else FUNCTION
        yield from ((f"{name}: {function}", lines, most) for function, _, lines in functions)


class Lengths(unittest.TestCase):
    def test_files_and_functions_are_short_or_have_a_reason(self):
        lines, limits = {}, {}
        for name, length, limit in too_long(cases.ROOT):
            lines[name], limits[name] = max(length, lines.get(name, 0)), limit
        self.assertGreater(len(lines), 5000)
        found = [f"{name} has {length} lines, expected at most {most}" for name, length in lines.items()
                 if length > (most := LONG.get(name, (limits[name], ""))[0])]
        self.assertEqual(found, [], "split these, or say in tests/house/lengths_test.py why they are long")
        self.assertEqual([name for name in LONG if lines.get(name, 0) <= limits.get(name, 0)], [], "these are short now: no exceptions any more")

    def test_functions_are_measured(self):
        text = ("template <class T = std::vector<int>>\nstruct alignas(16) S : Base<f(1)> {\n  int g() const { return 1; }\n"
                "  bool operator()(int a,\n                  int b) {\n    // {\n    const char* c = \"{'\";\n    if (a) {\n    }\n    return b;\n  }\n};\n"
                "#define M {\nnamespace a::b {\nconst int k{1'000};\nint h() {\n  struct L {\n    void m() {}\n  };\n  return k;\n}\n}\n")
        self.assertEqual(cpp_functions(text), [("g", 3, 1), ("operator()", 4, 8), ("h", 16, 6)])
        self.assertEqual(python_functions("def f():\n    return 1\n\n\nasync def g():\n    pass\n"), [("f", 1, 2), ("g", 5, 2)])


if __name__ == "__main__":
    cases.main()
