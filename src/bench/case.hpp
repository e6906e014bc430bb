// One cell of a benchmark: which product, of which element types, how many products in one call, on
// how many threads, and the state of the contestant before a sample. Values with a text form that
// can be read back, for files, names and the questions to a contestant's process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/types.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera::bench {

/// A is (M,K), B is (K,N), C is (M,N), each compact; row-major, or column-major if transposed. A
/// batch is this many products in one call, each with its own operands, one after the other.
struct Shape {
  index_t M = 0, N = 0, K = 0;
  index_t batch = 1;
  bool a_transposed = false, b_transposed = false;
  bool updates = false;  ///< C = C - A B, as LAPACK's factorizations do, instead of C = A B
  bool operator==(const Shape&) const = default;
};

/// As the 32-bit integers of most libraries. Throws Error(argument) if it does not fit.
int as_int(index_t extent);
/// "512" for a cube, "4096x16x4096", "1024-TN", "1000x8x8x8" for a batch of a thousand,
/// "512x512x64-update".
std::string to_string(const Shape& shape);
/// "512x512x512" for a cube, else as above.
std::string full_text(const Shape& shape);
/// "NN", "TN", "NT" or "TT".
std::string transposition_text(const Shape& shape);

/// The state of the contestant before a sample. By default calls follow each other.
struct Readiness {
  double idle_seconds = 0;  ///< above 0: one call after this much sleep
  bool first_call = false;  ///< the first call of a new process
  bool operator==(const Readiness&) const = default;

  bool steady() const { return idle_seconds == 0 && !first_call; }
};
/// "", "after 0.05 s of idleness", "first call of a process"
std::string to_string(const Readiness& readiness);

struct BenchCase {
  shell::Types types;
  Shape shape;
  int threads = 1;
  Readiness readiness = {};
  std::string device = {};  ///< "cuda:0"; empty: this machine's CPU, on `threads` threads
  bool operator==(const BenchCase&) const = default;

  /// Operations of one call: the whole batch.
  double flops() const;
  /// Bytes of the matrices of one call. Each counts once; an updated C counts twice.
  double bytes() const;
  /// Small products use this many sets of operands in turn, so that these are in the L2 cache, as a
  /// program's would be, and not all in the L1. A device has its own number (device.hpp).
  index_t sets() const;
  /// The number of products to compute: sets() calls of a batch each.
  index_t products() const { return sets() * shape.batch; }
};

/// One product of the case's batch.
Problem problem_of(const BenchCase& now);

/// "f32, 2 threads, after 0.05 s of idleness" or "f32, cuda:0": the case without its shape.
std::string group_text(const BenchCase& now);

}  // namespace tessera::bench
