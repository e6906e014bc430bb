"""What ./demo does after the build: multiplies the digits by every algorithm, checks, times and draws. Any wrong result ends
it with a non-zero status. Every command is printed as it can be typed.

What it showed is kept. A second call of the same build with the same data on the same machine multiplies again, compares the
product with the kept one, and shows the rest again."""
import datetime
import filecmp
import hashlib
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys

from kernels import KERNELS

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "out/demo"
TESSERA = "build/demo/bin/tessera"  # f32 alone; scripts/build makes the whole
# The library's own product; then the lessons: the ladder of GPU kernels, one idea more in each line, and their other forms.
PRODUCT = ["packed", "split_k"]
LESSONS = [name for name in KERNELS if name not in (*PRODUCT, "thin", "three_bf16")]
# These round their operands to TF32.
OWN_BITS = {"tensor_core", "warpgroup"}
COLOUR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
RESULTS = {"similarity.svg": "how alike the digits are: red squares on the diagonal",
           "speed.svg": "the speed of the library, beside other BLAS libraries and the peak",
           "lessons.html": "two kernels side by side: source, what their lanes touch, roofline",
           "S.npy": "the product: numpy.load reads it"}
said = []  # all lines


def say(text=""):
    said.append(text)
    print(text, flush=True)


def bold(text):
    return f"\033[1m{text}\033[0m" if COLOUR else text


def run(*command, show=True, keep=False):
    """Runs a command in the project's folder; ends the demo if it fails."""
    if show:
        say("  $ " + " ".join(shlex.quote(str(word)) for word in command))
    done = subprocess.run([str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE)
    if not keep and done.stdout:
        say(done.stdout.rstrip("\n"))
    if done.returncode != 0:
        sys.exit(f"demo: '{' '.join(map(str, command))}' ended with {done.returncode}")
    return done.stdout


def multiply(algorithm):
    """One product from files to a file, every element verified; returns what the command says about it."""
    answer = run(TESSERA, "multiply", "out/demo/rows.npy", "out/demo/rows.npy", "--transpose-b", "--algorithm", algorithm,
                 "--verify", "--force", "--quiet", "--json", "-o", f"out/demo/S_{algorithm}.npy", show=False, keep=True)
    return json.loads(answer)


def ladder():
    """Every algorithm on the same files. The f32 algorithms must write the same bytes."""
    say("  $ tessera multiply out/demo/rows.npy out/demo/rows.npy --transpose-b --algorithm ALGORITHM --verify -o S.npy")
    say()
    say(f"  {'algorithm':<24}{'time':>10}{'GFLOP/s':>10}  {'error/bound':>11}  file")
    wrong = []
    reference = OUT / f"S_{PRODUCT[0]}.npy"
    for algorithm in PRODUCT + LESSONS:
        if algorithm == LESSONS[0]:
            say("  lessons: kernels for a GPU, whose threads this CPU plays one after the other")
        answer = multiply(algorithm)
        same = filecmp.cmp(reference, OUT / f"S_{algorithm}.npy", shallow=False)
        ratio = answer["verified"]["max_error_ratio"]
        if algorithm in OWN_BITS:
            verdict = "inside the bound of TF32"
        else:
            verdict = "every byte equal" if same else "DIFFERENT BYTES"
        if ratio is None or not ratio <= 1 or (not same and algorithm not in OWN_BITS):
            wrong.append(algorithm)
        say(f"  {algorithm:<24}{answer['seconds'] * 1e3:>7.1f} ms{answer['gflops']:>10.2f}  {ratio:>11.3f}  {verdict}")
        if algorithm != PRODUCT[0]:
            (OUT / f"S_{algorithm}.npy").unlink()
    say()
    say("  packed is what a product takes here. The lessons show that each idea computes the same; how fast they are on a GPU")
    say("  these times do not tell: on a CPU each barrier means switching threads. Part 6 says what they are for.")
    reference.rename(OUT / "S.npy")
    if wrong:
        sys.exit("demo: wrong results from " + ", ".join(wrong))


def speed():
    """The library beside every other BLAS of this machine and the measured peak: one picture, and the largest size in lines."""
    run(TESSERA, "bench", "--sizes", "64:1024:x2", "--algorithms", "packed", "--peers", "auto", "--repetitions", "3", "--max-time", "1",
        "--quiet", "--csv", "--plot", "out/demo/speed.svg", "-o", "out/demo/speed.json", "--force", keep=True)
    rows = json.loads((OUT / "speed.json").read_text())["benchmarks"]
    size = max(row["m"] for row in rows)
    medians = [row for row in rows if row.get("aggregate_name") == "median" and row["m"] == size and row.get("percent_of_peak") is not None]
    for row in sorted(medians, key=lambda each: -each["gflops"]):
        say(f"  {row['contestant']:<24}{row['gflops']:>10.1f} GFLOP/s, {row['percent_of_peak']:.0f} % of the measured peak, at {size} x {size} x {size}")
    if len(medians) < 2:
        say("  No other BLAS is installed here to be measured beside it.")


def state():
    """A hash of all that decides what the demo shows, and of the results that it has left. None where one is missing."""
    files = [ROOT / TESSERA, *sorted((ROOT / "scripts").glob("*.py")), *sorted((ROOT / "data").iterdir()), OUT / "rows.npy",
             *(OUT / name for name in RESULTS)]
    if not all(each.is_file() for each in files):
        return None
    cpus = pathlib.Path("/proc/cpuinfo")
    model = re.search("^model name.*", cpus.read_text(), re.M) if cpus.exists() else None
    out = hashlib.sha256(f"{model and model[0]} {platform.machine()} {os.cpu_count()}".encode())
    for each in files:
        out.update(each.read_bytes())
    return out.hexdigest()


def keep():
    (OUT / "shown.json").write_text(json.dumps({"state": state(), "date": datetime.date.today().isoformat(), "lines": said}))


def show_again():
    """Was it all shown before? Then it is shown again, after one product has been compared with the kept one."""
    kept = OUT / "shown.json"
    shown = json.loads(kept.read_text()) if kept.exists() else {}
    if not shown or shown["state"] is None or shown["state"] != state():
        return False
    answer = multiply(PRODUCT[0])
    again = OUT / f"S_{PRODUCT[0]}.npy"
    same = filecmp.cmp(again, OUT / "S.npy", shallow=False)
    again.unlink()
    if not same:
        sys.exit("demo: the product differs from that of an earlier call, out/demo/S.npy")
    print(f"This build has shown what follows on this machine on {shown['date']}; to run it again: rm -r out/demo; ./demo\n"
          f"A new product took {answer['seconds'] * 1e3:.1f} ms: every element verified, every byte equal.\n")
    for line in shown["lines"]:
        print(line if COLOUR else re.sub("\033\\[\\d*m", "", line))
    return True


def main():
    if show_again():
        return
    OUT.mkdir(parents=True, exist_ok=True)
    python = sys.executable
    say(bold("1. The data: 1797 handwritten digits, 8 x 8 pixels each (data/README.md)"))
    run(python, "scripts/similarity.py", "prepare", "data", "out/demo")
    say()
    say(bold("2. S = R * R^T, R is (1797,64), f32: how alike is each image to each other one?"))
    ladder()
    say()
    say(bold("3. Another program reads the result and multiplies itself"))
    run(python, "scripts/similarity.py", "check", "out/demo/rows.npy", "out/demo/S.npy")
    say()
    say(bold("4. Whole numbers: D * D^T of the pixel counts is exact, to the last digit"))
    run(TESSERA, "multiply", "data/digits.npy", "data/digits.npy", "--transpose-b", "--dtype", "f32", "--force", "--quiet",
        "-o", "out/demo/counts.npy")
    run(python, "scripts/similarity.py", "exact", "data/digits.npy", "out/demo/counts.npy")
    say()
    say(bold("5. How fast? The library beside other BLAS libraries and the peak of this machine"))
    speed()
    say()
    say(bold("6. What the lessons are for: what a kernel costs on a GPU, without one"))
    run(TESSERA, "explain", "naive", "--against", "block_tiled", "--html", "out/demo/lessons.html", "--force", "--quiet", keep=True)
    say("  From the first kernel to a tile in registers, counted for an H200: bytes, bank conflicts, what bounds each, line by line.")
    say("  The course leads there, puzzle after puzzle: scripts/course")
    say()
    say(bold("7. The digits"))
    run(python, "scripts/similarity.py", "draw", "data", "out/demo/S.npy", "out/demo/similarity.svg")
    say()
    say("Now look at:")
    for name, what in RESULTS.items():
        say(f"  out/demo/{name:<16} {what}")
    say("This build has f32 products alone, and no CUDA. 'scripts/build' makes all of it, 'scripts/build cuda' with kernels for a GPU.")
    keep()


if __name__ == "__main__":
    main()
