// cuBLAS as a peer: found and loaded on request, never linked. A (M,K), B (K,N) and C (M,N) are
// row-major, or column-major if transposed, in device memory.
#pragma once

#include <string>
#include <vector>

#include "bench/case.hpp"
#include "library.hpp"

struct CUstream_st;  // what cudaStream_t points to

namespace tessera::bench {

class Cublas {
 public:
  /// Loads the first candidate that works, for a stream of the current device. Throws
  /// Error(unavailable) with what was tried.
  Cublas(CUstream_st* stream, const std::vector<std::string>& candidates = cublas_candidates());
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  const std::string& path() const { return library_.path(); }
  std::string version() const { return library_.version(); }

  /// Products of f32: with sums and products of f32, or with operands rounded to TF32.
  enum class F32 { exact, tf32 };
  static bool multiplies(const shell::Types& types, F32 f32);
  /// Starts C = A * B, all products of a batch in one call. Throws Error(failed) with cuBLAS's own
  /// error if it refuses.
  void multiply(const BenchCase& now, F32 f32, const void* A, const void* B, void* C) const;

 private:
  CublasLibrary library_;
  void* handle_ = nullptr;
};

}  // namespace tessera::bench
