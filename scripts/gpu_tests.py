#!/usr/bin/env python3
"""Runs the tests of cuda_test for scripts/gpu: the CPU computes expected results most of the time, so several processes run at the same
time, each a part of the tests. Tests that measure times or cause faults then have the GPU to themselves. Prints what each process said;
ends with the first exit code that is not 0.

    scripts/gpu_tests.py CUDA_TEST
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from gpu_steps import end_with_the_script  # noqa: E402

PROCESSES = min(8, os.cpu_count() or 1)
ALONE = "GpuEngine.*:GpuFaults.*"


def run(program, chosen, processes):
    """The exit codes, after printing what they said. Where this script is ended, so are they, by the signal of their group."""
    logs = [tempfile.TemporaryFile() for _ in range(processes)]
    try:
        started = [subprocess.Popen([program, "--gtest_brief=0", f"--gtest_filter={chosen}"], stdout=log, stderr=subprocess.STDOUT,
                                    preexec_fn=end_with_the_script,
                                    env={**os.environ, "GTEST_TOTAL_SHARDS": str(processes), "GTEST_SHARD_INDEX": str(i)})
                   for i, log in enumerate(logs)]
        return [each.wait() for each in started]
    finally:
        for log in logs:
            log.seek(0)
            sys.stdout.buffer.write(log.read())
        sys.stdout.flush()


def main(program):
    codes = run(program, f"-{ALONE}", PROCESSES) + run(program, ALONE, 1)
    return next((code if code > 0 else 128 - code for code in codes if code != 0), 0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="CUDA_TEST")
    sys.exit(main(parser.parse_args().program))
