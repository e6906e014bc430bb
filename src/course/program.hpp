// A learner's file as a program: compiled with the puzzle's spec in a temporary folder and run
// there with little memory and a short time limit. There is a result even if it crashes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "course.hpp"
#include "outcome.hpp"

namespace tessera::course {

/// A compiler's error, at the learner's line.
struct CompileError {
  std::string file, message;
  int line = 0, column = 0;  ///< line 0: not in the learner's file
  std::string cause;         ///< "foreign-name"; empty: unknown, as are the next two
  std::string why;           ///< "threadIdx.x is a name of CUDA"
  std::string advice;        ///< what to write instead
};

struct PuzzleAttempt {
  std::string id;                     ///< of the puzzle
  std::string source;                 ///< the learner's text
  std::string file;                   ///< the learner's name for it: "p16.cpp"
  std::string variant;                ///< the requested one, or "" for all
  std::vector<std::string> variants;  ///< those that the puzzle has
  std::vector<CompileError> errors;   ///< not empty: it does not compile
  std::optional<PuzzleOutcome> outcome;
  std::string end;  ///< if there is no outcome: "was ended by signal 11 (...)"
  double compile_s = 0, run_s = 0;
  bool timed_out = false;
  bool is_unfilled = false;  ///< the file's gaps are unchanged
  std::string printed;       ///< the beginning of the program's stdout and stderr
  std::uintmax_t printed_bytes = 0;
};

/// One text to run: of a learner, or one of many of a course under test.
struct PuzzleTry {
  const Puzzle* puzzle;
  std::string source, variant;
  std::string name;           ///< an identifier, unique among those of one program
  bool has_pictures = false;  ///< PuzzleCase::pictures
  std::string file;           ///< the learner's name for it; empty: the course's
};

/// The learner's name of the file, if messages can be searched for it.
std::string name_of(const PuzzleTry& one);

/// Builds the program of a file in plain CUDA, in the folder; where it does not compile, `said` is
/// why, as a compiler says it.
using CudaBuilder = std::filesystem::path (*)(const std::filesystem::path& source,
                                              const std::filesystem::path& folder,
                                              std::string& said);

/// Compiles and runs one. `cuda`: null in a build of the command that has no plain CUDA. Throws
/// Error(unavailable) without a compiler or library.
PuzzleAttempt attempt(const PuzzleTry& one, double time_limit_s, CudaBuilder cuda = nullptr);

/// What runs a program on a GPU.
struct PuzzleGpu {
  std::string nvcc;    ///< the compiler; empty: Clang, when the program starts a kernel
  std::string device;  ///< "NVIDIA H100"
  std::string arch;    ///< "sm_90"; "opencl:0" for Clang
};
/// The device named "opencl:0" or "hip:0". Throws Error(argument) for another name,
/// Error(unavailable) where it is not there.
PuzzleGpu named_gpu(const std::string& device);
/// The first GPU of this machine; where there is none, or no nvcc, `why_not` says so.
std::optional<PuzzleGpu> first_gpu(std::string& why_not);
/// Compiles all into one program for the GPU and runs each there. Only for texts that are right
/// under the checker, since nothing guards the GPU.
std::vector<PuzzleAttempt> attempt_on(const PuzzleGpu& gpu, const std::vector<PuzzleTry>& tries,
                                      double time_limit_s);
/// "the GPU (NVIDIA H100) agrees", or what it says instead.
std::string gpu_text(const PuzzleGpu& gpu, const PuzzleAttempt& attempt);

/// Compiles all into one program and runs each. If they do not compile together, all have the
/// errors. All are in plain CUDA, or none.
std::vector<PuzzleAttempt> attempt_together(const std::vector<PuzzleTry>& tries,
                                            double time_limit_s, CudaBuilder cuda = nullptr);

/// The errors of a compiler's output that concern `file`, which contains `source`: the first one
/// with its cause, if that is certain, then others that do not follow from it. An error without a
/// line if none concerns the file.
enum class Dialect { tessera, cuda };
std::vector<CompileError> compile_errors(const std::string& said, const std::string& file,
                                         const std::string& source,
                                         Dialect dialect = Dialect::tessera);

}  // namespace tessera::course
