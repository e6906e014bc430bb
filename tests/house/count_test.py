#!/usr/bin/env python3
"""scripts/count_tests.py: what ./test calls passed and failed."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

CASES = """<testsuites><testsuite>
<testcase name="Good" status="run" result="completed" classname="A"/>
<testcase name="Other" status="notrun" result="suppressed" classname="A"/>
<testcase name="Skip" status="run" result="skipped" classname="A"><skipped message="x"/></testcase>{bad}
</testsuite></testsuites>"""
BAD = '<testcase name="Bad" status="run" result="completed" classname="A"><failure message="x"/></testcase>'


class Count(unittest.TestCase):
    def counted(self, tests, **reports):
        with tempfile.TemporaryDirectory() as folder:
            rows = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in tests)
            pathlib.Path(folder, "ctest.junit").write_text(f"<testsuite>{rows}</testsuite>")
            for name, text in reports.items():
                pathlib.Path(folder, name + ".xml").write_text(text)
            run = subprocess.run([sys.executable, cases.ROOT / "scripts/count_tests.py", folder], capture_output=True, text=True)
            return run.stdout.splitlines()[-1], run.returncode, run.stdout

    def test_single_cases_are_counted_and_filtered_ones_are_not(self):
        self.assertEqual(self.counted([("a", "run")], a=CASES.format(bad=""))[:2], ("1 passed, 0 failed", 0))

    def test_a_failed_case_is_named_and_fails_the_run(self):
        last, code, text = self.counted([("a", "fail"), ("b", "run")], a=CASES.format(bad=BAD))
        self.assertEqual((last, code), ("2 passed, 1 failed", 1))
        self.assertIn("FAILED: a: A.Bad", text)

    def test_a_crash_is_a_failure_even_without_a_report_or_with_a_torn_one(self):
        self.assertEqual(self.counted([("a", "fail"), ("b", "run")])[:2], ("1 passed, 1 failed", 1))
        self.assertEqual(self.counted([("a", "fail"), ("b", "run")], a="<testsuites><tes")[:2], ("1 passed, 1 failed", 1))
        self.assertEqual(self.counted([("a", "fail")], a=CASES.format(bad=""))[:2], ("1 passed, 1 failed", 1))

    def test_nothing_run_is_a_failure(self):
        self.assertEqual(self.counted([])[:2], ("0 passed, 0 failed", 1))
        self.assertEqual(self.counted([("a", "notrun")])[:2], ("0 passed, 0 failed", 1))

    def test_a_missing_ctest_report_is_a_failure(self):
        run = subprocess.run([sys.executable, cases.ROOT / "scripts/count_tests.py", "/nonexistent"], capture_output=True, text=True)
        self.assertEqual((run.stdout, run.returncode), ("0 passed, 0 failed\n", 1))


if __name__ == "__main__":
    cases.main()
