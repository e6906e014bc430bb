// Slices and epilogues: see block_work.hpp.
#include "block_work.hpp"

#include <algorithm>

#include "matmul/packed.hpp"
#include "tessera/core/finish.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::scale {

namespace {

/// Bytes of C that are finished and written at a time.
constexpr index_t kFinished = 1 << 20;

/// True if there is a product with this type of C.
template <class T>
inline constexpr bool kIsProduct =
    std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, f16> ||
    std::is_same_v<T, bf16> || std::is_same_v<T, std::int32_t>;

ConstMatrix viewed(const Array& m) {
  return {m.data(), m.dtype(), m.rows(), m.cols(), m.row_stride(), m.col_stride()};
}

Matrix written(const Array& m) {
  return {m.writable(), m.dtype(), m.rows(), m.cols(), m.row_stride(), m.col_stride()};
}

Array rows_of(const Array& m, index_t first, index_t rows) {
  return {m.dtype(),
          {rows, m.cols()},
          m.strides(),
          static_cast<std::byte*>(m.writable()) + first * m.row_stride() * size_of(m.dtype()),
          nullptr};
}

/// `sums` and `old` into `out`, all of one shape; `old` may be `out`.
void finish_rows(const Plan& plan, const Array& sums, const Matrix& old, const Matrix& out) {
  visit_dtype(out.dtype, [&]<class Out>(TypeTag<Out>) {
    if constexpr (kIsProduct<Out>) {
      using Sum = Accumulator<Out>;
      const EpilogueScalars<Sum> scalars{
          static_cast<Sum>(plan.problem.alpha), static_cast<Sum>(plan.problem.beta), {}};
      parallel_for(out.rows, plan.threads, [&](index_t row) {
        const Sum* const from = static_cast<const Sum*>(sums.data()) + row * sums.row_stride();
        const Out* const before = static_cast<const Out*>(old.data) + row * old.row_stride;
        Out* const to = static_cast<Out*>(out.data) + row * out.row_stride;
        for (index_t j = 0; j < out.cols; ++j)
          to[j * out.col_stride] = convert<Out>(tessera::finish(
              scalars, from[j], [&] { return convert<Sum>(before[j * old.col_stride]); },
              static_cast<const Sum*>(nullptr)));
      });
    }
  });
}

}  // namespace

void read_block(const Source& source, const MatrixBlock& block, const Array& to) {
  if (!source.examine) return source.file->read(block, to);
  source.file->read_pieces(block, [&](const Array& piece, index_t row, index_t col) {
    source.examine(piece);
    const index_t first = (row - block.row) * to.row_stride() + (col - block.col) * to.col_stride();
    convert_into(piece, Array(to.dtype(), piece.shape(), to.strides(),
                              static_cast<std::byte*>(to.writable()) + first * size_of(to.dtype()),
                              nullptr));
  });
}

void multiply_slice(const Plan& plan, const Array& A, const Array& B, const Array& sums,
                    Begin begin) {
  const Matrix C = written(sums);
  const ConstMatrix a = viewed(A), b = viewed(B);
  Plan part = plan;
  // A kernel of the ladder adds its whole sum to the earlier one, which is exact in integers.
  part.problem = make_problem(a, b, C, 1, begin == Begin::with_sums ? 1 : 0);
  if (find_algorithm(part.algorithm).name != "packed") return tessera::run(part, a, b, C);
  part.problem.beta = 0;
  if (begin == Begin::at_zero) {
    const auto bytes = static_cast<std::size_t>(C.cols * size_of(C.dtype));
    for (index_t i = 0; i < C.rows; ++i)
      std::fill_n(static_cast<std::byte*>(rows_of(sums, i, 1).writable()), bytes, std::byte{0});
  }
  if (a.cols > 0) detail::go_on(part.problem, a.data, b.data, C.data, part.threads);
}

void finish_block(const Plan& plan, const Types& types, const Source& c0, const Array& sums,
                  index_t row, index_t col, const Write& write) {
  const double beta = plan.problem.beta;
  if (types.sum == types.out && plan.problem.alpha == 1 && beta == 0) return write(sums, row, col);
  const index_t rows = sums.rows(), cols = sums.cols();
  const index_t high =
      std::clamp<index_t>(kFinished / (cols * size_of(types.out)), 1, std::max<index_t>(1, rows));
  const Array old = make_array(types.out, {beta != 0 ? high : 0, cols});
  const Array out = make_array(types.out, {high, cols});
  for (index_t i = 0; i < rows; i += high) {
    const index_t now = std::min(high, rows - i);
    if (beta != 0) read_block(c0, {row + i, col, now, cols}, rows_of(old, 0, now));
    finish_rows(plan, rows_of(sums, i, now), written(old), written(rows_of(out, 0, now)));
    write(rows_of(out, 0, now), row + i, col);
  }
}

void finish_in_place(const Plan& plan, const Array& sums, const Matrix& C) {
  finish_rows(plan, sums, C, C);
}

}  // namespace tessera::scale
