"""Where products of arrays in host memory run: devices(), device= and TESSERA_DEVICE."""
import os
import subprocess
import sys

import numpy as np
import pytest

import tessera

OPENCL = [each["device"] for each in tessera.devices() if each["device"].startswith("opencl")]


def test_every_device_says_what_it_has():
    found = tessera.devices()
    assert [each["device"] for each in found[:2]] == ["cpu", "checked"]
    for each in found:
        assert each["name"] and each["memory_bytes"] > 1 << 20 and each["block_threads"] >= 256 and each["shared_bytes"] >= 1 << 14
        assert isinstance(each["f64"], bool)


@pytest.mark.skipif(not OPENCL, reason="products on an OpenCL device are NOT tested: there is none")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
def test_opencl_has_the_bits_of_the_cpu(dtype):
    random = np.random.default_rng(3)
    a, b = (random.integers(-9, 9, shape).astype(dtype)[:, ::-1] for shape in ((33, 20), (20, 17)))
    bias = random.integers(-9, 9, 17).astype("float32" if dtype == "float16" else dtype)
    for more in ({}, {"algorithm": "tiled"}, {"bias": bias, "activation": "relu", "alpha": 2}):
        try:
            there = tessera.matmul(a, b, device="OpenCL:0", **more)
        except RuntimeError as refusal:
            assert "no kernels for OpenCL" in str(refusal) or "has no f64" in str(refusal)
            pytest.skip(str(refusal))
        assert there.tobytes() == tessera.matmul(a, b, **{**more, "algorithm": more.get("algorithm", "coalescing")}).tobytes()
    assert tessera.plan(a, b, device="opencl:0").device == "opencl:0"
    batch = tessera.matmul(np.stack([a, a]), b, device="opencl:0")
    assert batch[1].tobytes() == tessera.matmul(a, b, device="opencl:0").tobytes()
    with pytest.raises(ValueError, match="a PackedMatrix is multiplied by the CPU"):
        tessera.matmul(a.astype("float32"), tessera.PackedMatrix(b.astype("float32")), device="opencl:0")


def test_a_device_that_is_not_there_is_named():
    a = np.ones((2, 2))
    with pytest.raises(RuntimeError, match="opencl"):
        tessera.matmul(a, a, device="opencl:77")
    with pytest.raises(ValueError, match="unknown device 'gpus': expected cpu, cuda:N"):
        tessera.matmul(a, a, device="gpus")


@pytest.mark.parametrize("name, expected", [("", "cpu"), ("cpu", "cpu"), *[(each, each) for each in OPENCL[:1]]])
def test_the_environment_names_the_default(name, expected):
    text = "import numpy, tessera; a = numpy.ones((4, 4), 'f4'); assert (tessera.matmul(a, a) == 4).all(); print(tessera.plan(a, a).device)"
    run = subprocess.run([sys.executable, "-c", text], env={**os.environ, "TESSERA_DEVICE": name}, capture_output=True, text=True, check=False)
    if "no kernels for OpenCL" in run.stderr:
        pytest.skip(run.stderr)
    assert run.stdout == expected + "\n", run.stderr


def test_a_wrong_default_is_an_error():
    text = "import numpy, tessera; a = numpy.ones((4, 4), 'f4'); tessera.matmul(a, a)"
    run = subprocess.run([sys.executable, "-c", text], env={**os.environ, "TESSERA_DEVICE": "gpu"}, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "TESSERA_DEVICE=gpu: unknown device 'gpu'" in run.stderr
