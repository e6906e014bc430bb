// The plan of a product of f8 or bytes: by `warpgroup`, in tiles of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

TEST(PlanOfBytes, HasTilesOfItsOwn) {
  const auto plan_of = [](const char* problem, const Options& options) {
    return make_plan(parse_problem(problem), options);
  };
  const auto told = [&](const char* problem, const char* tile) {
    return refusal([&] { plan_of(problem, {.algorithm = "warpgroup", .tile = parse_tile(tile)}); },
                   Category::argument);
  };
  const char* const f8 = "m=64 n=64 k=64 in=f8e4m3 out=f32";
  EXPECT_EQ(plan_of(f8, {}).algorithm, "warpgroup");
  EXPECT_EQ(to_string(plan_of(f8, {}).tile), "128x128/64x128");
  EXPECT_THAT(plan_of(f8, {.algorithm = "warpgroup"}).reason,
              HasSubstr("requested; operands are copied first. B: K is not contiguous"));
  EXPECT_EQ(plan_of("m=64 n=64 k=64 in=i8 out=i32", {}).algorithm, "packed");
  EXPECT_THAT(told(f8, "128x192/128x192"), HasSubstr("possible, but not built in for f8e4m3"));
  EXPECT_THAT(told("m=64 n=64 k=64 in=u8 in_b=i8 out=i32", "64x64/64x64"),
              HasSubstr("bytes of one sign only"));
  EXPECT_THAT(refusal([&] { plan_of("m=64 n=64 k=64 in=f8e4m3 out=f16", {}); }, Category::type),
              HasSubstr("there is no f8e4m3 into f16 product"));
}

}  // namespace
}  // namespace tessera
