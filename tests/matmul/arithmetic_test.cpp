// The order of summation that a plan asks for: which algorithm has it, its text, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::refusal;

TEST(PlanArithmetic, LanesAreAnOrderOfThePackedPath) {
  const Options lanes{.arithmetic = Arithmetic::lanes};
  const Problem dots = parse_problem("m=3 n=40 k=100 b=1:100"),
                rows = parse_problem("m=3 n=40 k=100");
  const Plan plan = make_plan(dots, lanes);
  EXPECT_EQ(plan.algorithm, "packed");
  EXPECT_THAT(to_string(plan), HasSubstr(" arithmetic=lanes "));
  EXPECT_EQ(parse_plan(to_string(plan)).arithmetic, Arithmetic::lanes);
  EXPECT_THAT(to_string(make_plan(dots)), Not(HasSubstr("arithmetic")));
  EXPECT_TRUE(sums_in_lanes(plan));
  EXPECT_FALSE(sums_in_lanes(make_plan(dots)));
  EXPECT_FALSE(sums_in_lanes(make_plan(rows, lanes)));
  EXPECT_FALSE(sums_in_lanes(make_plan(parse_problem("m=3 n=40 k=100 in=f16 b=1:100"), lanes)));
  const auto refused = [&](const Problem& p, Options options, const char* says) {
    options.arithmetic = Arithmetic::lanes;
    EXPECT_THAT(refusal([&] { make_plan(p, options); }, Category::argument), HasSubstr(says));
  };
  refused(dots, {.algorithm = "tiled"}, "tiled on cpu does not sum in lanes");
  refused(dots, {.algorithm = "split_k"}, "split_k on cpu does not sum in lanes");
  refused(parse_problem("m=3 n=40 k=100 in=i32"), {}, "does not sum in lanes");
  EXPECT_THAT(
      refusal([&] { make_plan(dots, {.arithmetic = Arithmetic::tf32}); }, Category::argument),
      HasSubstr("chain or lanes"));
  EXPECT_THAT(refusal([] { parse_arithmetic("tf32"); }, Category::argument),
              HasSubstr("unknown arithmetic 'tf32'"));
  EXPECT_THAT(
      refusal(
          [] { parse_plan("m=5 n=3 k=2 algorithm=naive tile=32x32 threads=1 arithmetic=lanes"); },
          Category::argument),
      HasSubstr("does not sum in lanes"));
}

}  // namespace
}  // namespace tessera
