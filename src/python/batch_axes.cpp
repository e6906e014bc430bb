// Fewest steps for many products: see batch_axes.hpp.
#include "batch_axes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tessera::python {

namespace {

using Wide = __int128;
using Modes = std::vector<std::pair<index_t, index_t>>;  // extent, stride

/// The bytes that the elements of one operand lie in.
struct Range {
  Wide low, high;
};
Range range_of(const void* data, DType dtype, const Modes& modes) {
  const Wide bytes = size_of(dtype);
  Range out{reinterpret_cast<std::intptr_t>(data), reinterpret_cast<std::intptr_t>(data) + bytes};
  for (const auto& [extent, stride] : modes) {
    const Wide far = Wide{extent - 1} * stride * bytes;
    (far < 0 ? out.low : out.high) += far;
  }
  return out;
}

/// Is each stride at least what the shorter ones reach together? Then every element has its own
/// place.
bool is_nested(Modes modes) {
  std::erase_if(modes, [](const auto& mode) { return mode.first == 1; });
  for (auto& [extent, stride] : modes) stride = std::abs(stride);
  std::sort(modes.begin(), modes.end(),
            [](const auto& x, const auto& y) { return x.second < y.second; });
  Wide reached = 1;
  for (const auto& [extent, stride] : modes) {
    if (stride < reached) return false;
    reached += Wide{extent - 1} * stride;
  }
  return true;
}

bool in_step(index_t outer, const BatchAxis& inner, index_t inner_step) {
  return outer == inner.count * inner_step;
}

}  // namespace

bool ranges_meet(const void* a, const Modes& a_modes, const void* b, const Modes& b_modes,
                 DType dtype) {
  const Range x = range_of(a, dtype, a_modes), y = range_of(b, dtype, b_modes);
  return x.low < y.high && y.low < x.high;
}

index_t Products::count() const {
  index_t out = 1;
  for (const BatchAxis& axis : axes) out *= axis.count;
  return out;
}

void Products::simplify(bool keep_rows) {
  std::vector<BatchAxis> kept;
  for (const BatchAxis& axis : axes) {
    if (axis.count == 1) continue;
    if (!kept.empty() && in_step(kept.back().a, axis, axis.a) &&
        in_step(kept.back().b, axis, axis.b) && in_step(kept.back().c, axis, axis.c)) {
      kept.back() = {kept.back().count * axis.count, axis.a, axis.b, axis.c};
    } else {
      kept.push_back(axis);
    }
  }
  axes = std::move(kept);
  if (axes.empty() || keep_rows || axes.back().b != 0) return;
  const BatchAxis rows = axes.back();
  const bool one = C.rows == 1;
  if (!one && (rows.a != A.rows * A.row_stride || rows.c != C.rows * C.row_stride)) return;
  if (one) A.row_stride = rows.a, C.row_stride = rows.c;
  A.rows *= rows.count;
  C.rows *= rows.count;
  axes.pop_back();
}

bool Products::may_overlap() const {
  if (axes.empty() || C.rows == 0 || C.cols == 0 || count() == 0) return false;
  Modes a{{A.rows, A.row_stride}, {A.cols, A.col_stride}};
  Modes b{{B.rows, B.row_stride}, {B.cols, B.col_stride}};
  Modes c{{C.rows, C.row_stride}, {C.cols, C.col_stride}};
  for (const BatchAxis& axis : axes) {
    a.emplace_back(axis.count, axis.a);
    b.emplace_back(axis.count, axis.b);
    c.emplace_back(axis.count, axis.c);
  }
  if (!is_nested(c)) return true;
  if (A.cols == 0) return false;
  const Range out = range_of(C.data, C.dtype, c);
  const Range left = range_of(A.data, A.dtype, a), right = range_of(B.data, B.dtype, b);
  return (left.low < out.high && out.low < left.high) ||
         (right.low < out.high && out.low < right.high);
}

}  // namespace tessera::python
