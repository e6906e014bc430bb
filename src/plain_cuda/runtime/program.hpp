// The state of the checked program as a whole: the runtime, and the report that all its launches
// and calls add to. Private to the runtime.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "crash.hpp"
#include "tessera/check/check.hpp"
#include "tessera/check/product.hpp"
#include "tessera/check/report.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/driver_types.h"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

class Program {
 public:
  static Program& get();

  check::Options options;
  check::ProductProblem problem;  ///< the requested shape of a launch
  bool is_sized = false;          ///< the launch depends on it
  bool is_asked = false;          ///< the command launches the kernel, not the program
  bool is_checked = false;        ///< else kernels run at full speed
  std::mutex mutex;  ///< of the report: a time limit may print it while the program runs
  check::Report report;

  /// Keeps an error until the program queries it, as the runtime does. Returns it.
  cudaError_t fail(cudaError_t error);
  cudaError_t last_error(bool clear);
  /// A kernel has ended the device: calls that wait return this until cudaDeviceReset.
  void lose_device(cudaError_t error) { lost_ = error; }
  cudaError_t device_error() const { return lost_; }
  /// A finding of a call of the host. `problem`, `hint`: sentences.
  void find(check::Kind kind, check::Severity severity, const Place& place, std::string problem,
            std::string hint, const Place& other = {});
  /// Why the program could not be checked; the first reason counts.
  void leave_unknown(std::string why);
  /// Removes the finding of this kind at this place: it was no mistake.
  void take_back(check::Kind kind, const Place& place);
  /// The program is over: reports what it forgot.
  void end(int exit_code, const std::string& thrown);
  void end(const Crash& crash);
  /// The time limit is over.
  [[noreturn]] void leave();

  /// Of the time limit of the whole program.
  double seconds_left() const;
  /// How many blocks of a launch are watched: all blocks of small ones; some blocks of large ones
  /// and of kernels that were watched for long, so that programs finish.
  std::int64_t watched_blocks(const std::string& kernel, std::int64_t blocks, std::int64_t threads);
  /// A launch is over: its counters give the cost of watching it.
  void add(const std::string& kernel, std::int64_t threads, check::Report&& launched);

 private:
  void find_leaks();

  struct Watched {
    std::int64_t threads = 0, accesses = 0;
  };
  std::map<std::string, Watched> watched_;  ///< by kernel
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  cudaError_t error_ = cudaSuccess;
  std::atomic<cudaError_t> lost_ = cudaSuccess;  ///< threads of several blocks may set it
};

/// "file.cu:12", of a Place, a Here or a Location.
template <class At>
std::string place_text(const At& at) {
  const std::string path(at.file);
  return cat(path.substr(path.rfind('/') + 1), ":", at.line);
}

/// Ends the program, and the report says what could not be checked: throws Error(unavailable).
[[noreturn]] void cannot_run(const Place& place, const std::string& problem,
                             std::string expected = {});

/// An argument that is wrong: a finding, and the error of the call.
cudaError_t refuse(cudaError_t error, const Place& place, std::string problem, std::string hint);

}  // namespace tessera::plain_cuda
