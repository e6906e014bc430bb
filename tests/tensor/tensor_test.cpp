#include "tessera/tensor/tensor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "guarded.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {
namespace {

using test::Guarded;

TEST(Tensor, AStaticLayoutIsJustAPointer) {
  EXPECT_EQ(sizeof(Tensor<float*, row_major(128, 8)>), sizeof(float*));
  EXPECT_EQ(sizeof(Tensor<float*, kRowMajorMatrix>), sizeof(float*) + 3 * sizeof(index_t));
}

TEST(Tensor, ElementsAreReferences) {
  Guarded<> memory(12);
  const auto t = tensor<row_major(3, 4)>(memory.data());
  static_assert(std::is_same_v<decltype(t(1, 2)), float&>);
  t(1, 2) = 50;
  EXPECT_EQ(memory[6], 50);
}

RC_GTEST_PROP(Tensor, EveryRankAgreesWithTheDotProductOfStrides, ()) {
  const auto s = *rc::gen::container<std::vector<int>>(5, rc::gen::inRange(0, 6));
  const auto d = *rc::gen::container<std::vector<int>>(5, rc::gen::inRange(-40, 40));
  constexpr Layout any1{dynamic, dynamic};
  constexpr Layout any3{tuple(dynamic, dynamic, dynamic), tuple(dynamic, dynamic, dynamic)};
  constexpr Layout any5{tuple(dynamic, dynamic, dynamic, dynamic, dynamic),
                        tuple(dynamic, dynamic, dynamic, dynamic, dynamic)};
  const float* base = nullptr;
  const auto t1 = tensor<any1>(base, s[0], d[0]);
  const auto t3 = tensor<any3>(base, s[0], s[1], s[2], d[0], d[1], d[2]);
  const auto t5 = tensor<any5>(base, s[0], s[1], s[2], s[3], s[4], d[0], d[1], d[2], d[3], d[4]);
  RC_ASSERT(t5.size() == index_t{1} * s[0] * s[1] * s[2] * s[3] * s[4]);
  RC_ASSERT(t3.extent<1>() == s[1] && t3.stride<2>() == d[2]);
  const auto c = *rc::gen::container<std::vector<int>>(5, rc::gen::inRange(0, 6));
  RC_ASSERT(t1.offset(c[0]) == c[0] * d[0]);
  RC_ASSERT(t3.offset(c[0], c[1], c[2]) == c[0] * d[0] + c[1] * d[1] + c[2] * d[2]);
  RC_ASSERT(t5.offset(c[0], c[1], c[2], c[3], c[4]) ==
            c[0] * d[0] + c[1] * d[1] + c[2] * d[2] + c[3] * d[3] + c[4] * d[4]);
  RC_ASSERT(t3.contains(c[0], c[1], c[2]) == (c[0] < s[0] && c[1] < s[1] && c[2] < s[2]));
}

template <Layout L>
void expect_offsets_of_layout() {
  const auto t = tensor<L>(static_cast<float*>(nullptr));
  for (index_t i = 0; i < L.size(); ++i) ASSERT_EQ(t.offset(i), L(i)) << i;
  if constexpr (L.rank() == 2) {
    for (index_t i = 0; i < L.mode(0).size(); ++i) {
      for (index_t j = 0; j < L.mode(1).size(); ++j) ASSERT_EQ(t.offset(i, j), L(i, j));
    }
  }
}

TEST(Tensor, HierarchicalModesAgreeWithTheLayout) {
  expect_offsets_of_layout<Layout(tuple(tuple(2, 2), tuple(2, 3)),
                                  tuple(tuple(4, 1), tuple(2, 8)))>();
  expect_offsets_of_layout<Layout(tuple(tuple(3, 2), 4), tuple(tuple(1, 12), 3))>();
  expect_offsets_of_layout<row_major(5, 7)>();
  expect_offsets_of_layout<Layout(6, 4)>();
}

TEST(Tensor, AMutableViewIsAlsoAConstantOne) {
  Guarded<> memory(6);
  const auto t = tensor<kRowMajorMatrix>(memory.data(), 2, 3, 3);
  const Tensor<const float*, kRowMajorMatrix> read = t;
  EXPECT_EQ(read(1, 2), 5);
  EXPECT_EQ(read.extent<0>(), 2);
}

TEST(Tensor, LayoutHasTheRunTimeNumbers) {
  const auto t = tensor<kRowMajorMatrix>(static_cast<float*>(nullptr), 5, 7, 9);
  EXPECT_EQ(t.layout(), Layout(tuple(5, 7), tuple(9, 1)));
}

TEST(Storage, IsAlignedAndZeroWhenMadeByZeros) {
  auto z = zeros<float, 3, 5>();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&z) % 16, 0u);
  for (index_t i = 0; i < 15; ++i) EXPECT_EQ(z(i), 0);
  z(2, 4) = 8;
  EXPECT_EQ(z.view()(2, 4), 8);
  EXPECT_EQ(z.view().data()[14], 8);
}

}  // namespace
}  // namespace tessera
