// cuBLASLt as a peer at its best: the algorithms that its heuristics offer for a product are all
// timed, and the fastest is the peer. A (M,K), B (K,N) and C (M,N) are row-major, or column-major
// if transposed, in device memory.
//
// f8 is multiplied with one scale for each matrix, here 1, and with fast accumulation, which
// programs choose for speed: sums stay in the matrix units and are not moved to f32 in between.
// Before Blackwell, f8 needs a row-major A and a transposed B.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cublas.hpp"

namespace tessera::bench {

class CublasLt {
 public:
  static constexpr int kMostChoices = 16;
  static constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

  /// Device memory that products use.
  struct Room {
    void* workspace = nullptr;  ///< kWorkspaceBytes
    const void* one = nullptr;  ///< an f32 of 1: the scale of f8
  };
  /// Loads the first candidate that works, for a stream of the current device. Throws
  /// Error(unavailable) with what was tried.
  CublasLt(CUstream_st* stream, const Room& room,
           const std::vector<std::string>& candidates = cublas_candidates("libcublasLt"));
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  const std::string& path() const { return library_.path(); }
  std::string version() const { return library_.version(); }
  static bool multiplies(const shell::Types& types, Cublas::F32 f32);

  /// A product by one algorithm. The library must outlive it.
  struct Choice {
    struct Product;
    std::shared_ptr<const Product> product;
    std::array<std::uint64_t, 8> algorithm;  ///< cublasLtMatmulAlgo_t
    int rank;                                ///< in the order of the heuristics, from 1
  };
  /// The choices of the heuristics, best first. Throws Error(unavailable) if there are none.
  std::vector<Choice> choices(const BenchCase& now, Cublas::F32 f32) const;
  /// Starts C = A * B, all products of a batch in one call. Throws Error(failed) with the library's
  /// own error if it refuses.
  void multiply(const Choice& choice, const void* A, const void* B, void* C) const;

 private:
  CublasLibrary library_;
  CUstream_st* stream_;
  Room room_;
  void* handle_ = nullptr;
};

/// The choices that run, the fastest first: `seconds` returns the time of this many calls. Each is
/// timed five times, in rounds with the others, and its median counts; one that is much slower
/// after two calls is not timed further. If none runs, throws the first one's error.
std::vector<CublasLt::Choice> fastest_first(
    const std::vector<CublasLt::Choice>& choices,
    const std::function<double(const CublasLt::Choice&, index_t calls)>& seconds);

}  // namespace tessera::bench
