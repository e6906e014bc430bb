// Other layouts of the same elements against the layout algebra and index arithmetic.
#include "tessera/tensor/rearrange.hpp"

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
#include "tessera/tensor/slice.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/swizzled.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/transpose.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera {
namespace {

using test::Guarded;

TEST(Coalesce, AgreesWithTheLayoutAlgebra) {
  Guarded<> memory(200);
  const auto check = [&](const auto& t) {
    using T = std::remove_cvref_t<decltype(t)>;
    const auto c = coalesce(t);
    static_assert(decltype(c)::pattern == coalesce(T::pattern));
    for (index_t i = 0; i < t.size(); ++i) ASSERT_EQ(&c(i), &t(i));
  };
  check(tensor<col_major(3, 4)>(memory.data()));
  check(tensor<row_major(3, 4)>(memory.data()));
  check(tensor<Layout(tuple(2, tuple(1, 6)), tuple(1, tuple(6, 2)))>(memory.data()));
  check(tensor<Layout(tuple(2, 1, 3, 1), tuple(1, 7, 4, 9))>(memory.data()));
  check(tensor<Layout(tuple(1, 1), tuple(3, 5))>(memory.data()));
}

TEST(Coalesce, MergesUnknownNumbersOnlyWhereCertain) {
  Guarded<> memory(200);
  // (2,?,?):(1,2,?) merges the first two: 2 * ? elements one apart.
  const auto t =
      tensor<Layout(tuple(2, dynamic, dynamic), tuple(1, 2, dynamic))>(memory.data(), 5, 3, 20);
  const auto c = coalesce(t);
  static_assert(decltype(c)::rank == 2);
  EXPECT_EQ(c.extent<0>(), 10);
  for (index_t i = 0; i < t.size(); ++i) EXPECT_EQ(&c(i), &t(i));
  static_assert(decltype(coalesce(tensor<kAnyMatrix>(memory.data(), 2, 3, 3, 1)))::rank == 2);
}

TEST(Composition, ShowsElementLOfI) {
  Guarded<> memory(24);
  const auto t = tensor<row_major(4, 6)>(memory.data());
  constexpr Layout by{tuple(2, 3), tuple(2, 4)};
  const auto c = composition<by>(t);
  for (index_t i = 0; i < by.size(); ++i) EXPECT_EQ(&c(i), &t(by(i)));
}

TEST(Reshape, KeepsTheRowMajorOrder) {
  Guarded<> memory(24);
  const auto t = tensor<row_major(4, 6)>(memory.data());
  const auto flat = [](const auto& v) {
    std::vector<float> out;
    for_each_position(v, [&](auto... at) { out.push_back(v(at...)); });
    return out;
  };
  EXPECT_EQ(flat(reshape<3, 8>(t)), flat(t));
  EXPECT_EQ(flat(reshape<2, 3, 2, 2>(t)), flat(t));
  EXPECT_EQ(flat(reshape<24>(t)), flat(t));
  EXPECT_EQ(flat(reshape<12, 2>(transpose(t))), flat(transpose(t)));
  EXPECT_EQ(flat(reshape<24>(transpose(t))), flat(transpose(t)));
  Guarded<> wide(40);
  const auto padded = tensor<Layout(tuple(4, 6), tuple(10, 1))>(wide.data());
  EXPECT_EQ(flat(reshape<2, 2, 6>(padded)), flat(padded));
}

TEST(Reshape, TakesRunTimeExtentsOfCompactElements) {
  HostTensor<float> m(4, 6);
  arange(m.view());
  const auto r = reshape(m.view(), 3, 8);
  EXPECT_EQ(r(2, 7), 23);
  EXPECT_EQ(reshape(m.view(), 2, 3, 4)(1, 2, 3), 23);
  EXPECT_THROW(reshape(m.view(), 5, 5), Error);
  EXPECT_THROW(reshape(m.view(), -3, -8), Error);
  EXPECT_THROW(reshape(m.view(), index_t{1} << 62, 8, 3), Error);  // 24 modulo 2^64 is no excuse
  EXPECT_THROW(reshape(transpose(m.view()), 24), Error);
  HostTensor<float> empty(0, 6);
  EXPECT_EQ(reshape(empty.view(), 3, 0).size(), 0);
}

}  // namespace
}  // namespace tessera
