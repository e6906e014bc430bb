// Broken kernels and their twins: elements that are not there, hold nothing or are forgotten.
#include "broken_kernels/accumulator_without_value.hpp"
#include "broken_kernels/beyond_the_tile.hpp"
#include "broken_kernels/column_guard_one_too_far.hpp"
#include "broken_kernels/edge_left_stale.hpp"
#include "broken_kernels/edge_not_zeroed.hpp"
#include "broken_kernels/fragment_without_value.hpp"
#include "broken_kernels/last_k_tile_dropped.hpp"
#include "broken_kernels/load_guard_wrong_dimension.hpp"
#include "broken_kernels/misaligned_vector.hpp"
#include "broken_kernels/null_tensor.hpp"
#include "broken_kernels/output_not_written.hpp"
#include "broken_kernels/output_read_first.hpp"
#include "broken_kernels/output_written_twice.hpp"
#include "broken_kernels/read_before_written.hpp"
#include "broken_kernels/row_guard_one_too_far.hpp"
#include "broken_kernels/shuffle_from_nowhere.hpp"
#include "broken_kernels/store_guard_wrong_dimension.hpp"
#include "broken_kernels/tensor_beyond_its_memory.hpp"
#include "broken_kernels/wild_index.hpp"
#include "check/broken_support.hpp"

namespace tessera::broken {

class BrokenMemory : public ::testing::TestWithParam<Case> {};

TEST_P(BrokenMemory, IsFoundWithKindAndLines) { expect_found(GetParam()); }
TEST_P(BrokenMemory, TwinIsClean) { expect_clean_twin(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Kernels, BrokenMemory,
    ::testing::Values(accumulator_without_value::kCase, beyond_the_tile::kCase,
                      column_guard_one_too_far::kCase, edge_left_stale::kCase,
                      edge_not_zeroed::kCase, fragment_without_value::kCase,
                      last_k_tile_dropped::kCase, load_guard_wrong_dimension::kCase,
                      misaligned_vector::kCase, null_tensor::kCase, output_not_written::kCase,
                      output_read_first::kCase, output_written_twice::kCase,
                      read_before_written::kCase, row_guard_one_too_far::kCase,
                      shuffle_from_nowhere::kCase, store_guard_wrong_dimension::kCase,
                      tensor_beyond_its_memory::kCase, wild_index::kCase),
    case_name);

}  // namespace tessera::broken
