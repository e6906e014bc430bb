// What the environment may say about the CPU and the threads, right and wrong: each case in a
// process of its own, because the environment is read once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "tessera/core/cpu.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::StrEq;

/// Sets variables for the process that a death test starts.
class Environment : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    forget();
  }
  void TearDown() override { forget(); }
  static void forget() {
    for (const char* variable : {"TESSERA_CPU", "TESSERA_NUM_THREADS", "OMP_NUM_THREADS"})
      unsetenv(variable);
  }
  static void set(const char* variable, const char* value) { setenv(variable, value, 1); }
};

/// Asks twice, says the answer, ends.
[[noreturn]] void say_path() {
  vector_path();
  std::fprintf(stderr, "%s", std::string(name(vector_path())).c_str());
  std::exit(0);
}
[[noreturn]] void say_threads() {
  default_threads();
  std::fprintf(stderr, "%d", default_threads());
  std::exit(0);
}

TEST_F(Environment, TheVectorPathIsTheOneThatIsNamed) {
  set("TESSERA_CPU", "portable");
  EXPECT_EXIT(say_path(), ExitedWithCode(0), StrEq("portable"));
  const std::string best(name(best_vector_path()));
  for (const std::string& named : {best, std::string(best_cpu_name())}) {
    set("TESSERA_CPU", named.c_str());
    EXPECT_EXIT(say_path(), ExitedWithCode(0), StrEq(best));
  }
  set("TESSERA_CPU", "");
  EXPECT_EXIT(say_path(), ExitedWithCode(0), StrEq(best));
}

TEST_F(Environment, AnUnknownVectorPathIsReportedOnceAndIgnored) {
  const std::string best(name(best_vector_path()));
  for (const char* unknown : {"sse9", "AVX2", "avx512 ", "AMX", "1"}) {
    set("TESSERA_CPU", unknown);
    const std::string line = "tessera: ignoring TESSERA_CPU='" + std::string(unknown) + "': ";
    EXPECT_EXIT(say_path(), ExitedWithCode(0),
                AllOf(StartsWith(line), HasSubstr("portable"), EndsWith("\n" + best)));
    EXPECT_EXIT(say_path(), ExitedWithCode(0), ::testing::ContainsRegex("^[^\n]*\n[^\n]*$"));
  }
}

TEST_F(Environment, WhatDoesNotPrintIsEscapedSoThatAWarningIsOneLine) {
  const std::pair<const char*, const char*> values[] = {
      {"avx2\n", R"(avx2\x0a)"},
      {"\x1b[31mred\x1b[0m\r\t", R"(\x1b[31mred\x1b[0m\x0d\x09)"},
      {"a'b\\", R"(a\'b\\)"},
      {"\xc2\x9b\x7f", R"(\xc2\x9b\x7f)"}};
  const std::string best(name(best_vector_path()));
  for (const auto& [value, shown] : values) {
    set("TESSERA_CPU", value);
    const std::string line = cat("tessera: ignoring TESSERA_CPU='", shown, "': this CPU runs ");
    EXPECT_EXIT(say_path(), ExitedWithCode(0), AllOf(StartsWith(line), EndsWith("\n" + best)));
    EXPECT_EXIT(say_path(), ExitedWithCode(0), ::testing::ContainsRegex("^[ -~]*\n[ -~]*$"));
  }
}

TEST(ProductInstructions, AreThoseOfThePathAndWhatGoesBeyondIt) {
  const auto text = [](VectorPath path, const CpuFeatures& features) {
    const ProductInstructions by = product_instructions(path, features);
    return cat(by.floats, "; ", by.bf16, "; ", by.f16, "; ", by.i8, "; ", by.u8);
  };
  EXPECT_EQ(text(VectorPath::portable, {}),
            "fused multiply-adds in plain C++; converted to f32; converted to f32; "
            "multiply-adds in plain C++; multiply-adds in plain C++");
  EXPECT_EQ(text(VectorPath::neon, {}),
            "fused multiply-adds of 128 bits; converted to f32; converted to f32; "
            "multiply-adds in plain C++; multiply-adds in plain C++");
  EXPECT_EQ(text(VectorPath::avx2, {}),
            "fused multiply-adds of 256 bits; converted to f32; converted to f32; "
            "vpmaddwd of 256 bits; vpmaddwd of 256 bits");
  EXPECT_EQ(text(VectorPath::avx512, {}),
            "fused multiply-adds of 512 bits; converted to f32; converted to f32; "
            "vpmaddwd of 512 bits; vpmaddwd of 512 bits");
  CpuFeatures features;
  features.bf16 = features.vnni = features.fp16 = true;
  EXPECT_EQ(text(VectorPath::avx512, features),
            "fused multiply-adds of 512 bits; vdpbf16ps of 512 bits; converted to f32; "
            "vpdpbusd of 512 bits; vpdpbusd of 512 bits");
  features.amx_bf16 = features.amx_int8 = true;
  EXPECT_EQ(text(VectorPath::avx512, features),
            "fused multiply-adds of 512 bits; tdpbf16ps; converted to f32; tdpbssd; tdpbuud");
  features.amx_fp16 = true;
  EXPECT_EQ(text(VectorPath::avx512, features),
            "fused multiply-adds of 512 bits; tdpbf16ps; tdpfp16ps; tdpbssd; tdpbuud");
}

/// The tables that run, asked whether they convert.
TEST(ProductInstructions, SayOfThisCpuWhatItsTablesDo) {
  const ProductInstructions by = product_instructions(vector_path(), cpu_features());
  EXPECT_EQ(by.bf16 == "converted to f32", cpu::bf16_keeps_the_chain());
  EXPECT_EQ(by.f16 == "converted to f32", cpu::f16_keeps_the_chain());
}

TEST_F(Environment, TheThreadEngineKnowsNoMoreThanAvx2) {
  const auto say = [] {
    std::fprintf(stderr, "%s", std::string(thread_engine_path()).c_str());
    std::exit(0);
  };
  set("TESSERA_CPU", "portable");
  EXPECT_EXIT(say(), ExitedWithCode(0), StrEq("portable"));
  unsetenv("TESSERA_CPU");
  const VectorPath best = best_vector_path();
  const bool has_avx2 = best == VectorPath::avx2 || best == VectorPath::avx512;
  EXPECT_EXIT(say(), ExitedWithCode(0), StrEq(has_avx2 ? "avx2" : "portable"));
}

TEST_F(Environment, TheThreadsAreThoseThatAreNamed) {
  set("OMP_NUM_THREADS", "3,2");
  EXPECT_EXIT(say_threads(), ExitedWithCode(0), StrEq("3"));
  set("OMP_NUM_THREADS", " 2 ");
  EXPECT_EXIT(say_threads(), ExitedWithCode(0), StrEq("2"));
  set("TESSERA_NUM_THREADS", "7");
  EXPECT_EXIT(say_threads(), ExitedWithCode(0), StrEq("7"));
}

TEST_F(Environment, AWrongNumberOfThreadsIsReportedOnceAndIgnored) {
  const std::string cores = std::to_string(available_cores());
  for (const char* wrong : {"0", "-1", "abc", "99999999999999999999", "4097", "2x", " "}) {
    set("TESSERA_NUM_THREADS", wrong);
    EXPECT_EXIT(say_threads(), ExitedWithCode(0),
                StrEq("tessera: ignoring TESSERA_NUM_THREADS='" + std::string(wrong) +
                      "': expected a whole number from 1 to 4096\n" + cores));
  }
  unsetenv("TESSERA_NUM_THREADS");
  set("OMP_NUM_THREADS", "none");
  EXPECT_EXIT(say_threads(), ExitedWithCode(0), EndsWith("\n" + cores));
}

}  // namespace
}  // namespace tessera
