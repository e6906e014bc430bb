// The diagnoses of the primitives, without a GPU: dumps that the models make, as they are expected
// and with each mistake, and dumps that no mistake explains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "copies.hpp"
#include "gates.hpp"
#include "primitive.hpp"
#include "stores.hpp"
#include "support/refusal.hpp"

namespace tessera::primitives {
namespace {

using ::testing::HasSubstr;

class Primitives : public ::testing::TestWithParam<Primitive> {};

TEST_P(Primitives, TheExpectedDumpIsGood) {
  const auto readings = GetParam().readings();
  const Diagnosis found = diagnose(GetParam(), readings.front().dump);
  EXPECT_TRUE(found.good) << found.text;
  EXPECT_EQ(found.reading, readings.front().name);
}

TEST_P(Primitives, EachMistakeIsNamedByItsDump) {
  const auto readings = GetParam().readings();
  ASSERT_GE(readings.size(), 2u);
  std::set<std::string> names;
  for (const auto& each : readings) EXPECT_TRUE(names.insert(each.name).second) << each.name;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const Diagnosis found = diagnose(GetParam(), readings[i].dump);
    EXPECT_FALSE(found.good) << readings[i].name;
    EXPECT_TRUE(found.equal) << found.text;
    EXPECT_EQ(found.reading, readings[i].name) << "two mistakes leave the same dump";
    EXPECT_THAT(found.text, HasSubstr("it is: " + readings[i].name));
    EXPECT_THAT(found.text, HasSubstr(readings.front().name + " gives "));
  }
}

TEST_P(Primitives, WhatNoMistakeExplainsIsSaidWithTheNearest) {
  const auto readings = GetParam().readings();
  for (const auto& each : readings) {
    Dump dump = each.dump;
    dump[dump.size() / 2] = dump[dump.size() / 2] * 5 + 3;
    const Diagnosis found = diagnose(GetParam(), dump);
    EXPECT_FALSE(found.good);
    EXPECT_FALSE(found.equal);
    EXPECT_EQ(found.reading, each.name);
    EXPECT_THAT(found.text, HasSubstr("none of the known mistakes"));
    EXPECT_THAT(found.text, HasSubstr(GetParam().place(dump.size() / 2)));
  }
}

TEST_P(Primitives, ADumpOfAnotherSizeIsRefused) {
  EXPECT_THAT(testing::refusal([] { diagnose(GetParam(), Dump(7)); }, Category::argument),
              HasSubstr("another size"));
}

INSTANTIATE_TEST_SUITE_P(All, Primitives, ::testing::ValuesIn(all()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(PrimitiveNames, AnUnknownOneIsRefusedWithTheOthers) {
  EXPECT_EQ(find("p3").name, "p3");
  EXPECT_THAT(testing::refusal([] { find("p12"); }, Category::argument),
              HasSubstr("one of p1, p2, p3"));
}

TEST(MeasuredPrimitives, ASmallDeviationIsNone) {
  const Primitive& p11 = find("p11");
  Dump near = p11.readings()[0].dump;
  near[1] += near[1] / 10;
  near[2] += near[2] / 2;  // the host decides it
  EXPECT_TRUE(diagnose(p11, near).good);
  near[2] += near[2] / 2;
  EXPECT_THAT(diagnose(p11, near).text, HasSubstr("from launch to launch, ns: got 5625"));
  near = p11.readings()[0].dump;
  near[1] += near[1] / 4;
  EXPECT_THAT(diagnose(p11, near).text, HasSubstr("a copy in memory, GB/s: got 4962"));
}

TEST(MeasuredPrimitives, TheModelGivesTheClocksOfAnH200) {
  EXPECT_TRUE(diagnose(find("p10"), {1153, 1509, 1436, 1852}).good);
}

// The kernels may not depend on when copies and instructions are carried out.
TEST(PrimitiveKernels, LeaveTheSameInEveryOrder) {
  for (const ThreadOrder order :
       {ThreadOrder::backward, ThreadOrder::shuffled, ThreadOrder::late}) {
    CpuMachine machine(order);
    EXPECT_EQ(record_p1(machine), find("p1").readings()[0].dump);
    EXPECT_EQ(record_p2(machine), find("p2").readings()[0].dump);
    EXPECT_EQ(record_p8(machine), find("p8").readings()[0].dump);
    EXPECT_EQ(record_p9(machine), find("p9").readings()[0].dump);
  }
}

}  // namespace
}  // namespace tessera::primitives
