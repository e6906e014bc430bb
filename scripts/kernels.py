"""The names of the ladder's kernels, from its list: KERNELS are all, STEPS the first ones, each with one more idea."""
import pathlib
import re

LIST = pathlib.Path(__file__).resolve().parents[1] / "src/matmul/ladder.inc"
KERNELS = re.findall(r"^TESSERA_LADDER\w*\((\w+)", LIST.read_text(), re.M)
STEPS = KERNELS[:KERNELS.index("pipelined") + 1]
