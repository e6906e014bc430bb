// Tiles of shared storage have their names from the source, and only where a line uses one.
#include "check/shared_names.hpp"

#include <gtest/gtest.h>

namespace tessera::check {
namespace {

constexpr const char* kA = "tile (4,4) at byte 0";
constexpr const char* kB = "tile (4,4) at byte 64";

AccessSample sample(const char* tensor, int line) {
  AccessSample out;
  out.memory = Memory::shared;
  out.tensor = tensor;
  out.location = {"k.cpp", line, 0};
  return out;
}

Finding race(const char* tensor, int line, int other_line) {
  Finding out;
  out.memory = Memory::shared;
  out.tensor = tensor;
  out.problem = std::string("thread 0 writes element (0,0) of ") + tensor;
  out.location = {"k.cpp", line, 0};
  if (other_line > 0) out.other = {"k.cpp", other_line, 0};
  return out;
}

/// The report of a source whose lines begin with number 1.
Report named(const std::string& source, Report report) {
  name_shared_tiles(report, [&](const std::string& file) {
    return file == "k.cpp" ? std::optional(source) : std::nullopt;
  });
  return report;
}

constexpr const char* kSource =
    "auto& s = shared<Shared>(t);\n"
    "s.a(y, x) = A(y, x);  // not s.b\n"
    "s.b(y, x) = B(y, x);\n"
    "sum = fma(s.a(y, k), s.b(k, x), sum);\n"
    "t.barrier();\n";

TEST(SharedNames, ATileIsCalledAsTheLineCallsIt) {
  Report report;
  report.samples = {sample(kA, 2), sample(kB, 3), sample(kA, 4), sample(kB, 4)};
  report.findings = {race(kB, 3, 4), race(kA, 4, 0)};
  const Report out = named(kSource, report);
  EXPECT_EQ(out.findings[0].tensor, "s.b");
  EXPECT_EQ(out.findings[0].problem, "thread 0 writes element (0,0) of s.b");
  EXPECT_EQ(out.findings[1].tensor, "s.a");  // another line has it alone
  EXPECT_EQ(out.samples[2].tensor, "s.a");
  EXPECT_EQ(out.samples[3].tensor, "s.b");
}

TEST(SharedNames, WhatNoLineTellsStays) {
  Report report;
  report.samples = {sample(kA, 4), sample(kB, 5), sample(kB, 99)};
  report.findings = {race(kA, 4, 0), race("", 2, 0)};
  const Report out = named(kSource, report);
  EXPECT_EQ(out.findings[0].tensor, kA);
  EXPECT_EQ(out.findings[1].tensor, "");
  EXPECT_EQ(out.samples[1].tensor, kB);
  EXPECT_EQ(named("", report).findings[0].tensor, kA);
  report.findings[0].location.file = "elsewhere.cpp";
  EXPECT_EQ(named(kSource, report).findings[0].tensor, kA);
}

/// A function that gets the tile as an argument has another name for it.
TEST(SharedNames, TheOneMemberWithoutATileIsThatOfTheOtherTiles) {
  constexpr const char* kSlice = "tile (64,64) at byte 128";
  Report report;
  report.samples = {sample(kA, 2), sample(kB, 2)};
  report.findings = {race(kSlice, 7, 0)};
  report.findings[0].location.file = "store.hpp";
  const std::string source =
      "auto& s = shared<Shared>(t);\n"
      "s.a[k](y, x) = A(y, x);\n"
      "s.a[0](0, 0) = 1;\n"
      "wait(t, s.full[k], 0);\n"
      "store_sums(t, sums, s.slices[group]);\n";
  const Report out = named(source, report);
  EXPECT_EQ(out.findings[0].tensor, "s.slices");
  EXPECT_EQ(out.findings[0].problem, "thread 0 writes element (0,0) of s.slices");
  EXPECT_EQ(named(source + "use(s.others);\n", report).findings[0].tensor, kSlice);
}

TEST(SharedNames, PartsAndOtherNamesOfATileAreKnown) {
  Report report;
  report.findings = {race(kA, 2, 0), race(kB, 4, 0)};
  const Report out = named(
      "auto& [sA, sB] = tessera::shared<Shared<float>>(t);\n"
      "sA(y, x) = 1;\n"
      "auto turned = swizzled<Swizzle{5, 0, 5}>(sB.view());\n"
      "turned(y, x) = 1;\n",
      report);
  EXPECT_EQ(out.findings[0].tensor, "sA");
  EXPECT_EQ(out.findings[1].tensor, "turned");
}

TEST(SharedNames, AViewIsKnownAsAnArgument) {
  Report report;
  report.samples = {sample(kA, 5), sample(kB, 6), sample(kA, 7), sample(kB, 7)};
  report.findings = {race(kA, 5, 0)};
  const Report out = named(
      "auto& stage = shared<Shared<float>>(t);\n"
      "auto sA = stage.a.view();\n"
      "auto sB = stage.b.view();\n"
      "auto a = tile<1, 4>(sA, row, 0);\n"
      "copy(t, tile<4, 4>(A, t.block.y, k), sA);\n"
      "copy(t, tile<4, 4>(B, k, t.block.x), sB);\n"
      "sum = fma(a(0, i), b(i, 0), sum);\n",
      report);
  EXPECT_EQ(out.findings[0].tensor, "sA");
  EXPECT_EQ(out.samples[1].tensor, "sB");
  EXPECT_EQ(out.samples[2].tensor, "sA");  // no line names it there: the copy did
  EXPECT_EQ(out.samples[3].tensor, "sB");
}

TEST(SharedNames, TilesOfAnArrayHaveTheirIndex) {
  const std::string source =
      "auto& s = shared<Shared>(t);\n"
      "s.a[stage](y, x) = A(y, x);\n"
      "s.b[stage](y, x) = B(y, x);\n"
      "sum = fma(s.a[stage](y, k), s.b[stage](k, x), sum);\n"
      "s.c[1](y, x) = 0;\n"
      "s.d[i](y, x) = 0;\n";
  const auto tile = [](int byte) { return "tile (4,4) at byte " + std::to_string(byte); };
  Report report;
  report.samples = {sample(kA, 2), sample(kB, 3), sample(kA, 4)};
  report.samples[0].tiles = {kA, kB};
  report.samples[1].tensor = tile(192);
  report.samples[1].tiles = {tile(128), tile(192)};
  report.samples[2].tiles = {kA, kB, tile(128), tile(192)};
  report.findings = {race(tile(192).c_str(), 4, 3), race(kB, 4, 2), race(tile(320).c_str(), 5, 0),
                     race(tile(384).c_str(), 6, 0)};
  report.findings[0].also = {{tile(128), {"k.cpp", 4, 0}, {"k.cpp", 3, 0}}};
  const Report out = named(source, report);
  EXPECT_EQ(out.findings[0].tensor, "s.b[1]");
  EXPECT_EQ(out.findings[0].also[0].tensor, "s.b[0]");
  EXPECT_EQ(out.findings[1].problem, "thread 0 writes element (0,0) of s.a[1]");
  EXPECT_EQ(out.findings[2].tensor, "s.c[1]");
  EXPECT_EQ(out.findings[3].tensor, "s.d");  // its only tile, and nothing says which
  EXPECT_EQ(out.samples[0].tensor, "s.a[0]");
}

TEST(SharedNames, PartsOfTilesHaveTheNameOfTheWhole) {
  const auto tile = [](int byte) { return "tile (2,4) at byte " + std::to_string(byte); };
  Report report;
  report.findings = {race(tile(32).c_str(), 3, 2), race(tile(96).c_str(), 2, 0)};
  report.bulk_tiles = {{{"k.cpp", 2, 5}, tile(32)}};
  const Report out = named(
      "auto& s = shared<Shared>(t);\n"
      "copy_bulk(t, part, share<2>(s.b[stage], rank), s.full[stage], 3u);\n"
      "Unit::mma(t, acc, whole(s.a), whole(s.b[stage].k_major), keep);\n"
      "wait(t, s.full[stage], phase);\n",
      report);
  EXPECT_EQ(out.findings[0].tensor, "a part of s.b");
  EXPECT_EQ(out.findings[1].tensor, "a part of s.b");
}

TEST(SharedNames, GatesAreNoTilesAndViewsOfAnArrayHaveItsName) {
  const auto tile = [](int byte) { return "tile (4,4) at byte " + std::to_string(byte); };
  Report report;
  report.findings = {race(kA, 4, 2), race(tile(128).c_str(), 5, 6), race(tile(192).c_str(), 5, 6)};
  const Report out = named(
      "auto& s = shared<Shared>(t);\n"
      "copy_bulk(t, tile<4, 4>(A, 0, k), s.in[turn.stage], s.full[turn.stage]);\n"
      "auto& to = s.out[k % 2]; auto in = s.in[turn.stage].view();\n"
      "wait(t, s.full[turn.stage], turn.phase); sum += in(0, i);\n"
      "to.view()(y, x) = 2 * in(y, x);\n"
      "store_bulk(t, to, tile<4, 4>(B, 0, k));\n",
      report);
  EXPECT_EQ(out.findings[0].tensor, "s.in[0]");
  EXPECT_EQ(out.findings[1].tensor, "s.out[0]");
  EXPECT_EQ(out.findings[2].tensor, "s.out[1]");
}

TEST(SharedNames, GatesThatThreadsWaitForHaveTheNamesOfTheirArrays) {
  Report report;
  report.findings = {race("", 3, 2)};
  report.gates = {{64, {"k.cpp", 3, 5}, {}, "gate 0"},
                  {80, {"k.cpp", 2, 5}, {}, "gate 1"},
                  {72, {}, {"k.cpp", 5, 5}, "gate 2"}};
  report.findings[0].problem =
      "64 of 96 threads wait for the phase of parity 0 of gate 0 (byte 64 of shared storage), "
      "whose "
      "phase 0 lacks 16 bytes at k.cpp:3:5 (first: thread 0), 1 of 96 threads wait for the phase "
      "of "
      "parity 0 of gate 1 (byte 80 of shared storage), whose phase 0 lacks 2 of 2 arrivals at "
      "k.cpp:2:5 (first: thread 64)";
  const Report out = named(
      "auto& s = shared<Shared>(t);\n"
      "wait(t, s.free[turn.stage], turn.before());\n"
      "wait(t, s.full[turn.stage], turn.phase);\n"
      "Gate& full = s.full[turn.stage];\n"
      "expect(t, full, bytes);\n",
      report);
  EXPECT_NE(out.findings[0].problem.find("gate s.full[0] (byte 64"), std::string::npos);
  EXPECT_NE(out.findings[0].problem.find("gate s.free[0] (byte 80"), std::string::npos);
  EXPECT_EQ(out.gates[2].name, "gate s.full[1]");
}

TEST(SharedNames, ANumberFromATileIsNoNameOfIt) {
  Report report;
  report.findings = {race(kB, 3, 0)};
  const Report out = named(
      "auto& s = shared<Shared>(t);\n"
      "const auto mine = s.a(y, x);\n"
      "s.b(y, x) = relu(mine);\n",
      report);
  EXPECT_EQ(out.findings[0].tensor, "s.b");
}

}  // namespace
}  // namespace tessera::check
