#!/usr/bin/env python3
"""The Python module with the stable ABI: compiled once, against Python 3.12, it is imported by every later Python on the PATH or of pyenv."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

NANOBIND = cases.ROOT / "build/python/nanobind"
# What a Python says of the module; one without NumPy gets a module that has any class one asks for.
ASKS = """
import sys, types
try:
    import numpy
except ModuleNotFoundError:
    numpy = types.ModuleType("numpy")
    numpy.__getattr__ = lambda name: type(name, (), {"__init__": lambda self, *words: None})
    sys.modules["numpy"] = numpy
sys.path.insert(0, sys.argv[1])
import _core
print(len([name for name in dir(_core) if not name.startswith("__")]))
"""


def pythons():
    """Version -> interpreter, from 3.12 on, that have their headers."""
    found = {}
    for program in [*map(shutil.which, (f"python3.{minor}" for minor in range(12, 20))), *pathlib.Path.home().glob(".pyenv/versions/3.1[2-9].*/bin/python3")]:
        if program is None:
            continue
        said = subprocess.run([program, "-c", "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_path('include'))"], capture_output=True, text=True)
        if said.returncode == 0:
            major, minor, include = said.stdout.split(maxsplit=2)
            if pathlib.Path(include.strip(), "Python.h").exists():
                found.setdefault((int(major), int(minor)), (str(program), include.strip()))
    return dict(sorted(found.items()))


class StableAbi(unittest.TestCase):
    def test_the_wheel_is_for_all_of_them(self):
        self.assertIn('wheel.py-api = "cp312"', (cases.ROOT / "pyproject.toml").read_text())
        self.assertIn("nanobind_add_module(tessera_python STABLE_ABI", (cases.ROOT / "src/python/CMakeLists.txt").read_text())

    def test_compiled_once_and_imported_by_all(self):
        found = pythons()
        if (3, 12) not in found or not NANOBIND.is_dir() or not (cases.options.build / "libtessera.a").exists():
            self.skipTest("the stable ABI is NOT tested: it needs Python 3.12 with its headers, build/python/nanobind and a static library")
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "all.cpp")
            text.write_text("".join(f'#include "{file}"\n' for file in sorted((cases.ROOT / "src/python").glob("*.cpp"))))
            module = pathlib.Path(folder, "_core.abi3.so")
            done = subprocess.run([cases.options.compiler, "-std=c++20", "-O0", "-fPIC", "-shared", "-fno-strict-aliasing", "-ffp-contract=off", "-w",
                                   "-DPy_LIMITED_API=0x030C0000", "-DNB_COMPACT_ASSERTIONS", f"-I{found[3, 12][1]}", f"-I{NANOBIND}/include",
                                   f"-I{NANOBIND}/ext/robin_map/include", f"-I{NANOBIND}/src", f"-I{cases.ROOT}/include", f"-I{cases.ROOT}/src", f"-I{cases.options.build}/generated",
                                   text, NANOBIND / "src/nb_combined.cpp", cases.options.build / "libtessera.a", "-lboost_context", "-lz", "-ldl", "-lpthread", "-o", module], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr[:3000])
            said = {version: subprocess.run([program, "-c", ASKS, folder], capture_output=True, text=True) for version, (program, _) in found.items()}
        for version, run in said.items():
            self.assertEqual(run.returncode, 0, f"{version}: {run.stderr[-1500:]}")
            self.assertGreater(int(run.stdout), 20)
        print(f"stable ABI: imported by Python {', '.join(f'{a}.{b}' for a, b in said)}")


if __name__ == "__main__":
    cases.main()
