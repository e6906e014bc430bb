// One of the libraries of cuBLAS, found and loaded on request, never linked.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

#include "tessera/core/dtype.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

inline constexpr int kPlain = 0, kTransposed = 1;  // cublasOperation_t
// cublasComputeType_t
inline constexpr int kComputeF32 = 68, kComputeF64 = 70, kComputeI32 = 72, kComputeF32AsTf32 = 77;
/// cudaDataType_t; -1 if these libraries have none.
int cuda_data_type(DType type);

class CublasLibrary {
 public:
  /// Loads the first candidate that works. `prefix` begins the names of its functions: "cublas" or
  /// "cublasLt". Throws Error(unavailable) with what was tried first.
  CublasLibrary(std::string prefix, const std::vector<std::string>& candidates);
  CublasLibrary(const CublasLibrary&) = delete;
  CublasLibrary& operator=(const CublasLibrary&) = delete;

  const std::string& path() const { return path_; }
  std::string version() const;  ///< "cuBLAS 13.0.2"
  /// Throws Error(unavailable) if the library has no such function.
  template <class F>
  F* function(const char* name) const {
    void* const found = dlsym(library_, name);
    if (found == nullptr)
      throw Error(Category::unavailable, cat("'", path_, "' has no ", name), "cuBLAS 12 or 13");
    return reinterpret_cast<F*>(found);
  }
  /// Throws Error(failed) with the library's own error unless `status` is success.
  void require(int status, const char* what) const;

 private:
  std::string prefix_, path_;
  void* library_ = nullptr;  ///< stays loaded: it has its own state in the driver
};

/// Possible locations of a library, "libcublas" or "libcublasLt", on this machine, the newest
/// first: the file that TESSERA_CUBLAS names, or a file in the folder that it names; names for the
/// loader; then files of a CUDA toolkit.
std::vector<std::string> cublas_candidates(const std::string& library = "libcublas");

}  // namespace tessera::bench
