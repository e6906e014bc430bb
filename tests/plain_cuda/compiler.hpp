// Programs of a test, compiled by one of the compilers that the runtime is for.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "process/program.hpp"
#include "process/temporary_folder.hpp"

namespace tessera::plain_cuda {

struct Compiler {
  const char* name;  ///< "g++"
  std::vector<std::string> flags;
};

/// "g", "c4": for the names of test cases.
inline std::string short_name(const ::testing::TestParamInfo<Compiler>& info) {
  return std::string(info.param.name).substr(0, 1) + (info.param.flags.empty() ? "" : "4");
}

/// A test with its own folder, in which the compiler runs.
class CompilerTest : public ::testing::TestWithParam<Compiler> {
 protected:
  void SetUp() override {
    if (!call({GetParam().name, "--version"}).good())
      GTEST_SKIP() << GetParam().name << " is not installed";
  }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(path(file).parent_path());
    std::ofstream(path(file), std::ios::binary) << text;
  }
  std::string read(const std::string& file) const {
    std::ifstream text(path(file), std::ios::binary);
    return {std::istreambuf_iterator<char>(text), {}};
  }
  std::filesystem::path path(const std::string& file) const { return folder_.path() / file; }

  /// Runs in the folder; stderr goes to the file "said", stdout to "printed".
  process::ProgramEnd call(std::vector<std::string> words) const {
    process::ProgramRun run;
    run.words = std::move(words);
    run.stderr_file = path("said");
    run.stdout_file = path("printed");
    run.folder = path(".");
    run.seconds = 120;
    return process::run_program(run);
  }
  void compile(std::vector<std::string> words) const {
    words.insert(words.begin(), GetParam().flags.begin(), GetParam().flags.end());
    words.insert(words.begin(), GetParam().name);
    const process::ProgramEnd end = call(std::move(words));
    EXPECT_TRUE(end.good()) << end.text() << "\n" << read("said");
  }
  /// What a program in the folder prints.
  std::string printed_by(const std::string& program) const {
    const process::ProgramEnd end = call({path(program)});
    EXPECT_TRUE(end.good()) << end.text() << "\n" << read("said");
    return read("printed");
  }

 private:
  process::TemporaryFolder folder_;
};

}  // namespace tessera::plain_cuda
