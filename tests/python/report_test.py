"""check and explain: the command's reports as objects."""
import os
import pathlib
import subprocess
import sys

import pytest

import tessera


def command(*words):
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # pipes are as wide as it says
    return subprocess.run([sys.executable, "-m", "tessera", *words], capture_output=True, text=True, env=env).stdout


def test_check_prints_what_the_command_prints():
    report = tessera.check("tiled", 17, 31, 9)
    assert f"{report}\n" == command("check", "tiled", "-m", "17", "-n", "31", "-k", "9")
    assert report.is_clean and report.findings == [] and report.counters["flops"] == 2 * 32 * 32 * 64
    assert report.to_dict()["summary"]["clean"] and "clean: no findings" in repr(report)
    assert report.html().lower().startswith("<!doctype html>") and report._repr_html_().startswith("<iframe srcdoc=")


def test_a_kernel_of_a_file_with_a_mistake_has_findings():
    report = tessera.check(pathlib.Path(__file__).parents[1] / "support/racy_kernel.cpp")
    assert not report.is_clean and "race" in str(report) and "error" in repr(report)
    assert report.is_complete and report.incomplete is None


def test_text_page_and_dict_are_of_one_run(tmp_path):
    kernel = tmp_path / "mine.cpp"
    kernel.write_text((pathlib.Path(__file__).parents[1] / "support/racy_kernel.cpp").read_text())
    mine, ladder, both = tessera.check(kernel), tessera.check("naive", 8, 8, 8), tessera.explain("naive", 64, 64, 64, against="tiled")
    kernel.unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tessera._command, "run", lambda *_: pytest.fail("the kernel runs again"))
        assert mine.findings and mine.to_dict()["summary"]["errors"]
        assert ladder.to_dict()["kernel"] == "naive" and both.to_dict()["kernels"][1]["kernel"] == "tiled"
        ladder.to_dict().clear()
        assert ladder.to_dict()


def test_explain_prints_what_the_command_prints():
    assert f"{tessera.explain('naive')}\n" == command("explain", "naive")
    both = tessera.explain("naive", 256, 256, 256, against="coalescing", device="a100")
    assert len(both.to_dict()["kernels"]) == 2 and "coalescing" in str(both)


def test_usage_is_refused_as_by_the_command():
    with pytest.raises(ValueError, match="did you mean 'tiled'"):
        tessera.check("tield")
    with pytest.raises(ValueError, match="number is too small"):
        tessera.explain("tiled", -1)
    with pytest.raises(OSError, match="no file"):
        tessera.check("nothing.cpp")
    for ask in (tessera.check, tessera.explain):
        with pytest.raises(ValueError, match="the kernel is '--help': expected a name or a file"):
            ask("--help")


def test_a_run_that_its_time_limit_ends_is_reported_until_then():
    report = tessera.check("naive", 512, 512, 512, time_limit=1, threads=1)
    assert not report.is_clean and not report.is_complete
    assert report.verdict.startswith("could not check: time limit of 1 s reached after ") and report.verdict in repr(report)
    assert report.incomplete.startswith("time limit of 1 s") and "raise --time-limit" in report.incomplete
    assert "flops" in str(report) and "incomplete" in report.html()
    whole = tessera.check("naive", 4, 4, 4)
    assert whole.is_complete and whole.incomplete is None and whole.verdict == "clean: no findings in 1 block"
    assert isinstance(whole, tessera.Check) and isinstance(tessera.explain("naive"), tessera.Report)
