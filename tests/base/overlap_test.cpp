// Arrays that share memory, against a set of all their bytes: any rank, any sign, elements of
// different sizes.
#include "base/overlap.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace tessera {
namespace {

constexpr std::intptr_t kBase = 1 << 20;  // nothing is read there

struct Array {
  std::int64_t size = 4;
  std::vector<ByteMode> modes;
  std::intptr_t first = kBase;

  operator StridedBytes() const { return {reinterpret_cast<const void*>(first), size, modes}; }
  /// Where each element begins.
  std::vector<std::intptr_t> places() const {
    std::vector<std::intptr_t> out{first};
    for (const ByteMode& mode : modes) {
      std::vector<std::intptr_t> next;
      for (const std::intptr_t place : out)
        for (std::int64_t i = 0; i < mode.count; ++i) next.push_back(place + i * mode.step);
      out = std::move(next);
    }
    return out;
  }
  std::multiset<std::intptr_t> bytes() const {
    std::multiset<std::intptr_t> out;
    for (const std::intptr_t place : places())
      for (std::int64_t i = 0; i < size; ++i) out.insert(place + i);
    return out;
  }
};

Array any_array() {
  Array out{*rc::gen::element<std::int64_t>(1, 2, 4, 8), {}, kBase + *rc::gen::inRange(-80, 80)};
  const std::int64_t grid = *rc::gen::element<std::int64_t>(1, out.size);
  for (int rank = *rc::gen::inRange(0, 5); rank > 0; --rank)
    out.modes.push_back({*rc::gen::inRange(1, 5), grid * *rc::gen::inRange(-20, 21)});
  return out;
}

RC_GTEST_PROP(Overlap, OfTwoArraysIsExact, ()) {
  const Array a = any_array(), b = any_array();
  const auto in_a = a.bytes(), in_b = b.bytes();
  const bool expected =
      std::any_of(in_a.begin(), in_a.end(), [&](auto byte) { return in_b.count(byte) > 0; });
  RC_CLASSIFY(expected);
  RC_ASSERT(may_overlap(a, b) == expected);
  RC_ASSERT(may_overlap(b, a) == expected);
}

RC_GTEST_PROP(Overlap, OfAnArrayWithItselfIsExact, ()) {
  const Array a = any_array();
  const auto bytes = a.bytes();
  const bool expected = std::adjacent_find(bytes.begin(), bytes.end()) != bytes.end();
  RC_CLASSIFY(expected);
  RC_ASSERT(may_overlap_itself(a) == expected);
}

TEST(Overlap, OfLargeArraysIsDecidedAtOnce) {
  const std::int64_t n = 1'000'000;
  // Even and odd elements, rows and columns of one array, and a batch of windows.
  const Array even{4, {{n, 8}}}, odd{4, {{n, 8}}, kBase + 4};
  EXPECT_FALSE(may_overlap(even, odd));
  EXPECT_FALSE(may_overlap_itself(even));
  EXPECT_TRUE(may_overlap(even, Array{4, {{n, 12}}, kBase + 4}));
  const Array left{4, {{n, 8 * n}, {1000, 400 * n}, {n / 2, 4}}};
  Array right = left;
  right.first += 4 * n;
  EXPECT_FALSE(may_overlap(left, right));
  right.first -= 4 * (n / 2);
  EXPECT_FALSE(may_overlap(left, right));
  right.first -= 4;
  EXPECT_TRUE(may_overlap(left, right));
  // Steps without a common divisor.
  EXPECT_TRUE(may_overlap(Array{1, {{n, 1'000'003}}}, Array{1, {{n, 999'983}}, kBase + 1}));
  EXPECT_FALSE(may_overlap(Array{1, {{1000, 1'000'003}}}, Array{1, {{1000, 999'983}}, kBase + 1}));
}

TEST(Overlap, WhatNoSearchDecidesCountsAsOne) {
  Array a{1, {}}, b{1, {}, kBase + 3};
  for (std::int64_t i = 0; i < 12; ++i) {
    a.modes.push_back({1000, 2'000'006 + 94 * i});
    b.modes.push_back({1000, 2'000'120 + 26 * i});
  }
  EXPECT_FALSE(may_overlap(a, b)) << "all steps are even";
  a.modes.push_back({3, 2'000'003});
  EXPECT_TRUE(may_overlap(a, b));
  EXPECT_TRUE(may_overlap_itself(a));
}

}  // namespace
}  // namespace tessera
