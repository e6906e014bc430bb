// A run-time array: element type, shape and strides in elements, and shared ownership of its
// memory, which is either an aligned heap buffer or a mapped file. Files are read into it and
// written from it; arithmetic works on views of it. Invariant: every element that shape and strides
// reach is inside the owned memory.
//
//     Array a = read_array("a.npy");  // (M,K), maybe mapped, maybe in Fortran order
//     const index_t row_stride = a.row_stride(), col_stride = a.col_stride();
//     ConstMatrix A(a.data(), a.dtype(), a.rows(), a.cols(), row_stride, col_stride);
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/core/dtype.hpp"

namespace tessera {

/// Order of elements in memory of a freshly made array: C = last index fastest, Fortran = first.
enum class Order { c, fortran };

/// A run-time array with shared ownership of its memory; copying it copies no element. Any rank.
class Array {
 public:
  /// One element of f32, and no memory.
  Array() = default;
  /// `data` points at element (0, ..., 0) inside memory that `owner` keeps alive. `strides` has an
  /// entry for each of `shape`, in elements; neither is checked.
  Array(DType dtype, std::vector<index_t> shape, std::vector<index_t> strides, void* data,
        std::shared_ptr<void> owner);
  /// As above, but the memory may not be written: writable() throws.
  static Array read_only(DType dtype, std::vector<index_t> shape, std::vector<index_t> strides,
                         const void* data, std::shared_ptr<void> owner);

  DType dtype() const { return dtype_; }
  const std::vector<index_t>& shape() const { return shape_; }
  /// In elements; any sign.
  const std::vector<index_t>& strides() const { return strides_; }
  index_t rank() const { return static_cast<index_t>(shape_.size()); }
  index_t count() const;  ///< number of elements
  index_t bytes() const { return count() * size_of(dtype_); }

  const void* data() const { return data_; }
  /// The data of an array that may be written. Throws Error(argument) for a mapped input file.
  void* writable() const;
  bool is_writable() const { return writable_; }

  /// For rank 2; others throw Error(shape) with the shape.
  index_t rows() const { return shape_[check_rank_2()]; }
  index_t cols() const { return shape_[check_rank_2() + 1]; }
  index_t row_stride() const { return strides_[check_rank_2()]; }
  index_t col_stride() const { return strides_[check_rank_2() + 1]; }

  /// True when the elements are without gaps in this order. Extents of 1 fit every stride.
  bool is_contiguous(Order order) const;

  /// Exchanges rows and columns of the view; the memory is not changed.
  void transpose() {
    std::swap(shape_[check_rank_2()], shape_[1]);
    std::swap(strides_[0], strides_[1]);
  }

  /// Throws Error(shape) naming `what` (a path, "A") unless this array is a matrix.
  void require_matrix(std::string_view what) const;

 private:
  std::size_t check_rank_2() const {
    if (shape_.size() != 2) require_matrix("array");
    return 0;
  }

  DType dtype_ = DType::f32;
  std::vector<index_t> shape_, strides_;
  void* data_ = nullptr;
  bool writable_ = true;
  std::shared_ptr<void> owner_;
};

/// A new array of zeros: 64-byte aligned, huge pages advised from 2 MiB on. Throws Error(shape) for
/// a negative extent or a size beyond 64 bits, Error(resource) naming the bytes wanted when memory
/// does not suffice.
Array make_array(DType dtype, std::vector<index_t> shape, Order order = Order::c);

/// The same elements in another type, by core's convert (floating point to nearest even). The same
/// memory when the type already fits; otherwise a new array in the order of the source.
Array convert(const Array& array, DType dtype);

/// Converts the elements of a matrix into those of another, of the same shape and any strides.
void convert_into(const Array& from, const Array& to);

/// The same elements without gaps in the given order; the same memory when they already are.
Array contiguous(const Array& array, Order order = Order::c);

/// The (cols, rows) view of the same memory.
Array transposed(const Array& matrix);

/// No NaN and no infinity among the elements. Always true for integers.
bool is_finite(const Array& array);

/// Element (i, j) of a matrix as f64 (64-bit integers may round).
double element(const Array& matrix, index_t i, index_t j);

/// Elements in a shape, or Error(shape) when an extent is negative or bytes exceed 63 bits.
index_t checked_count(const std::vector<index_t>& shape, int element_bytes, std::string_view what);

/// Strides in elements of a gapless array.
std::vector<index_t> contiguous_strides(const std::vector<index_t>& shape, Order order);

/// "(3, 4)", "(5,)", "()"
std::string shape_text(const std::vector<index_t>& shape);

/// Bytes this process could still allocate and touch: free memory of the machine, limited by the
/// cgroup's and the process's own limits.
index_t available_memory();

}  // namespace tessera
