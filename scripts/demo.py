"""What ./demo does after the build: multiplies the digits by every algorithm, checks, times and draws. Any wrong result ends
it with a non-zero status. Every command is printed as it can be typed."""
import filecmp
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "out/demo"
TESSERA = "build/release/bin/tessera"
# The ladder, one idea more in each line; then the step beyond it, the lessons' other forms, and the CPU's own path. tensor_core rounds its operands to TF32.
LADDER = ["naive", "coalescing", "tiled", "tiled_register", "block_tiled", "block_tiled_vectorized", "tensor_core"]
OTHERS = ["pipelined", "single_block", "tiled_by_hand", "tiled_idiomatic", "sarek_naive", "sarek_tiled", "packed", "split_k"]
OWN_BITS = {"tensor_core"}
COLOUR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def say(text=""):
    print(text, flush=True)


def bold(text):
    return f"\033[1m{text}\033[0m" if COLOUR else text


def run(*command, show=True, keep=False):
    """Runs a command in the project's folder; ends the demo if it fails."""
    if show:
        say("  $ " + " ".join(shlex.quote(str(word)) for word in command))
    done = subprocess.run([str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE if keep else None)
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
    reference = OUT / f"S_{LADDER[0]}.npy"
    for algorithm in LADDER + OTHERS:
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
        if algorithm != LADDER[0]:
            (OUT / f"S_{algorithm}.npy").unlink()
    say()
    say("  The first kernels are a GPU's lessons: on a CPU a barrier means switching threads, so tiled may trail naive here,")
    say("  and packed, which is made for a CPU, leads.")
    reference.rename(OUT / "S.npy")
    if wrong:
        sys.exit("demo: wrong results from " + ", ".join(wrong))


def main():
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
    say(bold("5. Pictures"))
    run(python, "scripts/similarity.py", "draw", "data", "out/demo/S.npy", "out/demo/similarity.svg")
    run(TESSERA, "bench", "-m", "1797", "-n", "1797", "-k", "64", "--algorithms", ",".join(LADDER), "--repetitions", "3",
        "--max-time", "2", "--peers", "none", "--quiet", "--plot", "out/demo/ladder.svg", "-o", "out/demo/ladder.json", "--force")
    say()
    say("Now look at:")
    for name, what in (("similarity.svg", "how alike the digits are: red squares on the diagonal"),
                       ("ladder.svg", "the speed of each algorithm"), ("S.npy", "the product: numpy.load reads it")):
        say(f"  out/demo/{name:<16} {what}")


main()
