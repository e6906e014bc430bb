// Tuning results as text and back, their products, and when a file is ignored.
#include "matmul/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "matmul/tuned.hpp"
#include "support/refusal.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

Problem rows(index_t M, index_t N, index_t K, DType in = DType::f32) {
  return {.M = M, .N = N, .K = K, .in = in, .out = in, .a = {K, 1}, .b = {N, 1}, .c = {N, 1}};
}

Tuning example() {
  Tuning out{{"Some \"GPU\"", "9.0", "13.0", "0.1.0"}, {}};
  out.add({rows(64, 32, 16), {"tiled", {.bm = 16, .bn = 16, .bk = 16}}, 1.5e-6, "cublas", 1e-6});
  out.add({rows(8, 8, 8, DType::bf16), {"packed", {}}, 2e-9, "", 0});
  return out;
}

TEST(Tuning, ReadsBackWhatItPrints) {
  const Tuning before = example(), after = parse_tuning(to_string(before));
  EXPECT_EQ(to_string(after), to_string(before));
  EXPECT_EQ(after.on, before.on);
  ASSERT_EQ(after.products.size(), 2u);
  EXPECT_EQ(after.products[0].best, before.products[0].best);
  EXPECT_EQ(after.products[0].peer_seconds, 1e-6);
}

TEST(Tuning, IsOfAProductsExtentsTypesAndOrdersAndOfNoOther) {
  const Tuning tuning = example();
  Problem p = rows(64, 32, 16);
  p.alpha = 3, p.beta = 1, p.a.row = 99;
  EXPECT_NE(tuning.find(p), nullptr);
  for (const auto& change :
       std::vector<void (*)(Problem&)>{[](Problem& q) { q.M = 65; }, [](Problem& q) { q.K = 17; },
                                       [](Problem& q) { q.in = q.out = DType::f64; },
                                       [](Problem& q) {
                                         q.b = {1, 16};
                                       }}) {
    Problem other = rows(64, 32, 16);
    change(other);
    EXPECT_EQ(tuning.find(other), nullptr) << to_string(other);
  }
}

TEST(Tuning, OfTheSameProductTheLaterCounts) {
  Tuning tuning = example();
  tuning.add({rows(64, 32, 16), {"naive", {}}, 1e-7, "", 0});
  EXPECT_EQ(tuning.products.size(), 2u);
  EXPECT_EQ(tuning.find(rows(64, 32, 16))->best.algorithm, "naive");
}

TEST(Tuning, KeepsTheDevicesStateTheSlowerOnesAndWhatDoesNotEnd) {
  Tuning before = example();
  const Candidate wide{"warpgroup", {.bm = 128, .bn = 256, .wm = 64, .wn = 256, .cm = 2, .cn = 1}};
  before.products[0].clock_hz = 1755e6, before.products[0].watts = 690.25;
  before.products[0].limits = 0x44;
  before.products[0].best.parts = 8;
  before.products[0].slower = {{wide, 1.04}, {{"naive", {}}, 31}, {{"thin", {}, 4}, 32}};
  before.hanging.push_back({rows(8, 8, 8), wide});
  const Tuning after = parse_tuning(to_string(before));
  EXPECT_EQ(to_string(after), to_string(before));
  EXPECT_EQ(after.products[0].best, before.products[0].best);
  ASSERT_EQ(after.products[0].slower.size(), 3u);
  EXPECT_EQ(after.products[0].slower[2].who.parts, 4);
  EXPECT_EQ(after.products[0].slower[0].who.algorithm, "warpgroup");
  EXPECT_EQ(to_string(after.products[0].slower[0].who.tile), "128x256/64x256/2x1");
  EXPECT_EQ(after.products[0].slower[1].times, 31);
  EXPECT_EQ(after.products[0].limits, 0x44u);
  EXPECT_TRUE(after.hangs(rows(8, 8, 8), wide));
  EXPECT_TRUE(after.hangs(rows(8, 8, 16), wide)) << "of another size it is not to be trusted";
  EXPECT_FALSE(after.hangs(rows(8, 8, 8, DType::bf16), wide));
  EXPECT_FALSE(after.hangs(rows(8, 8, 8), {"warpgroup", {}}));
  EXPECT_EQ(after.find(rows(8, 8, 8)), nullptr);
  EXPECT_THAT(
      refusal(
          [] { parse_tuning("device=A\nm=1 n=1 k=1 algorithm=naive tile=none slower=naive,1\n"); },
          Category::argument),
      HasSubstr("NAME,TILE,TIMES"));
}

TEST(Tuning, OfShippedTablesThatOfTheDeviceCountsWhateverItsVersions) {
  const std::string_view tables[] = {
      "device=\"NVIDIA H100\" capability=\"\" driver=\"\" version=\"\"\n",
      "device=\"NVIDIA H200\" capability=\"\" driver=\"\" version=\"\"\n"
      "m=64 n=32 k=16 in=f32 out=f32 algorithm=tiled tile=16x16x16 seconds=1e-6\n"};
  EXPECT_EQ(detail::tuning_named(tables, "NVIDIA H100").products.size(), 0u);
  EXPECT_EQ(detail::tuning_named(tables, "NVIDIA H200").products.size(), 1u);
  EXPECT_EQ(detail::tuning_named(tables, "NVIDIA A100").products.size(), 0u);
}

TEST(Tuning, CandidatesAreAllThatMayBeTakenWithEveryTile) {
  const auto all = candidates_for(rows(64, 64, 64), "cpu");
  const auto has = [&](const char* name) {
    return std::count_if(all.begin(), all.end(),
                         [&](const Candidate& each) { return each.algorithm == name; });
  };
  EXPECT_EQ(has("packed"), 1);
  EXPECT_EQ(has("block_tiled"), std::ssize(find_algorithm("block_tiled").tiles));
  EXPECT_EQ(has("tensor_core"), 0) << "it rounds f32 to TF32";
  EXPECT_EQ(has("split_k"), 0) << "it adds in another order";
}

class TuningFile : public ::testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(file_) << text; }
  ~TuningFile() override { std::filesystem::remove(file_); }

  std::string file_ = std::filesystem::temp_directory_path() /
                      ("tessera-tuning-" + std::to_string(::getpid()) + ".txt");
  TunedOn on_ = example().on;
};

TEST_F(TuningFile, OfAnotherDeviceDriverOrVersionIsIgnoredWithAWord) {
  write(to_string(example()));
  EXPECT_EQ(read_tuning(file_, on_).tuning.products.size(), 2u);
  const auto ignored = [&](auto change) {
    TunedOn other = on_;
    change(other);
    const ReadTuning read = read_tuning(file_, other);
    EXPECT_EQ(read.tuning.products.size(), 0u);
    EXPECT_EQ(read.tuning.on, other);
    return read.ignored;
  };
  EXPECT_THAT(ignored([](TunedOn& on) { on.device = "X"; }), HasSubstr("this is X"));
  EXPECT_THAT(ignored([](TunedOn& on) { on.driver = "12.8"; }),
              HasSubstr("it is of driver 13.0, this is 12.8; run 'tessera tune'"));
  EXPECT_THAT(ignored([](TunedOn& on) { on.version = "9"; }), HasSubstr("version 0.1.0"));
}

TEST_F(TuningFile, ThatIsNoneIsIgnoredAndOneThatIsNotThereIsEmpty) {
  EXPECT_EQ(read_tuning(file_, on_).ignored, "");
  for (const char* text : {"", "nonsense", "device=\"A\"\nm=1 n=", "device=A size=3"}) {
    write(text);
    EXPECT_THAT(read_tuning(file_, on_).ignored, HasSubstr("ignored " + file_)) << text;
  }
}

TEST_F(TuningFile, ThatHasNoEndIsIgnored) {
  for (const char* name : {"/dev/zero", "/dev"})
    EXPECT_THAT(read_tuning(name, on_).ignored, HasSubstr("it is a folder, a device or a pipe"));
}

TEST(TuningPlace, IsTheNamedFileElseOneOfTheDeviceInTheUsersCache) {
  const TunedOn on{"NVIDIA H200", "9.0", "13.0", "0.1.0"};
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(tuning_file(on), "/somewhere/tessera/tuning-nvidia-h200.txt");
  ::setenv("TESSERA_TUNING", "/named", 1);
  EXPECT_EQ(tuning_file(on), "/named");
  ::unsetenv("TESSERA_TUNING");
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace tessera
