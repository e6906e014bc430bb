// The text form of benchmark cases: see case.hpp.
#include "case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "shell/algorithm_options.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::bench {

namespace {

constexpr double kSmallBytes = 16384;  // a third of an L1 cache of 48 KiB
constexpr index_t kSets = 50;

/// "", "-TN", "-update", "-TN-update"
std::string suffix(const Shape& shape) {
  const std::string transposition = transposition_text(shape);
  return cat(transposition == "NN" ? "" : "-" + transposition, shape.updates ? "-update" : "");
}

}  // namespace

int as_int(index_t extent) {
  if (extent > INT_MAX)
    throw Error(Category::argument, "the size does not fit into the peer's 32-bit integers", {},
                std::to_string(extent));
  return static_cast<int>(extent);
}

std::string transposition_text(const Shape& shape) {
  return cat(shape.a_transposed ? "T" : "N", shape.b_transposed ? "T" : "N");
}

std::string full_text(const Shape& shape) {
  return cat(shape.batch == 1 ? "" : cat(shape.batch, "x"), shape.M, "x", shape.N, "x", shape.K,
             suffix(shape));
}

std::string to_string(const Shape& shape) {
  if (shape.M != shape.N || shape.N != shape.K || shape.batch != 1) return full_text(shape);
  return cat(shape.M, suffix(shape));
}

std::string to_string(const Readiness& readiness) {
  if (readiness.first_call) return "first call of a process";
  return readiness.steady() ? "" : fmt::format("after {:g} s of idleness", readiness.idle_seconds);
}

double BenchCase::flops() const {
  return 2.0 * static_cast<double>(shape.M) * static_cast<double>(shape.N) *
         static_cast<double>(shape.K) * static_cast<double>(shape.batch);
}

double BenchCase::bytes() const {
  const auto M = static_cast<double>(shape.M), N = static_cast<double>(shape.N),
             K = static_cast<double>(shape.K);
  return static_cast<double>(shape.batch) * ((M * K + K * N) * size_of(types.in) +
                                             (shape.updates ? 2 : 1) * M * N * size_of(types.out));
}

index_t BenchCase::sets() const {
  return device.empty() && shape.batch == 1 && bytes() <= kSmallBytes ? kSets : 1;
}

Problem problem_of(const BenchCase& now) {
  const Shape& shape = now.shape;
  Problem out;
  out.M = shape.M, out.N = shape.N, out.K = shape.K;
  out.in = now.types.in, out.out = now.types.out;
  if (now.types.in_b != now.types.in) out.in_b = now.types.in_b;
  out.a = shape.a_transposed ? Strides{1, shape.M} : Strides{shape.K, 1};
  out.b = shape.b_transposed ? Strides{1, shape.K} : Strides{shape.N, 1};
  out.c = {shape.N, 1};
  if (shape.updates) out.alpha = -1, out.beta = 1;
  return out;
}

std::string group_text(const BenchCase& now) {
  if (!now.device.empty()) return cat(to_string(now.types), ", ", now.device);
  const std::string state = to_string(now.readiness);
  return cat(to_string(now.types), ", ", now.threads, now.threads == 1 ? " thread" : " threads",
             state.empty() ? "" : ", " + state);
}

}  // namespace tessera::bench
