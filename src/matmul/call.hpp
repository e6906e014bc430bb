// Shared by all multiplying calls: the checks of one operand and of the plan, and the line of
// TESSERA_VERBOSE=1. Private to src/matmul.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "cpu/reported_route.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::detail {

/// Do 64 bits hold the distances in bytes from m.data to all that `count` matrices like m occupy,
/// each `step` elements further on? None of them is empty.
bool reach_fits(const ConstMatrix& m, index_t count = 1, index_t step = 0);

/// "f32", "f16 into f32", "u8 times i8 into i32"
std::string type_text(const Problem& problem);

/// Refuses negative extents. `name` begins the message: "multiply: A".
void check_extents(std::string_view name, const ConstMatrix& m);
/// Refuses a matrix with elements but no data, or that reaches beyond 64 bits.
void check_data(std::string_view name, const ConstMatrix& m);

/// Refuses an epilogue that a result of type `out` cannot have: gelu of whole numbers, an empty
/// clamp.
void check_epilogue(const Epilogue& epilogue, DType out);

/// Refuses a matrix that differs from the plan's.
void expect_planned(std::string_view name, const ConstMatrix& m, index_t rows, index_t cols,
                    DType dtype, Strides strides);
/// Where the epilogue needs a vector, refuses a null pointer, and one that shares memory with one
/// of `count` matrices like C, each `step` elements further on.
void expect_bias(const Problem& problem, const void* bias, const Matrix& C, index_t count = 1,
                 index_t step = 0);

/// make_plan, but for `rejected` and `workspace_bytes`, which take longer than a small product.
Plan decide(const Problem& problem, const Options& options);

/// Bytes that the CPU's own algorithms take for panels and sums while they run a plan; 0 for
/// others, and for matrices that no machine holds.
index_t workspace_of(const Plan& plan);

/// Is TESSERA_VERBOSE set?
bool verbose();
/// "tessera: CALL PLAN isa=... ROUTE time_us=..." on stderr; isa of the CPU's path.
void report(std::string_view call, const Plan& plan, std::string_view route, double time_us);

/// Runs body(), and reports it as `call` (its name, and count=... of a batch) if TESSERA_VERBOSE is
/// set; `route`: " route=... taking_part=..." where the caller knows them.
template <class Body>
void run_reported(std::string_view call, const Plan& plan, const Body& body,
                  std::string_view route = {}) {
  if (!verbose()) return body();
  const std::uint64_t refused = cpu::refused_workspaces();
  const auto start = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  const bool had_memory = cpu::refused_workspaces() == refused;
  report(call, plan, had_memory ? route : " route=without_memory taking_part=1", spent.count());
}

}  // namespace tessera::detail
