// Swizzled and cast tensors: their elements, tiles and vectors.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "guarded.hpp"
#include "tessera/tensor/cast.hpp"
#include "tessera/tensor/distribute.hpp"
#include "tessera/tensor/for_each.hpp"
#include "tessera/tensor/generate.hpp"
#include "tessera/tensor/host_tensor.hpp"
#include "tessera/tensor/print.hpp"
#include "tessera/tensor/rearrange.hpp"
#include "tessera/tensor/slice.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/swizzled.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/transpose.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera {
namespace {

TEST(Swizzled, ElementsLieWhereTheSwizzleSays) {
  constexpr Swizzle s(2, 1, 3);
  Tile<float, 8, 8> storage{};
  const auto t = swizzled<s>(storage.view());
  arange(t);
  for (index_t x = 0; x < 64; ++x) EXPECT_EQ(storage.view().data()[s(x)], static_cast<float>(x));
}

TEST(Swizzled, TilesAndFragmentsStayRight) {
  constexpr Swizzle s(3, 0, 3);
  Tile<float, 8, 8> storage{}, plain{};
  arange(swizzled<s>(storage.view()));
  arange(plain.view());
  const auto t = swizzled<s>(storage.view());
  EXPECT_EQ(to_string(tile<4, 4>(t, 1, 1)), to_string(tile<4, 4>(plain.view(), 1, 1)));
  EXPECT_EQ(to_string(transpose(t)), to_string(transpose(plain.view())));
  for (index_t p = 0; p < 8; ++p) {
    EXPECT_EQ(to_string(distribute<row_major(2, 4)>(t, p)),
              to_string(distribute<row_major(2, 4)>(plain.view(), p)));
    EXPECT_EQ(to_string(distribute<row_major(2, 4), s>(storage.view(), p)),
              to_string(distribute<row_major(2, 4)>(plain.view(), p)));
  }
}

template <Swizzle S>
void expect_vectors_through_a_swizzle() {
  Tile<float, 8, 16> storage{};
  const auto t = swizzled<S>(storage.view());
  arange(t);
  const auto v = vectorize<1, 4>(t);
  for_each_position(v, [&](auto i, auto j) {
    Vec<float, 4> lanes = v(i, j);
    for (index_t l = 0; l < 4; ++l) ASSERT_EQ(lanes[l], t(i, 4 * j + l));
    v(i, j) = lanes + 1.0f;
  });
  for_each_position(
      t, [&](auto i, auto j) { ASSERT_EQ(t(i, j), static_cast<float>(16 * i + j + 1)); });
}

TEST(Swizzled, VectorsMoveTogetherWhereTheSwizzleLetsThem) {
  expect_vectors_through_a_swizzle<Swizzle(2, 2, 2)>();  // four neighbours stay together
  expect_vectors_through_a_swizzle<Swizzle(3, 0, 4)>();  // they do not: lane by lane
}

TEST(Cast, ConvertsReadsAndWrites) {
  Tile<f16, 2, 2> halves{};
  const auto t = cast<float>(halves.view());
  t(0, 1) = 1.0f + 0x1p-11f;  // a tie of f16
  EXPECT_EQ(static_cast<float>(halves(0, 1)), 1.0f);
  fill(t, 2.5);
  EXPECT_EQ(static_cast<float>(t(1, 1)), 2.5f);
  EXPECT_EQ(static_cast<int>(cast<int>(halves.view())(1, 1)), 2);
}

TEST(Cast, BitsStay) {
  Tile<float, 2, 2> storage{};
  const auto bits = bitcast<std::uint32_t>(storage.view());
  bits(1, 0) = 0x40490fdbu;
  EXPECT_EQ(storage(1, 0), 3.14159274f);
  storage(0, 0) = -0.0f;
  EXPECT_EQ(static_cast<std::uint32_t>(bits(0, 0)), 0x80000000u);
}

TEST(Cast, AsConstOnlyReads) {
  Tile<float, 2, 2> storage{};
  static_assert(std::is_same_v<decltype(as_const(storage.view())(0, 0)), const float&>);
}

}  // namespace
}  // namespace tessera
