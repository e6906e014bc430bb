// A CUDA runtime that only keeps books, linked in place of the real one: two devices, memory of
// the host, and errors on request.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::testing {

struct FakeCuda {
  int devices = 2;
  int driver = 13000, runtime = 13000;       ///< as CUDA writes versions: 1000 major + 10 minor
  cudaError_t counting = cudaSuccess;        ///< what asking for the number of devices answers
  std::map<std::string, cudaError_t> fails;  ///< the next call of a function, once
  cudaError_t fault = cudaSuccess;           ///< what every call that reaches a device answers
  cudaPointerAttributes memory = {};         ///< of any address: of the host
  int major = 0;         ///< compute capability; 0: as large as every other attribute
  bool has_maps = true;  ///< does the driver make maps for bulk copies?

  cudaError_t last = cudaSuccess;         ///< what cudaGetLastError() gives
  int current = 0;                        ///< device of the thread, where nothing lies on top of it
  std::vector<int> pushed;                ///< devices whose contexts lie on top of it
  std::set<int> contexts;                 ///< devices that have a context
  int generation = 1;                     ///< of contexts; a reset begins a new one
  std::vector<std::string> calls;         ///< all of them, by name
  std::vector<cudaStream_t> launched_on;  ///< the stream of each launch

  /// What cudaDeviceReset() of every device does.
  void reset();
  int calls_of(const std::string& name) const;
};

/// The one that the library uses.
FakeCuda& fake_cuda();

}  // namespace tessera::testing
