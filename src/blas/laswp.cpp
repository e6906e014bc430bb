// {s,d,c,z}laswp_ of LAPACK: exchanges rows of a matrix that is stored by columns. No product, but
// the rest of an LU factorization waits for these: a LAPACK calls them by name, and those of the
// reference LAPACK wait for memory exchange by exchange, on one thread.
#include <algorithm>
#include <atomic>
#include <utility>

#include "export.hpp"
#include "settings.hpp"

namespace tessera::blas {

namespace {

/// Columns that are prefetched ahead, into L2, which has more loads under way than L1. Measured:
/// bench/results/cpu/tuning.md.
constexpr index_t kColumnsAhead = 16;
/// Columns that a thread takes at a time, and an estimate of the time of an exchange.
constexpr index_t kColumnsEach = 32, kNanosecondsPerExchange = 5;

/// Rows first, first + step, ... are exchanged with those that pivots[0], pivots[stride], ... say.
/// Rows count from 1.
template <class Int>
struct Exchanges {
  index_t first, step, count;
  const Int* pivots;
  index_t stride;
};

template <class T, class Int>
void exchange_rows(T* A, index_t lda, index_t columns, index_t begin, index_t end,
                   const Exchanges<Int>& rows) {
  for (index_t j = begin; j < end; ++j) {
    T* const column = A + j * lda - 1;
    const T* const ahead = A + std::min(j + kColumnsAhead, columns - 1) * lda - 1;
    const Int* pivot = rows.pivots;
    index_t row = rows.first;
    for (index_t n = 0; n < rows.count; ++n, row += rows.step, pivot += rows.stride) {
      __builtin_prefetch(ahead + *pivot, 1, 2);
      std::swap(column[row], column[*pivot]);
    }
  }
}

template <class T, class Int>
void laswp(index_t n, T* A, index_t lda, index_t k1, index_t k2, const Int* pivots,
           index_t stride) {
  if (n <= 0 || k2 < k1 || stride == 0) return;
  const Exchanges<Int> rows =
      stride > 0
          ? Exchanges<Int>{k1, 1, k2 - k1 + 1, pivots + k1 - 1, stride}
          : Exchanges<Int>{k2, -1, k2 - k1 + 1, pivots + k1 - 1 + (k1 - k2) * stride, stride};
  const int threads = thread_limit() > 0 ? thread_limit() : default_threads();
  if (threads == 1 || n <= kColumnsEach) return exchange_rows(A, lda, n, 0, n, rows);
  std::atomic<index_t> next{0};
  run_team(useful_threads(threads), bounded_product(n, rows.count, kNanosecondsPerExchange),
           [&](int) {
             for (index_t j; (j = next.fetch_add(kColumnsEach, std::memory_order_relaxed)) < n;)
               exchange_rows(A, lda, n, j, std::min(n, j + kColumnsEach), rows);
           });
}

}  // namespace

}  // namespace tessera::blas

using namespace tessera::blas;

#define TESSERA_LASWP(name, T, Int)                                                     \
  TESSERA_EXPORT name(const Int* n, T* A, const Int* lda, const Int* k1, const Int* k2, \
                      const Int* pivots, const Int* stride) {                           \
    laswp(*n, A, *lda, *k1, *k2, pivots, *stride);                                      \
  }
#define TESSERA_TYPE(letter, T)         \
  TESSERA_LASWP(letter##laswp_, T, int) \
  TESSERA_LASWP(letter##laswp_64_, T, i64)

TESSERA_TYPE(s, float)
TESSERA_TYPE(d, double)
TESSERA_TYPE(c, c32)
TESSERA_TYPE(z, c64)
#undef TESSERA_TYPE
