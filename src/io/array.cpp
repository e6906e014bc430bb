// Copies, converts and checks run-time arrays. A copy proceeds in runs of elements along one
// extent; a table holds one conversion function for each pair of types. Several threads share a
// large copy. Extents from files pass through checked_count, which alone multiplies them.
#include "tessera/io/array.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "memory.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera {
namespace {

/// A thread handles at least this many elements.
constexpr index_t kGrain = 1 << 16;
/// Side of the square blocks in which a matrix is reordered: 64 x 64 f64 take 32 KiB on each side.
constexpr index_t kBlock = 64;

/// A run of elements: the position of the first and the distance between two, in elements.
struct Run {
  const void* from;
  index_t from_stride;
  void* to;
  index_t to_stride;
  index_t count;
};

template <class To, class From>
void convert_run(const Run& run) {
  const auto* from = static_cast<const From*>(run.from);
  auto* to = static_cast<To*>(run.to);
  if constexpr (std::is_same_v<To, From>) {
    if (run.from_stride == 1 && run.to_stride == 1) {
      if (run.count > 0) std::memcpy(to, from, static_cast<std::size_t>(run.count) * sizeof(To));
      return;
    }
  }
  if (run.from_stride == 1 && run.to_stride == 1) {
    for (index_t i = 0; i < run.count; ++i) to[i] = convert<To>(from[i]);
  } else {
    for (index_t i = 0; i < run.count; ++i) {
      to[i * run.to_stride] = convert<To>(from[i * run.from_stride]);
    }
  }
}

using RunFunction = void (*)(const Run&);

RunFunction run_function(DType to, DType from) {
  return visit_dtype(to, [&](auto to_tag) -> RunFunction {
    return visit_dtype(from, [&](auto from_tag) -> RunFunction {
      return &convert_run<typename decltype(to_tag)::type, typename decltype(from_tag)::type>;
    });
  });
}

const void* advance(const void* data, index_t elements, DType type) {
  return static_cast<const std::byte*>(data) + elements * size_of(type);
}
void* advance(void* data, index_t elements, DType type) {
  return static_cast<std::byte*>(data) + elements * size_of(type);
}

/// Both arrays are contiguous in the same order: one long run, divided among the threads.
void copy_flat(const Array& from, void* to, DType to_type, RunFunction run) {
  const index_t count = from.count();
  const index_t pieces = (count + kGrain - 1) / kGrain;
  parallel_for(pieces, pieces < 8 ? 1 : 0, [&](index_t piece) {
    const index_t begin = piece * kGrain;
    run({advance(from.data(), begin, from.dtype()), 1, advance(to, begin, to_type), 1,
         std::min(kGrain, count - begin)});
  });
}

/// Copies a matrix in blocks, so that both sides stay in the cache when one is transposed.
void copy_matrix(const Array& from, const Array& to, void* target, RunFunction run) {
  const index_t rows = from.rows(), cols = from.cols();
  const index_t strips = (rows + kBlock - 1) / kBlock;
  parallel_for(strips, from.count() < 8 * kGrain ? 1 : 0, [&](index_t strip) {
    const index_t row_end = std::min(rows, (strip + 1) * kBlock);
    for (index_t col = 0; col < cols; col += kBlock) {
      for (index_t row = strip * kBlock; row < row_end; ++row) {
        const index_t source = row * from.row_stride() + col * from.col_stride();
        const index_t sink = row * to.row_stride() + col * to.col_stride();
        run({advance(from.data(), source, from.dtype()), from.col_stride(),
             advance(target, sink, to.dtype()), to.col_stride(), std::min(kBlock, cols - col)});
      }
    }
  });
}

/// Any rank: one run along the last extent for each position of the others.
void copy_general(const Array& from, const Array& to, void* target, RunFunction run) {
  const auto rank = from.shape().size();
  const std::size_t outer = rank == 0 ? 0 : rank - 1;
  std::vector<index_t> at(outer, 0);
  for (;;) {
    index_t source = 0, sink = 0;
    for (std::size_t d = 0; d < outer; ++d) {
      source += at[d] * from.strides()[d];
      sink += at[d] * to.strides()[d];
    }
    run({advance(from.data(), source, from.dtype()), rank == 0 ? 1 : from.strides()[outer],
         advance(target, sink, to.dtype()), rank == 0 ? 1 : to.strides()[outer],
         rank == 0 ? 1 : from.shape()[outer]});
    std::size_t d = outer;
    while (d > 0 && ++at[d - 1] == from.shape()[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

/// A new array of `dtype` in `order` with the elements of `from`.
Array copied(const Array& from, DType dtype, Order order) {
  Array to = make_array(dtype, from.shape(), order);
  if (from.count() == 0) return to;
  const RunFunction run = run_function(dtype, from.dtype());
  if (from.is_contiguous(order)) {
    copy_flat(from, to.writable(), dtype, run);
  } else if (from.rank() == 2) {
    copy_matrix(from, to, to.writable(), run);
  } else {
    copy_general(from, to, to.writable(), run);
  }
  return to;
}

}  // namespace

Array::Array(DType dtype, std::vector<index_t> shape, std::vector<index_t> strides, void* data,
             std::shared_ptr<void> owner)
    : dtype_(dtype),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      data_(data),
      owner_(std::move(owner)) {}

Array Array::read_only(DType dtype, std::vector<index_t> shape, std::vector<index_t> strides,
                       const void* data, std::shared_ptr<void> owner) {
  Array array(dtype, std::move(shape), std::move(strides), const_cast<void*>(data),
              std::move(owner));
  array.writable_ = false;
  return array;
}

index_t Array::count() const {
  index_t count = 1;
  for (const index_t extent : shape_) {
    if (extent == 0) return 0;
  }
  for (const index_t extent : shape_) count *= extent;
  return count;
}

void* Array::writable() const {
  if (!writable_) {
    throw Error(Category::argument, "this array is a mapped input file and cannot be written", {},
                {}, "write into a copy: make_array and convert");
  }
  return data_;
}

bool Array::is_contiguous(Order order) const {
  if (count() == 0) return true;
  const auto gapless = contiguous_strides(shape_, order);
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (shape_[d] != 1 && strides_[d] != gapless[d]) return false;
  }
  return true;
}

void Array::require_matrix(std::string_view what) const {
  if (shape_.size() == 2) return;
  throw Error(Category::shape, cat(what, " is not a matrix"), "two dimensions",
              cat("shape ", shape_text(shape_)),
              shape_.size() == 1 ? "reshape it to (n, 1) for a column or (1, n) for a row"
                                 : "save one two-dimensional slice of it");
}

std::vector<index_t> contiguous_strides(const std::vector<index_t>& shape, Order order) {
  std::vector<index_t> strides(shape.size());
  index_t stride = 1;
  for (std::size_t step = 0; step < shape.size(); ++step) {
    const std::size_t d = order == Order::c ? shape.size() - 1 - step : step;
    strides[d] = stride;
    // Only an array without elements can overflow here, and nothing uses its strides.
    if (__builtin_mul_overflow(stride, std::max<index_t>(shape[d], 1), &stride)) stride = 1;
  }
  return strides;
}

std::string shape_text(const std::vector<index_t>& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    text += (d == 0 ? "" : ", ") + std::to_string(shape[d]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

index_t checked_count(const std::vector<index_t>& shape, int element_bytes, std::string_view what) {
  index_t bytes = element_bytes;
  bool empty = false;
  for (const index_t extent : shape) {
    if (extent < 0) {
      throw Error(Category::shape, cat(what, ": negative extent"), "extents of 0 or more",
                  shape_text(shape));
    }
    empty = empty || extent == 0;
  }
  if (empty) return 0;
  for (const index_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      throw Error(Category::shape, cat(what, ": shape ", shape_text(shape), " is too large"),
                  "at most 2^63 bytes");
    }
  }
  return bytes / element_bytes;
}

Array make_array(DType dtype, std::vector<index_t> shape, Order order) {
  const index_t count = checked_count(shape, size_of(dtype), "array");
  auto owner = io::zeroed_buffer(count * size_of(dtype),
                                 cat("an array ", shape_text(shape), " of ", name(dtype)));
  auto strides = contiguous_strides(shape, order);
  void* data = owner.get();
  return {dtype, std::move(shape), std::move(strides), data, std::move(owner)};
}

Array convert(const Array& array, DType dtype) {
  if (array.dtype() == dtype) return array;
  const bool fortran = !array.is_contiguous(Order::c) && array.is_contiguous(Order::fortran);
  return copied(array, dtype, fortran ? Order::fortran : Order::c);
}

void convert_into(const Array& from, const Array& to) {
  if (from.count() == 0) return;
  const RunFunction run = run_function(to.dtype(), from.dtype());
  if (std::abs(from.col_stride()) <= std::abs(from.row_stride()))
    return copy_matrix(from, to, to.writable(), run);
  copy_matrix(transposed(from), transposed(to), to.writable(), run);
}

Array contiguous(const Array& array, Order order) {
  return array.is_contiguous(order) ? array : copied(array, array.dtype(), order);
}

Array transposed(const Array& matrix) {
  matrix.require_matrix("the array to transpose");
  Array out = matrix;
  out.transpose();
  return out;
}

bool is_finite(const Array& array) {
  if (!is_floating(array.dtype()) || array.count() == 0) return true;
  const Array flat = array.is_contiguous(Order::fortran) ? array : contiguous(array);
  return visit_dtype(flat.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) return true;
    else {
      const auto* data = static_cast<const T*>(flat.data());
      const index_t count = flat.count();
      bool finite = true;
      for (index_t i = 0; i < count; ++i) {
        const double value = static_cast<double>(data[i]);
        finite &= value - value == 0;
      }
      return finite;
    }
  });
}

double element(const Array& matrix, index_t i, index_t j) {
  const void* at =
      advance(matrix.data(), i * matrix.row_stride() + j * matrix.col_stride(), matrix.dtype());
  return visit_dtype(matrix.dtype(), [&](auto tag) {
    return static_cast<double>(*static_cast<const typename decltype(tag)::type*>(at));
  });
}

}  // namespace tessera
