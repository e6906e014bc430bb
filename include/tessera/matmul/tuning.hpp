// What was found to be the fastest on one device: for single products, by their shape and element
// types, a kernel and its tile. `tessera tune` writes it to a file; make_plan() reads the file of
// its device once and takes what it says. A value that prints and reads back from text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/matmul/plan.hpp"

namespace tessera {

/// A kernel with its tile.
struct Candidate {
  std::string algorithm;
  TileShape tile = {};
  bool operator==(const Candidate&) const = default;
};

/// All that is built and may be taken for the problem where none is named. Throws Error.
std::vector<Candidate> candidates_for(const Problem& problem, const std::string& device);

struct TunedProduct {
  Problem problem;  ///< its extents, types and the orders of A and B count, nothing else
  Candidate best;
  double seconds = 0;
  std::string peer = {};  ///< the library that took turns with it; empty: none
  double peer_seconds = 0;
};

/// Where and with which kernels times were taken: those of another device, driver or version say
/// nothing.
struct TunedOn {
  std::string device;      ///< "NVIDIA H200", or "cpu"
  std::string capability;  ///< "9.0"
  std::string driver;      ///< the CUDA that it supports, "13.0"
  std::string version;     ///< of this library
  bool operator==(const TunedOn&) const = default;
};
/// This library on "cpu" or "cuda:N". Throws Error(unavailable) where there is no such device.
TunedOn tuned_on(const std::string& device);

struct Tuning {
  TunedOn on;
  std::vector<TunedProduct> products;

  /// Null where the product was not tuned.
  const TunedProduct* find(const Problem& problem) const;
  /// Adds it, in the place of what there is of the same product.
  void add(const TunedProduct& product);
};

/// A line that says where, then one for each product: "m=512 n=512 k=512 in=f32 ... algorithm=...".
std::string to_string(const Tuning& tuning);
/// Inverse of to_string; lines that begin with # are passed over. Throws Error(argument).
Tuning parse_tuning(std::string_view text);

/// The file of a device: TESSERA_TUNING, else tessera/tuning-NAME.txt in XDG_CACHE_HOME or
/// ~/.cache.
std::string tuning_file(const TunedOn& on);

/// A file's tuning, and why it is none.
struct ReadTuning {
  Tuning tuning;
  std::string ignored;  ///< "" where it is used or not there
};
ReadTuning read_tuning(const std::string& file, const TunedOn& on);

}  // namespace tessera
