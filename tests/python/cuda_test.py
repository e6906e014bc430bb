"""check_cuda and %%tessera_check: kernels in plain CUDA on arrays of NumPy."""
import sys

import numpy as np
import pytest

import tessera

AXPY = """#include <cstdio>
__global__ void axpy(const float* x, float* y, int n, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) printf("n is %d\\n", n);
  if (i < n) y[i] += a * x[i];
}
"""
LAUNCH = "axpy<<<(n + 3) / 4, 4>>>(x, in_and_out: y, n, a)"
COPY = "__global__ void k(const T* x, T* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }"


def values():
    return {"x": np.arange(10, dtype=np.float32), "y": np.ones(10, np.float32), "n": 10, "a": -2.5}


def test_a_kernel_has_the_callers_arrays_and_numbers():
    given = values()
    report = tessera.check_cuda(AXPY, LAUNCH, given)
    assert isinstance(report, tessera.CudaCheck) and report.is_clean and report.findings == []
    assert list(report.arrays) == ["y"]
    np.testing.assert_array_equal(report.arrays["y"], 1 - 2.5 * given["x"])
    assert (given["y"] == 1).all()
    assert report.printed == "n is 10\n" and report.counters["global_store_requests"] == 3
    assert repr(report) == f"<tessera check kernel.cu --launch='{LAUNCH}': clean: no findings in 3 blocks>"
    assert report._repr_html_().startswith("<iframe srcdoc=")


def test_findings_name_the_line_and_the_callers_array(tmp_path):
    wrong = AXPY.replace("i < n", "i <= n")
    file = tmp_path / "axpy.cu"
    file.write_text(wrong)
    for source, name in ((wrong, "kernel.cu"), (file, str(file))):
        report = tessera.check_cuda(source, LAUNCH, values(), order="shuffled", seed=3, warp=64)
        assert not report.is_clean and {each["kind"] for each in report.findings} == {"out-of-bounds"}
        assert report.findings[0]["location"]["line"] == 5 and report.findings[0]["location"]["file"] == name
        assert "after the end of y" in str(report) and "/tmp/tmp" not in str(report).replace(str(tmp_path), "")
        assert report.arrays["y"][1] == -1.5


@pytest.mark.parametrize("word,dtype", [("__half", "f2"), ("double", "f8"), ("bool", "?"), ("long long", "i8"), ("float", ">f4"),
                                        ("char", "i1"), ("long", "i8")])
def test_elements_of_every_kind_with_any_strides(word, dtype):
    x = (np.arange(12) * 3 % 7).astype(dtype).reshape(3, 4).T
    report = tessera.check_cuda(f"#include <cuda_fp16.h>\n{COPY.replace('T', word)}", "k<<<1, 32>>>(x, y, 12)", {"x": x, "y": x[::-1]})
    assert report.is_clean and report.arrays["y"].shape == (4, 3)
    np.testing.assert_array_equal(report.arrays["y"], x)


def test_elements_that_numpy_has_no_type_for():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(4).astype(ml_dtypes.bfloat16)
    report = tessera.check_cuda(f"#include <cuda_bf16.h>\n{COPY.replace('T', '__nv_bfloat16')}", "k<<<1, 32>>>(x, y, 4)",
                                {"x": x, "y": np.zeros_like(x)})
    assert report.is_clean and report.arrays["y"].dtype == x.dtype and (report.arrays["y"] == x).all()


def test_numbers_arrive_as_they_are():
    numbers = {"b": True, "i": -7, "u": 2**64 - 1, "l": -2**40, "f": np.float32(0.1), "h": -1e-300, "inf": -np.inf, "nan": np.nan}
    source = """__global__ void keep(double* out, bool b, int i, unsigned long long u, long long l, float f, double h, double p, double q) {
  out[0] = b; out[1] = i; out[2] = u == ~0ull; out[3] = l; out[4] = f; out[5] = h; out[6] = p; out[7] = q;
}
"""
    report = tessera.check_cuda(source, "keep<<<1, 1>>>(out: f64[8], b, i, u, l, f, h, inf, nan)", numbers)
    assert report.is_clean
    np.testing.assert_array_equal(report.arrays["out"], [1, -7, 1, -2**40, np.float32(0.1), -1e-300, -np.inf, np.nan])


def test_an_array_for_two_arguments_and_one_of_the_launch_alone():
    source = "__global__ void add(const int* a, const int* b, int* c) { c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }\n"
    x = np.arange(4, dtype=np.int32)
    assert (tessera.check_cuda(source, "add<<<1, 4>>>(x, x, c: i32[4])", {"x": x}).arrays["c"] == 2 * x).all()
    assert (tessera.check_cuda(source, "add<<<1, 4>>>(x, x, x)", {"x": x}).arrays["x"] == 2 * x).all()
    short = tessera.check_cuda(source, "add<<<1, 3>>>(x, x, c: i32[4])", {"x": x})
    assert [each["kind"] for each in short.findings] == ["uninitialized-read"]


def test_a_program_runs_as_it_is():
    report = tessera.check_cuda('#include <cstdio>\n__global__ void k() {}\nint main(int, char** word) { k<<<1, 1>>>(); puts(word[1]); }\n',
                                args="hello")
    assert report.is_clean and report.printed == "hello\n" and report.arrays == {}


@pytest.mark.parametrize("change,error,message", [
    ({"z": 3}, ValueError, "arrays has z, which no launch names"), ({"n": None}, ValueError, "the launch names n, which arrays does not"),
    ({"y": None}, ValueError, "y is not declared"), ({"x": [1, 2]}, TypeError, r"x is \[1, 2\], a list: expected an array"),
    ({"a": np.complex64(1)}, TypeError, r"a is \(1\+0j\), a complex64: expected an array of NumPy or a number"),
    ({"x": np.zeros(3, complex)}, TypeError, "x has elements of complex128"), ({"n": 2**64}, ValueError, "expected a number of 64 bits"),
    ({"x": np.zeros(10)}, ValueError, "x is an array of double, and .* takes const float"),
    ({"x": np.ma.masked_array(np.zeros(10, np.float32), [1] + [0] * 9)}, TypeError, "check_cuda: x is a masked array")])
def test_arrays_that_do_not_fit_are_refused(change, error, message):
    with pytest.raises(error, match=message) as refused:
        tessera.check_cuda(AXPY, LAUNCH, {name: value for name, value in {**values(), **change}.items() if value is not None})
    assert "/tmp/tmp" not in str(refused.value)


@pytest.mark.parametrize("source,launch,error,message", [
    (AXPY, "axpy", ValueError, "no launch is found"), (AXPY, 3, TypeError, "launch is 3, an int: expected text"),
    (AXPY, LAUNCH.replace("(x,", "(x + 1,"), ValueError, "computes with the array x"), (AXPY, None, ValueError, "which no launch names"),
    ("nothing.cu", LAUNCH, OSError, "there is no file nothing.cu"), (3, LAUNCH, TypeError, "the kernel is 3"),
    ("", LAUNCH, OSError, "there is no file '': expected the text of a kernel"), ("tiled", None, OSError, "there is no file tiled"),
    (AXPY, LAUNCH.replace("<<<", "<<<len(x) + "), ValueError, "computes with the array x"),
    (AXPY.replace("if (i < n)", "iff (i < n)"), LAUNCH, NotImplementedError, "kernel.cu:5:3: error: ‘iff’ was not declared")])
def test_bad_calls_are_refused(source, launch, error, message):
    with pytest.raises(error, match=message):
        tessera.check_cuda(source, launch, values())


class FakeShell:
    """What a notebook's shell has, as far as the magic needs it."""

    def __init__(self):
        self.user_ns, self.magics = {}, {}

    def register_magic_function(self, function, kind):
        self.magics[kind, function.__name__] = function


def test_the_magic_takes_what_the_notebook_has(capsys):
    shell = FakeShell()
    tessera.load_ipython_extension(shell)
    magic = shell.magics["cell", "tessera_check"]
    shell.user_ns.update(values(), other=sys)
    report = magic(f"--launch '{LAUNCH}' --order shuffled --seed 3 --coverage", AXPY)
    assert report.is_clean and "order shuffled, seed 3" in str(report) and report.arrays["y"][2] == -4
    assert capsys.readouterr().out == "n is 10\n"
    shell.user_ns["n"] = 11
    assert not magic(f"--launch '{LAUNCH}'", AXPY).is_clean
    for line, message in (("--launhc x", "unrecognized arguments: --launhc x"), ("--launch 'axpy", "%%tessera_check: No closing quotation"),
                          ("--launch axpy<<<1, 4>>>(x)", "a launch follows --launch, in quotes"),
                          ("--seed x", "invalid int value: 'x'")):
        with pytest.raises(ValueError, match=message):
            magic(line, AXPY)


def test_ipython_loads_the_magic(capsys):
    pytest.importorskip("IPython", reason="the magic in IPython needs the Debian package python3-ipython")
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell()
    assert shell.run_cell("%load_ext tessera\nimport numpy as np\nx = np.ones(4, 'f4'); y = x; n = 4").success
    ran = shell.run_cell(f"%%tessera_check --launch 'axpy<<<1, 4>>>(x, y, n, 1)'\n{AXPY}")
    assert ran.success and "clean: no findings" in repr(ran.result) and ran.result.arrays["y"][0] == 2
    capsys.readouterr()
    for options, source, message in (("--launch 'axpy<<<1, 4>>>(x + 1, y)'", AXPY, "UsageError: check_cuda: the launch computes with the array x"),
                                     ("--launhc x", AXPY, "UsageError: %%tessera_check: unrecognized arguments"),
                                     ("axpy<<<1,1>>>(x)", AXPY, "a launch follows --launch, in quotes"),
                                     ("", AXPY.replace("int", "itn"), "kernel.cu:")):
        ran = shell.run_cell(f"%%tessera_check {options}\n{source}")
        printed = "".join(capsys.readouterr())
        assert not ran.success and "Traceback" not in printed and message in printed, printed
