// Broken kernels and their twins: barriers, waits, and kernels that do not come to an end.
#include "broken_kernels/async_never_waited.hpp"
#include "broken_kernels/async_not_committed.hpp"
#include "broken_kernels/async_waits_for_too_few.hpp"
#include "broken_kernels/async_without_wait.hpp"
#include "broken_kernels/barrier_in_loop_tail.hpp"
#include "broken_kernels/barrier_in_row_guard.hpp"
#include "broken_kernels/deep_recursion.hpp"
#include "broken_kernels/early_return.hpp"
#include "broken_kernels/endless.hpp"
#include "broken_kernels/endless_with_barriers.hpp"
#include "broken_kernels/mma_in_a_partial_warp.hpp"
#include "broken_kernels/throws.hpp"
#include "broken_kernels/too_much_shared_storage.hpp"
#include "broken_kernels/two_barriers.hpp"
#include "broken_kernels/warp_diverged.hpp"
#include "check/broken_support.hpp"

namespace tessera::broken {

class BrokenOrder : public ::testing::TestWithParam<Case> {};

TEST_P(BrokenOrder, IsFoundWithKindAndLines) { expect_found(GetParam()); }
TEST_P(BrokenOrder, TwinIsClean) { expect_clean_twin(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Kernels, BrokenOrder,
    ::testing::Values(async_never_waited::kCase, async_not_committed::kCase,
                      async_waits_for_too_few::kCase, async_without_wait::kCase,
                      barrier_in_loop_tail::kCase, barrier_in_row_guard::kCase,
                      deep_recursion::kCase, early_return::kCase, endless::kCase,
                      endless_with_barriers::kCase, mma_in_a_partial_warp::kCase, throws::kCase,
                      too_much_shared_storage::kCase, two_barriers::kCase, warp_diverged::kCase),
    case_name);

}  // namespace tessera::broken
