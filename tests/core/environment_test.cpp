// What the environment may say about the CPU and the threads, right and wrong: each case in a
// process of its own, because the environment is read once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tessera/core/cpu.hpp"
#include "tessera/core/parallel.hpp"

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
