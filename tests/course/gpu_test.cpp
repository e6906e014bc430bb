// A learner's program on a GPU, with a script for nvcc and its program: what is compiled, and what
// the answer says about the result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "course/program.hpp"
#include "process/temporary_folder.hpp"
#include "shell/machine.hpp"
#include "support/sanitizers.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::course {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// The last argument of the program that is made, outcome=FILE, gets this text.
std::string answers(const std::string& outcome) {
  return "for word in \"$@\"; do case $word in outcome=*) printf '%s' '" + outcome +
         "' > \"${word#outcome=}\";; esac; done\n";
}

class PuzzleOnGpu : public ::testing::Test {
 protected:
  PuzzleOnGpu() {
    puzzle_.id = "p03";
    puzzle_.folder = folder_.path();
    std::ofstream(folder_.path() / "spec.hpp") << "#include <spec_of_the_test>\n";
    std::ofstream(folder_.path() / "puzzle.cpp") << "struct Mine {};\n";
  }
  /// What is said if nvcc is a script, which finds its words in $@.
  std::string told(const std::string& script) {
    const std::string nvcc = (folder_.path() / "nvcc").string();
    std::ofstream(nvcc) << "#!/bin/sh\n" << script;
    chmod(nvcc.c_str(), 0755);
    const PuzzleGpu gpu{nvcc, "Test GPU", "sm_90"};
    return gpu_text(gpu,
                    attempt_on(gpu, {{&puzzle_, "struct Mine {};\n", "naive", "p03"}}, 5).front());
  }
  /// The same if it makes a program that runs `script`.
  std::string told_by_program(const std::string& script) {
    std::ofstream(folder_.path() / "made") << "#!/bin/sh\n" << script;
    return told("cp " + (folder_.path() / "made").string() + " puzzle; chmod +x puzzle\n");
  }

  process::TemporaryFolder folder_;
  Puzzle puzzle_;
};

TEST_F(PuzzleOnGpu, TheLearnersFileAndTheSpecAreCompiledForTheDevice) {
  const std::string seen = (folder_.path() / "seen").string();
  told("{ echo \"$@\"; cat *.cu; } > " + seen + "\n");
  std::ifstream file(seen);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text,
              AllOf(HasSubstr("-arch=sm_90"), HasSubstr("--cudart=none"), HasSubstr("libtessera"),
                    HasSubstr("#line 1 \"p03.cpp\"\nstruct Mine {};"),
                    HasSubstr("#include <spec_of_the_test>")));
}

TEST_F(PuzzleOnGpu, EachEndIsOneLine) {
  EXPECT_EQ(told_by_program(answers(R"({"solved":true,"cases":[]})")), "the GPU (Test GPU) agrees");
  EXPECT_EQ(
      told_by_program(answers(
          R"({"solved":false,"cases":[{"what":"2 x 2","goals":[],"report":null,"outputs":[)"
          R"({"name":"C","looks_like":"","sentence":"","advice":"","rows":1,"cols":2,"wrong":1,"tolerance":0,)"
          R"("got":[4,5],"expected":[4,6]}]}]})")),
      "the GPU (Test GPU) disagrees: 2 x 2: 1 of 2 elements of C is wrong. The first: row 0, "
      "column 1: expected 6, got 5.");
  EXPECT_EQ(told_by_program(answers(R"({"solved":false,"error":"no memory","cases":[]})")),
            "the GPU (Test GPU) refuses: no memory");
  EXPECT_EQ(told_by_program(answers(
                R"({"solved":false,"error":"needs Hopper","unavailable":true,"cases":[]})")),
            "the GPU (Test GPU) cannot run it: needs Hopper");
  EXPECT_EQ(told_by_program("exit 3\n"),
            "the GPU (Test GPU) gave no answer: the program ended with exit code 3");
  EXPECT_EQ(told("echo 'p03.cpp(7): error: calling a __host__ function' >&2; exit 1\n"),
            "the GPU (Test GPU) was not asked: p03.cpp:7 does not compile for it: calling a "
            "__host__ function");
}

TEST_F(PuzzleOnGpu, ProgramsThereHaveNoSandbox) {
  EXPECT_EQ(told_by_program("test -z \"$TESSERA_PUZZLE_FOLDER\" || exit 9\n" +
                            answers(R"({"solved":true,"cases":[]})")),
            "the GPU (Test GPU) agrees");
}

TEST(PuzzlesOnGpu, EverySolutionCompilesAndRunsWhereThereIsOne) {
  const std::string nvcc = shell::nvcc_path();
  if (nvcc.empty() || !cuda::is_built() || tessera::testing::kSanitized)
    GTEST_SKIP() << "NOT compiled for a GPU: no nvcc, or a build without CUDA or with a sanitizer";
  std::string why_not;
  const auto gpu = first_gpu(why_not);
  const auto course = read_course(course_folder(""));
  std::vector<PuzzleTry> tries;
  for (const auto& each : course) tries.push_back({&each, each.solution(), "", each.id});
  for (const auto& done :
       attempt_on(gpu.value_or(PuzzleGpu{nvcc, "no device", "sm_80"}), tries, 5)) {
    ASSERT_TRUE(done.errors.empty()) << done.errors.front().message;
    ASSERT_TRUE(done.outcome) << done.end;
    const bool needs_one = !done.outcome->solved;  // puzzles of values run anywhere
    if (gpu) {
      EXPECT_FALSE(needs_one) << done.file << ": " << done.outcome->error;
    } else if (needs_one) {
      EXPECT_THAT(done.outcome->error, HasSubstr(why_not)) << done.file;
    }
  }
  if (!gpu) GTEST_SKIP() << "compiled, but NOT RUN on a GPU: " << why_not;
}

}  // namespace
}  // namespace tessera::course
