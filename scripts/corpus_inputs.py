#!/usr/bin/env python3
"""Writes small inputs of the kinds that some HeCBench programs read, for those whose own inputs are not in its repository, or are packed.

  scripts/corpus_inputs.py FOLDER/src      beside the programs, where their Makefiles name them; files that are there stay

The numbers are pseudo-random, always the same. For cuda_corpus: the programs' results are then compared as usual.
"""
import argparse
import pathlib
import random
import struct

R = random.Random(7)


def text(rows):
    return "".join(f"{row}\n" for row in rows).encode()


def floats(count, low=0.0, high=1.0):
    return struct.pack(f"<{count}f", *(R.uniform(low, high) for _ in range(count)))


def bitmap(width, height):
    """24 bits for each pixel."""
    pixels = R.randbytes(3 * width * height)
    return struct.pack("<2sIHHI", b"BM", 54 + len(pixels), 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(pixels),
                                                                                  0, 0, 0, 0) + pixels


def picture(width, height):
    return f"P6\n{width} {height}\n255\n".encode() + R.randbytes(3 * width * height)


def graph(nodes, degree):
    """Nodes with first edge and number of edges, the source, edges with their costs."""
    edges = [f"{R.randrange(nodes)} {R.randint(1, 9)}" for _ in range(nodes * degree)]
    return text([nodes, *(f"{degree * i} {degree}" for i in range(nodes)), "", 0, "", len(edges), *edges])


def short_paths(nodes, degree):
    edges = [f"{R.randrange(nodes)} {R.randint(1, 9)}" for _ in range(nodes * degree)]
    return text([f"{nodes} {len(edges)} 0", *(f"{degree * i} {degree}" for i in range(nodes)), *edges])


def records(count):
    """Hurricanes: 49 characters, latitude and longitude from the 29th on."""
    return text(f"{'1950 ' + str(i):<28}{R.uniform(7, 60):5.1f}{R.uniform(10, 99):5.1f}{'   30  100':<11}" for i in range(count))


def sequences(count):
    rows = []
    for i in range(count):
        rows += [f">{i}", "".join(R.choice("ACGT") for _ in range(R.randint(60, 90)))]
    return text(rows)


def crystal(atoms):
    """A cube, and atoms with fractional coordinates."""
    rows = (f"{i + 1} {R.choice(['Zn', 'O', 'C', 'H'])} {R.random():.5f} {R.random():.5f} {R.random():.5f}" for i in range(atoms))
    return text(["25.832 25.832 25.832", "90 90 90 SPGR = 1 P 1", f"{atoms} 0", "0 box : box", *rows])


def ecl_graph(nodes, degree):
    """Binary: nodes, edges, first edge of each node, ends, costs."""
    ends = [sorted(R.sample([j for j in range(nodes) if j != i], degree)) for i in range(nodes)]
    edges = nodes * degree
    return struct.pack(f"<{nodes + 3 + 2 * edges}i", nodes, edges, *(degree * i for i in range(nodes + 1)), *(j for each in ends for j in each),
                       *(R.randint(1, 99) for _ in range(edges)))


def votes(nodes, more):
    """A connected graph whose edges agree or disagree."""
    edges = [(i, R.randrange(i)) for i in range(1, nodes)] + [(R.randrange(nodes), R.randrange(nodes)) for _ in range(more)]
    return text(["source,target,rating", *(f"{i},{j},{R.choice([-1, 1])}" for i, j in edges)])


def pairs(nodes, edges):
    """Edges in both directions."""
    chosen = {(min(i, j), max(i, j)) for i, j in ((R.randrange(nodes), R.randrange(nodes)) for _ in range(edges)) if i != j}
    return text(f"{i} {j}" for a, b in sorted(chosen) for i, j in ((a, b), (b, a)))


CENTRES = [(0, 0, 0), (40, 0, 40), (0, 50, 20)]


def points(count):
    return text(",".join(f"{R.gauss(x, 1.5):.4f}" for x in CENTRES[i % 3]) for i in range(count))


def twisters(with_all):
    """4096 generators: a matrix and two masks each, beside the constants that all have."""
    own = random.Random(11)
    each = [[own.getrandbits(32) for _ in range(3)] for _ in range(4096)]
    if with_all:
        return b"".join(struct.pack("<I4i3I4i2Ii", a, 9, 19, 1, 32, 0xffffffff, 0xfffffffe, 1, 12, 18, 7, 15, b, c, 0) + bytes(4) for a, b, c in each)
    return b"".join(struct.pack("<4I", *three, 0) for three in each)


def lower_triangle(rows):
    entries = [(i, j) for i in range(1, rows + 1) for j in [*sorted(R.sample(range(1, i), min(i - 1, 6))), i]]
    return text(["%%MatrixMarket matrix coordinate real general", f"{rows} {rows} {len(entries)}",
                 *(f"{i} {j} {R.uniform(1, 2):.4f}" for i, j in entries)])


def fractions(cells, materials):
    """Of a few materials in each cell."""
    rows = [f"{materials} {materials}", " ".join(f"m{i}" for i in range(materials))]
    for _ in range(cells):
        present = R.sample(range(materials), R.choice([1, 1, 1, 2, 3]))
        rows.append(" ".join(f"{1 / len(present):.4f}" if i in present else "0" for i in range(materials)))
    return text(rows)


def mesh(elements):
    """Area, then four neighbours with normals that add up to nothing; some faces are walls or far away."""
    rows = [elements]
    for i in range(elements):
        normals = [[R.uniform(-1, 1) for _ in range(3)] for _ in range(3)]
        normals.append([-sum(each) for each in zip(*normals)])
        near = [(i + step) % elements + 1 for step in (-40, -1, 1, 40)]
        near = [R.choice([-1, -2]) if R.random() < 0.05 else each for each in near]
        rows.append(" ".join([f"{R.uniform(1, 2):.4f}", *(f"{j} {x:.5f} {y:.5f} {z:.5f}" for j, (x, y, z) in zip(near, normals))]))
    return text(rows)


def reads(count, length):
    """Two sequences in a line, which differ at a few places."""
    rows = []
    for i in range(count):
        one = [R.choice("ACGT") for _ in range(length)]
        rows.append("".join(one) + "\t" + "".join(R.choice("ACGT") if R.random() < i % 40 / 100 else each for each in one))
    return text(rows)


def proteins(count):
    rows = []
    for i in range(count):
        rows += [f">{i}", "".join(R.choice("ARNDCQEGHILKMFPSTWYV") for _ in range(64))]  # whole warps
    return text(rows)


def genes(count, samples):
    rows = (" ".join([f"g{i}", *(f"{R.uniform(0, 4) + (i % 5) * j:.3f}" for j in range(samples))]) for i in range(count))
    return text([" ".join(["gene", *(f"s{j}" for j in range(samples))]), *rows])


def digits(count):
    return struct.pack(">4i", 2051, count, 28, 28) + R.randbytes(784 * count)


def labels(count):
    return struct.pack(">2i", 2049, count) + bytes(R.randrange(10) for _ in range(count))


def names(count):
    return text(R.choice(["ROMEO", "JULIET", "R", "RRRR", "RORO", "is it?", "abc", "42"]) for _ in range(count))


def contigs(count):
    """Contigs with the reads to their left and right, which overlap them."""
    rows = []
    for i in range(count):
        whole, reads_of_side = "".join(R.choice("ACGT") for _ in range(300)), R.choice([4, 12])
        sides = [whole[at:at + 80] for places in (range(20, 80), range(160, 215)) for at in R.sample(places, reads_of_side)]
        reads_with_marks = " ".join(f"{i}r{j} {each} {'I' * 80}" for j, each in enumerate(sides))
        rows.append(f"{i} {whole[80:220]} 10 {reads_of_side} {reads_of_side} {reads_with_marks}")
    return text(rows)


def chains(count, anchors):
    """For each read: anchors with tag, place, width and place in the query."""
    rows = []
    for _ in range(count):
        places = sorted(R.sample(range(100000), anchors))
        rows.append(f"{anchors} 15.0 5000 5000 500")
        rows += [f"1 {x} 15 {x // 2 + R.randrange(100)}" for x in places]
        rows.append("EOR")
    return text(rows)


def atoms(count, types):
    return b"".join(struct.pack("<3fi", *(R.uniform(-8, 8) for _ in range(3)), R.randrange(types)) for _ in range(count))


def forces(types):
    """A letter for hydrogen bonds, radius, hydrophobic and electrostatic constants."""
    return b"".join(struct.pack("<i3f", R.choice(b"EFN"), R.uniform(1, 2), R.uniform(-0.5, 0.5), R.uniform(-1, 1)) for _ in range(types))


INPUTS = {
    "urng-sycl/URNG_Input.bmp": lambda: bitmap(64, 64),
    "sobel-sycl/SobelFilter_Input.bmp": lambda: bitmap(64, 64),
    "boxfilter-sycl/data/lenaRGB.ppm": lambda: picture(64, 64),
    "medianfilter-sycl/data/SierrasRGB.ppm": lambda: picture(64, 64),
    "recursiveGaussian-cuda/StoneRGB.ppm": lambda: picture(64, 64),
    "data/bfs/graph1MW_6.txt": lambda: graph(2000, 6),
    "sssp-cuda/input/NYR_input.dat": lambda: short_paths(2000, 4),
    "data/hotspot/temp_512": lambda: text(f"{R.uniform(320, 345):.4f}" for _ in range(64 * 64)),
    "data/hotspot/power_512": lambda: text(f"{R.uniform(0, 0.01):.6f}" for _ in range(64 * 64)),
    "data/hotspot3D/temp_512x8": lambda: text(f"{R.uniform(320, 345):.4f}" for _ in range(64 * 64 * 8)),
    "data/hotspot3D/power_512x8": lambda: text(f"{R.uniform(0, 0.01):.6f}" for _ in range(64 * 64 * 8)),
    "d2q9-bgk-cuda/Inputs/input_256x256.params": lambda: text([128, 128, 20, 10, 0.1, 0.005, 1.7]),
    "d2q9-bgk-cuda/Obstacles/obstacles_256x256.dat": lambda: text(f"{i} {j} 1" for i in range(128) for j in (0, 127)),
    "svd3x3-cuda/Dataset_1M.txt": lambda: text([1000, *(f"{R.uniform(-1, 1):.6f}" for _ in range(9000))]),
    "ss-sycl/StringSearch_Input.txt": lambda: text(R.choice(["clEnqueueNDRangeKernel", "kernel", "enqueue", "a b c"]) for _ in range(2000)),
    "data/nn/cane4_0.db": lambda: records(500),
    "data/nn/cane4_1.db": lambda: records(500),
    "data/nn/cane4_2.db": lambda: records(500),
    "data/nn/cane4_3.db": lambda: records(500),
    "data/b+tree/mil.txt": lambda: text([10000, *R.sample(range(10000), 10000)]),
    "data/b+tree/command.txt": lambda: b"j 200 50\n\nk 500\n",
    "data/kmeans/kdd_cup": lambda: text(" ".join([str(i), *(f"{R.random():.4f}" for _ in range(8))]) for i in range(500)),
    "gmm-cuda/data": lambda: text([",".join("abcd"), *(",".join(f"{R.gauss(3 * (i % 3), 1):.4f}" for _ in range(4)) for i in range(640))]),
    "mriQ-cuda/datasets/128x128x128/input/128x128x128.bin": lambda: struct.pack("<ii", 64, 2048) + floats(5 * 64 + 3 * 2048),
    "permutate-cuda/test_data/truerand_1bit.bin": lambda: bytes(R.randrange(2) for _ in range(1000000)),
    "deredundancy-sycl/testData.fasta": lambda: sequences(200),
    "henry-cuda/IRMOF-1.cssr": lambda: crystal(100),
    "hogbom-cuda/data/dirty_4096.img": lambda: floats(64 * 64),
    "hogbom-cuda/data/psf_4096.img": lambda: floats(64 * 64),
    "lr-sycl/assets/temperature.txt": lambda: text(f"{i % 97}\t{3 * (i % 97) + R.gauss(0, 1):.4f}" for i in range(96453)),
    "floydwarshall2-cuda/CollegeMsg.egr": lambda: ecl_graph(64, 5),
    "graphB+-cuda/graph.csv": lambda: votes(300, 600),
    "lanczos-cuda/data/social-large-800k.txt": lambda: pairs(400, 2400),
    "meanshift-cuda/dataset/data.csv": lambda: points(640),
    "meanshift-cuda/dataset/centroids.csv": lambda: text(",".join(map(str, each)) for each in CENTRES),
    "mt-cuda/data/MersenneTwister.dat": lambda: twisters(False),
    "mt-cuda/data/MersenneTwister.raw": lambda: twisters(True),
    "sptrsv-sycl/lp1.mtx": lambda: lower_triangle(500),
    "multimaterial-cuda/volfrac.dat": lambda: fractions(2500, 50),
    "tonemapping-sycl/input.hdr": lambda: text(["64 64", *(f"{R.random():.4f} {R.random():.4f} {R.random():.4f} 1" for _ in range(64 * 64))]),
    "mpc-cuda/msg_sp.trace.out": lambda: struct.pack("<20000d", *(1 + i / 4096 for i in range(20000))),
    "data/cfd/fvcorr.domn.097K": lambda: mesh(1920),
    "snake-cuda/Datasets/ERR240727_1_E2_30000Pairs.txt": lambda: reads(512, 100),
    "bsw-cuda/test-data/protein-reference.fasta": lambda: proteins(64),
    "bsw-cuda/test-data/protein-query.fasta": lambda: proteins(64),
    "ccs-cuda/Data_Constant_100_1_bicluster.txt": lambda: genes(40, 20),
    "resnet-kernels-cuda/data/input_one_14_1024.bin": lambda: floats(14 * 14 * 1024, -1),
    "resnet-kernels-cuda/data/weight_one_1024.bin": lambda: floats(256 * 1024, -1),
    "resnet-kernels-cuda/data/bnBias_myKernel_one_1024.bin": lambda: floats(1024, -1),
    "resnet-kernels-cuda/data/bnScale_myKernel_one_1024.bin": lambda: floats(1024, -1),
    "mnist-cuda/data/train-images.idx3-ubyte": lambda: digits(40),
    "mnist-cuda/data/train-labels.idx1-ubyte": lambda: labels(40),
    "mnist-cuda/data/t10k-images.idx3-ubyte": lambda: digits(20),
    "mnist-cuda/data/t10k-labels.idx1-ubyte": lambda: labels(20),
    "grep-cuda/testcases/names.txt": lambda: names(300),
    "local-ht-cuda/locassm_data/localassm_extend_7-21.dat": lambda: contigs(20),
    "clink-cuda/input.hpp": lambda: text(f"{R.uniform(-1, 1):.4f}" for _ in range(20000)),
    "clink-cuda/weight_1.hpp": lambda: text(f"{R.uniform(-1, 1):.4f}" for _ in range(146)),
    "clink-cuda/weight_2.hpp": lambda: text(f"{R.uniform(-1, 1):.4f}" for _ in range(146)),
    "minimap2-sycl/in-1k.txt": lambda: chains(8, 200),
    "minibude-sycl/data/bm1/ligand.in": lambda: atoms(16, 8),
    "minibude-sycl/data/bm1/protein.in": lambda: atoms(100, 8),
    "minibude-sycl/data/bm1/forcefield.in": lambda: forces(8),
    "minibude-sycl/data/bm1/poses.in": lambda: floats(6 * 256, -3, 3),
    "minibude-sycl/data/bm1/ref_energies.out": lambda: text([1000.0] * 256),  # the difference is compared with that of OpenMP
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    for name, write in INPUTS.items():
        path, content = folder / name, write()  # also for files that are there: the numbers of the next ones stay the same
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(path)


if __name__ == "__main__":
    main()
