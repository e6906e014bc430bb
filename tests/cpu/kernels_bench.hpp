// Micro-tiles between guard pages, and the chains that they must compute.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cpu/multiply.hpp"
#include "cpu/tables.hpp"
#include "kernels.hpp"
#include "support/guard_pages.hpp"

namespace tessera::testing {

using cpu::FinishRow;
using cpu::MicroTile;

inline constexpr int kRows = 16, kCols = 64;  // the most of the axpy form, and of a micro-tile

/// (16,K) times (K,64) as chains from zero and from given sums; smaller micro-tiles are its corner.
template <class T>
struct Chains {
  index_t K;
  std::vector<T> a, b;                                  ///< (16,K), (K,64), row-major
  std::array<T, kRows * kCols> from, zero_up, resumed;  ///< (16,64): given sums, results

  explicit Chains(index_t depth)
      : K(depth), a(random(kRows * depth, 1)), b(random(depth * kCols, 2)) {
    const auto start = random(kRows * kCols, 3);
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kCols; ++c) {
        const auto at = static_cast<std::size_t>(r * kCols + c);
        from[at] = start[at];
        zero_up[at] = T{0}, resumed[at] = start[at];
        for (index_t k = 0; k < K; ++k) {
          zero_up[at] = std::fma(A(r, k), B(k, c), zero_up[at]);
          resumed[at] = std::fma(A(r, k), B(k, c), resumed[at]);
        }
      }
    }
  }
  T A(int r, index_t k) const { return a[static_cast<std::size_t>(r * K + k)]; }
  T B(index_t k, int c) const { return b[static_cast<std::size_t>(k * kCols + c)]; }

 private:
  static std::vector<T> random(index_t count, std::uint64_t seed) {
    RandomData data(seed);
    std::vector<T> out(static_cast<std::size_t>(count));
    for (T& x : out) x = static_cast<T>(data(0, 0));
    return out;
  }
};

/// Where a call's operands are, and what it must leave.
template <class T>
class Bench {
 public:
  explicit Bench(const Chains<T>& chains)
      : chains_(chains),
        a_(kRows * (chains.K + 4) * 2),
        b_(chains.K * 80 + 400),
        c_(kRows * 80),
        to_(kRows * 80),
        copy_(chains.K * kCols + 1) {}

  struct Tile {
    int rows, vectors, lanes, cols;
    bool resume, stream;
    index_t ahead = 0;  ///< prefetch_k: for sweeps along columns bytes, for strips 0 or not
    const FinishRow<T>* finish = nullptr;
  };

  /// The layout of B: rows of columns side by side, or columns of elements side by side.
  enum class Lie : bool { rows, columns };

  /// Calls a `fused_packing` entry, which prefetches some rows of B too.
  std::string call_fused_packing(void (*micro)(const MicroTile<T, T>&), const Tile& tile,
                                 index_t a_row, index_t a_k, int b_width, index_t b_step) {
    const index_t K = chains_.K;
    copy_to_ = copy_.place(K * b_width, Against::page_behind);
    for (index_t i = 0; i < K * b_width; ++i) copy_to_[i] = kUntouched;
    std::string wrong = call(micro, tile, a_row, a_k, b_width, b_step);
    for (index_t k = 0; k < K && wrong.empty(); ++k) {
      for (int c = 0; c < tile.cols; ++c) {
        if (!same(copy_to_[k * b_width + c], chains_.B(k, c)))
          wrong = cat("copy (", k, ",", c, ") is ", copy_to_[k * b_width + c]);
      }
    }
    copy_to_ = nullptr;
    return wrong;
  }

  /// Calls `micro` on A with these strides and on `b_width` columns of B, whose rows (or columns)
  /// are `b_step` apart; "" or what is wrong.
  std::string call(void (*micro)(const MicroTile<T, T>&), const Tile& tile, index_t a_row,
                   index_t a_k, int b_width, index_t b_step, Lie lie = Lie::rows) {
    const index_t K = chains_.K;
    // A: its lowest element is at the front of the span; it ends at the page behind.
    const index_t down = (tile.rows - 1) * a_row, along = (K - 1) * a_k;
    const index_t low = std::min<index_t>(0, down) + std::min<index_t>(0, along);
    const index_t span = std::abs(down) + std::abs(along) + 1;
    T* a = a_.place(K == 0 ? 0 : span, Against::page_behind) - (K == 0 ? 0 : low);
    for (int r = 0; r < tile.rows; ++r) {
      for (index_t k = 0; k < K; ++k) a[r * a_row + k * a_k] = chains_.A(r, k);
    }
    const index_t b_k = lie == Lie::rows ? b_step : 1, b_col = lie == Lie::rows ? 1 : b_step;
    T* b = b_.place(K == 0 ? 0 : (K - 1) * b_k + (b_width - 1) * b_col + 1, Against::page_behind);
    for (index_t k = 0; k < K; ++k) {
      // Columns that do not exist: anything.
      for (int c = 0; c < b_width; ++c)
        b[k * b_k + c * b_col] = c < tile.cols ? chains_.B(k, c) : T{99};
    }
    const index_t c_row = tile.stream ? tile.lanes * tile.vectors : 69;
    const index_t size = (tile.rows - 1) * c_row + tile.cols;
    T* c = c_.place(size, Against::page_behind);
    for (index_t i = 0; i < size; ++i) c[i] = kUntouched;
    for (int r = 0; r < tile.rows; ++r) {
      for (int j = 0; j < tile.cols; ++j) {
        if (tile.resume) c[r * c_row + j] = chains_.from[at(r, j)];
      }
    }
    MicroTile<T, T> it{K, a,     a_row,     a_k, b,           b_step,
                       c, c_row, tile.cols, c,   tile.resume, tile.stream};
    it.copy = copy_to_, it.copy_k = b_width, it.prefetch_k = tile.ahead;
    if (K >= 16) {  // anything may be prefetched
      it.prefetch_a = reinterpret_cast<const char*>(a), it.prefetch_times = K / 16;
      it.prefetch_a_bytes = K * static_cast<index_t>(sizeof(T)) / 2;
    }
    if (copy_to_ != nullptr && K >= 4) {
      it.prefetch = reinterpret_cast<const char*>(b), it.prefetch_times = K / (2 + tile.rows % 3);
      it.prefetch_k = b_step * static_cast<index_t>(sizeof(T));
    }
    const auto& sums = tile.resume ? chains_.resumed : chains_.zero_up;
    if (tile.finish != nullptr) return call_finishing(micro, it, tile, sums);
    micro(it);
    return difference(c, c_row, tile, [&](int r, int j) { return sums[at(r, j)]; });
  }

 private:
  static constexpr T kUntouched = T(-77);

  /// The epilogue into another C than the sums were taken up from.
  template <class Sums>
  std::string call_finishing(void (*micro)(const MicroTile<T, T>&), MicroTile<T, T>& it,
                             const Tile& tile, const Sums& sums) {
    const FinishRow<T>& how = *tile.finish;
    const index_t to_row = tile.stream ? tile.lanes * tile.vectors : 66;
    const index_t size = (tile.rows - 1) * to_row + tile.cols;
    T* to = to_.place(size, Against::page_behind);
    const auto old = [&](int r, int j) { return T(0.25) * static_cast<T>(r - j); };
    for (index_t i = 0; i < size; ++i) {
      const int r = static_cast<int>(i / to_row), j = static_cast<int>(i % to_row);
      to[i] = j >= tile.cols ? kUntouched : how.beta == T{0} ? T(NAN) : old(r, j);
    }
    it.finish = &how, it.to = to, it.to_row = to_row;
    micro(it);
    return difference(to, to_row, tile, [&](int r, int j) {
      const T* bias = how.row_bias != nullptr      ? how.row_bias + r
                      : how.column_bias != nullptr ? how.column_bias + j
                                                   : nullptr;
      return finish(
          EpilogueScalars<T>{how.alpha, how.beta, {}}, sums[at(r, j)], [&] { return old(r, j); },
          bias);
    });
  }
  /// Compares a micro-tile's C, with the elements between its rows, to what it should be.
  template <class Want>
  std::string difference(const T* c, index_t c_row, const Tile& tile, const Want& want) const {
    for (index_t i = 0; i < (tile.rows - 1) * c_row + tile.cols; ++i) {
      const int r = static_cast<int>(i / c_row), j = static_cast<int>(i % c_row);
      const T expected = j < tile.cols ? want(r, j) : kUntouched;
      if (!same(c[i], expected)) return cat("(", r, ",", j, ") is ", c[i], ", not ", expected);
    }
    return "";
  }

  static std::size_t at(int r, int j) { return static_cast<std::size_t>(r * kCols + j); }
  const Chains<T>& chains_;
  BetweenPages<T> a_, b_, c_, to_, copy_;
  T* copy_to_ = nullptr;
};

}  // namespace tessera::testing
