"""The steps of scripts/gpu, the most valuable first: what each runs, for how long at most, and what it must say to be believed."""
import dataclasses
import hashlib
import json
import pathlib
import re
import subprocess
import sys

from kernels import STEPS

ROOT = pathlib.Path(__file__).resolve().parents[1]
PARTS = ["primitives", "test", "tune", "bench", "ladder", "counters", "sanitize"]
PRIMITIVES = ["unit_bits"]  # programs beside cuda_test; exit code 0 is good, their last line is kept
# Small cases of everything; not what only takes long there: times, and millions of atomic additions.
SANITIZED = "GpuEngine.*:*IsRightForEveryStride*:*MultipliesEveryType*:-*Refused*:*SaysWhat*:*AStreamKeeps*:*EventsMeasure*"
LADDER = ",".join(STEPS)
FASTEST = "pipelined,auto"
# Rows of activations by the weights of current models, which lie along K.
THIN = "1x4096x4096-NT,16x4096x4096-NT,64x4096x4096-NT,1x28672x4096-NT,16x28672x4096-NT,64x28672x4096-NT,16x4096x14336-NT"


class Failed(Exception):
    """A step did not do what it should; said in one line. `code` is the script's own where it ends there."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


@dataclasses.dataclass
class Step:
    part: str
    name: str
    words: list  # the command; FILE becomes the report that it writes, COMMIT that of the programs
    seconds: float  # at most
    read: object  # (its report, the text it printed) -> what is kept of it; raises Failed
    report: str  # how its report's name ends
    key: str = ""


def run(words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)


# ---- what each step must say ------------------------------------------------------------------------------------------------------

def last_line(text):
    return ([line.strip() for line in text.splitlines() if line.strip()] or [""])[-1]


def read_primitive(_, said):
    try:
        return json.loads(last_line(said))
    except ValueError:
        return last_line(said)


def read_tests(_, said):
    # Tests that want a machine without a GPU are skipped in other words.
    if skipped := said.count("NOT TESTED on a GPU"):
        raise Failed(f"{skipped} tests were skipped for want of a GPU")
    if not (passed := re.search(r"^\[  PASSED  \] (.*)$", said, re.MULTILINE)):
        raise Failed("the tests do not say that they passed")
    return passed[1]


def read_sanitizer(_, said):
    if not (summary := re.search(r"(?:ERROR|RACECHECK) SUMMARY: 0 .*", said)):
        raise Failed("it does not say that it found nothing")
    return summary[0]


def read_counters(_, said):
    if "gpu__time_duration" not in said:
        raise Failed("ncu counted nothing")
    return f"{len(said.splitlines())} lines"


def read_bench(path, _):
    """The speeds of a file of `tessera bench`, which is reduced to its medians."""
    done = run([sys.executable, ROOT / "scripts/compact_results.py", path])
    if done.returncode != 0:
        raise Failed(f"scripts/compact_results.py: {last_line(done.stderr)}")
    rows = json.loads(path.read_text()).get("benchmarks", [])
    return {row["contestant"]: row["gflops"] for row in rows if "gflops" in row}


def read_tuning(path, _):
    return [line for line in path.read_text().splitlines() if line.startswith("m=")]


def read_json(path, _):
    document = json.loads(path.read_text())
    return f"{len(document)} entries"


def diagnosis(said, ended):
    """Why a step failed, in one line: the tests that failed, the one it was in, else its last word."""
    if failed := sorted(set(re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", said, re.MULTILINE))):
        return f"{ended}; failed: {', '.join(failed[:5])}{', ...' if len(failed) > 5 else ''}"
    test = None
    for begun, name in re.findall(r"^\[( RUN     |       OK|  SKIPPED) \] (\S+)", said, re.MULTILINE):
        test = name if begun == " RUN     " else None
    if test:
        return f"{ended} in {test}"
    return f"{ended}: {last_line(said)}" if last_line(said) else ended


# ---- the steps ----------------------------------------------------------------------------------------------------------------------

def bench(part, name, programs, seconds, size, algorithms, dtype="f32"):
    return Step(part, name, [programs / "tessera", "bench", "--device", "cuda:0", "--no-host", "--force", "--context", "commit=COMMIT", "-o", "FILE",
                             "--sizes", str(size), "--dtype", dtype, "--algorithms", algorithms], seconds, read_bench, f"{name}.json")


def counter_words(programs):
    # What docs/report.md says the checker's counts are called (scripts/ladder.py adds them up), and what the checker does not know.
    page = (ROOT / "docs/report.md").read_text(encoding="utf-8")
    metrics = re.findall(r"^\| `[a-z_]*` \|.*\| `([a-z0-9_]*\.sum)` \|$", page, re.MULTILINE) + [
        "gpu__time_duration.sum", "launch__registers_per_thread", "smsp__inst_executed.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"]
    return ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics),
            "--kernel-name-base", "demangled", programs / "tessera", "compare", "--quiet", "-m", "1024", "-n", "1024", "-k", "1024", "--device",
            "cuda:0", "--algorithms", LADDER]


def tune(programs, dtype, sizes):
    return Step("tune", f"tune-{dtype}", [programs / "tessera", "tune", "--device", "cuda:0", "--dtype", dtype, "--sizes", sizes,
                                          "--seconds", "40", "--cache", "FILE"], 60, read_tuning, "tuning.txt")


def sanitizer(programs, tool):
    return Step("sanitize", tool, ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", "--report-api-errors", "no",
                                   programs / "cuda_test", f"--gtest_filter={SANITIZED}"], 90, read_sanitizer, f"{tool}.txt")


def steps(parts, programs):
    """The most valuable first."""
    out = [Step("primitives", name, [programs / name], 20, read_primitive, f"{name}.txt") for name in PRIMITIVES if (programs / name).exists()]
    out += [Step("test", "tests", [programs / "cuda_test", "--gtest_brief=0"], 150, read_tests, "tests.txt"),
            tune(programs, "bf16", "4096,8192,2048,1024"), tune(programs, "f32", "4096,2048,1024"), tune(programs, "f16", "4096"),
            tune(programs, "f64", "4096"),
            bench("bench", "bench-bf16", programs, 240, "1024,2048,4096,4096-NT,8192", "tensor_core,auto", "bf16"),
            bench("bench", "bench-thin", programs, 150, THIN, "auto", "bf16")]
    out += [bench("bench", f"bench-f32-{size}", programs, 90, size, FASTEST) for size in (4096, 2048, 1024)]
    out += [bench("bench", "bench-tf32", programs, 90, "4096-NT", "warpgroup"),
            bench("bench", "bench-f16", programs, 90, 4096, "auto", "f16"),
            bench("bench", "bench-f64", programs, 90, 4096, "auto", "f64"),
            bench("bench", "bench-f32-8192", programs, 200, 8192, FASTEST),  # verified on the CPU for long
            bench("ladder", "ladder", programs, 150, 4096, LADDER),
            Step("counters", "counters", counter_words(programs), 120, read_counters, "counters.csv"),
            Step("counters", "truth", [ROOT / "scripts/gpu_truth.py", "FILE", "--tessera", programs / "tessera"], 240, read_json, "truth.json")]
    out += [sanitizer(programs, tool) for tool in ("memcheck", "racecheck", "initcheck", "synccheck")]
    return [step for part in PARTS for step in out if step.part == part and part in parts]


def key_of(step, gpu):
    """Of the bytes of every file that the command names, the command and the GPU."""
    digest = hashlib.sha256(gpu.encode())
    for word in map(str, step.words):
        path = pathlib.Path(word)
        digest.update(b"\0" + (path.name if path.is_absolute() else word).encode())
        if path.is_absolute() and path.is_file():
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
