"""The steps of scripts/gpu, the most valuable first: what each runs, its time limit, and the output that counts as success."""
import contextlib
import ctypes
import dataclasses
import functools
import hashlib
import json
import pathlib
import re
import signal
import statistics
import subprocess
import sys

from cubin import sections
from kernels import STEPS

ROOT = pathlib.Path(__file__).resolve().parents[1]
PARTS = ["primitives", "test", "tune", "bench", "python", "ladder", "counters", "sanitize"]
MEASURED = ["tune", "bench", "ladder", "counters", "sanitize"]  # by programs whose other code may change
PRIMITIVES = [f"p{i}" for i in range(1, 12)]  # of gpu_primitives
CHECKED_AGAIN = ["p3", "p6"]  # at the beginning of a later call: is it still the card, and does it still do the same?
# What a matrix product by warpgroups is made of; without them it is tried last. Products of f32 need none of these.
WARPGROUPS = ("p1", "p2", "p3", "p4", "p5", "p8", "p9")
# Small cases of everything; not what only takes long there: times, and millions of atomic additions.
SANITIZED = "GpuEngine.*:*IsRightForEveryStride*:*MultipliesEveryType*:-*Refused*:*SaysWhat*:*AStreamKeeps*:*EventsMeasure*"
LADDER = ",".join(STEPS)
FASTEST = "pipelined,auto"
# Bits of clocks_throttle_reasons; what the last four say makes times worthless.
LIMITS = {4: "power", 8: "hardware slowdown", 32: "software thermal", 64: "hardware thermal", 128: "power brake"}
THROTTLING = list(LIMITS.values())[1:]
AGAIN = "leaves it out from now on"  # what `tessera tune` says of a kernel that does not end
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
    needs: tuple = ()  # primitives: where one of them failed, the step comes last
    check: bool = False  # measured again by each later call, first
    key: str = ""


def end_with_the_script():
    """Called in each child before it begins: it ends where the script is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def run(words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)


def answering():
    try:
        return run(["nvidia-smi", "-L"], timeout=10).returncode == 0
    except subprocess.TimeoutExpired:
        return False


# ---- what each step must say ------------------------------------------------------------------------------------------------------

def last_line(text):
    return ([line.strip() for line in text.splitlines() if line.strip()] or [""])[-1]


def read_primitive(_, said):
    """Its last line is JSON, the one before says in words what is wrong."""
    found = json.loads(last_line(said))
    if not found["good"]:
        raise Failed(last_line(said.strip().rpartition("\n")[0]))
    return found["measured"] or found["reading"]


def read_tests(_, said):
    # Tests that want a machine without a GPU are skipped in other words.
    if skipped := said.count("NOT TESTED on a GPU"):
        raise Failed(f"{skipped} tests were skipped for want of a GPU")
    if not (passed := re.findall(r"^\[  PASSED  \] (\d+) tests?\.$", said, re.MULTILINE)):
        raise Failed("the tests do not say that they passed")
    return f"{sum(map(int, passed))} tests"


def read_python(_, said):
    """pytest's last lines; on a GPU nothing is skipped for want of one."""
    if skipped := re.findall(r"^SKIPPED .*NOT tested.*", said, re.MULTILINE):
        raise Failed(skipped[0])
    if not last_line(said).startswith("tested on a GPU"):
        raise Failed("the tests do not say that they passed")
    passed = re.findall(r"^(\d+ passed)", said, re.MULTILINE)
    return f"{last_line(said)}; {', '.join(passed)}"


def read_sanitizer(_, said):
    if not (summary := re.search(r"(?:ERROR|RACECHECK) SUMMARY: 0 .*", said)):
        raise Failed("it does not say that it found nothing")
    return summary[0]


def read_counters(_, said):
    if "gpu__time_duration" not in said:
        raise Failed("ncu counted nothing")
    return f"{len(said.splitlines())} lines"


def read_bench(path, _):
    """The speeds of a file of `tessera bench`, which is reduced to its medians; of several products with their extents."""
    done = run([sys.executable, ROOT / "scripts/compact_results.py", path])
    if done.returncode != 0:
        raise Failed(f"scripts/compact_results.py: {last_line(done.stderr)}")
    rows = [row for row in json.loads(path.read_text()).get("benchmarks", []) if "gflops" in row]
    shapes = ["x".join(str(row.get(extent)) for extent in "mnk") for row in rows]
    return {f"{shape} {row['contestant']}" if len(set(shapes)) > 1 else row["contestant"]: row["gflops"] for shape, row in zip(shapes, rows)}


def read_tuning(count, path, said):
    """The lines of the step's `count` products, the last that were added."""
    if late := re.search(r"\d+ of \d+ sizes not tuned within .*", said):
        raise Failed(late[0])
    return [line for line in path.read_text().splitlines() if line.startswith("m=") and not line.endswith(" hangs=yes")][-count:]


def read_json(path, _):
    document = json.loads(path.read_text())
    return f"{len(document)} entries"


def diagnosis(said, ended):
    """Why a step failed, in one line: the tests that failed, those it was in, else its last word."""
    def some(names):
        return f"{', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    if failed := sorted(set(re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", said, re.MULTILINE))):
        return f"{ended}; failed: {some(failed)}"
    ran = re.findall(r"^\[( RUN     |       OK|  SKIPPED) \] (\S+)", said, re.MULTILINE)
    over = {name for what, name in ran if what != " RUN     "}
    if in_these := list(dict.fromkeys(name for _, name in ran if name not in over)):
        return f"{ended} in {some(in_these)}"
    return f"{ended}: {last_line(said)}" if last_line(said) else ended


def exit_text(code):
    """`code` is that of subprocess, or of a shell or a command that was ended by a signal."""
    number = -code if code < 0 else code - 128
    return f"ended by {signal.Signals(number).name}" if number in list(signal.Signals) else f"exit code {code}"


def conditions(lines):
    """Of lines of clocks.csv: the median clock and power, the highest temperature, and what limited the clock, most of the time first."""
    rows = []
    for line in lines:
        words = [word.strip() for word in line.split(",")]
        with contextlib.suppress(ValueError, IndexError):
            rows.append((float(words[1].split()[0]), float(words[2].split()[0]), float(words[3]), int(words[4], 16)))
    if not rows:
        return {}
    clocks, watts, celsius, reasons = zip(*rows)
    limits = {name: sum(each & bit != 0 for each in reasons) for bit, name in LIMITS.items()}
    return {"mhz": statistics.median(clocks), "watts": statistics.median(watts), "celsius": max(celsius),
            "limited_by": [name for name, count in sorted(limits.items(), key=lambda each: -each[1]) if count > len(rows) / 10]}


# ---- the steps ----------------------------------------------------------------------------------------------------------------------

def bench(part, name, programs, seconds, size, algorithms, dtype="f32", **more):
    return Step(part, name, [programs / "tessera", "bench", "--device", "cuda:0", "--no-host", "--force", "--repetitions", "11",
                             "--context", "commit=COMMIT", "-o", "FILE", "--sizes", str(size), "--dtype", dtype, "--algorithms",
                             algorithms], seconds, read_bench, f"{name}.json", **more)


def counter_words(programs):
    # What docs/report.md says the checker's counts are called (scripts/ladder.py adds them up), and what the checker does not know.
    page = (ROOT / "docs/report.md").read_text(encoding="utf-8")
    metrics = re.findall(r"^\| `[a-z_]*` \|.*\| `([a-z0-9_]*\.sum)` \|$", page, re.MULTILINE) + [
        "gpu__time_duration.sum", "launch__registers_per_thread", "smsp__inst_executed.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"]
    return ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics),
            "--kernel-name-base", "demangled", programs / "tessera", "compare", "--quiet", "-m", "1024", "-n", "1024", "-k", "1024", "--device",
            "cuda:0", "--algorithms", LADDER]


def tune(programs, name, dtype, sizes, seconds, **more):
    return Step("tune", name, [programs / "tessera", "tune", "--device", "cuda:0", "--dtype", dtype, "--sizes", sizes, "--seconds", str(seconds),
                               "--again", "--cache", "FILE"], seconds + 15, functools.partial(read_tuning, sizes.count(",") + 1), "tuning.txt", **more)


def sanitizer(programs, tool):
    return Step("sanitize", tool, ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", "--report-api-errors", "no",
                                   programs / "cuda_test", f"--gtest_filter={SANITIZED}"], 90, read_sanitizer, f"{tool}.txt")


def primitive(programs, name, **more):
    return Step("primitives", name, [programs / "gpu_primitives", name.removeprefix("again-")], 10, read_primitive, f"{name}.txt", **more)


# Of the table, first what was furthest below its gate or never measured, last what was above it or takes long: types, sizes, seconds of
# tuning (0: none), algorithms of the benchmark, its seconds.
CELLS = [("f8e4m3:f32", "4096-NT", 20, "auto", 60), ("i8:i32", "4096-NT", 20, "auto", 60), ("f64", "4096", 30, "auto", 60),
         ("f16", "4096", 20, "auto", 60), ("f32", "4096-NT", 0, "warpgroup", 60), ("bf16", "64x512x512x512", 0, "auto", 60),
         ("bf16", THIN, 60, "auto", 150), ("f8e4m3:f32", THIN, 60, "auto", 150), ("bf16", "8192", 60, "auto", 90),
         ("f32", "2048", 30, FASTEST, 60), ("f32", "4096", 30, FASTEST, 60), ("bf16", "4096", 30, "tensor_core,auto", 60),
         ("f32", "1024", 20, FASTEST, 60), ("bf16", "2048", 20, "tensor_core,auto", 60), ("bf16", "1024", 20, "tensor_core,auto", 60),
         ("bf16", "4096-NT", 0, "tensor_core,auto", 60), ("f32", "8192", 0, "auto", 200)]  # the last is verified on the CPU for long


def cells(programs):
    """A step of tuning and one of the benchmark each, so that what a limit cuts off is the least wanted."""
    for dtype, sizes, seconds, algorithms, most in CELLS:
        on_cores = dtype in ("f32", "f64") and algorithms != "warpgroup"
        needs = () if on_cores else WARPGROUPS
        name = f"{'tf32' if algorithms == 'warpgroup' else dtype.split(':')[0]}-{'thin' if sizes == THIN else sizes}"
        if seconds:
            yield tune(programs, f"tune-{name}", dtype, sizes, seconds, needs=needs)
        yield bench("bench", f"bench-{name}", programs, most, sizes, algorithms, dtype, needs=needs)


def library_beside(programs):
    return next((each for each in (programs / "libtessera.a", programs.parent / "libtessera.a") if each.exists()), programs / "libtessera.a")


def steps(parts, programs):
    """The most valuable first."""
    out = [primitive(programs, f"again-{name}", check=True) for name in CHECKED_AGAIN]
    out += [bench("primitives", "again-bf16-4096", programs, 30, 4096, "auto", "bf16", check=True)]
    out += [primitive(programs, name) for name in PRIMITIVES]
    out += [Step("primitives", "unit_bits", [programs / "cuda_test", "--gtest_filter=GpuUnits.*"], 20, read_tests, "unit_bits.txt")]
    out += [Step("test", "tests", [ROOT / "scripts/gpu_tests.py", programs / "cuda_test"], 150, read_tests, "tests.txt"), *cells(programs),
            Step("python", "python", [sys.executable, ROOT / "scripts/gpu_python.py", library_beside(programs)], 150, read_python, "python.txt"),
            bench("ladder", "ladder", programs, 150, 4096, LADDER),
            Step("counters", "counters", counter_words(programs), 120, read_counters, "counters.csv"),
            Step("counters", "truth", [ROOT / "scripts/gpu_truth.py", "FILE", "--tessera", programs / "tessera"], 240, read_json, "truth.json")]
    out += [sanitizer(programs, tool) for tool in ("memcheck", "racecheck", "initcheck", "synccheck")]
    return [step for step in out if step.part in parts]


def code_of(path, part):
    """What of a file decides the results of a step: of a program that is measured its kernels, of others every byte."""
    data = path.read_bytes()
    kernels = sections(data).get(".nv_fatbin") if part in MEASURED and data[:4] == b"\x7fELF" else None
    return hashlib.sha256(kernels or data).digest()


def key_of(step, gpu):
    """Of the code of every file that the command names, the command and the GPU."""
    digest = hashlib.sha256(gpu.encode())
    for word in map(str, step.words):
        path = pathlib.Path(word)
        digest.update(b"\0" + (path.name if path.is_absolute() else word).encode())
        if path.is_absolute() and path.is_file():
            digest.update(code_of(path, step.part))
    return digest.hexdigest()[:16]
