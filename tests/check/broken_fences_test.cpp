// Broken kernels and their twins: fences, locks, flags, named barriers, masks of lanes.
#include "broken_kernels/flag_without_reader_fence.hpp"
#include "broken_kernels/last_block_without_fence.hpp"
#include "broken_kernels/lock_without_fence.hpp"
#include "broken_kernels/mask_of_absent_lanes.hpp"
#include "broken_kernels/named_barrier_of_half_a_warp.hpp"
#include "broken_kernels/named_barrier_of_too_few.hpp"
#include "broken_kernels/named_barrier_without_id.hpp"
#include "broken_kernels/plain_wait.hpp"
#include "broken_kernels/waits_for_ever.hpp"
#include "check/broken_support.hpp"

namespace tessera::broken {

class BrokenFences : public ::testing::TestWithParam<Case> {};

TEST_P(BrokenFences, IsFoundWithKindAndLines) { expect_found(GetParam()); }
TEST_P(BrokenFences, TwinIsClean) { expect_clean_twin(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Kernels, BrokenFences,
    ::testing::Values(flag_without_reader_fence::kCase, last_block_without_fence::kCase,
                      lock_without_fence::kCase, mask_of_absent_lanes::kCase,
                      named_barrier_of_half_a_warp::kCase, named_barrier_of_too_few::kCase,
                      named_barrier_without_id::kCase, plain_wait::kCase, waits_for_ever::kCase),
    case_name);

TEST(FencesAreMissing, AndTheFindingSaysSo) {
  EXPECT_THAT(text_of(last_block_without_fence::kCase.broken()),
              ::testing::HasSubstr("around the atomic update at last_block_without_fence.hpp:"));
  EXPECT_THAT(text_of(lock_without_fence::kCase.broken()), ::testing::HasSubstr("put t.fence()"));
  EXPECT_THAT(text_of(flag_without_reader_fence::kCase.broken()),
              ::testing::HasSubstr("only with a fence after it, which is missing"));
  EXPECT_THAT(text_of(plain_wait::kCase.broken()), ::testing::HasSubstr("t.atomic_load"));
}

}  // namespace tessera::broken
