#!/usr/bin/env python3
"""tessera.torch and tessera.jax on a GPU: a step of scripts/gpu.

    scripts/gpu_python.py LIBRARY

Builds the package for the Python that runs this, with the library of a build with CUDA (libtessera.a), and runs the tests of
tests/graphs that need a GPU. A test that is skipped there is a failure. Needs g++, Python's headers, pytest, and PyTorch or JAX.
"""
import argparse
import concurrent.futures
import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[1]
FRAMEWORKS = {"torch": ("torch_test.py", "cuda or stream"), "jax": ("jax_gpu_test.py", "")}
FLAGS = ["-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-DNDEBUG", "-w"]


def nanobind(folder):
    """Where it is: packed, the project's own, or installed."""
    for each in (folder / "nanobind", ROOT / "build/python/nanobind"):
        if (each / "src/nb_combined.cpp").exists():
            return each
    if (found := importlib.util.find_spec("nanobind")) is None:
        raise SystemExit("gpu_python.py: no nanobind")
    return pathlib.Path(found.origin).parent


def run(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"gpu_python.py: {pathlib.Path(str(words[-1])).name}: {done.stderr.strip().splitlines()[0]}")


def build(library):
    """The folder with the package, beside the library; its module is made once for each library."""
    folder = library.parent
    package, tools = folder / "python/tessera", nanobind(folder)
    package.mkdir(parents=True, exist_ok=True)
    for each in (ROOT / "python/tessera").iterdir():
        if not (package / each.name).exists():
            (package / each.name).symlink_to(each)
    module = package / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"
    boost = folder / "libboost_context.a"
    if module.exists() and module.stat().st_mtime > library.stat().st_mtime:
        return package.parent
    sources = [*sorted((ROOT / "src/python").glob("*.cpp")), tools / "src/nb_combined.cpp"]
    objects = folder / "python/objects"
    objects.mkdir(exist_ok=True)
    includes = [f"-I{each}" for each in (ROOT / "include", ROOT / "src", tools / "include", tools / "ext/robin_map/include",
                                         sysconfig.get_path("include"))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = [objects / f"{each.stem}.o" for each in sources]
        list(pool.map(lambda pair: run(["g++", *FLAGS, *includes, "-c", "-o", pair[1], pair[0]]), zip(sources, made)))
    run(["g++", "-shared", "-pthread", *made, library, boost if boost.exists() else "-lboost_context", "-l:libz.so.1", "-ldl", "-o", module])
    return package.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", metavar="LIBRARY", type=pathlib.Path)
    path = build(parser.parse_args().library.resolve())
    tested, code = [], 0
    for name, (file, chosen) in FRAMEWORKS.items():
        if importlib.util.find_spec(name) is None:
            continue
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-k", chosen, ROOT / "tests/graphs" / file],
                              env={**os.environ, "PYTHONPATH": f"{path}:{os.environ.get('PYTHONPATH', '')}"})
        code = code or done.returncode
        tested.append(name)
    if not tested:
        raise SystemExit("gpu_python.py: neither PyTorch nor JAX is installed")
    print(f"tested on a GPU: {', '.join(tested)}" if code == 0 else f"failed with {code}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
