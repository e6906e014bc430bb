#!/usr/bin/env python3
"""scripts/measure_build.py: what logs of ninja and ctest say, by component; the table of CONTRIBUTING.md is that of the data."""
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

sys.path.insert(0, str(cases.ROOT / "scripts"))
import measure_build  # noqa: E402

LOG = """# ninja log v5
0\t4000\t1\tsrc/cpu/CMakeFiles/tessera_cpu.dir/gemm.cpp.o\ta
0\t6000\t1\tsrc/matmul/gpu_code_naive.cpp\tb
0\t6000\t1\t/work/build/src/matmul/gpu_code_naive.cpp\tb
4000\t7000\t1\ttests/CMakeFiles/cpu_test.dir/Unity/unity_0_cxx.cxx.o\tc
6000\t8000\t1\ttests/CMakeFiles/checked_tests.dir/a.cpp.o\td
7000\t9000\t1\tlibtessera.a\te
9000\t50000\t1\tsrc/cpu/CMakeFiles/tessera_cpu.dir/gemm.cpp.o\ta
"""
REPORT = """<testsuite time="30"><testcase name="cpu.1" time="1"/><testcase name="plain_cuda.programs" time="2"/><testcase name="io_roundtrip" time="3"/>
<testcase name="lists_test" time="4"/></testsuite>"""


class MeasureBuild(unittest.TestCase):
    def test_each_command_counts_once(self):
        with mock.patch("os.cpu_count", lambda: 2):
            said = measure_build.seconds_of_build(LOG)
        self.assertEqual({key: round(value, 6) for key, value in said.items()},
                         {("cpu", "sources"): 4, ("matmul", "sources"): 6, ("cpu", "tests' sources"): 3, ("check", "tests' sources"): 2, ("others", "sources"): 2})

    def test_tests_belong_to_components(self):
        with mock.patch("os.cpu_count", lambda: 2):
            said = measure_build.seconds_of_tests(REPORT, {"lists_test"})
        self.assertEqual(said, {(name, "tests"): seconds for name, seconds in (("cpu", 1), ("plain_cuda", 2), ("io", 3), ("house", 4))})

    def test_no_more_than_the_processors_had(self):
        with mock.patch("os.cpu_count", lambda: 2):
            self.assertEqual(measure_build.scaled({"a": 3, "b": 9}, 3), {"a": 1.5, "b": 4.5})

    def test_the_table_is_that_of_the_data(self):
        text = measure_build.PAGE.read_text()
        self.assertEqual(measure_build.page(text, measure_build.DATA.read_text()), text, "run scripts/measure_build.py")


if __name__ == "__main__":
    cases.main()
