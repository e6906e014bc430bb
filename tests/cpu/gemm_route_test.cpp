// The reported route of a product: the names change where gemm() does.
#include <gtest/gtest.h>

#include "cpu/reported_route.hpp"
#include "epilogue.hpp"

namespace tessera::cpu {
namespace {

Gemm<float> product(index_t M, index_t N, index_t K, int threads = 2) {
  Gemm<float> out;
  out.M = M, out.N = N, out.K = K;
  out.a_row = K, out.b_row = N, out.c_row = N;
  out.threads = threads;
  return out;
}
std::string route(const Gemm<float>& call) { return std::string(route_of(call).name); }

TEST(GemmRoute, FollowsTheShape) {
  EXPECT_EQ(route(product(0, 5, 5)), "nothing");
  EXPECT_EQ(route(product(5, 5, 0)), "scaled");
  EXPECT_EQ(route(product(kTiny, kTiny, kTiny)), "tiny");
  EXPECT_EQ(route(product(kTiny + 1, kTiny, kTiny, 1)), "small");
  EXPECT_NE(route(product(121, 120, 120, 1)), "small");
  // However slow a busy machine makes the portable vectors seem.
  EXPECT_EQ(route(product(3, 64, 8)), "small") << "less work than handing it over";
  EXPECT_EQ(route(product(300, 300, 300)), "packed");
  EXPECT_EQ(route(product(1, 400, 300)), "strips");
  EXPECT_EQ(route(product(4, 4096, 4096)), "few_rows");
  EXPECT_EQ(route(product(4096, 1, 4096)), "few_rows")
      << "few columns are few rows, seen otherwise";
}

TEST(GemmRoute, AlphaZeroOnlyScales) {
  auto call = product(300, 300, 300);
  call.alpha = 0;
  EXPECT_EQ(route(call), "scaled");
}

template <class In, class Out>
std::string route_of_type(index_t size, int threads = 0) {
  Gemm<In, Out> call;
  call.threads = threads;
  call.M = call.N = call.K = size;
  call.a_row = call.b_row = call.c_row = size;
  return std::string(route_of(call).name);
}

TEST(GemmRoute, IsThatOfTheTypeToo) {
  EXPECT_EQ((route_of_type<bf16, float>(300)), "packed");
  EXPECT_EQ((route_of_type<f16, f16>(300)), "packed");
  EXPECT_EQ((route_of_type<std::int8_t, std::int32_t>(300)), "packed");
  EXPECT_EQ((route_of_type<std::uint8_t, std::int32_t>(8)), "tiny");
  EXPECT_EQ((route_of_type<bf16, bf16>(48)), "tiny");
  EXPECT_EQ((route_of_type<bf16, bf16>(64, 1)), "small");
  EXPECT_EQ((route_of_type<std::int8_t, std::int32_t>(257, 1)), "packed");
  EXPECT_EQ((route_of_type<std::int8_t, std::int32_t>(0)), "nothing");
}

TEST(GemmRoute, SaysHowManyThreadsMayTakePart) {
  EXPECT_EQ(route_of(product(8, 8, 8, 3)).threads, 1);
  // However slow a busy machine makes the portable vectors seem.
  EXPECT_EQ(route_of(product(1, 64, 32, 3)).threads, 1) << "less work than handing it over";
  EXPECT_EQ(route_of(product(400, 400, 400, 3)).threads, 3);
  EXPECT_FALSE(route_of(product(8, 8, 8)).reason.empty());
}

}  // namespace
}  // namespace tessera::cpu
