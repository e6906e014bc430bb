#include "tessera/tensor/host_tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tessera/tensor/generate.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/transpose.hpp"

namespace tessera {
namespace {

using testing::HasSubstr;

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

TEST(HostBuffer, IsAligned) {
  for (const std::size_t bytes : {1u, 63u, 64u, 1000u, 1u << 20}) {
    const HostBuffer buffer(bytes);
    EXPECT_EQ(address(buffer.data()) % 64, 0u);
    EXPECT_EQ(buffer.bytes(), bytes);
  }
  const HostBuffer large(std::size_t{5} << 20);
  EXPECT_EQ(address(large.data()) % HostBuffer::kHugePage, 0u);
}

TEST(HostBuffer, MovesWithoutCopying) {
  HostBuffer a(100);
  const void* data = a.data();
  HostBuffer b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): moved-from is empty
  EXPECT_EQ(a.bytes(), 0u);
  HostBuffer c(7);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.bytes(), 100u);
}

TEST(HostBuffer, TooMuchMemoryNamesTheBytes) {
  for (const std::size_t bytes : {std::size_t{1} << 60, std::numeric_limits<std::size_t>::max()}) {
    try {
      const HostBuffer buffer(bytes);
      FAIL() << "that much memory exists?";
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), Category::resource);
      EXPECT_THAT(error.what(), HasSubstr(std::to_string(bytes)));
    }
  }
}

TEST(HostTensor, IsZeroAndRowMajor) {
  HostTensor<float> m(3, 5);
  for (const float x : m) EXPECT_EQ(x, 0);
  m(2, 4) = 7;
  EXPECT_EQ(m.data()[14], 7);
  EXPECT_EQ(m.view()(2, 4), 7);
  EXPECT_EQ(m.rows(), 3);
  EXPECT_EQ(m.cols(), 5);
  EXPECT_EQ(m.size(), 15);
}

template <class T>
void expect_element_type() {
  HostTensor<T, 3> t(2, 3, 4);
  arange(t.view());
  EXPECT_EQ(static_cast<double>(t(1, 2, 3)), 23);
  EXPECT_EQ(t.size(), 24);
}

TEST(HostTensor, HoldsEveryElementType) {
  expect_element_type<double>();
  expect_element_type<float>();
  expect_element_type<f16>();
  expect_element_type<bf16>();
  expect_element_type<std::int8_t>();
  expect_element_type<std::uint8_t>();
  expect_element_type<std::int32_t>();
}

TEST(HostTensor, MayBeEmpty) {
  EXPECT_EQ(HostTensor<float>().size(), 0);
  EXPECT_EQ(HostTensor<float>(0, 5).size(), 0);
  EXPECT_EQ((HostTensor<float, 3>(index_t{1} << 62, 0, index_t{1} << 62).size()), 0);
  EXPECT_EQ(HostTensor<float>(0, 5).view().extent<1>(), 5);
}

TEST(HostTensor, RowsOfDifferentLengthAreAnError) {
  EXPECT_EQ(HostTensor<int>({{1, 2}, {3, 4}})(1, 0), 3);
  EXPECT_THROW(HostTensor<int>({{1, 2}, {3}}), Error);
  EXPECT_THROW(HostTensor<int>({{1}, {2, 3}}), Error);
}

TEST(HostTensor, BadExtentsAreErrorsThatNameTheShape) {
  const auto message = [](auto... extents) -> std::string {
    try {
      HostTensor<double, 3> t(extents...);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(2, -3, 4), HasSubstr("(2,-3,4)"));
  EXPECT_THAT(message(0, -3, 4), HasSubstr("-3"));
  EXPECT_THAT(message(index_t{1} << 31, index_t{1} << 31, 4), HasSubstr("more than 2^63 bytes"));
  EXPECT_THAT(message(index_t{1} << 60, 1, 1), HasSubstr("more than 2^63 bytes"));
  EXPECT_THAT(message(index_t{1} << 30, index_t{1} << 12, 32),
              HasSubstr("no memory for 1.00 PiB (1125899906842624 bytes)"));
}

TEST(HostTensor, ViewsWithKnownNumbersAreChecked) {
  HostTensor<float> m(11, 7);
  arange(m.view());
  EXPECT_EQ(m.view<row_major(11, 7)>()(10, 6), 76);
  constexpr Layout seven_columns{tuple(dynamic, 7), tuple(7, 1)};
  EXPECT_EQ(m.view<seven_columns>()(10, 6), 76);
  EXPECT_EQ(m.view<kAnyMatrix>()(10, 6), 76);
  EXPECT_EQ(m.view<row_major(77)>()(76), 76);
  constexpr Layout eight_columns{tuple(dynamic, 8), tuple(8, 1)};
  EXPECT_THROW(m.view<eight_columns>(), Error);
  EXPECT_THROW((m.view<row_major(7, 12)>()), Error);
  constexpr Layout padded{tuple(11, 7), tuple(8, 1)};  // reaches beyond the elements
  EXPECT_THROW(m.view<padded>(), Error);
  const auto& constant = m;
  static_assert(std::is_same_v<decltype(constant.view()(0, 0)), const float&>);
}

TEST(HostTensor, CopyOfTakesWhatExistsAndConverts) {
  HostTensor<float> m(11, 7);
  arange(m.view());
  const auto corner = copy_of(tile<4, 4>(m.view(), 2, 1));
  EXPECT_EQ(corner.rows(), 3);
  EXPECT_EQ(corner.cols(), 3);
  EXPECT_EQ(corner(2, 2), 76);
  const auto turned = copy_of<std::int32_t>(transpose(m.view()));
  EXPECT_EQ(turned(6, 10), 76);
  EXPECT_EQ(turned.rows(), 7);
}

TEST(HostTensor, WhatIsMovedFromHasNoElements) {
  HostTensor<float> a({{1, 2}, {3, 4}, {5, 6}});
  HostTensor<float> b = std::move(a);
  EXPECT_EQ(b.rows(), 3);
  EXPECT_EQ(b(2, 1), 6);
  EXPECT_EQ(a.rows(), 0);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(a.cols(), 0);
  EXPECT_EQ(a.size(), 0);
  EXPECT_EQ(a.view().size(), 0);
  a = std::move(b);
  EXPECT_EQ(a.rows(), 3);
  EXPECT_EQ(a(0, 1), 2);
  EXPECT_EQ(b.rows(), 0);  // NOLINT(bugprone-use-after-move)
}

TEST(HostTensor, EveryRankHasElements) {
  HostTensor<float, 6> six(1, 2, 1, 3, 2, 2);
  six(0, 1, 0, 2, 1, 1) = 6;
  EXPECT_EQ(six.view()(0, 1, 0, 2, 1, 1), 6);
  HostTensor<float, 7> seven(2, 1, 2, 1, 3, 2, 2);
  seven.view()(1, 0, 1, 0, 2, 1, 0) = 7;
  EXPECT_EQ(seven(1, 0, 1, 0, 2, 1, 0), 7);
  HostTensor<float, 8> eight(2, 2, 1, 2, 1, 3, 2, 2);
  float count = 0;
  for_each_position(eight.view(), [&](auto... at) { eight.view()(at...) = count++; });
  EXPECT_EQ(count, 96);
  EXPECT_EQ(eight.view()(1, 1, 0, 1, 0, 2, 1, 1), 95);
  EXPECT_EQ(copy_of(eight.view()).view()(0, 1, 0, 1, 0, 0, 0, 1), eight(0, 1, 0, 1, 0, 0, 0, 1));
}

}  // namespace
}  // namespace tessera
