#!/usr/bin/env python3
"""Partial builds: a target compiles the components that it needs and no others."""
import re
import subprocess
import sys
import pathlib
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


if __name__ == "__main__":
    cases.main()
