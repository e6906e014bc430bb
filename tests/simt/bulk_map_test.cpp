// Maps of bulk copies: their arguments for the operands of kernels, and errors.
#include "tessera/simt/bulk_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/ops/warpgroup_store.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal;

alignas(16) const std::byte memory[64] = {};
using Halves = OperandTile<bf16, 256, 64>;

TEST(BulkMap, OfAnOperandWhoseKIsContiguous) {
  const BulkFields f = bulk_fields<Halves::KMajor>(memory, 1000, 500, 504, 1);
  EXPECT_THAT(f.extent, ElementsAre(500, 1000));
  EXPECT_EQ(f.stride_bytes, 1008);
  EXPECT_THAT(f.box, ElementsAre(64, 256));
  EXPECT_EQ(f.swizzle, SwizzleMode::bytes_128);
  EXPECT_EQ(f.type, BulkType::bf16);
  EXPECT_EQ(why_no_map(f), "");
}

TEST(BulkMap, OfAnOperandWhoseMnIsContiguous) {
  const BulkFields f = bulk_fields<Halves::MnMajor>(memory, 1000, 500, 1, 1008);
  EXPECT_THAT(f.extent, ElementsAre(1000, 500));
  EXPECT_EQ(f.stride_bytes, 2016);
  EXPECT_THAT(f.box, ElementsAre(64, 64));
  EXPECT_EQ(major_for<Halves>(1000, 500, 1, 1008), Major::mn);
  EXPECT_EQ(major_for<Halves>(1000, 500, 504, 1), Major::k);
}

TEST(BulkMap, OfSlicesOfC) {
  const BulkFields halves = bulk_fields<SliceTile<f16>>(memory, 100, 200, 208, 1);
  EXPECT_THAT(halves.box, ElementsAre(64, 64));
  const BulkFields floats = bulk_fields<SliceTile<float>>(memory, 100, 200, 208, 1);
  EXPECT_THAT(floats.box, ElementsAre(32, 64));
  EXPECT_THAT(floats.extent, ElementsAre(200, 100));
  EXPECT_EQ(floats.type, BulkType::f32);
}

TEST(BulkMap, OfElementsThatAreApartIsRefused) {
  const auto refusal_of = [](const BulkFields& fields) {
    return refusal([&] { software_map(fields); }, Category::argument);
  };
  EXPECT_THAT(refusal_of(bulk_fields<Halves::KMajor>(memory, 1000, 500, 1008, 2)),
              HasSubstr("are 2 elements apart"));
  EXPECT_THAT(refusal_of(bulk_fields<Halves::KMajor>(memory, 1000, 500, 1, 1008)),
              HasSubstr("are 1008 elements apart"));
  EXPECT_THAT(refusal_of(bulk_fields<Halves::MnMajor>(memory, 1000, 500, 504, 1)),
              HasSubstr("are 504 elements apart"));
  EXPECT_EQ(why_no_map(bulk_fields<Halves::KMajor>(memory, 1000, 1, 8, 77)), "");
  EXPECT_EQ(why_no_map(bulk_fields<Halves::MnMajor>(memory, 1, 500, 77, 8)), "");
}

TEST(BulkMap, OfF32ForUnitsRoundsToTf32) {
  using Floats = OperandTile<float, 128, 32>;
  const auto operand = bulk_operand<Floats>(software_map, memory, 10, 20, 20, 1);
  EXPECT_EQ(fields_of(operand.map).type, BulkType::tf32);
  EXPECT_THAT(fields_of(operand.map).box, ElementsAre(32, 128));
}

TEST(BulkMap, OneRowNeedsNoStride) {
  EXPECT_EQ(why_no_operand<Halves>(memory, 1, 7, 7, 1), "");
  EXPECT_EQ(why_no_operand<Halves>(memory, 7, 1, 1, 7), "");
}

TEST(BulkMap, IsRefusedWithASentence) {
  BulkFields f = bulk_fields<Halves::KMajor>(memory, 1000, 500, 504, 1);
  const auto why = [&](auto change) {
    BulkFields changed = f;
    change(changed);
    return why_no_map(changed);
  };
  EXPECT_THAT(why([](auto& c) { c.data = memory + 2; }),
              HasSubstr("2 bytes beyond a multiple of 16"));
  EXPECT_THAT(why([](auto& c) { c.stride_bytes = 1010; }), HasSubstr("no multiple of 16"));
  EXPECT_THAT(why([](auto& c) { c.stride_bytes = 0; }), HasSubstr("overlap"));
  EXPECT_THAT(why([](auto& c) { c.stride_bytes = -1008; }),
              HasSubstr("go back by 1008 bytes each"));
  EXPECT_THAT(why([](auto& c) { c.stride_bytes = std::int64_t{1} << 40; }), HasSubstr("at most"));
  EXPECT_THAT(why([](auto& c) { c.extent[1] = 0; }), HasSubstr("empty"));
  EXPECT_THAT(why([](auto& c) { c.extent[1] = -1; }), HasSubstr("an extent of -1 is negative"));
  EXPECT_THAT(why([](auto& c) { c.extent[1] = std::int64_t{1} << 31; }), HasSubstr("more than"));
  EXPECT_THAT(why([](auto& c) { c.box[1] = 257; }), HasSubstr("1 to 256 elements"));
  EXPECT_THAT(why([](auto& c) { c.box[0] = 4; }), HasSubstr("8 bytes, no multiple of 16"));
  EXPECT_THAT(why([](auto& c) { c.box[0] = 128; }), HasSubstr("the swizzle's has 128"));
  BulkFields nowhere = f;
  nowhere.data = nullptr;
  EXPECT_THAT(refusal([&] { software_map(nowhere); }, Category::argument),
              AllOf(HasSubstr("its address is null"), HasSubstr("allocate it")));
  EXPECT_THAT(refusal([&] { software_map(bulk_fields<Halves::MnMajor>(memory, 64, 64, 64, 1)); },
                      Category::argument),
              AllOf(HasSubstr("M or N of an MN-major one"), HasSubstr("64 elements apart"),
                    HasSubstr("a tile of the other major")));
  f.stride_bytes = 1010;
  EXPECT_THAT(refusal([&] { software_map(f); }, Category::argument),
              HasSubstr("bulk copies cannot read this matrix: its rows are 1010 bytes apart"));
}

TEST(BulkMap, OperandsThatNoCopyReads) {
  EXPECT_THAT(why_no_operand<Halves>(memory, 10, 10, 2, 20), HasSubstr("neither"));
  EXPECT_THAT(why_no_operand<Halves>(memory, 10, 10, 11, 1), HasSubstr("22 bytes apart"));
  EXPECT_THAT((why_no_operand<OperandTile<float, 128, 32>>(memory, 12, 12, 1, 12)),
              HasSubstr("K is not contiguous"));
}

}  // namespace
}  // namespace tessera
