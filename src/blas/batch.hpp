// Many products at once. The bits of each are those of a single call.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "call.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/batch.hpp"
#include "tessera/cpu/gemm_plan.hpp"

namespace tessera::blas {

/// Estimated multiply-adds per nanosecond of one thread, and the overhead of a call.
constexpr index_t kMultiplyAddsPerNanosecond = 64, kNanosecondsPerCall = 30;
/// Upper limit of an estimate of multiply-adds, large enough to count as unlimited.
constexpr index_t kNeverDone = index_t{1} << 60;

/// Products of one shape, with the same strides, scalars and threads: decisions that depend on
/// these are made once.
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

/// Estimated single-threaded time of all products.
inline index_t expected_ns(index_t count, index_t multiply_adds) {
  return multiply_adds / kMultiplyAddsPerNanosecond +
         bounded_product(count, kNanosecondsPerCall, 1);
}

/// Runs `count` products of together `multiply_adds`: see cpu::run_products().
template <class MakeCursor>
void run_products(index_t count, index_t multiply_adds, const MakeCursor& make_cursor) {
  cpu::run_products(count, expected_ns(count, multiply_adds), thread_limit(), make_cursor);
}

constexpr cpu::GemmRoute kNoProducts = {"nothing", "there are no products", 1};

/// The route of a batch of `count` products with `multiply_adds` in all, of which this is the
/// first.
template <class T>
cpu::GemmRoute route_of_batch(Product<T> first, index_t count, index_t multiply_adds) {
  const PredictOnly predict_only;
  const int threads = useful_threads(first.threads > 0 ? first.threads : default_threads());
  const index_t ns = expected_ns(count, multiply_adds);
  if (!cpu::is_shared_out(count, ns, threads)) return route_of(first);
  first.threads = 1;  // each product is single-threaded
  cpu::GemmRoute route = route_of(first);
  if (workers_would_join(threads, ns)) {
    route.threads = static_cast<int>(std::min<index_t>(threads, count));
    route.reason = "whole products are shared out";
  } else if (multiply_adds > 0) {
    route.reason = "single-threaded: waking workers would take longer than all products";
  }
  return route;
}

/// Products of real elements.
template <class T>
index_t multiply_adds(const Arguments& a, index_t count) {
  constexpr index_t each = std::is_floating_point_v<T> ? 1 : 4;
  return std::min(kNeverDone, bounded_product(bounded_product(a.m, a.n, a.k), count, each));
}

}  // namespace tessera::blas
