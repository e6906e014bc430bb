// Many products at once: threads take whole products where there are enough of them, and share one
// where there are not. Each product has the bits that it has alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

/// Products of equal shape, at strides of `step` elements in A, B and C. A step of 0 in A or B:
/// the same operand for all. No C overlaps another.
struct BatchSteps {
  index_t a = 0, b = 0, c = 0;
};
template <class In, class Out = In>
void gemm_strided(const Gemm<In, Out>& first, index_t count, const BatchSteps& steps);

/// Products of any shapes, calls[0] to calls[count - 1]. The thread count of the first applies to
/// all.
template <class In, class Out = In>
void gemm_batch(const Gemm<In, Out>* calls, index_t count);

/// ns: a product that takes one thread longer than this uses all threads.
constexpr std::int64_t kLargeProductNs = 62'500;

/// Does each of `threads` take whole products? `ns`: the estimated single-threaded time of all of
/// them.
constexpr bool is_shared_out(index_t count, std::int64_t ns, int threads) {
  return threads > 1 && count > 1 && (count >= 2 * threads || ns <= kLargeProductNs * count);
}

/// Runs products 0 to count - 1, estimated to take `ns` on one thread in all. Each worker makes a
/// cursor, make_cursor(threads for a product), which is called for increasing i and runs product
/// i. threads <= 0: default_threads().
template <class MakeCursor>
void run_products(index_t count, std::int64_t ns, int threads, const MakeCursor& make_cursor) {
  if (count <= 0) return;
  threads = useful_threads(threads > 0 ? threads : default_threads());
  if (!is_shared_out(count, ns, threads)) {
    auto cursor = make_cursor(threads);
    for (index_t i = 0; i < count; ++i) cursor(i);
    return;
  }
  // Small work items for balance, but large enough that taking one costs next to nothing.
  const index_t enough = 5000 / std::max<index_t>(ns / count, 10) + 1;
  const index_t piece = std::clamp<index_t>(count / (8 * threads), 1, enough);
  std::atomic<index_t> next{0};
  run_team(threads, ns, [&](int) {
    auto cursor = make_cursor(1);
    for (index_t i; (i = next.fetch_add(piece, std::memory_order_relaxed)) < count;)
      for (const index_t end = std::min(count, i + piece); i < end; ++i) cursor(i);
  });
}

}  // namespace tessera::cpu
