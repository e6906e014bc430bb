#!/usr/bin/env python3
"""The recipes of CONTRIBUTING.md: each adds a toy to a copy of the sources, touches no more files than it says, and the toy works.

A toy touches what the recipe names, in that order; the test reads the names from CONTRIBUTING.md. What can be tried without building
everything is: the toy's own files and those it changes are compiled in front of the library that is built already, and run.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

MOST = 6
PAGE = (cases.ROOT / "CONTRIBUTING.md").read_text()
LIBRARIES = ["-lz", "-lboost_context", "-pthread", "-ldl"]


def recipe(title):
    """The lines of a recipe and the files it names, `NAME` for what is new."""
    text = re.search(rf"^### {title}\n\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S)[1].strip()
    files = [each for each in re.findall(r"`([\w./<>-]+)`", text) if "/" in each or each == "CMakeLists.txt"]
    return text.splitlines(), list(dict.fromkeys(files))


class Copy:
    """A copy of the sources whose files are shared with the original until they are changed."""

    def __init__(self, folder):
        self.root, self.touched = pathlib.Path(folder), []
        for part in ("include", "src", "course", "docs", "tests", "scripts", "cmake"):
            shutil.copytree(cases.ROOT / part, self.root / part, copy_function=os.link, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(cases.ROOT / "CMakeLists.txt", self.root)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)
        if name not in self.touched:
            self.touched.append(name)

    def insert(self, name, anchor, text, before=False):
        """Text after the one place where the anchor is found, or before it."""
        old = (self.root / name).read_text()
        if old.count(anchor) != 1:
            raise AssertionError(f"{name}: expected {anchor!r} once, found it {old.count(anchor)} times")
        self.write(name, old.replace(anchor, text + anchor if before else anchor + text))

    def folder(self, name, texts):
        for file, text in texts.items():
            self.write(f"{name}/{file}", text)

    def run(self, *command, env=None, timeout=120):
        done = subprocess.run([str(each) for each in command], cwd=self.root, capture_output=True, text=True, timeout=timeout,
                              env=dict(os.environ, LC_ALL="C", **(env or {})))
        if done.returncode:
            raise AssertionError(f"{shlex.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    def flags(self, *more):
        includes = [self.root / "include", self.root / "src", *sorted(each for each in (self.root / "src").iterdir() if each.is_dir())]
        return ["-std=c++20", "-O0", "-ffp-contract=off", *[f"-I{each}" for each in includes], *more]

    def compile(self, *files, flags=()):
        """Does it compile?"""
        for file in files:
            self.run(cases.options.compiler, *self.flags(*flags), "-fsyntax-only", "-x", "c++", file)

    def program(self, main, *files):
        """Runs main with these files in front of the library; what it prints."""
        (self.root / "main.cpp").write_text(main)
        self.run(cases.options.compiler, *self.flags(), *files, "main.cpp", cases.options.build / "libtessera.a", *LIBRARIES, "-o", "program")
        return self.run("./program", env={"TESSERA_CPU": "toy"})


def needs_plain_build():
    cache = (cases.options.build / "CMakeCache.txt").read_text()
    if "CMAKE_BUILD_TYPE:STRING=Release\n" not in cache or "fsanitize" in cache or "CMAKE_UNITY_BUILD:BOOL=ON" in cache:
        raise unittest.SkipTest("not a plain release build: toys are NOT linked to it")


class Recipes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(dir=cases.options.build)  # where files can be shared
        self.addCleanup(scratch.cleanup)
        self.copy = Copy(scratch.name)

    def follow(self, title, name="toy"):
        """Checks that the copy has changed what the recipe says, and nothing else."""
        lines, files = recipe(title)
        self.assertLessEqual(len(lines), 8, f"'{title}' has more than eight lines")
        said = [each.replace("<name>", name) for each in files]
        self.assertCountEqual(self.copy.touched, said, f"'{title}' says one thing, adding a toy takes another")
        self.assertLessEqual(len(said), MOST)

    def test_an_instruction_set(self):
        needs_plain_build()
        copy = self.copy
        copy.insert("include/tessera/core/cpu.hpp", "AVX-512 F, BW, DQ and VL\n", "  , toy\n")
        copy.insert("include/tessera/core/cpu.hpp", '    default: return "portable";', '    case VectorPath::toy: return "toy";\n', before=True)
        copy.insert("src/core/cpu.cpp", "    case VectorPath::portable: return true;\n", "    case VectorPath::toy: return true;\n")
        copy.insert("src/core/cpu.cpp", "constexpr std::array kPaths = {VectorPath::portable, ", "VectorPath::toy, ")
        copy.write("src/cpu/kernels/toy.cpp", (copy.root / "src/cpu/kernels/portable.cpp").read_text().replace("kPortable", "kToy").replace('"portable"', '"toy"'))
        copy.insert("src/cpu/kernels.hpp", "extern const KernelSet kPortable, ", "kToy, ")
        copy.insert("src/cpu/kernels.cpp", "{VectorPath::portable, &kPortable},", "\n      {VectorPath::toy, &kToy},")
        makefile = next(each for each in ("src/cpu/CMakeLists.txt", "CMakeLists.txt") if (copy.root / each).exists())
        copy.write(makefile, (copy.root / makefile).read_text().replace(
            'kernels/avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")',
            'kernels/avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")\n  set_source_files_properties(kernels/toy.cpp PROPERTIES COMPILE_OPTIONS "-mtoy")'))
        self.assertIn("kernels/toy.cpp", (copy.root / makefile).read_text())
        self.follow("An instruction set")
        said = copy.program("""
#include <cstdio>
#include "kernels.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/matmul/matmul.hpp"
int main() {
  const float A[] = {1, 2, 3, 4}, B[] = {5, 6, 7, 8};
  float C[4] = {};
  tessera::matmul(tessera::matrix(A, 2, 2), tessera::matrix(B, 2, 2), tessera::matrix(C, 2, 2), 1, 0, {.algorithm = "packed"});
  std::printf("%s %s %g %g %g %g", tessera::cpu_text().c_str(), tessera::cpu::kernel_set().f32.isa, C[0], C[1], C[2], C[3]);
}
""", "src/core/cpu.cpp", "src/cpu/kernels.cpp", "src/cpu/kernels/toy.cpp")
        self.assertEqual(said, "toy toy 19 22 43 50")

    def test_an_element_type(self):
        needs_plain_build()
        copy = self.copy
        copy.insert("include/tessera/core/small_float.hpp", "using f8e4m3 = SmallFloat<4, 3, std::uint8_t, true>;\n",
                    "using toy = SmallFloat<3, 4, std::uint8_t>;\n")
        copy.insert("include/tessera/core/dtype.hpp", "  boolean\n", "  , toy\n")
        copy.insert("include/tessera/core/dtype.hpp", "std::uint64_t, bool", ", toy")
        copy.insert("include/tessera/core/dtype.hpp", '    {"bool", "bool_", "BOOL"},\n', '    {"toy", "float8_toy", "TOY"},\n')
        copy.insert("src/base/products.inc", "TESSERA_PRODUCT(ladder, std::int32_t, std::int32_t)\n", "TESSERA_PRODUCT(ladder, toy, float)\n")
        self.follow("An element type")
        said = copy.program("""
#include <cstdio>
#include "ladder.hpp"
#include "tessera/kernels/naive.hpp"
#include "tessera/matmul/verify.hpp"
using namespace tessera;
int main() {
  const toy A[] = {toy(1), toy(2), toy(3), toy(4)}, B[] = {toy(5), toy(6), toy(7), toy(8)};
  float C[4] = {}, D[4] = {};
  const Problem p = make_problem(matrix(A, 2, 2), matrix(B, 2, 2), matrix(C, 2, 2));
  detail::run_kernel<Naive<TileShape{.bm = 2, .bn = 2}>, toy, float>({p, {}, {}, A, B, C, nullptr});
  reference_matmul(p, matrix(A, 2, 2), matrix(B, 2, 2), matrix(D, 2, 2));
  std::printf("%s %d %d %g %g %g %g %d", to_string(parse_dtype("float8_toy")).c_str(), size_of(p.in),
              detail::has_native_product(p.in, p.out), C[0], C[1], C[2], C[3], C[3] == D[3]);
}
""", "src/matmul/verify.cpp", "src/matmul/problem.cpp")
        self.assertEqual(said, "toy 1 1 19 22 43 50 1")
        copy.compile("src/io/safetensors.cpp", "src/io/npy_types.cpp")

    def test_a_checker_rule(self):
        needs_plain_build()
        copy = self.copy
        copy.insert("include/tessera/check/report.hpp", "  program_failed ", "  toy,  ///< a block whose last warp is not whole\n", before=True)
        copy.insert("include/tessera/check/report.hpp", '"program-failed"', '"toy", ', before=True)
        names = re.search(r"std::string_view, (\d+)> kKindNames", (copy.root / "include/tessera/check/report.hpp").read_text())
        if names:
            copy.write("include/tessera/check/report.hpp", (copy.root / "include/tessera/check/report.hpp").read_text().replace(
                names[0], names[0].replace(names[1], str(int(names[1]) + 1))))
        copy.insert("src/check/run.cpp", "  if (!refusal.empty()) return finish_report(context, merged, {}, {});\n", """
  if (volume(context.launch.block) % 32 != 0) {
    Mistake mistake;
    mistake.kind = Kind::toy;
    mistake.severity = Severity::note;
    mistake.detail = "the last warp of a block is not whole";
    merged.add_mistake(mistake);
  }
""")
        copy.insert("src/check/rules.cpp", '    {error, "A program whose own checks failed.",', '    {note, "A toy.", "Leave it."},\n', before=True)
        copy.insert("docs/checker.md", "| `impossible-launch` | error |", "| `toy` | note | a block whose last warp is not whole |\n", before=True)
        copy.write("tests/broken_kernels/toy.hpp", "// A block of 33 threads.\n")
        self.follow("A checker rule")
        said = copy.program("""
#include <cstdio>
#include "tessera/check/check.hpp"
#include "tessera/tensor/tensor.hpp"
using namespace tessera;
struct Odd {
  static constexpr const char* name = "odd";
  static constexpr Dim3 block{33};
  void operator()(auto t, auto C) const { C(0, t.thread) = 1; }
};
int main() {
  float c[33] = {};
  const auto report = check::check({.threads = 1}, Dim3{1}, Odd{}, Tensor<float*, row_major(1, 33)>(c));
  for (const auto& each : report.findings) std::printf("%s: %s\\n", name(each.kind).data(), each.problem.c_str());
}
""", "-DTESSERA_CHECK=1", "src/check/run.cpp", "src/check/rules.cpp")
        self.assertEqual(said, "toy: the last warp of a block is not whole\n")

    def test_a_flag_of_the_command(self):
        copy = self.copy
        copy.insert("src/cli/layout.cpp", "  bool wants_svg = false, force = false;\n", "  bool toy = false;\n")
        copy.insert("src/cli/layout.cpp", '  app->add_flag("--force", request->force, "Replace FILE if it exists");\n',
                    '  app->add_flag("--toy", request->toy, "Say hello first");\n')
        copy.insert("docs/man/tessera-layout.1.scd", "*--force*\n\tReplace FILE if it exists.\n", "\n*--toy*\n\tSay hello first.\n")
        copy.insert("tests/cli/layout_test.py", "if __name__", "# class Toy: `tessera layout --toy` says hello\n\n\n", before=True)
        self.follow("A flag of the command", "layout")
        copy.compile("src/cli/layout.cpp")

    def test_a_puzzle(self):
        copy = self.copy
        model = cases.ROOT / "course/p03_first_kernel"
        copy.folder("course/p90_toy", {each.name: each.read_text() for each in model.iterdir()})
        self.follow("A puzzle", "90_toy")
        command = cases.options.build / "bin/tessera"
        self.assertRegex(copy.run(command, "puzzle", "list", "--course", copy.root / "course"), r"p90\s+The first kernel")
        self.assertIn("out(i) = a(i) + 10;", copy.run(command, "puzzle", "solution", "p90", "--course", copy.root / "course"))

    def test_a_gpu_kernel(self):
        copy = self.copy
        naive = (copy.root / "include/tessera/kernels/naive.hpp").read_text()
        copy.write("include/tessera/kernels/toy.hpp", naive.replace("Naive", "Toy").replace("naive", "toy"))
        copy.insert("src/matmul/ladder/tiles.hpp", "using ElementwiseTiles =", "using ToyTiles = TileList<1, TileShape{.bm = 2, .bn = 2}>;\n", before=True)
        copy.insert("src/matmul/ladder.inc", "TESSERA_LADDER(coalescing,", 'TESSERA_LADDER(toy, Toy, ToyTiles, (f16), elementwise_tile, "a toy")\n', before=True)
        copy.insert("docs/kernels.md", "| `coalescing` |", "| `toy` | a toy | 2x2 |\n", before=True)
        copy.write("tests/compile_fail/kernel_toy.cpp", (copy.root / "tests/compile_fail/kernel_naive.cpp").read_text())
        self.follow("A GPU kernel")
        row = {"name": "toy", "class": "Toy", "tiles": "ToyTiles", "types": ", f16", "declared_tiles": ""}
        for template in ("ladder/kernel.cpp", "checked/kernel.cpp", "cuda/kernel.cu"):
            text = (copy.root / f"src/matmul/{template}.in").read_text()
            (copy.root / template.replace("/", "_")).write_text(re.sub(r"@(\w+)@", lambda name: row[name[1]], text))
        copy.compile("src/matmul/ladder.cpp", "ladder_kernel.cpp")
        copy.compile("checked_kernel.cpp", flags=["-DTESSERA_CHECK=1"])
        if "TESSERA_CUDA:STRING=ON" in (cases.options.build / "CMakeCache.txt").read_text():
            copy.run(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc", *copy.flags("-arch=sm_80", "--expt-relaxed-constexpr", "-ptx"), "cuda_kernel.cu")

    def test_a_benchmark_peer(self):
        copy = self.copy
        copy.insert("src/bench/peers.cpp", '    KnownPeer{"onednn",', '    KnownPeer{"toy", {"libtoyblas.so.1"}, "libtoyblas1"},\n', before=True)
        copy.insert("docs/benchmarks.md", "| onednn | libdnnl2 |\n", "| toy | libtoyblas1 |\n")
        self.follow("A benchmark peer")
        copy.compile("src/bench/peers.cpp")


if __name__ == "__main__":
    cases.main()
