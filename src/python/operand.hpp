// An array of any Python library as the products see it: address, element type, extents and
// strides, device. Nothing is copied; the array's owner is kept alive for as long as the Operand
// lives. Arrays come through the buffer protocol (NumPy and similar) or DLPack (all others).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <vector>

#include "tessera/matmul/matrix.hpp"

namespace tessera::python {

namespace nb = nanobind;

/// Is the array only read? A read-only output is refused.
enum class Access { read, write };

class Operand {
 public:
  /// `name` begins messages: "a". Throws nb::type_error for other objects and for element types
  /// that Tessera lacks, nb::buffer_error for read-only outputs, strides that are no multiple of
  /// the element size, and devices other than CPU and CUDA.
  Operand(nb::handle array, const std::string& name, Access access);

  /// Of the last two axes; a vector is a row, or on the right a column.
  enum class Side { left, right };
  ConstMatrix matrix(Side side = Side::left) const;
  /// The axes of a batch of matrices: all but the last two.
  std::size_t batch_axes() const { return shape.size() < 2 ? 0 : shape.size() - 2; }
  /// Exchanges the last two axes without a copy. Not for vectors.
  void transpose();

  std::string name;
  void* data = nullptr;
  DType dtype = DType::f32;
  std::vector<index_t> shape, strides;  ///< strides in elements
  int device = kCpu;                    ///< number of the GPU, or kCpu

  static constexpr int kCpu = -1;

 private:
  bool take_buffer(nb::handle array, Access access);
  void take_custom_numpy(nb::handle array, Access access);
  void take_dlpack(nb::handle array, Access access);
  void check_addresses(const std::vector<index_t>& byte_strides);

  struct ReleaseBuffer {
    void operator()(Py_buffer* view) const {
      PyBuffer_Release(view);
      delete view;
    }
  };
  std::unique_ptr<Py_buffer, ReleaseBuffer> buffer_;
  nb::object owner_;  ///< keeps the memory alive
  nb::ndarray<nb::ro> dlpack_;
};

/// Does an algorithm multiply `in` into `out`?
bool has_product(DType in, DType out);
/// The element types of a product of `in`, the default first.
std::vector<DType> result_dtypes(DType in);
/// The element types that are multiplied; f8 is first widened to one of them.
const std::vector<DType>& multiplied_dtypes();
/// "float64, float32, ... or int32": these.
std::string multiplied_text();

/// "(2,3,4)".
std::string shape_text(const std::vector<index_t>& shape);
/// "float32", as NumPy names it.
std::string numpy_name(DType dtype);
/// TypeError: `name` has elements of `what`, which no product takes.
[[noreturn]] void refuse_dtype(const std::string& name, const std::string& what);

}  // namespace tessera::python
