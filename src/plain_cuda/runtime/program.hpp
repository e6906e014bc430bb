// The program that is checked, as far as the whole of it is known: the state of the run-time, and
// the report that all its launches and calls add to. Private to the run-time.
#pragma once

#include <mutex>
#include <string>

#include "tessera/check/check.hpp"
#include "tessera/check/report.hpp"
#include "tessera/plain_cuda/driver_types.h"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

class Program {
 public:
  static Program& get();

  check::Options options;
  bool is_checked = false;  ///< else kernels run as fast as the engine lets them
  check::Report report;

  /// Keeps an error until somebody asks for it, as the run-time does. Returns it.
  cudaError_t fail(cudaError_t error);
  cudaError_t last_error(bool clear);
  /// A finding of a call of the host. `problem`, `hint`: sentences.
  void find(check::Kind kind, check::Severity severity, const Place& place, std::string problem,
            std::string hint, const Place& other = {});
  /// An argument that is wrong: a finding, and the error of the call.
  cudaError_t refuse(cudaError_t error, const Place& place, std::string problem, std::string hint);
  /// The program is over: what was forgotten.
  void end(int exit_code);

 private:
  cudaError_t error_ = cudaSuccess;
  Place error_place_;
};

}  // namespace tessera::plain_cuda
