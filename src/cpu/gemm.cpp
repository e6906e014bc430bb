#include "tessera/cpu/gemm.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "blocking.hpp"
#include "kernels.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"
#include "workspace.hpp"

namespace tessera::cpu {

namespace {

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

/// Largest micro-tile of any instruction set.
constexpr int kMostRows = 8, kMostColumns = 48;

/// Rows and columns of C that are worked on at a time: bounds the memory for packed panels.
constexpr index_t kSuperblock = 4096;

/// Multiply-adds of whole vectors that one core does in a microsecond, roughly: 3 to 9 thousand.
constexpr double kVectorsPerMicrosecond = 4000;

/// Products up to this size in each extent run at once, on the caller alone. A multiple of all
/// lanes.
constexpr index_t kTiny = 48;

/// The epilogue of a micro-tile of finished sums at (i, j) of C.
template <class T>
void finish_tile(const Gemm<T>& call, const Kernels<T>& kernels, const T* sums, index_t sums_row,
                 index_t i, index_t j, int rows, int cols) {
  T* c = call.C + i * call.c_row + j * call.c_col;
  const T* row_bias = call.row_bias == nullptr ? nullptr : call.row_bias + i;
  const T* column_bias = call.column_bias == nullptr ? nullptr : call.column_bias + j;
  const bool linear = call.activation == Activation::none || call.activation == Activation::relu;
  if (linear && call.c_col == 1) {
    kernels.finish(
        sums, sums_row, rows, cols, c, call.c_row,
        {call.alpha, call.beta, row_bias, column_bias, call.activation == Activation::relu});
    return;
  }
  const EpilogueScalars<T> scalars{call.alpha, call.beta, call.activation};
  for (int r = 0; r < rows; ++r) {
    for (int n = 0; n < cols; ++n) {
      T& target = c[r * call.c_row + n * call.c_col];
      const T* bias = row_bias != nullptr      ? row_bias + r
                      : column_bias != nullptr ? column_bias + n
                                               : nullptr;
      target = finish(
          scalars, sums[r * sums_row + n], [&] { return target; }, bias);
    }
  }
}

/// C is nothing but the sums, side by side: microkernels store straight to it.
template <class T>
bool is_plain(const Gemm<T>& call) {
  return call.c_col == 1 && call.alpha == T{1} && call.beta == T{0} && call.row_bias == nullptr &&
         call.column_bias == nullptr && call.activation == Activation::none;
}

/// A product while it runs. One superblock of C at a time; within it, slabs of kc along K; within a
/// slab, jobs of mc x nc elements of C, which threads take one by one. A slab begins when all jobs
/// of the one before are done, because its sums go on from theirs.
template <class T>
class Product {
 public:
  explicit Product(const Gemm<T>& call)
      : call_(call),
        kernels_(kernels<T>()),
        blocks_(block(std::min(call.M, kSuperblock), std::min(call.N, kSuperblock), call.K,
                      kernels_.rows, kernels_.lanes, kernels_.vectors, sizeof(T), call.threads)),
        slabs_(ceil_div(call.K, blocks_.kc)),
        plain_(is_plain(call)) {
    // A panel is read once for each panel of B; copying it repays when there are several, or when
    // its rows lie so that they crowd each other out of L1.
    const index_t rows = std::min(call.M, kSuperblock), cols = std::min(call.N, kSuperblock);
    const bool a_crowds = call.a_col != 1 || call.a_row * sizeof(T) % 1024 == 0;
    pack_a_ = !(rows <= kernels_.rows || cols <= 2 * blocks_.nr ||
                (cols * static_cast<index_t>(sizeof(T)) <= 1024 && !a_crowds));
    const bool b_fits =
        blocks_.kc * call.b_row * static_cast<index_t>(sizeof(T)) <= caches().l2 / 4;
    pack_b_ = call.b_col != 1 || !(rows <= 2 * kernels_.rows || b_fits);
    share_a_ = pack_a_ && cols > blocks_.nc;
    sums_in_c_ = call.c_col == 1 && call.beta == T{0};
  }

  /// False where there is no memory for packing.
  bool run() {
    const index_t rows = std::min(call_.M, kSuperblock), cols = std::min(call_.N, kSuperblock);
    const index_t a_panels = ceil_div(rows, kernels_.rows);
    const index_t a_panel = blocks_.kc * kernels_.rows;
    const std::size_t a_slab = share_a_ ? static_cast<std::size_t>(a_panels * a_panel) : 0;
    const std::size_t a_own = pack_a_ ? static_cast<std::size_t>(a_panel) : 0;
    const std::size_t b_own = pack_b_ ? static_cast<std::size_t>(blocks_.kc * blocks_.nc) : 0;
    const bool keep_sums = slabs_ > 1 && !sums_in_c_;
    const std::size_t kept = keep_sums ? static_cast<std::size_t>(rows * cols) : 0;
    const auto bytes = [](std::size_t elements) {
      return Workspace::rounded(elements * sizeof(T));
    };
    const std::size_t states = share_a_ ? static_cast<std::size_t>(a_panels) : 0;
    const std::size_t total =
        bytes(a_slab) + bytes(kept) +
        Workspace::rounded(states * sizeof(std::atomic<std::uint32_t>)) +
        static_cast<std::size_t>(call_.threads) * (bytes(a_own) + bytes(b_own));
    if (total == 0) return run_superblocks();
    Workspace workspace(total);
    if (!workspace) return false;
    a_slab_ = workspace.take<T>(a_slab);
    sums_ = workspace.take<T>(kept);
    states_ = workspace.take<std::atomic<std::uint32_t>>(states);
    for (std::size_t i = 0; i < states; ++i) states_[i].store(0, std::memory_order_relaxed);
    own_step_ = static_cast<index_t>((bytes(a_own) + bytes(b_own)) / sizeof(T));
    a_own_ = workspace.take<T>(0);
    b_own_ = a_own_ + bytes(a_own) / sizeof(T);
    return run_superblocks();
  }

 private:
  bool run_superblocks() {
    for (i0_ = 0; i0_ < call_.M; i0_ += kSuperblock) {
      for (j0_ = 0; j0_ < call_.N; j0_ += kSuperblock) {
        rows_ = std::min(kSuperblock, call_.M - i0_);
        cols_ = std::min(kSuperblock, call_.N - j0_);
        down_ = ceil_div(rows_, blocks_.mc), across_ = ceil_div(cols_, blocks_.nc);
        jobs_ = down_ * across_;
        next_.store(0, std::memory_order_relaxed);
        done_.store(0, std::memory_order_relaxed);
        const double us = static_cast<double>(rows_) * static_cast<double>(cols_) *
                          static_cast<double>(call_.K) / kernels_.lanes / kVectorsPerMicrosecond;
        run_team(static_cast<int>(std::min<index_t>(call_.threads, jobs_)), us,
                 [this](int worker) { work(worker); });
        ++superblocks_done_;
      }
    }
    return true;
  }

  /// Takes jobs until there are none.
  void work(int worker) {
    for (index_t at; (at = next_.fetch_add(1, std::memory_order_relaxed)) < jobs_ * slabs_;) {
      const index_t slab = at / jobs_, job = at % jobs_;
      wait_for_team([&] { return done_.load(std::memory_order_acquire) >= slab * jobs_; });
      run_job(worker, slab, job / down_, job % down_);
      done_.fetch_add(1, std::memory_order_release);
    }
  }

  /// One job: a slab of K, mc rows and nc columns of the superblock.
  void run_job(int worker, index_t slab, index_t job_j, index_t job_i) {
    const index_t k0 = slab * blocks_.kc, k = std::min(blocks_.kc, call_.K - k0);
    const index_t j_begin = job_j * blocks_.nc, j_end = std::min(cols_, j_begin + blocks_.nc);
    const index_t i_begin = job_i * blocks_.mc, i_end = std::min(rows_, i_begin + blocks_.mc);
    const int mr = kernels_.rows, nr = blocks_.nr;
    const T* b = call_.B + k0 * call_.b_row + (j0_ + j_begin) * call_.b_col;
    index_t b_step = nr * call_.b_col;  // from panel to panel
    if (pack_b_) {
      T* own = b_own_ + worker * own_step_;
      kernels_.pack(own, nr, b, j_end - j_begin, k, call_.b_col, call_.b_row);
      b = own;
      b_step = nr * k;
    }
    alignas(64) T temporary[kMostRows * kMostColumns];
    const bool in_place = sums_in_c_ || slabs_ > 1;  // else one micro-tile after the other
    T* const sums = sums_in_c_ ? call_.C + i0_ * call_.c_row + j0_ : slabs_ > 1 ? sums_ : temporary;
    MicroTile<T> micro;
    micro.K = k;
    micro.a_row = pack_a_ ? 1 : call_.a_row;
    micro.a_k = pack_a_ ? mr : call_.a_col;
    micro.b_k = pack_b_ ? nr : call_.b_row;
    micro.c_row = sums_in_c_ ? call_.c_row : slabs_ > 1 ? cols_ : kMostColumns;
    micro.resume = slab > 0;
    micro.stream = false;
    const bool finish = slab + 1 == slabs_ && !plain_;
    for (index_t i = i_begin; i < i_end; i += mr) {
      const int rows = static_cast<int>(std::min<index_t>(mr, i_end - i));
      micro.a = panel_of_a(worker, slab, i, rows, k0, k);
      micro.b = b;
      for (index_t j = j_begin; j < j_end; j += nr, micro.b += b_step) {
        micro.cols = static_cast<int>(std::min<index_t>(nr, j_end - j));
        micro.c = in_place ? sums + i * micro.c_row + j : sums;
        micro.next_c = !in_place        ? sums
                       : j + nr < j_end ? micro.c + nr
                                        : sums + (i + mr) * micro.c_row + j_begin;
        const int vectors = (micro.cols + kernels_.lanes - 1) / kernels_.lanes;
        const auto& table = !pack_b_ && micro.cols % kernels_.lanes != 0 ? kernels_.edge
                            : pack_a_                                    ? kernels_.packed
                                                                         : kernels_.direct;
        fetch_next_a(slab, i + mr, i_end, k0, k, j - j_begin, j_end - j_begin);
        table[rows - 1][vectors - 1](micro);
        if (finish)
          finish_tile(call_, kernels_, micro.c, micro.c_row, i0_ + i, j0_ + j, rows, micro.cols);
      }
    }
  }

  /// Fetches a part of the next panel of A into the cache, while micro-tile j of `columns` columns
  /// is multiplied: the same share of the panel as that tile has of the columns.
  void fetch_next_a(index_t slab, index_t i, index_t i_end, index_t k0, index_t k, index_t j,
                    index_t columns) const {
    if (!pack_a_ || i + kernels_.rows > i_end || columns <= blocks_.nr) return;
    constexpr index_t line = 64 / sizeof(T);
    const auto fetch = [&](const T* from, index_t count) {
      const index_t share = (count * blocks_.nr / columns + line) / line * line;
      const index_t begin = j / blocks_.nr * share;
      for (index_t at = begin; at < std::min(count, begin + share); at += line)
        __builtin_prefetch(from + at);
    };
    if (share_a_ && states_[i / kernels_.rows].load(std::memory_order_relaxed) == turn(slab)) {
      fetch(a_slab_ + i * blocks_.kc, k * kernels_.rows);
    } else if (call_.a_col == 1) {
      const T* from = call_.A + (i0_ + i) * call_.a_row + k0;
      for (int r = 0; r < kernels_.rows; ++r) fetch(from + r * call_.a_row, k);
    }
  }

  /// The state of a shared panel that is packed for a slab of this superblock; one less: being
  /// packed.
  std::uint32_t turn(index_t slab) const {
    return static_cast<std::uint32_t>(2 * (superblocks_done_ * slabs_ + slab + 1));
  }

  /// The panel of A at row i, packed or as it lies. Packed panels of a slab are shared: whoever
  /// needs one first packs it; who comes while that goes on packs one for himself.
  const T* panel_of_a(int worker, index_t slab, index_t i, int mr, index_t k0, index_t k) {
    const T* from = call_.A + (i0_ + i) * call_.a_row + k0 * call_.a_col;
    if (!pack_a_) return from;
    const auto pack = [&](T* to) {
      kernels_.pack(to, kernels_.rows, from, mr, k, call_.a_row, call_.a_col);
      return to;
    };
    T* own = a_own_ + worker * own_step_;
    if (!share_a_) return pack(own);
    const index_t panel = i / kernels_.rows;
    T* shared = a_slab_ + panel * blocks_.kc * kernels_.rows;
    const std::uint32_t packed = turn(slab);
    auto& state = states_[panel];
    std::uint32_t seen = state.load(std::memory_order_acquire);
    if (seen == packed) return shared;
    if (seen < packed - 1 && state.compare_exchange_strong(seen, packed - 1)) {
      pack(shared);
      state.store(packed, std::memory_order_release);
      return shared;
    }
    return seen == packed ? shared : pack(own);
  }

  const Gemm<T>& call_;
  const Kernels<T>& kernels_;
  const Blocking blocks_;
  const index_t slabs_;
  const bool plain_;  ///< C = the sums, side by side: microkernels store straight to it
  bool pack_a_, pack_b_, share_a_;
  bool sums_in_c_;                                ///< C itself holds the sums between slabs
  T* a_slab_ = nullptr;                           // packed A of one slab, shared
  std::atomic<std::uint32_t>* states_ = nullptr;  // of its panels
  T* sums_ = nullptr;                             // sums between slabs, where C cannot hold them
  T *a_own_ = nullptr, *b_own_ = nullptr;         // each worker's own panels
  index_t own_step_ = 0;
  index_t i0_ = 0, j0_ = 0, rows_ = 0, cols_ = 0;  // the superblock
  index_t down_ = 0, across_ = 0, jobs_ = 0, superblocks_done_ = 0;
  alignas(64) std::atomic<index_t> next_{0};
  alignas(64) std::atomic<index_t> done_{0};
};

/// C = finish(0): K = 0, or alpha = 0.
template <class T>
void finish_zeros(const Gemm<T>& call) {
  const Kernels<T>& k = kernels<T>();
  alignas(64) static const T zeros[kMostRows * kMostColumns] = {};
  for (index_t i = 0; i < call.M; i += kMostRows) {
    for (index_t j = 0; j < call.N; j += kMostColumns) {
      finish_tile(call, k, zeros, kMostColumns, i, j,
                  static_cast<int>(std::min<index_t>(kMostRows, call.M - i)),
                  static_cast<int>(std::min<index_t>(kMostColumns, call.N - j)));
    }
  }
}

/// A small product: no jobs, no shared state. B has its columns side by side, b_k apart along k.
template <class T>
void gemm_small(const Gemm<T>& call, const Kernels<T>& kernels, const T* B, index_t b_k) {
  const int nr_most = kernels.nr();
  const index_t parts = (call.N + nr_most - 1) / nr_most;
  const int nr = parts == 1 ? nr_most
                            : static_cast<int>((call.N + parts * kernels.lanes - 1) /
                                               (parts * kernels.lanes) * kernels.lanes);
  const bool plain = is_plain(call);
  const bool in_place = call.beta == T{0} && call.c_col == 1;
  alignas(64) T sums[kMostRows * kMostColumns];
  MicroTile<T> micro{call.K, nullptr,      call.a_row, call.a_col, nullptr, b_k,
                     sums,   kMostColumns, 0,          sums,       false,   false};
  if (in_place) micro.c_row = call.c_row;
  for (index_t j = 0; j < call.N; j += nr) {
    micro.cols = static_cast<int>(std::min<index_t>(nr, call.N - j));
    micro.b = B + j;
    const int vectors = (micro.cols + kernels.lanes - 1) / kernels.lanes;
    const auto& table = micro.cols % kernels.lanes == 0 ? kernels.direct : kernels.edge;
    for (index_t i = 0; i < call.M; i += kernels.rows) {
      const int rows = static_cast<int>(std::min<index_t>(kernels.rows, call.M - i));
      micro.a = call.A + i * call.a_row;
      if (in_place) micro.c = call.C + i * call.c_row + j;
      table[rows - 1][vectors - 1](micro);
      if (!plain) finish_tile(call, kernels, micro.c, micro.c_row, i, j, rows, micro.cols);
    }
  }
}

/// Without any memory but 24 KiB of stack: B is packed anew for every micro-tile.
template <class T>
void gemm_without_memory(const Gemm<T>& call) {
  const Kernels<T>& kernels = cpu::kernels<T>();
  constexpr index_t kc = 48;
  alignas(64) T panel[kc * kMostColumns], sums[kMostRows * kMostColumns];
  for (index_t i = 0; i < call.M; i += kernels.rows) {
    const int rows = static_cast<int>(std::min<index_t>(kernels.rows, call.M - i));
    for (index_t j = 0; j < call.N; j += kernels.nr()) {
      const int cols = static_cast<int>(std::min<index_t>(kernels.nr(), call.N - j));
      const int vectors = (cols + kernels.lanes - 1) / kernels.lanes;
      for (index_t k = 0; k < call.K; k += kc) {
        const index_t depth = std::min(kc, call.K - k);
        kernels.pack(panel, kernels.nr(), call.B + k * call.b_row + j * call.b_col, cols, depth,
                     call.b_col, call.b_row);
        kernels.direct[rows - 1][vectors - 1]({depth, call.A + i * call.a_row + k * call.a_col,
                                               call.a_row, call.a_col, panel, kernels.nr(), sums,
                                               kMostColumns, cols, sums, k > 0, false});
      }
      finish_tile(call, kernels, sums, kMostColumns, i, j, rows, cols);
    }
  }
}

/// The same product with C transposed: C' = B' A'.
template <class T>
Gemm<T> swapped(Gemm<T> call) {
  std::swap(call.M, call.N);
  std::swap(call.A, call.B);
  std::swap(call.a_row, call.b_col);
  std::swap(call.a_col, call.b_row);
  std::swap(call.c_row, call.c_col);
  std::swap(call.row_bias, call.column_bias);
  return call;
}

}  // namespace

template <class T>
void gemm(const Gemm<T>& asked) {
  if (asked.M <= 0 || asked.N <= 0) return;
  // Vectors run along the columns of C: they should lie side by side.
  if (asked.c_col != 1 && asked.c_row == 1) return gemm(swapped(asked));
  if (asked.K <= 0 || asked.alpha == T{0}) return finish_zeros(asked);
  const bool tiny = asked.M <= kTiny && asked.N <= kTiny && asked.K <= kTiny;
  if (tiny && asked.b_col == 1) return gemm_small(asked, kernels<T>(), asked.B, asked.b_row);
  if (tiny) {
    const Kernels<T>& k = kernels<T>();
    alignas(64) T B[kTiny * kTiny];  // (K,N), packed
    const int width = static_cast<int>(ceil_div(asked.N, k.lanes) * k.lanes);
    k.pack(B, width, asked.B, asked.N, asked.K, asked.b_col, asked.b_row);
    return gemm_small(asked, k, B, width);
  }
  Gemm<T> call = asked;
  if (call.threads <= 0) call.threads = default_threads();
  if (!Product<T>(call).run()) gemm_without_memory(call);
}

template void gemm(const Gemm<float>&);
template void gemm(const Gemm<double>&);

}  // namespace tessera::cpu
