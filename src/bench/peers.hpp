// Other libraries that multiply matrices on this machine: found by their file names on request,
// never linked. Each is loaded with dlopen in its own process and reports its version and
// settings. `bench` measures against them, `doctor` lists them; peer_library.hpp calls them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "case.hpp"

namespace tessera::bench {

enum class PeerInterface { cblas, fortran, onednn };

struct Peer {
  std::string name;  ///< "openblas", "blis", ...; unique
  std::string path;  ///< the file itself, links resolved
  std::string version, settings;
  PeerInterface interface = PeerInterface::cblas;
  std::vector<shell::Types> types;  ///< of its products
  /// Set before loading. A library that does not recognise the CPU and falls back to slow kernels
  /// is listed twice: with its default kernels, and with a variable that selects better ones.
  std::vector<std::pair<std::string, std::string>> environment;
  /// "OPENBLAS_CORETYPE=SKYLAKEX" if that selects kernels for this CPU and the library, by itself
  /// or as set now, selects others.
  std::string better;

  bool supports(const shell::Types& requested) const {
    return std::find(types.begin(), types.end(), requested) != types.end();
  }
};

/// "OPENBLAS_CORETYPE=SKYLAKEX" or "".
std::string environment_text(const Peer& peer);

/// A library known by name that is not installed, or a path in TESSERA_PEERS that does not work.
struct MissingPeer {
  std::string name;
  std::string package;  ///< the Debian package with it; "" for a path
  std::string reason;
};

struct PeerSearch {
  std::vector<Peer> found;
  std::vector<MissingPeer> missing;
};

/// All peers on this machine: known ones first, then those in TESSERA_PEERS (paths joined by
/// colons).
PeerSearch search_peers();

/// This project's own BLAS, beside the command or installed, under the name kOwnBlas: an algorithm
/// that is called as a program calls any BLAS.
inline constexpr const char* kOwnBlas = "blas";
std::optional<Peer> own_blas();

/// The one peer in a file. Throws Error(unavailable) if it cannot be loaded or multiplies no
/// matrices.
Peer peer_at(const std::string& path, const std::string& name);

}  // namespace tessera::bench
