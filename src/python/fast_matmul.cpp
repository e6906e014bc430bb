// tessera.matmul itself. Two plain NumPy matrices of float32 or float64 are multiplied here,
// because the general route takes longer than a small product. All other calls go to that route,
// tessera._matmul, in Python.
#include "base/environment.hpp"
#include "bindings.hpp"
#include "tessera/cpu/gemm.hpp"
#include "tessera/matmul/matrix.hpp"

namespace tessera::python {

namespace {

/// For larger strides the general route checks that addresses fit in 64 bits.
constexpr Py_ssize_t kFarStride = Py_ssize_t{1} << 40;

/// Objects of NumPy that each call needs, looked up once.
struct Numpy {
  PyObject *ndarray, *empty, *float32, *float64;
};
Numpy numpy;
PyObject* general = nullptr;  // tessera._matmul.matmul
bool is_verbose = false;      // TESSERA_VERBOSE: the general route prints
bool is_elsewhere = false;    // TESSERA_DEVICE: host arrays are multiplied on a device

struct Buffer {
  Py_buffer view{};
  bool held = false;
  ~Buffer() {
    if (held) PyBuffer_Release(&view);
  }
  /// Takes a nonempty matrix of one C type whose strides are whole elements.
  bool take(PyObject* array, int flags) {
    if (PyObject_GetBuffer(array, &view, flags) != 0) {
      PyErr_Clear();
      return false;
    }
    held = true;
    if (view.ndim != 2 || view.format == nullptr || view.format[1] != '\0') return false;
    const Py_ssize_t bytes = view.itemsize;
    for (const Py_ssize_t stride : {view.strides[0], view.strides[1]})
      if (stride > kFarStride || stride < -kFarStride) return false;
    return view.shape[0] > 0 && view.shape[1] > 0 && view.strides[0] % bytes == 0 &&
           view.strides[1] % bytes == 0 &&
           reinterpret_cast<std::uintptr_t>(view.buf) % static_cast<std::uintptr_t>(bytes) == 0;
  }
  char type() const { return view.format[0]; }
  index_t rows() const { return view.shape[0]; }
  index_t cols() const { return view.shape[1]; }
  index_t row_stride() const { return view.strides[0] / view.itemsize; }
  index_t col_stride() const { return view.strides[1] / view.itemsize; }
};

template <class T>
void multiply(const Buffer& a, const Buffer& b, const Buffer& c) {
  const index_t M = a.rows(), N = b.cols(), K = a.cols();
  const T* const A = static_cast<const T*>(a.view.buf);
  const T* const B = static_cast<const T*>(b.view.buf);
  T* const C = static_cast<T*>(c.view.buf);
  if (b.col_stride() == 1 &&
      cpu::gemm_if_tiny(M, N, K, A, a.row_stride(), a.col_stride(), B, b.row_stride(), C, N))
    return;
  const auto flops = 2.0 * static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K);
  PyThreadState* const released = flops < kKeepLockFlops ? nullptr : PyEval_SaveThread();
  cpu::Gemm<T> gemm;
  gemm.M = M, gemm.N = N, gemm.K = K;
  gemm.A = A, gemm.a_row = a.row_stride(), gemm.a_col = a.col_stride();
  gemm.B = B, gemm.b_row = b.row_stride(), gemm.b_col = b.col_stride();
  gemm.C = C, gemm.c_row = N;
  cpu::gemm(gemm);
  if (released != nullptr) PyEval_RestoreThread(released);
}

/// A new matrix of NumPy, not filled.
PyObject* empty_matrix(index_t rows, index_t cols, PyObject* dtype) {
  PyObject* const shape = Py_BuildValue("(nn)", Py_ssize_t{rows}, Py_ssize_t{cols});
  if (shape == nullptr) return nullptr;
  PyObject* const arguments[] = {shape, dtype};
  PyObject* const out = PyObject_Vectorcall(numpy.empty, arguments, 2, nullptr);
  Py_DECREF(shape);
  return out;
}

enum class Outcome { done, failed, not_taken };

Outcome multiply_plain(PyObject* left, PyObject* right, PyObject*& result) {
  Buffer a, b, c;
  if (!a.take(left, PyBUF_RECORDS_RO) || !b.take(right, PyBUF_RECORDS_RO))
    return Outcome::not_taken;
  const bool f32 = a.type() == 'f';
  if ((!f32 && a.type() != 'd') || a.type() != b.type() || a.cols() != b.rows())
    return Outcome::not_taken;
  result = empty_matrix(a.rows(), b.cols(), f32 ? numpy.float32 : numpy.float64);
  if (result == nullptr) return Outcome::failed;
  if (!c.take(result, PyBUF_RECORDS)) {
    Py_CLEAR(result);
    return Outcome::not_taken;
  }
  if (f32) multiply<float>(a, b, c);
  else multiply<double>(a, b, c);
  return Outcome::done;
}

PyObject* matmul(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  if (count == 2 && names == nullptr && !is_verbose && !is_elsewhere &&
      reinterpret_cast<PyObject*>(Py_TYPE(arguments[0])) == numpy.ndarray &&
      reinterpret_cast<PyObject*>(Py_TYPE(arguments[1])) == numpy.ndarray) {
    PyObject* result = nullptr;
    const Outcome outcome = multiply_plain(arguments[0], arguments[1], result);
    if (outcome != Outcome::not_taken) return result;
  }
  return PyObject_Vectorcall(general, arguments, static_cast<std::size_t>(count), names);
}

constexpr const char* kDoc =
    R"(matmul(a, b, /, *, out=None, transpose_a=False, transpose_b=False, alpha=1, beta=None, c=None, bias=None, activation=None, dtype=None, algorithm='auto', tile=None, device=None, threads=None, arithmetic='chain')
--

activation(alpha * a @ b + beta * c + bias): a (..., M, K), b (..., K, N), the result (..., M, N).

a, b: arrays of NumPy, JAX, PyTorch or CuPy, or whatever has DLPack or the buffer protocol; any
    strides, nothing is copied. float64, float32, float16, bfloat16, int32, int8 or uint8, both
    alike. Vectors and batches as in numpy.matmul. b may be a PackedMatrix.
out: where the result goes; it must have its shape and element type. Default: a new array of a's
    kind, on its device.
transpose_a, transpose_b: the last two axes change places.
alpha, beta, c: beta is 1 where c is given. Without c, beta scales what out holds; with beta 0 that
    is not read.
bias: (N,), a number for each column, or (M, 1), one for each row.
activation: None, 'relu', 'gelu' or 'silu'; the last two for floating numbers only.
dtype: of the result: int32 for int8 and uint8, float32 or their own for float16 and bfloat16.
algorithm, tile: 'auto', or a step of the ladder such as 'tiled' and '32x32x32'.
device: 'opencl:0' multiplies arrays in host memory there (default: TESSERA_DEVICE); 'cpu' or
    'cuda:0', to be sure: the arrays decide.
arithmetic: 'chain', or 'lanes': float32 and float64 in dot form (a contiguous along its rows, b along
    its columns, few rows or columns) are summed in another order, faster, on the CPU.
threads: at most so many; None: TESSERA_NUM_THREADS, OMP_NUM_THREADS, else all cores.

Raises ValueError for shapes and arguments, TypeError for element types, BufferError for memory that
is shared with out, read-only or on different devices. float32 and float64 results have the same bits
with every algorithm (but tensor_core and split_k), strides and number of threads.)";

PyMethodDef definition = {"matmul", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(matmul)),
                          METH_FASTCALL | METH_KEYWORDS, kDoc};

}  // namespace

void add_matmul(nb::module_& m) {
  const nb::module_ module = nb::module_::import_("numpy");
  const auto kept = [](nb::object object) { return object.release().ptr(); };  // forever
  numpy = {kept(module.attr("ndarray")), kept(module.attr("empty")),
           kept(module.attr("dtype")("float32")), kept(module.attr("dtype")("float64"))};
  const char* const device = std::getenv("TESSERA_DEVICE");
  is_verbose = is_switched_on("TESSERA_VERBOSE");
  is_elsewhere = device != nullptr && *device != '\0' && std::string_view(device) != "cpu";
  const nb::str name("tessera");
  m.attr("matmul") = nb::steal(PyCFunction_NewEx(&definition, nullptr, name.ptr()));
  m.def(
      "_set_general", [](nb::object function) { general = function.release().ptr(); },
      "Gives matmul the function that it calls for all but plain NumPy matrices.");
}

}  // namespace tessera::python
