// Element by element: see conversion.hpp.
#include "conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "tessera/core/parallel.hpp"

namespace tessera::product {

namespace {

enum class Fate { exact, rounded, fraction, beyond, not_a_number };

constexpr std::string_view kReasons[] = {"", "", "a fraction", "beyond its range",
                                         "which no integer can represent"};

template <class To, class From>
Fate fate_of(From from) {
  // 64-bit integers need more than the 53 bits of f64 to be compared exactly.
  constexpr bool wide_integer = std::is_integral_v<From> && sizeof(From) == 8;
  using Exact = std::conditional_t<wide_integer, long double, double>;
  const auto value = static_cast<Exact>(from);
  if constexpr (std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(value)) return Fate::not_a_number;
    if (value < static_cast<Exact>(Limits::min()) || value > static_cast<Exact>(Limits::max()))
      return Fate::beyond;
    return value == std::trunc(value) ? Fate::exact : Fate::fraction;
  } else {
    const auto back = static_cast<Exact>(static_cast<double>(convert<To>(from)));
    if (std::isinf(back) && !std::isinf(value)) return Fate::beyond;
    return back == value || std::isnan(value) ? Fate::exact : Fate::rounded;
  }
}

/// A run of elements in memory order: `step` positions of the matrix, `stride` elements apart.
struct Line {
  const void* data;
  index_t count, stride;
  index_t first, step;  ///< positions count row by row
};

struct Tally {
  index_t rounded = 0, lost = 0;
  index_t first = std::numeric_limits<index_t>::max();
  Fate fate = Fate::exact;
  double value = 0;
};

template <class To, class From>
void examine_line(const Line& line, Tally& tally) {
  const auto* data = static_cast<const From*>(line.data);
  for (index_t i = 0; i < line.count; ++i) {
    const From element = data[i * line.stride];
    const Fate fate = fate_of<To>(element);
    if (fate == Fate::exact) continue;
    if (fate == Fate::rounded) {
      ++tally.rounded;
      continue;
    }
    ++tally.lost;
    const index_t position = line.first + i * line.step;
    if (position >= tally.first) continue;
    tally.first = position, tally.fate = fate, tally.value = static_cast<double>(element);
  }
}

using Examine = void (*)(const Line&, Tally&);

template <class To>
Examine examine_into(DType from) {
  return visit_dtype(from,
                     []<class From>(TypeTag<From>) -> Examine { return &examine_line<To, From>; });
}

/// `to` must be a product type: see require_product.
Examine examine_function(DType from, DType to) {
  switch (to) {
    case DType::f64: return examine_into<double>(from);
    case DType::f32: return examine_into<float>(from);
    case DType::f16: return examine_into<f16>(from);
    case DType::bf16: return examine_into<bf16>(from);
    default: return examine_into<std::int32_t>(from);
  }
}

}  // namespace

Conversion examine_conversion(const Array& matrix, DType to) {
  const Examine examine = examine_function(matrix.dtype(), to);
  const index_t rows = matrix.rows(), cols = matrix.cols();
  const bool by_rows = std::abs(matrix.col_stride()) <= std::abs(matrix.row_stride());
  const index_t lines = by_rows ? rows : cols, size = size_of(matrix.dtype());
  const index_t piece =
      std::max<index_t>(1, (1 << 16) / std::max<index_t>(1, by_rows ? cols : rows));
  Tally all;
  std::mutex mutex;
  parallel_for((lines + piece - 1) / piece, matrix.count() < (1 << 18) ? 1 : 0, [&](index_t p) {
    Tally tally;
    for (index_t i = p * piece; i < std::min(lines, (p + 1) * piece); ++i) {
      const index_t offset = i * (by_rows ? matrix.row_stride() : matrix.col_stride());
      const void* start = static_cast<const std::byte*>(matrix.data()) + offset * size;
      examine(by_rows ? Line{start, cols, matrix.col_stride(), i * cols, 1}
                      : Line{start, rows, matrix.row_stride(), i, cols},
              tally);
    }
    const std::lock_guard lock(mutex);
    all.rounded += tally.rounded, all.lost += tally.lost;
    if (tally.first < all.first)
      all.first = tally.first, all.fate = tally.fate, all.value = tally.value;
  });
  if (all.lost == 0) return {.rounded = all.rounded};
  return {all.rounded,      all.lost,  all.first / cols,
          all.first % cols, all.value, kReasons[static_cast<int>(all.fate)]};
}

void require_lossless(const Conversion& found, index_t count, DType to, DType natural,
                      const std::string& what) {
  if (found.lost == 0) return;
  throw Error(
      Category::type,
      fmt::format("{}: {} of {} elements {} not fit into {}, first ({},{}) = {}, {}", what,
                  found.lost, count, found.lost == 1 ? "does" : "do", name(to), found.row,
                  found.col, found.value, found.reason),
      {}, {},
      cat("omit --dtype to multiply in ", name(natural), ", or round and clip the file first"));
}

}  // namespace tessera::product
