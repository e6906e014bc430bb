// Merges the axes of a batch: see batch_axes.hpp.
#include "batch_axes.hpp"

#include <utility>

#include "base/overlap.hpp"

namespace tessera::python {

namespace {

/// The bytes of one operand of all products; `step` is its distance from one to the next.
struct Bytes {
  const void* first;
  index_t size;
  std::vector<ByteMode> modes;

  Bytes(const ConstMatrix& m, const std::vector<BatchAxis>& axes, index_t BatchAxis::*step)
      : first(m.data), size(size_of(m.dtype)) {
    modes = {{m.rows, m.row_stride * size}, {m.cols, m.col_stride * size}};
    for (const BatchAxis& axis : axes) modes.push_back({axis.count, axis.*step * size});
  }
  operator StridedBytes() const { return {first, size, modes}; }
};

bool in_step(index_t outer, const BatchAxis& inner, index_t inner_step) {
  return outer == inner.count * inner_step;
}

}  // namespace

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
  const Bytes out(C, axes, &BatchAxis::c);
  if (may_overlap_itself(out)) return true;
  return A.cols > 0 && (tessera::may_overlap(Bytes(A, axes, &BatchAxis::a), out) ||
                        tessera::may_overlap(Bytes(B, axes, &BatchAxis::b), out));
}

}  // namespace tessera::python
