// Other libraries that multiply matrices on this machine: found by their file names when asked for,
// never linked. Each is loaded with dlopen into a process of its own, says its version and how it
// is set up, and is called through CBLAS, Fortran BLAS or oneDNN's own sgemm. `bench` measures
// against them, `doctor` lists them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/core/dtype.hpp"

namespace tessera::cli {

enum class PeerInterface { cblas, fortran, onednn };

struct Peer {
  std::string name;  ///< "openblas", "blis", ...; unique
  std::string path;  ///< the file itself, links resolved
  std::string version, settings;
  PeerInterface interface = PeerInterface::cblas;
  bool f32 = false, f64 = false;
  /// Set before loading. A library that does not recognise the processor and falls back to slow
  /// kernels is listed twice: as it comes, and told which kernels to use.
  std::vector<std::pair<std::string, std::string>> environment;

  bool supports(DType type) const {
    return (type == DType::f32 && f32) || (type == DType::f64 && f64);
  }
};

/// "OPENBLAS_CORETYPE=SKYLAKEX" or "".
std::string environment_text(const Peer& peer);

/// A library known by name that is not installed, or a path in TESSERA_PEERS that does not work.
struct MissingPeer {
  std::string name;
  std::string package;  ///< the Debian package that gives it; "" for a path
  std::string reason;
};

struct PeerSearch {
  std::vector<Peer> found;
  std::vector<MissingPeer> missing;
};

/// All peers on this machine, known ones first, then those that TESSERA_PEERS (paths joined by
/// colons) names.
PeerSearch search_peers();
/// What search_peers found.
std::vector<Peer> find_peers();

/// The one peer in a file. Throws Error(unavailable) where it cannot be loaded or multiplies no
/// matrices.
Peer peer_at(const std::string& path, const std::string& name);

/// A loaded peer, told to use `threads` threads. Make one in a child process only: libraries start
/// threads and read the environment as they are loaded, and stay.
class PeerLibrary {
 public:
  PeerLibrary(const Peer& peer, int threads);
  /// C = A * B. A is (M,K), B is (K,N), C is (M,N), row-major and compact. Throws Error(type) for
  /// an element type it lacks, Error(failed) when it reports failure.
  void multiply(DType type, index_t M, index_t N, index_t K, const void* A, const void* B,
                void* C) const;

 private:
  std::string name_;
  PeerInterface interface_;
  void* sgemm_ = nullptr;
  void* dgemm_ = nullptr;
};

}  // namespace tessera::cli
