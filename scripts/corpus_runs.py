"""Runs one program in plain CUDA unchecked and judges its results: for cuda_corpus --run.

A program is right if it ends with 0, reports no mistake, and one of these criteria holds:
  says    it reports success of its own check: PASS, SUCCESS, OK, ...
  openmp  the OpenMP program beside it (NAME-omp for NAME-cuda), another source, prints the same numbers
  order   it prints the same when the threads of each block run in the opposite order
  memory  it copies the same bytes to the host in that order, or, if it copies none, frees memory with the same bytes
Text about time and speed does not count, nor do numbers that differ by less than one part in 10^4 (atomics of floats).
None of these holds if it also does when launches do nothing, because then it says nothing about kernels ("vacuous").
"""
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

TIME = re.compile(r"(?<![a-z])(?:times?|timing|seconds?|secs?|[mnuµμ]?s|msecs?|usecs?|elapsed|speed\w*|bandwidth|throughput|performance|latency|"
                  r"[kmgt]?i?b/s(?:ec)?|[kmgt]?b[p]s|[kmgtp]?flops?(?:/s)?|fps|[kmg]?hz|cycles|clocks?|duration|per sec\w*|took|overhead|"
                  r"\w*_time|time_\w*|runtime)(?![a-z])", re.I)
WRONG = re.compile(r"\b(?:FAIL(?:ED|S|URES?)?|fail(?:ed|s|ures?)?|Fail(?:ed|s|ures?)?|[Mm]is-?match\w*|MISMATCH\w*|[Ii]ncorrect\w*|INCORRECT|WRONG|"
                   r"[Ww]rong|INVALID|[Dd]o(?:es)?(?: not|n't) match|DOESN'T match|[Ee]rror (?:at|in)|not (?:OK|ok|correct|equal|verified))\b")
NONE_WRONG = re.compile(r"\b(?:no|0|zero|without)\s+(?:\w+\s+){0,2}(?:fail|mis-?match|error|incorrect|wrong)\w*|"
                        r"\b(?:fail|mis-?match|error|incorrect|wrong)\w*[^\n.;,]{0,30}?[:=]\s*\+?0(?:\.0*)?(?:e[+-]?0+)?(?![\d.])", re.I)
RIGHT = re.compile(r"\b(?:PASS(?:ED)?|[Pp]ass(?:ed|es)?|SUCCESS(?:FUL)?|[Ss]uccess(?:ful)?|OK|VALID|Valid|CORRECT|Correct|[Vv]erified|VERIFIED|"
                   r"[Rr]esults? (?:are |is )?(?:match(?:es)?|correct|identical)|MATCHES)\b")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:0x[0-9a-f]+|\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|nan|inf)(?![\w])", re.I)
MOST_TEXT = 1 << 22  # of what it prints, in bytes
TOLERANCE = 1e-4


class Limits:
    """CPU seconds of each process, and bytes of memory that it may take."""

    def __init__(self, seconds, memory_bytes=8 << 30):
        self.seconds, self.memory_bytes = seconds, memory_bytes

    def set_own(self):
        resource.setrlimit(resource.RLIMIT_CPU, (self.seconds, self.seconds + 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Done:
    """How a process ended: code (None: at a limit of time), its words, CPU seconds."""

    def __init__(self, code, text, seconds):
        self.code, self.text, self.seconds = code, text, seconds


def taken_bytes(process):
    try:
        return int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def ended(process, limits):
    """The exit code; None: it was ended for its time, the wall time being five times its CPU time, or its memory."""
    latest = time.monotonic() + 5 * limits.seconds + 20
    while time.monotonic() < latest and taken_bytes(process) <= limits.memory_bytes:
        try:
            return process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            pass
    os.killpg(process.pid, signal.SIGTERM)  # the command ends its compiler, which has a group of its own
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return None


def run(command, folder, limits, **environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True,
                              env={**os.environ, **environment}, preexec_fn=limits.set_own) as process:
            code = ended(process, limits)
        said.seek(0)
        text = said.read(MOST_TEXT).decode(errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code in (-signal.SIGXCPU, -signal.SIGKILL) or (code and "CPU time limit exceeded" in text):
        code = None
    return Done(code, text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def verdict(done):
    """(`right`, `wrong` or empty, the line that says so) in the program's own words."""
    said = ""
    for line in done.text.splitlines():
        # Of an assertion that fails in a kernel the program's exit code counts, or what it says of the error.
        if "assert" not in line and WRONG.search(NONE_WRONG.sub("", line)):
            return "wrong", line.strip()
        if not said and RIGHT.search(line):
            said = line.strip()
    return ("right", said) if said else ("", "")


def results(text):
    """What is printed beside times, as words with the numbers taken out, and the numbers."""
    lines = [line for line in text.splitlines() if line.strip() and not TIME.search(line)]
    words = [" ".join(NUMBER.sub("#", line).split()) for line in lines]
    numbers = [float.fromhex(each) if "x" in each.lower() else float(each) for line in lines for each in NUMBER.findall(line)]
    return words, numbers


def is_close(a, b):
    return a == b or (a != a and b != b) or abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def same_numbers(a, b):
    """Both print numbers, and the same ones."""
    a, b = results(a)[1], results(b)[1]
    return bool(a) and len(a) == len(b) and all(map(is_close, a, b))


def same_text(a, b):
    """Both print results, and the same ones."""
    return bool(results(a)[0]) and results(a)[0] == results(b)[0] and (same_numbers(a, b) or not results(a)[1])


class NoConstant(Exception):
    pass


def changed(text, change):
    """The text with NAME=VALUE in its definition and assignments by numbers, or with OLD->NEW."""
    if "->" in change:
        return text.replace(*change.split("->", 1))
    name, value = change.split("=", 1)
    text = re.sub(rf"(#\s*define\s+{name}[ \t]+)[^\n/]*", rf"\g<1>{value} ", text)
    return re.sub(rf"(\b{name}\s*=\s*)\(?[0-9][^;,\n]*(?=[;,])", rf"\g<1>{value}", text)


def with_constants(folder, root, constants, scratch):
    """A copy of the program's folder in which constants are changed, beside links to all other folders: its path."""
    scratch.mkdir()
    for each in root.iterdir():
        if not folder.is_relative_to(each):
            (scratch / each.name).symlink_to(each)
            continue
        shutil.copytree(each, scratch / each.name, symlinks=True)
    copy = scratch / folder.relative_to(root)
    found = set()
    for path in copy.rglob("*"):
        if path.suffix in (".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c") and path.is_file() and not path.is_symlink():
            text = before = path.read_text(encoding="utf-8", errors="surrogateescape")
            for change in constants:
                new = changed(text, change)
                found |= {change} if new != text else set()
                text = new
            if text != before:
                path.write_text(text, encoding="utf-8", errors="surrogateescape")
    if found != set(constants):
        raise NoConstant(f"there is no {' or '.join(sorted(set(constants) - found))}")
    return copy


def twin_of(folder, built_by):
    """(sources, flags, folder) of the OpenMP program; None: there is none."""
    twin = pathlib.Path(str(folder).replace("-cuda", "-omp"))
    built = twin != folder and twin.is_dir() and built_by(twin)
    return (built[0], built[1], twin) if built and built[0] else None


def twin_output(twin, arguments, limits, scratch):
    sources, flags, folder = twin
    program = scratch / "twin"
    built = run(["g++", "-std=c++17", "-O2", "-w", "-fopenmp", "-foffload=disable", *flags, f"-I{folder}", *map(str, sources), "-o",
                 str(program), "-lm"], folder, limits)
    if built.code != 0:
        return None
    done = run([str(program), *arguments], folder, limits, OMP_NUM_THREADS="1")
    return done if done.code == 0 else None


class Run:
    """A program, and what its runs cost: CPU seconds."""

    def __init__(self, tessera, sources, flags, folder, limits, scratch):
        self.tessera, self.sources, self.flags, self.folder, self.limits, self.scratch = tessera, sources, flags, folder, limits, scratch
        self.options = []
        self.program, self.seconds = str(scratch / "program"), 0.0

    def build(self):
        done = run([self.tessera, "cuda-run", *map(str, self.sources), *self.options, "-o", self.program, "--cxxflags",
                    " ".join([f"-I{self.folder}", *map(shlex.quote, self.flags)])], self.folder, Limits(max(60, self.limits.seconds)))
        self.seconds += done.seconds
        return done

    def run(self, arguments, **environment):
        """How it ended, with the digest of its memory."""
        digest = self.scratch / "digest"
        digest.unlink(missing_ok=True)
        done = run([self.program, *arguments], self.folder, self.limits, TESSERA_CUDA_DIGEST=str(digest), **environment)
        self.seconds += done.seconds
        lines = digest.read_text().splitlines() if digest.exists() else []
        done.memory = next((line for line in lines if line.split()[1] != "0"), "")
        return done

    def judge(self, arguments, twin):
        """(result, says, openmp, order, memory, why)"""
        done = self.run(arguments)
        says, line = verdict(done)
        if done.code is None:
            return "time", says, "", "", "", "the program was not done"
        if done.code < 0:
            return "failed", says, "", "", "", f"signal {-done.code}: {last_line(done.text)}"
        if done.code > 0 or says == "wrong":
            return "failed", says, "", "", "", line if says == "wrong" else f"exit code {done.code}: {last_line(done.text)}"
        idle = self.run(arguments, TESSERA_CUDA_SKIP="1")
        if idle.code != 0:
            idle.text = idle.memory = ""
        if says and verdict(idle)[0] != "right":
            return "right", says, "", "", "", line
        says, openmp = "vacuous" if says else "", ""
        speaks = results(done.text)[0] and not same_text(done.text, idle.text)
        other = twin_output(twin, arguments, self.limits, self.scratch) if twin and speaks else None
        if other:
            openmp = "same" if same_numbers(done.text, other.text) else "other"
        if openmp == "same":
            return "right", says, openmp, "", "", ""
        back = self.run(arguments, TESSERA_CUDA_ORDER="backward")
        if back.code is None:
            return "unproven", says, openmp, "time", "", "in the other order the program was not done"
        order = ("vacuous" if results(done.text)[0] else "") if not speaks else "same" if same_text(done.text, back.text) else "other"
        memory = "" if not done.memory else "vacuous" if done.memory == idle.memory else "same" if done.memory == back.memory else "other"
        if back.code == 0 and "same" in (order, memory):  # text may differ in times
            return "right", says, openmp, order, memory, ""
        return "unproven", says, openmp, order, memory, "what it prints depends on the order" if order == "other" else \
            "its memory depends on the order" if memory == "other" else "nothing that it prints or copies depends on its kernels"


def last_line(text):
    return (text.strip().splitlines() or [""])[-1].strip()


def judged(tessera, program, tries, limits, built_by, root, changes):
    """(row, arguments): result, says, openmp, order, memory, CPU seconds, why; of the one of `tries` that is right, or of the first.

    `program`: sources, flags, folder. `changes`: constants, and options of cuda-run.
    """
    sources, flags, folder = program
    constants = [each for each in changes if not each.startswith("--")]
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        twin = twin_of(folder, built_by)
        if constants:
            copy = with_constants(folder, root, constants, scratch / "tree")
            sources = [copy / path.relative_to(folder) if path.is_relative_to(folder) else path for path in sources]
            flags = [flag.replace(str(folder), str(copy)) for flag in flags]
            try:
                twin = twin and twin_of(with_constants(twin[2], root, constants, scratch / "twins"), built_by)
            except NoConstant:
                twin = None  # it has other sizes
            folder = copy
        one = Run(tessera, sources, flags, folder, limits, scratch)
        one.options = [each for each in changes if each.startswith("--")]
        built = one.build()
        if built.code != 0:
            errors = [line for line in built.text.splitlines() if "error" in line] or [last_line(built.text)]
            result = "time" if built.code is None else "not-compiled"
            return (result, "", "", "", "", one.seconds, "the compiler was not done" if result == "time" else errors[0]), tries[0]
        done = []
        for arguments in tries:
            done.append((one.judge(arguments, twin), arguments))
            if done[-1][0][0] in ("right", "time"):
                break
    row, arguments = next((each for each in done if each[0][0] == "right"), done[0])
    return (*row[:5], one.seconds, row[5]), arguments
