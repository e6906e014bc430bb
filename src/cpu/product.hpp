// The packed path at work: cuts a product into superblocks, slabs and jobs, packs, and calls the
// microkernels of one table. Called by gemm.cpp for products that are not tiny.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "blocking.hpp"
#include "epilogue.hpp"
#include "tessera/core/team.hpp"
#include "workspace.hpp"

namespace tessera::cpu {

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }
constexpr index_t round_up(index_t a, index_t b) { return ceil_div(a, b) * b; }

/// Rows and columns of C that are worked on at a time: bounds the memory for packed panels.
constexpr index_t kSuperblock = 4096;

/// Multiply-adds of whole vectors that one core does in a microsecond, roughly: 3 to 9 thousand.
constexpr double kVectorsPerMicrosecond = 4000;

/// A product while it runs. One superblock of C at a time; within it, slabs of kc along K; within a
/// slab, jobs of mc x nc elements of C, which threads take one by one. A slab begins when all jobs
/// of the one before are done, because its sums go on from theirs.
template <class In, class Out, class Table>
class Product;

template <class In, class Out, class Source, class Word, class Sum>
class Product<In, Out, Kernels<Source, Word, Sum>> {
 public:
  using Table = Kernels<Source, Word, Sum>;

  Product(const Gemm<In, Out>& call, const Table& kernels)
      : call_(call),
        kernels_(kernels),
        words_(ceil_div(call.K, kernels.group)),
        blocks_(block(std::min(call.M, kSuperblock), std::min(call.N, kSuperblock), words_,
                      kernels.rows, kernels.lanes, kernels.vectors, sizeof(Word), call.threads)),
        slabs_(ceil_div(words_, blocks_.kc)),
        plain_(is_plain(call)) {
    // A panel is read once for each panel of B; copying it repays when there are several, or when
    // its rows lie so that they crowd each other out of L1.
    const index_t rows = std::min(call.M, kSuperblock), cols = std::min(call.N, kSuperblock);
    const auto bytes = static_cast<index_t>(sizeof(In));
    const bool a_crowds = call.a_col != 1 || call.a_row * bytes % 1024 == 0;
    pack_a_ = !kAsItLies || !(rows <= kernels_.rows || cols <= 2 * blocks_.nr ||
                              (cols * bytes <= 1024 && !a_crowds));
    const bool b_fits = blocks_.kc * call.b_row * bytes <= caches().l2 / 4;
    pack_b_ = !kAsItLies || call.b_col != 1 || !(rows <= 2 * kernels_.rows || b_fits);
    share_a_ = pack_a_ && cols > blocks_.nc;
    sums_in_c_ = std::is_same_v<Sum, Out> && call.c_col == 1 && call.beta == 0;
  }

  /// False where there is no memory for packing.
  bool run() {
    const index_t rows = std::min(call_.M, kSuperblock), cols = std::min(call_.N, kSuperblock);
    const index_t a_panels = ceil_div(rows, kernels_.rows);
    const index_t depth = blocks_.kc + kernels_.extra;
    const bool keep_sums = slabs_ > 1 && !sums_in_c_;
    const std::size_t a_slab = share_a_ ? words(a_panels * kernels_.rows * depth) : 0;
    const std::size_t kept = keep_sums ? Workspace::rounded(size(rows * cols) * sizeof(Sum)) : 0;
    const std::size_t states =
        share_a_ ? Workspace::rounded(size(a_panels) * sizeof(std::atomic<std::uint32_t>)) : 0;
    const std::size_t a_own = pack_a_ ? words(kernels_.rows * depth) : 0;
    const std::size_t b_own = pack_b_ ? words(round_up(blocks_.nc, blocks_.nr) * depth) : 0;
    const std::size_t total = a_slab + kept + states + size(call_.threads) * (a_own + b_own);
    if (total == 0) {
      run_superblocks();
      return true;
    }
    Workspace workspace(total);
    if (!workspace) return false;
    a_slab_ = workspace.take<Word>(a_slab);
    sums_ = workspace.take<Sum>(kept);
    states_ = workspace.take<std::atomic<std::uint32_t>>(states);
    for (index_t i = 0; share_a_ && i < a_panels; ++i)
      states_[i].store(0, std::memory_order_relaxed);
    own_step_ = static_cast<index_t>((a_own + b_own) / sizeof(Word));
    a_own_ = workspace.take<Word>(a_own);
    b_own_ = a_own_ + a_own / sizeof(Word);
    run_superblocks();
    return true;
  }

 private:
  /// Are the operands words already, so that a microkernel may read them where they lie?
  static constexpr bool kAsItLies = std::is_same_v<In, Word>;

  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static std::size_t words(index_t n) { return Workspace::rounded(size(n) * sizeof(Word)); }
  static const Source* source(const In* p) { return reinterpret_cast<const Source*>(p); }

  void run_superblocks() {
    for (i0_ = 0; i0_ < call_.M; i0_ += kSuperblock) {
      for (j0_ = 0; j0_ < call_.N; j0_ += kSuperblock) {
        rows_ = std::min(kSuperblock, call_.M - i0_);
        cols_ = std::min(kSuperblock, call_.N - j0_);
        down_ = ceil_div(rows_, blocks_.mc), across_ = ceil_div(cols_, blocks_.nc);
        jobs_ = down_ * across_;
        next_.store(0, std::memory_order_relaxed);
        done_.store(0, std::memory_order_relaxed);
        const double us = static_cast<double>(rows_) * static_cast<double>(cols_) *
                          static_cast<double>(words_) / kernels_.lanes / kVectorsPerMicrosecond;
        run_team(static_cast<int>(std::min<index_t>(call_.threads, jobs_)), us,
                 [this](int worker) { work(worker); });
        ++superblocks_done_;
      }
    }
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
    const index_t w0 = slab * blocks_.kc, w = std::min(blocks_.kc, words_ - w0);
    const index_t k0 = w0 * kernels_.group, k = std::min(w * kernels_.group, call_.K - k0);
    const index_t j_begin = job_j * blocks_.nc, j_end = std::min(cols_, j_begin + blocks_.nc);
    const index_t i_begin = job_i * blocks_.mc, i_end = std::min(rows_, i_begin + blocks_.mc);
    const int mr = kernels_.rows, nr = blocks_.nr;
    const In* B = call_.B + k0 * call_.b_row + (j0_ + j_begin) * call_.b_col;
    const Word* b = nullptr;
    if (pack_b_) {
      Word* own = b_own_ + worker * own_step_;
      kernels_.pack_b(own, nr, source(B), j_end - j_begin, k, call_.b_col, call_.b_row);
      b = own;
    } else if constexpr (kAsItLies) {
      b = B;
    }
    const index_t b_step = pack_b_ ? nr * (w + kernels_.extra) : nr;
    alignas(64) Sum temporary[kMostRows * kMostColumns];
    const bool in_place = sums_in_c_ || slabs_ > 1;  // else one micro-tile after the other
    Sum* sums = slabs_ > 1 ? sums_ : temporary;
    MicroTile<Word, Sum> micro;
    micro.c_row = slabs_ > 1 ? cols_ : kMostColumns;
    if constexpr (std::is_same_v<Sum, Out>) {
      if (sums_in_c_) sums = call_.C + i0_ * call_.c_row + j0_, micro.c_row = call_.c_row;
    }
    micro.K = w;
    micro.a_row = pack_a_ ? 1 : call_.a_row;
    micro.a_k = pack_a_ ? mr : call_.a_col;
    micro.b_k = pack_b_ ? nr : call_.b_row;
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
    const auto fetch = [&](const auto* from, index_t count) {
      constexpr index_t line = 64 / sizeof(*from);
      const index_t share = (count * blocks_.nr / columns + line) / line * line;
      const index_t begin = j / blocks_.nr * share;
      for (index_t at = begin; at < std::min(count, begin + share); at += line)
        __builtin_prefetch(from + at);
    };
    if (share_a_ && states_[i / kernels_.rows].load(std::memory_order_relaxed) == turn(slab)) {
      const index_t depth = blocks_.kc + kernels_.extra;
      fetch(a_slab_ + i * depth, depth * kernels_.rows);
    } else if (call_.a_col == 1) {
      const In* from = call_.A + (i0_ + i) * call_.a_row + k0;
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
  const Word* panel_of_a(int worker, index_t slab, index_t i, int mr, index_t k0, index_t k) {
    const In* from = call_.A + (i0_ + i) * call_.a_row + k0 * call_.a_col;
    if constexpr (kAsItLies) {
      if (!pack_a_) return from;
    }
    const auto pack = [&](Word* to) {
      kernels_.pack_a(to, kernels_.rows, source(from), mr, k, call_.a_row, call_.a_col);
      return to;
    };
    Word* own = a_own_ + worker * own_step_;
    if (!share_a_) return pack(own);
    Word* shared = a_slab_ + i * (blocks_.kc + kernels_.extra);
    const std::uint32_t packed = turn(slab);
    auto& state = states_[i / kernels_.rows];
    std::uint32_t seen = state.load(std::memory_order_acquire);
    if (seen == packed) return shared;
    if (seen < packed - 1 && state.compare_exchange_strong(seen, packed - 1)) {
      pack(shared);
      state.store(packed, std::memory_order_release);
      return shared;
    }
    return seen == packed ? shared : pack(own);
  }

  const Gemm<In, Out>& call_;
  const Table& kernels_;
  const index_t words_;  ///< along K
  const Blocking blocks_;
  const index_t slabs_;
  const bool plain_;  ///< C = the sums, side by side: microkernels store straight to it
  bool pack_a_, pack_b_, share_a_;
  bool sums_in_c_;                                ///< C itself holds the sums between slabs
  Word* a_slab_ = nullptr;                        // packed A of one slab, shared
  std::atomic<std::uint32_t>* states_ = nullptr;  // of its panels
  Sum* sums_ = nullptr;                           // sums between slabs, where C cannot hold them
  Word *a_own_ = nullptr, *b_own_ = nullptr;      // each worker's own panels
  index_t own_step_ = 0;
  index_t i0_ = 0, j0_ = 0, rows_ = 0, cols_ = 0;  // the superblock
  index_t down_ = 0, across_ = 0, jobs_ = 0, superblocks_done_ = 0;
  alignas(64) std::atomic<index_t> next_{0};
  alignas(64) std::atomic<index_t> done_{0};
};

}  // namespace tessera::cpu
