#!/usr/bin/env python3
"""Partial builds: a target compiles the components that it needs and no others, a preset what it is for."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402


def components(target):
    """The folders of src whose sources are compiled for a target."""
    said = subprocess.run(["ninja", "-C", cases.options.build, "-t", "commands", target], capture_output=True, text=True)
    if said.returncode != 0:
        raise AssertionError(said.stderr)
    return set(re.findall(r" -c \S*/src/(\w+)/\S+$", said.stdout, re.M))


class Targets(unittest.TestCase):
    def test_the_blas_is_the_packed_path_and_its_entry_points(self):
        self.assertEqual(components("tessera_blas"), {"base", "core", "cpu", "blas"})

    def test_a_component_and_its_tests_need_what_they_link_to_and_no_kernel(self):
        self.assertEqual(components("layout_test"), {"base", "core", "layout"})
        self.assertEqual(components("tessera_check"), {"base", "core", "layout", "tensor", "simt", "check"})
        self.assertNotIn("matmul", components("quick_tests"))

    def test_the_library_is_made_of_all_components_but_those_of_programs(self):
        self.assertEqual(components("tessera_library"), {"base", "core", "layout", "tensor", "io", "simt", "cpu", "cuda", "check", "gpu_code", "device", "matmul",
                                                    "puzzle", "scale"})

    def test_the_demo_and_the_course_are_built_without_tests_cuda_and_each_other(self):
        folders = {"cli", "shell", "process"}
        for preset, target, needed, others in (("demo", "tessera", folders | {"cpu", "matmul"}, r"/src/course/|/src/plain_cuda/runtime/"),
                                               ("course", "all", folders | {"check", "course"}, r"/src/cpu/kernels/avx|/src/bench/")):
            with self.subTest(preset), tempfile.TemporaryDirectory() as build:
                said = subprocess.run(["cmake", "--preset", preset, "-B", build], cwd=cases.ROOT, capture_output=True, text=True)
                self.assertEqual(said.returncode, 0, said.stderr)
                compiled = list(sources(build, target))
                self.assertEqual([each for each in compiled if re.search(rf"{cases.ROOT}/tests/|\.cuh?$|{others}", each)], [])
                self.assertLessEqual(needed, {each.removeprefix(f"{cases.ROOT}/src/").split("/")[0] for each in compiled})


def sources(build, target):
    """The files that a target compiles, also those that it compiles together."""
    said = subprocess.run(["ninja", "-C", build, "-t", "commands", target], capture_output=True, text=True, check=True)
    for each in re.findall(r" -c (\S+)$", said.stdout, re.M):
        together = re.findall(r'^#include "(.*)"$', pathlib.Path(each).read_text(), re.M) if "/unity_" in each else [each]
        yield from together


if __name__ == "__main__":
    cases.main()
