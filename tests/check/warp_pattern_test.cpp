// Patterns of a warp: what the checker counts for a kernel with the same addresses, what the
// pictures show, and which patterns are refused.
#include "tessera/check/warp_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tessera/check/check.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/core/random.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/expression.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr index_t kElements = 4096;

/// Every lane moves one vector from A to C through shared memory, always at its own place.
template <class T, int V>
struct Access {
  static constexpr const char* name = "access";
  static constexpr Dim3 block{kWarpLanes};
  struct Shared {
    Tile<T, 1, kElements> tile;
  };
  std::array<index_t, kWarpLanes> at;  // in vectors; -1: the lane does nothing
  void operator()(auto t, auto A, auto C) const {
    const index_t place = at[t.thread];
    if (place < 0) return;
    auto& s = shared<Shared>(t);
    auto tile = vectorize<1, V>(s.tile.view());
    tile(0, place) = vectorize<1, V>(A)(0, place);
    const Vec<T, V> value = tile(0, place);
    vectorize<1, V>(C)(0, place) = value;
  }
};

template <class T, int V>
Counters counted(const WarpPattern& pattern) {
  Access<T, V> kernel{};
  kernel.at.fill(-1);
  for (std::size_t lane = 0; lane < pattern.elements.size(); ++lane)
    kernel.at[lane] = pattern.elements[lane] / V;
  alignas(256) static T a[kElements], c[kElements];
  return check({.threads = 1}, Dim3{1}, kernel, Tensor<const T*, row_major(1, kElements)>(a),
               Tensor<T*, row_major(1, kElements)>(c))
      .total;
}

/// Request number n of a stream of random ones, of any kind; their elements are below kElements.
WarpPatternRequest random_request(std::uint64_t n, int vector, DType dtype) {
  auto pick = [&, i = std::uint64_t{0}](index_t below) mutable {
    return static_cast<index_t>(random_bits(n, i++) % static_cast<std::uint64_t>(below));
  };
  WarpPatternRequest out{.dtype = dtype, .vector = vector};
  out.lanes = pick(3) == 0 ? static_cast<int>(1 + pick(32)) : kWarpLanes;
  if (pick(3) == 0) {
    out.expression = cat("(lane ^ lane >> ", pick(5), ") * ", vector * (1 + pick(60)), " % ",
                         vector * (1 + pick(kElements / vector)), " / ", vector, " * ", vector);
    return out;
  }
  const index_t rows = 1 + pick(32), columns = 8 * (1 + pick(8));
  const bool is_nested = columns % 16 == 0 && pick(2) == 0;
  out.expression = is_nested ? cat("(", rows, ",(8,", columns / 8, ")):(", columns, ",(1,8))")
                             : cat("row_major(", rows, ",", columns, ")");
  out.along = pick(2);
  if (pick(2) == 0) out.at = cat(pick(rows), ",", pick(columns / vector) * vector);
  if (pick(3) == 0) out.pad = vector * pick(3);
  else if (pick(2) == 0) out.swizzle = cat(pick(4), ",", exact_log2(vector) + pick(2), ",3");
  return out;
}

template <class T, int V>
void expect_as_counted(DType dtype) {
  for (std::uint64_t n = 0; n < 50; ++n) {
    const WarpPatternRequest request = random_request(n * 8 + sizeof(T) + V, V, dtype);
    const WarpPattern pattern = warp_pattern(request);
    ASSERT_LT(*std::max_element(pattern.elements.begin(), pattern.elements.end()), kElements);
    const Counters c = counted<T, V>(pattern);
    const auto text = cat(request.expression, " along ", request.along, " at ", request.at);
    EXPECT_EQ(pattern.global.sectors, c.global_load_sectors) << text;
    EXPECT_EQ(pattern.global.sectors, c.global_store_sectors) << text;
    EXPECT_EQ(pattern.global.ideal, c.global_load_sectors_ideal) << text;
    EXPECT_EQ(pattern.load.wavefronts, c.shared_load_wavefronts) << text;
    EXPECT_EQ(pattern.load.ideal, c.shared_load_wavefronts_ideal) << text;
    EXPECT_EQ(pattern.store.wavefronts, c.shared_store_wavefronts) << text;
    EXPECT_EQ(static_cast<index_t>(pattern.elements.size()) * pattern.bytes, c.shared_load_bytes);
  }
}

TEST(WarpPattern, CostsWhatTheCheckerCountsForTheSameAddresses) {
  expect_as_counted<float, 1>(DType::f32);
  expect_as_counted<float, 2>(DType::f32);
  expect_as_counted<float, 4>(DType::f32);
  expect_as_counted<double, 1>(DType::f64);
  expect_as_counted<f16, 1>(DType::f16);
  expect_as_counted<std::uint8_t, 1>(DType::u8);
}

std::vector<index_t> elements(WarpPatternRequest request) { return warp_pattern(request).elements; }

TEST(WarpPattern, LanesWalkALayout) {
  EXPECT_THAT(elements({.expression = "row_major(2,3)"}), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(elements({.expression = "row_major(2,3)", .along = 1}),
              ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(elements({.expression = "row_major(2,3)", .along = 1, .at = "1,1"}),
              ElementsAre(4, 5));
  EXPECT_THAT(elements({.expression = "row_major(2,8)", .vector = 4}), ElementsAre(0, 8, 4, 12));
  EXPECT_THAT(elements({.expression = "row_major(2,8)", .lanes = 3, .pad = 4}),
              ElementsAre(0, 12, 1));
  EXPECT_THAT(elements({.expression = "(2,(2,2)):(1,(2,4))", .along = 1, .pad = 1}),
              ElementsAre(0, 3, 6, 9, 1, 4, 7, 10));
  EXPECT_THAT(
      elements({.expression = "row_major(4,4)", .lanes = 8, .along = 1, .swizzle = "2,0,2"}),
      ElementsAre(0, 1, 2, 3, 5, 4, 7, 6));
}

TEST(WarpPattern, FormulasAreThoseOfC) {
  const auto first = [](const char* text) { return elements({.expression = text, .lanes = 8}); };
  EXPECT_THAT(first("lane % 4 * 3 + lane / 4"), ElementsAre(0, 3, 6, 9, 1, 4, 7, 10));
  EXPECT_THAT(first("lane ^ lane >> 1"), ElementsAre(0, 1, 3, 2, 6, 7, 5, 4));
  EXPECT_THAT(first("(lane & 6) << 1 | 1"), ElementsAre(1, 1, 5, 5, 9, 9, 13, 13));
  EXPECT_THAT(first("7 - lane - 0"), ElementsAre(7, 6, 5, 4, 3, 2, 1, 0));
  EXPECT_THAT(first("-(-lane) * 2"), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
  EXPECT_THAT(first("row_major(4,9)(lane / 2, lane % 2) + 1"),
              ElementsAre(1, 2, 10, 11, 19, 20, 28, 29));
  EXPECT_THAT(first("(4,2):(1,8)(lane)"), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  EXPECT_THAT(first("swizzle(1,0,1)(lane)"), ElementsAre(0, 1, 3, 2, 4, 5, 7, 6));
}

TEST(WarpPattern, PicturesShowEveryPass) {
  const WarpPattern pattern = warp_pattern({.expression = "16*lane", .lanes = 4});
  EXPECT_EQ(access_text(pattern.sample(Memory::shared), 60),
            "bank    0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15\n"
            "pass 1  0\n"
            "pass 2  2\n"
            "bank   16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31\n"
            "pass 1  1\n"
            "pass 2  3\n");
  EXPECT_EQ(access_text(warp_pattern({.expression = "2*lane", .lanes = 5}).sample(Memory::global)),
            "byte  0                      32                      64                      96\n"
            "+0    0  .  1  .  2  .  3  .  4  .  .  .  .  .  .  .\n");
  EXPECT_THAT(access_picture(pattern.sample(Memory::shared)), HasSubstr("in 2 wavefronts"));
}

std::string refusal(const WarpPatternRequest& request) {
  try {
    return cat("not refused: ", warp_pattern(request).text);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(WarpPattern, RefusesWhatAGpuDoesNotExecute) {
  EXPECT_THAT(refusal({.expression = "lane - 1"}), HasSubstr("lane 0 touches element -1"));
  EXPECT_THAT(refusal({.expression = "lane", .vector = 4}), HasSubstr("lane 1 begins at byte 4"));
  EXPECT_THAT(refusal({.expression = "4*lane", .vector = 8}), HasSubstr("at most 16 bytes"));
  EXPECT_THAT(refusal({.expression = "4*lane", .vector = 3}), HasSubstr("power of two"));
  EXPECT_THAT(refusal({.expression = "32*lane", .vector = 4, .swizzle = "3,1,5"}),
              HasSubstr("not side by side"));
  EXPECT_THAT(refusal({.expression = "32:2", .vector = 2}), HasSubstr("side by side"));
  EXPECT_THAT(refusal({.expression = "row_major(0,4)"}), HasSubstr("no elements"));
  EXPECT_THAT(refusal({.expression = "row_major(4,4)", .along = 2}), HasSubstr("0 to 1"));
  EXPECT_THAT(refusal({.expression = "row_major(4,4)", .at = "4,0"}), HasSubstr("outside"));
  EXPECT_THAT(refusal({.expression = "row_major(4,4)", .at = "1"}),
              HasSubstr("one number per mode"));
  EXPECT_THAT(refusal({.expression = "row_major(4,4)", .vector = 2, .at = "0,1"}),
              HasSubstr("beginning of a vector"));
  EXPECT_THAT(refusal({.expression = "32:1", .pad = 1}), HasSubstr("two modes"));
  EXPECT_THAT(refusal({.expression = "lane", .pad = 1}), HasSubstr("write them into the formula"));
  EXPECT_THAT(refusal({.expression = "swizzle(1,0,1)"}), HasSubstr("a layout is needed"));
  EXPECT_THAT(refusal({.expression = "(?,4):(4,1)"}), HasSubstr("'?'"));
}

TEST(WarpPattern, PointsAtMistakes) {
  for (const auto& [text, column] :
       {std::pair("lane +", 6), std::pair("lane * (2 + 1", 7), std::pair("2 lane", 2),
        std::pair("tid + lane", 0), std::pair("lane / 0", 5), std::pair("8:1 + lane", 4),
        std::pair("1 + row_majr(4,4)(lane)", 4), std::pair("lane << 48", 5),
        std::pair("3x + lane", 1), std::pair("99999999999999999 * lane", 0)}) {
    try {
      warp_pattern({.expression = text});
      ADD_FAILURE() << text;
    } catch (const ExpressionError& error) {
      EXPECT_EQ(error.column(), static_cast<std::size_t>(column)) << text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace tessera::check
