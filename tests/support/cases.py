"""Runs the unittest cases of a file and leaves them as JUnit where TESSERA_RESULTS says, to be counted one by one.

A test file ends with `cases.main()`. Its options, --build FOLDER and --compiler PROGRAM, are in `cases.options`.
"""
import argparse
import os
import pathlib
import sys
import unittest
from xml.sax.saxutils import quoteattr

ROOT = pathlib.Path(__file__).resolve().parents[2]

_parser = argparse.ArgumentParser()
_parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
_parser.add_argument("--compiler", default="g++")
options, _rest = _parser.parse_known_args()
options.build = options.build.resolve()  # some tests run from their own folder



def thinned(items, step, first=0, kind=None):
    """Those of many cases that a thinned test runs (add_thinned_test() in tests/CMakeLists.txt): each `step`-th, from number `first`
    on, and the first of each `kind`. All of them where the test is not thinned."""
    items = list(items)
    if "TESSERA_THINNED" not in os.environ:
        return items
    kinds = [kind and kind(each) for each in items]
    return [each for at, each in enumerate(items) if at % step == first % step or (kind and kinds.index(kinds[at]) == at)]


class _Recorder(unittest.TextTestResult):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.rows = []

    def _add(self, test, tag="", text=""):
        self.rows.append((test.id().split(".")[-2], test.id().split(".")[-1], tag, text))

    def addSuccess(self, test):
        super().addSuccess(test)
        self._add(test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._add(test, "failure", str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self._add(test, "error", str(err[1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._add(test, "skipped", reason)
        print(f"SKIPPED: {reason}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self.rows.append((test.id().split(".")[-2], subtest.id().split(".", 2)[-1], "failure" if err else "", str(err and err[1])))


def main():
    program = unittest.main(module="__main__", argv=[sys.argv[0], *_rest], exit=False, verbosity=2,
                            testRunner=unittest.TextTestRunner(resultclass=_Recorder, verbosity=2))
    report = os.environ.get("TESSERA_RESULTS")
    if report:
        pathlib.Path(report).parent.mkdir(parents=True, exist_ok=True)
        with open(report, "w", encoding="utf-8") as out:
            out.write("<testsuite>\n")
            for suite, name, tag, text in program.result.rows:
                out.write(f"  <testcase classname={quoteattr(suite)} name={quoteattr(name)}>")
                if tag:
                    out.write(f"<{tag} message={quoteattr(text[:2000])}/>")
                out.write("</testcase>\n")
            out.write("</testsuite>\n")
    sys.exit(0 if program.result.wasSuccessful() else 1)
