#!/usr/bin/env python3
"""Which tiles a kernel can have is said twice: by the static_asserts of its class, whose sentences must be literals, and at run time
by src/matmul/tile_rules.cpp, with the numbers of the tile. Here the compiler and the command judge the same tiles, and agree."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

COMMAND = cases.options.build / "bin/tessera"
ROW = re.compile(r"^TESSERA_LADDER(?:_UNITS)?\((\w+), (\w+), ", re.M)
# The kernels without such a row: their classes.
OTHERS = {"warpgroup": "WarpgroupTiled", "thin": "ThinTiled", "bulk_tiled": "BulkTiled", "three_bf16": "ThreeBf16Tiled"}
# A limit of the launch, which depends on the element type.
OF_LAUNCH = "in shared storage of"


def classes():
    """{kernel: its class} of the whole ladder."""
    return {**dict(ROW.findall((cases.ROOT / "src/matmul/ladder.inc").read_text())), **OTHERS}


def header(kernel):
    names = (f"include/tessera/kernels/{kernel}.hpp", f"include/tessera/kernels/{kernel}_tiled.hpp")
    return next(name for name in names if (cases.ROOT / name).exists()).removeprefix("include/")


def varied(tile):
    """The tile, and as many with one or two other extents: factors and neighbours of each."""
    numbers = [int(each) for each in re.findall(r"\d+", tile)]
    found = {tuple(numbers)}
    for i, number in enumerate(numbers):
        for value in {1, 3, number // 2, number + 1, number + 4, number + 16, 2 * number, 4 * number} - {0}:
            found.add((*numbers[:i], value, *numbers[i + 1:]))
    found |= {tuple(2 * number for number in numbers), tuple(max(1, number // 2) for number in numbers)}
    return [re.sub(r"\d+", lambda _, rest=iter(each): str(next(rest)), tile) for each in sorted(found)]


def initializer(kernel, tile):
    """The tile as C++ writes it."""
    parts = [part.split("x") for part in tile.split("/")]
    warps = kernel in ("tensor_core", "warpgroup", "three_bf16")
    names = [("bm", "bn", "bk"), ("wm", "wn") if warps else ("tm", "tn"), ("cm", "cn")]
    return ", ".join(f".{name} = {value}" for some, values in zip(names, parts) for name, value in zip(some, values))


def said_of(kernel, tile):
    """Why the command calls the tile impossible; None if it is possible."""
    run = subprocess.run([COMMAND, "compare", "-m", "1", "-n", "1", "-k", "1", "--algorithms", kernel, "--tile", tile],
                         capture_output=True, text=True, timeout=60)
    if (found := re.search(r"tile \S+ is impossible: (.*?); built:", run.stderr)) is not None:
        return found[1]
    if run.returncode != 0 and "is possible, but not built in" not in run.stderr:
        raise AssertionError(f"{kernel} {tile}: {run.stderr}")
    return None


@unittest.skipUnless(COMMAND.exists(), "the command is not built")
class TileRules(unittest.TestCase):
    def test_the_compiler_and_the_command_refuse_the_same_tiles(self):
        of_help = subprocess.run([COMMAND, "help", "algorithms"], capture_output=True, text=True, check=True).stdout
        built = {name: tiles.split(";")[0].split(", ") for name, tiles in re.findall(r"^  (\w+)\n      .*\n      tiles: (\d.*)$", of_help, re.M)}
        self.assertEqual(set(built), set(classes()))
        asked = [(kernel, tile) for kernel, tiles in built.items() for tile in sorted({each for one in (tiles[0], tiles[-1]) for each in varied(one)})]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            reasons = list(pool.map(lambda each: said_of(*each), asked))
        refused = self.refused_by_the_compiler(asked)
        self.assertGreater(len(refused), 100)
        self.assertGreater(len(asked) - len(refused), 100)
        for number, ((kernel, tile), reason) in enumerate(zip(asked, reasons)):
            if reason is None or not re.search(OF_LAUNCH, reason):
                with self.subTest(f"{kernel} {tile}"):
                    self.assertEqual(number in refused, reason is not None, reason)

    @staticmethod
    def refused_by_the_compiler(asked):
        """The numbers of the tiles that do not compile."""
        lines = sorted({f'#include "{header(kernel)}"' for kernel in classes()})
        lines += ["using namespace tessera;",
                  "template <class K> constexpr bool use() {",
                  "  if constexpr (requires { typename K::template Shared<float>; }) return sizeof(typename K::template Shared<float>) > 0;",
                  "  else return sizeof(K) > 0;",
                  "}"]
        first = len(lines) + 1
        more = {"bulk_tiled": ", Major::k, Major::k"}  # what needs the most storage
        for kernel, tile in asked:
            shape = f"TileShape{{{initializer(kernel, tile)}}}"
            lines.append(f"static_assert(use<{classes()[kernel]}<{shape}{more.get(kernel, '')}>>());")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "tiles.cpp").write_text("\n".join(lines) + "\n")
            run = subprocess.run([cases.options.compiler, "-std=c++20", "-fsyntax-only", "-w", "-I", cases.ROOT / "include", "tiles.cpp"],
                                 cwd=folder, capture_output=True, text=True, timeout=600, env=dict(os.environ, LC_ALL="C"))
        return {int(line) - first for line in re.findall(r"^tiles\.cpp:(\d+):", run.stderr, re.M) if int(line) >= first}


if __name__ == "__main__":
    cases.main()
