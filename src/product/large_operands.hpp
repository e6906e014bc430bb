// The operands of a product that is not computed as a whole, within a memory limit or on many
// ranks: files of which only headers are read, their types, and the plan of the kernels.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "inputs.hpp"
#include "scale/block_work.hpp"

namespace tessera::product {

/// A, B and C0 as files, and their types.
struct LargeOperands {
  MatrixFile a, b;
  std::optional<MatrixFile> c0;
  DType natural = DType::f32;
  scale::Types types;
  bool symmetric = false;  ///< B is A transposed, and nothing is added
};

LargeOperands open_operands(const MultiplyRequest& request);

/// A, B and C0 of a product.
struct Sources {
  scale::Source a, b, c0;
};
Sources sources_of(const MultiplyRequest& request, const LargeOperands& in);

Plan plan_of_blocks(const MultiplyRequest& request, const LargeOperands& in);

/// Throws Error(argument) for options that cannot be combined with `what`, "--memory".
void check_large_request(const MultiplyRequest& request, std::string_view what);

/// All that the blocks of the output depend on, for the journal of --resume. `schedule`: that of
/// this rank.
nlohmann::ordered_json question_of(const MultiplyRequest& request, const LargeOperands& in,
                                   const Plan& plan, const scale::Schedule& schedule,
                                   int ranks = 1);
/// The path of the output: with --resume, that of the file which a link names.
std::string path_in_blocks(const MultiplyRequest& request);

/// What the plan of scale is made from, with this memory for each rank. Files that cannot be read
/// in slices take a part of it.
scale::Request scale_request(const LargeOperands& in, const Plan& plan, index_t memory);

}  // namespace tessera::product
