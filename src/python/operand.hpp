// An array of any Python library as the products see it: address, element type, extents and
// strides, device. Nothing is copied; the array's owner is kept alive for as long as the Operand
// lives. Calls take it by the buffer protocol (NumPy and what is like it) or by DLPack (all
// others).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <vector>

#include "tessera/matmul/matrix.hpp"

namespace tessera::python {

namespace nb = nanobind;

/// What is done with the array: an output that is read-only is refused.
enum class Access { read, write };

class Operand {
 public:
  /// `name` begins messages: "a". Throws nb::type_error for what is no array or has elements that
  /// are no numbers of Tessera, nb::buffer_error for read-only outputs, strides between elements,
  /// and devices other than CPU and CUDA.
  Operand(nb::handle array, const std::string& name, Access access);

  /// Of the last two axes; a vector is a row, or on the right a column.
  enum class Side { left, right };
  ConstMatrix matrix(Side side = Side::left) const;
  /// Matrices side by side: all axes but the last two.
  std::size_t batch_axes() const { return shape.size() < 2 ? 0 : shape.size() - 2; }
  /// The last two axes change places; nothing moves. Not for vectors.
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
  nb::object owner_;  ///< of what DLPack gives
  nb::ndarray<nb::ro> dlpack_;
};

/// Has some algorithm a product of `in` with sums of `out`?
bool has_product(DType in, DType out);
/// Element types that a product of `in` can have; the first where nobody asks for another.
std::vector<DType> result_dtypes(DType in);
/// The element types that a product has; f8 is widened to one of them before.
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
