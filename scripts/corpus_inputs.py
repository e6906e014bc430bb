#!/usr/bin/env python3
"""Writes small inputs of the kinds that some HeCBench programs read, for those whose own inputs are not in its repository.

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
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    for name, write in INPUTS.items():
        path = folder / name
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(write())
        print(path)


if __name__ == "__main__":
    main()
