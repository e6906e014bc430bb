// One product by many algorithms: its data, and for each algorithm the result of its check and its
// time. `tessera compare` prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shell/context.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/plan.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::product {

enum class Status { ok, out_of_bound, different_bits, failed, unsupported };

/// The result of one algorithm on one device.
struct Compared {
  const Algorithm* algorithm = nullptr;
  Status status = Status::unsupported;
  TileShape tile = {};
  std::string device = {};
  bool is_replaced = false;  ///< another kernel ran, with a tile of its own
  std::string reason = {};   ///< why it is not ok, or which kernel took its place
  Verification found = {};
  double seconds = 0, gflops = 0;  ///< of the fastest timed run
  index_t runs = 0;                ///< timed runs
};

/// The algorithms in the requested order, with their plans. An unnamed algorithm that cannot run
/// this product has no plan.
struct Candidates {
  std::vector<Compared> results;
  std::vector<std::optional<Plan>> plans;
};

/// Writes random elements: "uniform", "integers" or "graded".
void fill(const Array& out, const std::string& data, std::uint64_t stream, int threads);
/// Multiplies and checks, one algorithm after the other; C is where each writes its result.
void compare_all(const shell::Context& context, Candidates& candidates, const Array& A,
                 const Array& B, const Array& C, const Array& C0, const Problem& problem,
                 int threads);

}  // namespace tessera::product
