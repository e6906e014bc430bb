// Broken kernels and their twins: accesses that nothing orders.
#include "broken_kernels/async_without_barrier.hpp"
#include "broken_kernels/atomic_then_plain.hpp"
#include "broken_kernels/global_atomic_and_plain_write.hpp"
#include "broken_kernels/global_within_block.hpp"
#include "broken_kernels/no_barrier_after_load.hpp"
#include "broken_kernels/no_barrier_before_next_load.hpp"
#include "broken_kernels/no_warp_barrier.hpp"
#include "broken_kernels/one_byte.hpp"
#include "broken_kernels/plain_member.hpp"
#include "broken_kernels/plain_then_atomic.hpp"
#include "broken_kernels/raw_pointer.hpp"
#include "broken_kernels/raw_pointer_to_output.hpp"
#include "broken_kernels/rows_added_into_one.hpp"
#include "broken_kernels/same_value.hpp"
#include "broken_kernels/sarek_page.hpp"
#include "broken_kernels/shared_atomic_and_plain_read.hpp"
#include "broken_kernels/shuffle_is_no_barrier.hpp"
#include "broken_kernels/tile_assigned_too_early.hpp"
#include "broken_kernels/tile_copied_too_early.hpp"
#include "broken_kernels/two_blocks_one_element.hpp"
#include "broken_kernels/word_over_bytes.hpp"
#include "check/broken_support.hpp"

namespace tessera::broken {

class BrokenRaces : public ::testing::TestWithParam<Case> {};

TEST_P(BrokenRaces, IsFoundWithKindAndLines) { expect_found(GetParam()); }
TEST_P(BrokenRaces, TwinIsClean) { expect_clean_twin(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Kernels, BrokenRaces,
    ::testing::Values(async_without_barrier::kCase, atomic_then_plain::kCase,
                      global_atomic_and_plain_write::kCase, global_within_block::kCase,
                      no_barrier_after_load::kCase, no_barrier_before_next_load::kCase,
                      no_warp_barrier::kCase, one_byte::kCase, plain_member::kCase,
                      plain_then_atomic::kCase, raw_pointer::kCase, raw_pointer_to_output::kCase,
                      rows_added_into_one::kCase, same_value::kCase, sarek_page::kCase,
                      shared_atomic_and_plain_read::kCase, shuffle_is_no_barrier::kCase,
                      tile_assigned_too_early::kCase, tile_copied_too_early::kCase,
                      two_blocks_one_element::kCase, word_over_bytes::kCase),
    case_name);

}  // namespace tessera::broken
