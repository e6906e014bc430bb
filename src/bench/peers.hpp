// Other libraries that multiply matrices on this machine: found by their file names when asked for,
// never linked. Each is loaded with dlopen into a process of its own and says its version and how
// it is set up. `bench` measures against them, `doctor` lists them; peer_library.hpp calls them.
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
  std::vector<shell::Types> types;  ///< whose products it has
  /// Set before loading. A library that does not recognise the processor and falls back to slow
  /// kernels is listed twice: as it comes, and told which kernels to use.
  std::vector<std::pair<std::string, std::string>> environment;
  /// "OPENBLAS_CORETYPE=SKYLAKEX" where that selects kernels for this processor and the library by
  /// itself, or as it is told, selects others.
  std::string better;

  bool supports(const shell::Types& asked) const {
    return std::find(types.begin(), types.end(), asked) != types.end();
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

/// This project's own BLAS beside the command or where it is installed, under the name kOwnBlas: an
/// algorithm that is called as a program calls any BLAS.
inline constexpr const char* kOwnBlas = "blas";
std::optional<Peer> own_blas();

/// The one peer in a file. Throws Error(unavailable) where it cannot be loaded or multiplies no
/// matrices.
Peer peer_at(const std::string& path, const std::string& name);

}  // namespace tessera::bench
