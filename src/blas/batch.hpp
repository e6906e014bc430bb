// Many products at once: small ones are shared out among the threads, large ones run one after the
// other with all threads. The bits of each are those of a call of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <type_traits>

#include "call.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/gemm_plan.hpp"

namespace tessera::blas {

/// A product for which all threads are worth while.
constexpr index_t kLargeProduct = 4'000'000;  // multiply-adds
/// What one thread does in a nanosecond, roughly; and what each call costs beside that.
constexpr index_t kMultiplyAddsPerNanosecond = 64, kNanosecondsPerCall = 30;
/// As good as any number of multiply-adds beyond it.
constexpr index_t kNeverDone = index_t{1} << 60;

/// Is a batch shared out product by product? Else its products run one after the other, each with
/// all threads.
inline bool is_shared_out(index_t count, index_t multiply_adds, int threads) {
  return threads > 1 && count > 1 &&
         (count >= 2 * threads || multiply_adds <= kLargeProduct * count);
}

/// Products of one shape, with the same strides, scalars and threads: what depends on these is
/// decided once.
template <class T>
class Repeated {
 public:
  explicit Repeated(const Product<T>& first) {
    if constexpr (kReal) {
      if (first.K > 0 && first.alpha != T{0}) plan_.emplace(gemm_of(first));
    }
  }

  void operator()(const Product<T>& product) const {
    if constexpr (kReal) {
      if (plan_) return (*plan_)(product.A.data, product.B.data, product.C);
    }
    multiply(product);
  }

 private:
  static constexpr bool kReal = std::is_floating_point_v<T>;
  std::optional<cpu::GemmPlan<std::conditional_t<kReal, T, float>>> plan_;
};

/// What all of it takes one thread, roughly.
inline index_t expected_ns(index_t count, index_t multiply_adds) {
  return multiply_adds / kMultiplyAddsPerNanosecond +
         bounded_product(count, kNanosecondsPerCall, 1);
}

/// Runs `count` products of together `multiply_adds`. A worker makes itself a `Cursor`, which is
/// called for increasing i and runs product i.
template <class MakeCursor>
void run_products(index_t count, index_t multiply_adds, const MakeCursor& make_cursor) {
  if (count <= 0) return;
  const int limit = thread_limit();
  const int threads = limit > 0 ? limit : default_threads();
  if (!is_shared_out(count, multiply_adds, threads)) {
    auto cursor = make_cursor(threads);
    for (index_t i = 0; i < count; ++i) cursor(i);
    return;
  }
  const index_t chunk = std::clamp<index_t>(count / (8 * threads), 1, 64);
  std::atomic<index_t> next{0};
  run_team(threads, expected_ns(count, multiply_adds), [&](int) {
    auto cursor = make_cursor(1);
    for (index_t at; (at = next.fetch_add(chunk, std::memory_order_relaxed)) < count;)
      for (index_t i = at; i < std::min(count, at + chunk); ++i) cursor(i);
  });
}

constexpr cpu::GemmWay kNoProducts = {"nothing", "there are no products", 1};

/// How a batch is run of `count` products with together `multiply_adds`, this one first.
template <class T>
cpu::GemmWay way_of_batch(Product<T> first, index_t count, index_t multiply_adds) {
  const OnlyAsking asks;
  const int threads = first.threads > 0 ? first.threads : default_threads();
  if (!is_shared_out(count, multiply_adds, threads)) return way_of(first);
  first.threads = 1;  // whoever takes it runs it alone
  cpu::GemmWay way = way_of(first);
  if (will_be_helped(threads, expected_ns(count, multiply_adds))) {
    way.threads = static_cast<int>(std::min<index_t>(threads, count));
    way.reason = "whole products are shared out";
  } else if (multiply_adds > 0) {
    way.reason = "asking others would take longer than all products";
  }
  return way;
}

/// Real ones.
template <class T>
index_t multiply_adds(const Arguments& a, index_t count) {
  constexpr index_t each = std::is_floating_point_v<T> ? 1 : 4;
  return std::min(kNeverDone, bounded_product(bounded_product(a.m, a.n, a.k), count, each));
}

}  // namespace tessera::blas
