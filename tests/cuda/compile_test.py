#!/usr/bin/env python3
"""Reads the machine code of every kernel for sm_80 and sm_90a: its PTX and its registers, as the build left them in
machine_code. Each kernel of the ladder is there for each type; nothing spills or lives in local memory, blocks have the registers
they need, and the instructions that a kernel is about are there. And compiles what a GPU does not have, which is refused with a
sentence. Exits with 77 (skipped) where there is no nvcc.

Usage: compile_test.py SOURCE_FOLDER BUILD_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import cubin  # noqa: E402
import machine_code  # noqa: E402

KERNELS = ["Naive", "Coalescing", "Tiled", "TiledRegister", "BlockTiled", "BlockTiledVectorized", "TensorCoreTiled",
           "Pipelined", "SingleBlock", "TiledByHand", "TiledIdiomatic", "SarekNaive", "SarekTiled", "WarpgroupTiled", "ThinTiled",
           "BulkTiled"]
HELPERS = ["SumParts", "PackOperand"]  # these have no tile
UNTILED = ["Naive", "Coalescing", "SarekNaive"]  # these keep nothing in shared memory
# A and B as kernels take them: a pointer, two extents, two strides. PTX must agree with sizeof (tests/tensor/tensor_test.cpp): nvcc
# made 80 bytes of a Tensor that had an empty [[no_unique_address]] member, and kernels found their arguments in the wrong places.
TENSOR_BYTES = 40
# Registers of a multiprocessor (CUDA C++ Programming Guide, compute capabilities); a warp gets them by 256.
REGISTERS = 65536
# The elements of the first tensor: how a mangled name writes them, their bytes, and how PTX writes them.
ELEMENTS = {"f": ("f32", 4, "f32"), "d": ("f64", 8, "f64"), "i": ("i32", 4, "u32"), "NS_10SmallFloatILi5ELi10E": ("f16", 2, "u16"),
            "NS_10SmallFloatILi8E": ("bf16", 2, "u16"), "NS_10SmallFloatILi4E": ("f8e4m3", 1, "u8"),
            "NS_10SmallFloatILi5ELi2E": ("f8e5m2", 1, "u8"), "a": ("i8", 1, "u8"), "h": ("u8", 1, "u8")}
BYTES = {"f8e4m3", "f8e5m2", "i8", "u8"}
TYPES = {name for name, _, _ in ELEMENTS.values()} - BYTES
BUILT_FOR = {"TensorCoreTiled": {"f64", "f32", "f16", "bf16", "i8", "u8"}, "WarpgroupTiled": {"f32", "f16", "bf16", *BYTES},
             "ThinTiled": {"f32", "f16", "bf16"}, "BulkTiled": {"f32"}}  # the others for all
# How PTX writes the types of matrix units: of the sums and of both operands.
UNIT_TYPES = {"f32": "f32.tf32.tf32", "f16": "f32.f16.f16", "bf16": "f32.bf16.bf16", "f8e4m3": "f32.e4m3.e4m3", "f8e5m2": "f32.e5m2.e5m2",
              "i8": "s32.s8.s8", "u8": "s32.u8.u8"}
MOST_CODE = 30 * 1024  # of a kernel of warpgroups
MOST_OTHER_CODE = 72 * 1024  # of another kernel, beyond its multiply-adds: an epilogue that is not in a loop has several times this
CLUSTER_WORDS = {
    "multicast": r"cp\.async\.bulk\.tensor\.2d\.shared::cluster\.global\.tile\.mbarrier::complete_tx::bytes\.multicast::cluster",
    "remote arrive": r"mapa\.shared::cluster\.u32 [^;]*;\s*mbarrier\.arrive\.shared::cluster\.b64",
    "cluster arrive": r"barrier\.cluster\.arrive\.release\.aligned", "cluster wait": r"barrier\.cluster\.wait\.acquire\.aligned"}
REFUSED = ["this kernel is written for warps of 64 lanes, which an NVIDIA GPU does not have: run it on the CPU engine",
           "a matrix instruction runs on warps of as many lanes as it has", "a matrix instruction of f8 needs sm_89 or later"]


def expected(arch, kernel, tile, element):
    """Patterns that the PTX of a kernel must hold, by rule: one access moves 16 bytes of f32, f64 and i32, four of f16 and bf16."""
    name, size, ptx = element
    lanes = 2 if size == 8 else 4
    # Four neighbours of f16 are moved as such, or as words of two.
    wide_load = rf"ld\.shared\.v{lanes}\." + (r"u(16|32)" if size == 2 else ptx)
    if kernel in UNTILED:
        return []
    if kernel == "TensorCoreTiled" and name == "f64":
        return [rf"mma\.sync\.aligned\.{'m8n8k4' if arch == 'sm_80' else 'm16n8k8'}\.row\.col\.f64\.f64\.f64\.f64"]
    if kernel == "TensorCoreTiled":
        sums, operands = UNIT_TYPES[name].split(".", 1)
        return [rf"mma\.sync\.aligned\.m16n8k{32 // size}\.row\.col\.{sums}\.{operands}\.{sums}"] \
            + [r"ldmatrix\.sync\.aligned\.m8n8\.x4"] * (size < 4)
    out = [wide_load] if tile["bk"] % 4 == 0 else []  # a row of 3 has no four neighbours
    if kernel == "BlockTiledVectorized":
        out += [rf"ld\.global\.v{lanes}\.{ptx}", rf"st\.shared\.v{lanes}\.{ptx}"]
    if kernel == "TiledIdiomatic":
        out += [r"cp\.async\.commit_group", r"cp\.async\.wait_group"] + [r"cp\.async\.ca\.shared\.global"] * (size == 4)
    if kernel == "Pipelined":
        out += [r"cp\.async\.cg\.shared\.global\.L2::128B \[.*\], 16,", r"cp\.async\.wait_group 1"]
        out += [r"cp\.async\.ca\.shared\.global"] * (size >= 4)  # A along m, element by element
    return out


def columns_together(mangled, tile):
    """The columns of one product of 64 rows of a warpgroup: where its threads add many sums, 64."""
    return 64 if "AddsE1E" in mangled and tile["wm"] * tile["bn"] > 64 * 128 else tile["bn"]


def warpgroup_faults(kernel, mangled, ptx, tile, element, code):
    """What a kernel of warpgroup units lacks: one instruction for each 32 bytes of K, 64 rows, columns together and pair of majors; its
    copies."""
    name, size, _ = element
    is_thin = kernel == "ThinTiled"
    columns = columns_together(mangled, tile)
    if is_thin:  # of whole units the large operand has either major
        wanted = 128 // 32 * (2 if size == 2 and tile["bm"] == 64 else 1)
    else:
        parts = tile["wm"] // 64 * (tile["bn"] // columns)
        wanted = 128 // 32 * parts * (4 if size == 2 and "ProductsE2E" not in mangled else 1)  # planes have one major
    made = len(re.findall(rf"wgmma\.mma_async\.sync\.aligned\.m64n{columns}k{32 // size}\.{UNIT_TYPES[name]} ", ptx))
    found = [] if made == wanted else [f"{made} instructions of its unit, not {wanted}"]
    if code > MOST_CODE:
        found.append(f"{code} bytes of code, at most {MOST_CODE}")
    of_parts = 64 * columns * min(parts, 2) if not is_thin and "AddsE1E" in mangled else 0
    lends = not is_thin and tile["wm"] * tile["bn"] + of_parts > 128 * 128
    if len(re.findall("setmaxnreg", ptx)) != (2 if lends else 0):
        found.append("registers are lent, or not lent, against its rule")
    wanted = [r"cp\.async\.bulk\.tensor\.2d\.shared::cluster\.global\.tile\.mbarrier::complete_tx::bytes",
              r"mbarrier\.try_wait\.parity", r"griddepcontrol\.wait"]
    if not is_thin:
        wanted.append(r"cp\.async\.bulk\.tensor\.2d\.global\.shared::cta\.tile\.bulk_group")
    return found + [f"no {each}" for each in wanted if not re.search(each, ptx)]


def assembler_notes(nvcc, ptx):
    """What ptxas says of a file's matrix units when it has to wait or to add waits: information, which no flag makes an error."""
    run = subprocess.run([nvcc.parent / "ptxas", "-v", "-arch=sm_90a", ptx, "-o", "/dev/null"], capture_output=True, text=True,
                         timeout=600)
    notes = re.findall(r"\((C75\d\d)\)([^']*)", run.stdout + run.stderr)
    failed = [] if run.returncode == 0 else [f"{ptx.name}: ptxas fails: {run.stderr[:300]}"]
    return failed + [f"{ptx.name}: {number}:{text}" for number, text in notes]


def units_apart(cubin_file):
    """Kernels of warpgroups with matrix instructions of one tile along K that are not back to back: four for each 64 rows of a warpgroup, where
    its threads do not add."""
    found = []
    for mangled, (instructions, _) in machine_code.functions(machine_code.listing(cubin_file)).items():
        if any(each in mangled for each in HELPERS):
            continue
        together = 4
        if "WarpgroupTiled" in mangled:
            numbers = list(map(int, re.findall(r"Li(\d+)E", re.search(r"TileShapeE((Li\d+E)+)", mangled)[1])))
            together *= 1 if "AddsE1E" in mangled else numbers[3] // 64
        runs = machine_code.unit_runs(instructions)
        if not runs or any(run % together != 0 for run in runs):
            found.append(f"{cubin_file.name}: {mangled[:120]}: runs of {runs} matrix instructions, {together} belong together")
    return found


def waits_for_addresses(cubin_file):
    """Kernels of f64 with much work between their matrix instructions, each of which takes 32 clocks: only where tiles are loaded, twice."""
    found = []
    for mangled, (instructions, _) in machine_code.functions(machine_code.listing(cubin_file)).items():
        units = [i for i, each in enumerate(instructions) if machine_code.operation(each).startswith("DMMA")]
        gaps = [later - earlier for earlier, later in zip(units, units[1:])]
        if units and sum(gap > 24 for gap in gaps) > 2:
            found.append(f"{cubin_file.name}: {mangled[:120]}: {gaps} instructions from one matrix instruction to the next")
    return found


class Kernel:
    """One compiled kernel: what its mangled name says, its PTX and its resources."""

    def __init__(self, arch, mangled, ptx, resources):
        self.kernel = re.search(r"entry(?:_sm_90a)?INS_\d+([A-Za-z]+?)(?:IXtl|ILi|E)", mangled)[1]
        if self.kernel not in HELPERS:
            numbers = re.findall(r"Li(\d+)E", re.search(r"TileShapeE((Li\d+E)+)", mangled)[1])
            self.tile = dict(zip(("bm", "bn", "bk", "wm", "wn", "tm", "tn"), map(int, numbers)))
            # Its first operand: a matrix of tiles of an element, or a tensor.
            first = re.search(r"(11OperandTileI|8UnitTileI|9PlainTileI|6TensorIPK)(.*)", mangled)[2]
            self.element = next(each for start, each in ELEMENTS.items() if first.startswith(start))
        x, y, z = map(int, re.search(r"\.maxntid (\d+), (\d+), (\d+)", ptx).groups())
        self.threads = x * y * z
        self.resident = int(re.search(r"\.minnctapersm (\d+)", ptx)[1])
        self.arch, self.mangled, self.ptx, self.registers, self.stack = arch, mangled, ptx, resources["registers"], resources["stack"]
        self.code = resources["code"]

    def shape(self):
        return "x".join(str(self.tile[key]) for key in self.tile if self.tile[key])

    def __str__(self):
        if self.kernel in HELPERS:
            return f"{self.arch} {self.kernel}"
        return f"{self.arch} {self.kernel} {self.shape()} {self.element[0]}"

    def faults(self):
        if self.kernel in HELPERS:
            return [f"{self}: {each}" for each in self.resource_faults()]
        if self.kernel in ("WarpgroupTiled", "ThinTiled"):
            faults = warpgroup_faults(self.kernel, self.mangled, self.ptx, self.tile, self.element, self.code) if self.arch == "sm_90a" else []
            return [f"{self}: {each}" for each in faults + self.resource_faults()]
        if self.kernel == "BulkTiled":
            wanted = [r"cp\.async\.bulk\.tensor\.2d\.shared", r"mbarrier\.try_wait\.parity", r"ld\.shared\.v4\.f32", r"st\.shared\.v4\.f32"]
            faults = [f"no {each}" for each in wanted if self.arch == "sm_90a" and not re.search(each, self.ptx)]
            return [f"{self}: {each}" for each in faults + self.resource_faults()]
        sizes = dict(re.findall(r"_param_(\d+)\[(\d+)\]", self.ptx))
        found = [f"operand {name} of {sizes.get(at)} bytes, not of {TENSOR_BYTES}" for name, at in (("A", "2"), ("B", "3"))
                 if sizes.get(at) != str(TENSOR_BYTES)]
        found += [f"no {each}" for each in expected(self.arch, self.kernel, self.tile, self.element) if not re.search(each, self.ptx)]
        if self.kernel in UNTILED and re.search(r"(ld|st)\.shared|bar\.sync", self.ptx):
            found.append("shared memory or a barrier")
        return [f"{self}: {each}" for each in found + self.resource_faults()]

    def resource_faults(self):
        found = []
        if self.stack != 0:
            found.append(f"{self.stack} bytes of a stack: it spills")
        if re.search(r"^\s+(@\S+ )?(ld|st)\.local", self.ptx, re.M):
            found.append("local memory in the PTX")
        multiply_adds = len(re.findall(r"\b(fma\.rn|mad\.lo)\.", self.ptx))
        if self.code > MOST_OTHER_CODE + 16 * multiply_adds:
            found.append(f"{self.code} bytes of code with {multiply_adds} multiply-adds")
        warps = -(-self.threads // 32)
        if -(-self.registers // 8) * 8 * 32 * warps * self.resident > REGISTERS:
            found.append(f"{self.resident} blocks of {self.threads} threads of {self.registers} registers: there are {REGISTERS}")
        return found


def compiled(machine_code, source):
    """Every kernel that one source of the library became, for both architectures."""
    for arch, ptx, code in (("sm_80", "compute_80.ptx", "compute_80.sm_80.cubin"), ("sm_90a", "compute_90a.ptx", "compute_90a.cubin")):
        text = (machine_code / f"{source.stem}.{ptx}").read_text()
        # To the next kernel: braces of inline assembly stand at the beginning of a line too.
        bodies = {entry[1]: entry[0] for entry in re.finditer(r"\.entry (\w+)\(.*?(?=\.entry |\Z)", text, re.S)}
        resources = cubin.kernels(machine_code / f"{source.stem}.{code}")
        if set(bodies) != set(resources):
            raise ValueError(f"{source.name}: the PTX and the machine code for {arch} have other kernels")
        for mangled, body in bodies.items():
            yield Kernel(arch, mangled, body, resources[mangled])


def nvcc_says(nvcc, *words):
    return subprocess.run([nvcc, "-std=c++20", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)


def not_refused(nvcc, source):
    """Which sentences nvcc does not say about refused.cu."""
    run = nvcc_says(nvcc, "--expt-relaxed-constexpr", "-arch=sm_80", "-I", source / "include", "-cubin", source / "tests/cuda/refused.cu",
                    "-o", "/dev/null")
    if run.returncode == 0:
        return ["refused.cu was compiled"]
    said = " ".join((run.stdout + run.stderr).split())
    return [f"refused.cu: nvcc did not say: {each}" for each in REFUSED if each not in said]


def not_accessed(nvcc, source):
    """Which accesses scripts/gpu_patterns.cu does not make, each as one instruction."""
    run = nvcc_says(nvcc, "-arch=sm_90a", "-ptx", source / "scripts/gpu_patterns.cu", "-o", "-")
    wanted = [f"{do}.{where}{width}.u32" for do in ("ld", "st") for where in ("global", "shared") for width in ("", ".v2", ".v4")]
    found = [f"gpu_patterns.cu: no {each}: {run.stderr}" for each in wanted if len(re.findall(re.escape(each) + r"\s", run.stdout)) != 1]
    # What ends in a trap is used: ptxas keeps the loads.
    return found + ["gpu_patterns.cu: loads that nothing uses"] * (len(re.findall(r"\btrap;", run.stdout)) != 6)


def compiled_alone(nvcc, source, name, read):
    """read(PTX, resources by kernel, cubin) of a file of tests/cuda, and what ptxas says of it; what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder, name).with_suffix(".ptx")
        run = nvcc_says(nvcc, "--expt-relaxed-constexpr", "-fmad=false", "-arch=sm_90a", "-I", source / "include", "-I", source / "src",
                        "-ptx", source / "tests/cuda" / name, "-o", ptx)
        if run.returncode != 0:
            return [f"{name} does not compile: {run.stderr[:300]}"]
        cubin_file = ptx.with_suffix(".cubin")
        subprocess.run([nvcc.parent / "ptxas", "-arch=sm_90a", ptx, "-o", cubin_file], check=True, timeout=600)
        # To the next kernel: braces of inline assembly are at the beginning of a line too.
        entries = {each[1]: each[0] for each in re.finditer(r"\.entry (\w+)\(.*?(?=\.entry |\Z)", ptx.read_text(), re.S)}
        return assembler_notes(nvcc, ptx) + read(entries, cubin.kernels(cubin_file), cubin_file)


def cluster_of(mangled):
    return tuple(map(int, re.search(r"ClusterShapeELi(\d+)ELi(\d+)E", mangled).groups()))


def cluster_faults(entries, resources, _):
    """What the kernels of cluster_product.cu lack: those in clusters copy into several blocks and arrive at their gates."""
    found, shapes = [], set()
    for mangled, ptx in entries.items():
        down, across = cluster_of(mangled)
        shapes.add((down, across))
        counts = {what: len(re.findall(pattern, ptx)) for what, pattern in CLUSTER_WORDS.items()}
        found += [f"clusters of {down} x {across}: {count} times {what}" for what, count in counts.items()
                  if (count > 0) != (down * across > 1)]
        if resources[mangled]["stack"] != 0:
            found.append(f"clusters of {down} x {across}: it spills")
    return found + ([] if shapes == {(1, 1), (2, 1), (1, 2)} else [f"cluster_product.cu has clusters {sorted(shapes)}"])


def variant_faults(entries, resources, cubin_file):
    """What the kernels of warpgroup_variants.cu lack: of each type, a single block and a cluster."""
    kernels = {mangled: Kernel("sm_90a", mangled, ptx, resources[mangled]) for mangled, ptx in entries.items()}
    found = [each for kernel in kernels.values() for each in kernel.faults()]
    wanted = {(element, cluster) for element in BUILT_FOR["WarpgroupTiled"] for cluster in ((1, 1), (1, 2))}
    there = {(kernel.element[0], cluster_of(mangled)) for mangled, kernel in kernels.items()}
    found += [f"warpgroup_variants.cu: not both have {each}" for each in sorted(wanted ^ there)]
    return found + (units_apart(cubin_file) if machine_code.disassembler() else [])


def not_as_shown(source, nvcc, kernels):
    """Which steps of docs/ladder.md have other registers than the committed file says, where it is of this nvcc."""
    shown = json.loads((source / "bench/results/gpu/ladder-machine-code.json").read_text())
    if f"release {shown['nvcc']}," not in nvcc_says(nvcc, "--version").stdout:
        return []
    made = {(re.sub("(?<!^)([A-Z])", r"_\1", each.kernel.replace("CoreTiled", "Core")).lower(), each.shape()): each.registers
            for each in kernels if each.kernel not in HELPERS and each.arch == shown["architecture"] and each.element[0] == "f32"}
    return [f"{step} has {made.get((step, said['tile'].replace('/', 'x')))} registers, docs/ladder.md shows {said['registers']}: run "
            "scripts/machine_code.py and scripts/ladder.py" for step, said in shown["steps"].items()
            if made.get((step, said["tile"].replace("/", "x"))) != said["registers"]]


def main():
    source, build, nvcc = map(pathlib.Path, sys.argv[1:4])
    failures = not_refused(nvcc, source) + not_accessed(nvcc, source)
    failures += compiled_alone(nvcc, source, "cluster_product.cu", cluster_faults)
    failures += compiled_alone(nvcc, source, "warpgroup_variants.cu", variant_faults)
    commands = json.loads((build / "compile_commands.json").read_text())
    files = sorted(path for each in commands if (path := pathlib.Path(each["file"])).match("src/matmul/cuda_*.cu") or path.match("src/matmul/cuda/*.cu"))
    sources = [path.with_name("cuda_" + path.name.removeprefix("cuda_")) for path in files]  # as cmake/keep_machine_code.sh names them
    kernels = [each for file in sources for each in compiled(build / "machine_code", file)]
    for each in kernels:
        print(f"{each}: {each.threads} threads of {each.registers} registers")
        failures += each.faults()
    for file in sources:
        if file.name.startswith(("cuda_warpgroup_", "cuda_thin", "cuda_three_bf16")):
            failures += assembler_notes(nvcc, build / "machine_code" / f"{file.stem}.compute_90a.ptx")
            if machine_code.disassembler():
                failures += units_apart(build / "machine_code" / f"{file.stem}.compute_90a.cubin")
    if machine_code.disassembler():
        failures += waits_for_addresses(build / "machine_code/cuda_tensor_core.compute_90a.cubin")
    failures += not_as_shown(source, nvcc, kernels)
    there = {(each.arch, each.kernel, each.element[0]) for each in kernels if each.kernel not in HELPERS}
    wanted = {(arch, kernel, name) for arch in ("sm_80", "sm_90a") for kernel in KERNELS for name in BUILT_FOR.get(kernel, TYPES)}
    failures += [f"{' '.join(each)} was not compiled" for each in sorted(wanted - there)]
    failures += [f"{' '.join(each)} is compiled, and this test does not know it" for each in sorted(there - wanted)]
    for failure in failures:
        print("FAILED:", failure)
    if not machine_code.disassembler():
        print("NOT checked, without nvdisasm: whether matrix instructions are back to back")
    print(f"{len(kernels)} kernels read, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
