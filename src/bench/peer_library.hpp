// A loaded peer and its calls: through CBLAS, Fortran BLAS or oneDNN's own gemm. Load it in a child
// process only: libraries start threads and read the environment when they are loaded, and cannot
// be unloaded.
#pragma once

#include <dlfcn.h>

#include <functional>
#include <string>
#include <vector>

#include "peers.hpp"

namespace tessera::bench {

/// Throws Error(unavailable) with the loader's reason.
void* load_library(const std::string& path);

template <class F>
F* symbol(void* library, const std::string& name) {
  return reinterpret_cast<F*>(dlsym(library, name.c_str()));
}

/// How a loaded library is called, and for which products; no types: it multiplies no matrices.
struct Offer {
  PeerInterface interface = PeerInterface::cblas;
  std::vector<shell::Types> types;
};
Offer offer_of(void* library);

/// Sets the variables of Peer::environment.
void set_environment(const Peer& peer);

/// C = A * B, or all products of a batch, for operands at these addresses.
using Call = std::function<void(const void* A, const void* B, void* C)>;

/// The library in this process, set to use this many threads.
class PeerLibrary {
 public:
  PeerLibrary(const Peer& peer, int threads);
  /// The call for products of this shape: everything is looked up and checked beforehand. A batch
  /// is one call if the library has one, else one for each product. Throws Error(type) for element
  /// types that it lacks; the call throws Error(failed) if the library reports failure.
  Call call_for(const shell::Types& types, const Shape& shape) const;

 private:
  std::string name_;
  PeerInterface interface_;
  void* library_ = nullptr;
};

}  // namespace tessera::bench
