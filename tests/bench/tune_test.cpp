// Tuning on a device with made-up times: what is kept, what is refused, that a
// call continues where the one before ended, and that two at once keep what both found.
#include "bench/tune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "bench/fake_device.hpp"
#include "bench/support.hpp"
#include "support/refusal.hpp"

namespace tessera::bench {
namespace {

using tessera::testing::refusal;
using testing::FakeDevice;
using ::testing::HasSubstr;
using testing::Scratch;
using ::testing::SizeIs;

const Candidate kNaive{"naive", {.bm = 8, .bn = 8, .bk = 8}};
const Candidate kTiled{"tiled", {.bm = 16, .bn = 16, .bk = 16}};
const Candidate kOther{"tiled", {.bm = 32, .bn = 32, .bk = 32}};

class Tune : public ::testing::Test {
 protected:
  Tune() {
    context_.quiet = true;
    request_.sizes = "16x8x24,8";
    request_.cache = scratch_ / "deeper/tuning.txt";
    request_.candidates = [](const Problem&) { return std::vector{kNaive, kTiled, kOther}; };
    Peer peer;
    peer.name = "cublas";
    peer.types = {{}};
    device_.there = {peer};
    device_.flops_per_second = {{"tiled 16x16x16", 3e9}, {"tiled 32x32x32", 2e9}, {"cublas", 6e9}};
  }
  int tune() { return tune_on(context_, request_, device_, on_); }
  std::vector<TunedProduct> kept() { return read_tuning(request_.cache, on_).tuning.products; }

  Scratch scratch_;
  shell::Context context_;
  TuneRequest request_;
  FakeDevice device_;
  TunedOn on_{"Test GPU", "9.0", "13.0", "0.1.0"};
};

TEST_F(Tune, TheFastestIsKeptBesideThePeerThatTookTurns) {
  EXPECT_EQ(tune(), 0);
  const auto products = kept();
  ASSERT_THAT(products, SizeIs(2));
  EXPECT_EQ(products[0].problem.M, 16);
  EXPECT_EQ(products[0].best, kTiled);
  EXPECT_EQ(products[0].peer, "cublas");
  EXPECT_NEAR(products[0].seconds / products[0].peer_seconds, 2, 1e-9);
  EXPECT_FALSE(device_.loaded);
}

TEST_F(Tune, OnesThatFallBehindLeaveAfterThreeRounds) {
  request_.sizes = "8";
  tune();
  std::map<std::string, int> runs;
  for (const auto& name : device_.run_names) ++runs[name];
  EXPECT_EQ(runs["naive 8x8x8"], 2 + 3);  // verified, once alone, three rounds
  EXPECT_EQ(runs["tiled 16x16x16"], 2 + 3);
  device_.run_names.clear();
  runs.clear();
  device_.flops_per_second["tiled 32x32x32"] = 2.95e9;  // close: so it takes more rounds
  request_.again = true;
  tune();
  for (const auto& name : device_.run_names) ++runs[name];
  EXPECT_EQ(runs["naive 8x8x8"], 2 + 3);
  EXPECT_EQ(runs["tiled 32x32x32"], 2 + 3 + 10 + 30);
}

TEST_F(Tune, AWrongOneIsRefusedHoweverFastAndTheExitCodeSaysSo) {
  device_.wrong_everywhere = "tiled 16x16x16";
  EXPECT_EQ(tune(), 1);
  ASSERT_THAT(kept(), SizeIs(2));
  EXPECT_EQ(kept()[0].best, kOther);
}

TEST_F(Tune, WhereNoneIsRightNothingIsKept) {
  request_.candidates = [](const Problem&) { return std::vector{kNaive}; };
  device_.wrong_everywhere = "naive 8x8x8";
  EXPECT_THAT(refusal([&] { tune(); }, Category::failed),
              ::testing::AllOf(HasSubstr("no kernel multiplies 16x8x24 rightly"),
                               HasSubstr("wrong at (0,0)")));
  EXPECT_THAT(kept(), SizeIs(0));
}

TEST_F(Tune, WhatIsKnownIsNotMeasuredAgainUnlessAsked) {
  request_.sizes = "16x8x24";
  tune();
  const auto runs = device_.run_names.size();
  request_.sizes = "16x8x24,8";
  tune();
  EXPECT_EQ(device_.loads, 2);
  request_.again = true;
  tune();
  EXPECT_EQ(device_.loads, 4);
  EXPECT_GT(device_.run_names.size(), runs);
  EXPECT_THAT(kept(), SizeIs(2));
}

TEST_F(Tune, WhenTheTimeIsOverNothingHalfMeasuredIsKept) {
  request_.seconds = 0;
  EXPECT_EQ(tune(), 0);
  EXPECT_THAT(kept(), SizeIs(0));
  EXPECT_EQ(device_.loads, 0);
}

TEST_F(Tune, WithoutAPeerSecondsDecide) {
  request_.peer = "none";
  tune();
  EXPECT_EQ(kept()[0].best, kTiled);
  EXPECT_EQ(kept()[0].peer, "");
  request_.peer = "other";
  EXPECT_THAT(refusal([&] { tune(); }, Category::unavailable), HasSubstr("no peer 'other'"));
}

TEST_F(Tune, TheFastestOfThePeersCounts) {
  for (const char* name : {"cublaslt", "cublaslt-2", "cublaslt-tf32"}) {
    Peer peer;
    peer.name = name;
    peer.types = {{}};
    device_.there.push_back(peer);
  }
  device_.flops_per_second["cublaslt"] = 4e9;
  device_.flops_per_second["cublaslt-2"] = 9e9;
  device_.flops_per_second["cublaslt-tf32"] = 99e9;  // multiplies something else
  request_.sizes = "8";
  tune();
  EXPECT_EQ(kept()[0].peer, "cublaslt-2");
  EXPECT_NEAR(kept()[0].seconds / kept()[0].peer_seconds, 3, 1e-9);
}

TEST_F(Tune, APeerThatMultipliesWronglyIsNone) {
  Peer peer;
  peer.name = "cublaslt";
  peer.types = {{}};
  device_.there.push_back(peer);
  device_.flops_per_second["cublaslt"] = 60e9;
  device_.wrong_everywhere = "cublaslt";
  request_.sizes = "8";
  EXPECT_EQ(tune(), 1);
  EXPECT_EQ(kept()[0].peer, "cublas");
}

TEST_F(Tune, TheDeviceAndTheSlowerOnesAreKept) {
  request_.sizes = "8";
  tune();
  const TunedProduct found = kept()[0];
  EXPECT_EQ(found.clock_hz, 1980e6);
  EXPECT_EQ(found.watts, 650.5);
  EXPECT_EQ(found.limits, 4u);
  ASSERT_THAT(found.slower, SizeIs(2));
  EXPECT_EQ(found.slower[0].who, kOther);
  EXPECT_NEAR(found.slower[0].times, 1.5, 1e-6);
  EXPECT_EQ(found.slower[1].who, kNaive);
}

TEST_F(Tune, TheOneThatLedAtFirstIsAmongTheSlower) {
  request_.sizes = "8";
  int runs = 0;  // of the one that leads: verified, once alone, three rounds
  device_.modelled = [&runs](const std::string& who, const BenchCase&) {
    if (who == "tiled 16x16x16") return ++runs <= 5 ? 3e9 : 2e9;
    return who == "tiled 32x32x32" ? 2.95e9 : 1e9;
  };
  tune();
  const TunedProduct found = kept()[0];
  EXPECT_EQ(found.best, kOther);
  ASSERT_THAT(found.slower, SizeIs(2));
  EXPECT_EQ(found.slower[0].who, kTiled);
  EXPECT_NEAR(found.slower[0].times, 2.95 / 2, 1e-3);
  EXPECT_NEAR(found.slower[1].times, 2.95, 1e-3);
}

TEST_F(Tune, AKernelThatDoesNotEndIsLeftOutByTheNextCall) {
  device_.never_ends = "tiled 16x16x16";
  EXPECT_THAT(refusal([&] { tune(); }, Category::kernel),
              ::testing::AllOf(HasSubstr("tiled 16x16x16 does not end on 16x8x24"),
                               HasSubstr("run the command again")));
  EXPECT_THAT(kept(), SizeIs(0));
  FakeDevice next;  // of another process
  next.never_ends = device_.never_ends;
  request_.sizes = "16x8x24";
  EXPECT_EQ(tune_on(context_, request_, next, on_), 0);
  EXPECT_EQ(kept()[0].best, kNaive);
  EXPECT_FALSE(next.hangs());
  EXPECT_THAT(read_tuning(request_.cache, on_).tuning.hanging, SizeIs(1));
}

TEST_F(Tune, RoundsBeginWithTheOtherSideInTurn) {
  request_.sizes = "8";
  tune();
  const auto& names = device_.run_names;
  ASSERT_GE(names.size(), 12u);
  EXPECT_EQ(names[8], "cublas");  // after two runs of each for verification
  EXPECT_EQ(names[12], "tiled 32x32x32");
}

TEST_F(Tune, ACacheOfAnotherDriverIsIgnoredAndWrittenAnew) {
  tune();
  on_.driver = "13.1";
  EXPECT_THAT(read_tuning(request_.cache, on_).ignored, HasSubstr("of driver 13.0, this is 13.1"));
  request_.sizes = "8";
  tune();
  EXPECT_EQ(device_.loads, 3);
  EXPECT_THAT(kept(), SizeIs(1));
}

TEST_F(Tune, AFileThatCannotBeKeptIsRefusedBeforeAnythingIsMeasured) {
  const std::string folder = scratch_ / "folder", file = scratch_ / "file";
  std::filesystem::create_directory(folder);
  std::ofstream(file) << "";
  for (const std::string& name : {folder, file + "/tuning.txt", std::string("/dev/full")}) {
    request_.cache = name;
    EXPECT_THAT(refusal([&] { tune(); }, Category::argument), HasSubstr(name));
  }
  EXPECT_EQ(device_.loads, 0);
}

TEST_F(Tune, TwoProcessesAtOnceKeepWhatBothFound) {
  constexpr int each = 40;
  const auto add = [&](index_t first) {
    for (index_t i = 0; i < each; ++i)
      keep_tuned(request_.cache, on_, {{.M = first + i, .N = 1, .K = 1}, kNaive, 1, "", 0});
  };
  const pid_t other = fork();
  if (other == 0) {
    add(1000);
    _exit(0);
  }
  add(1);
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  std::set<index_t> found;
  for (const auto& product : kept()) found.insert(product.problem.M);
  EXPECT_EQ(found.size(), 2u * each);
}

}  // namespace
}  // namespace tessera::bench
