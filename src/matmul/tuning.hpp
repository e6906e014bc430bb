// Tuning results of one device: the fastest kernel and tile for single products, by shape and
// element types. `tessera tune` writes them to a file; make_plan() reads the file of its device
// once and uses it. A value that prints and can be parsed from its text. Private to src/matmul and
// src/bench.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/matmul/plan.hpp"

namespace tessera {

/// A kernel with its tile and its number of parts of K.
struct Candidate {
  std::string algorithm;
  TileShape tile = {};
  int parts = 1;
  bool operator==(const Candidate&) const = default;
};

/// "warpgroup 64x64/64x64 in 8 parts".
std::string to_string(const Candidate& candidate);

/// All built kernels and tiles that a plan may choose for the problem; on CUDA the likeliest first,
/// without those that a model takes for twice as slow, also with the parts of K that it expects to
/// be the fastest. Throws Error.
std::vector<Candidate> candidates_for(const Problem& problem, const std::string& device);

/// A candidate that lost, and its time as a multiple of the fastest one's.
struct SlowerCandidate {
  Candidate who;
  double times = 0;
};

struct TunedProduct {
  Problem problem;  ///< only its extents, types and the orders of A and B matter
  Candidate best;
  double seconds = 0;
  std::string peer = {};  ///< the fastest product of other libraries; empty: none
  double peer_seconds = 0;
  /// The device while the best ran: its clock and power, and what limited the clock (NVML's bits).
  double clock_hz = 0, watts = 0;
  std::uint64_t limits = 0;
  std::vector<SlowerCandidate> slower = {};  ///< the next best ones
};

/// A kernel that did not end: it is not tried again for products of the same types.
struct HangingCandidate {
  Problem problem;
  Candidate who;
};

/// The device, driver and version of the measurements; others do not apply.
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
  std::vector<HangingCandidate> hanging;

  /// Null where the product was not tuned.
  const TunedProduct* find(const Problem& problem) const;
  /// Adds a result, replacing one of the same product.
  void add(const TunedProduct& product);
  bool hangs(const Problem& problem, const Candidate& candidate) const;
};

/// A line for the device, then one for each product: "m=512 n=512 k=512 in=f32 ... algorithm=...".
std::string to_string(const Tuning& tuning);
/// Inverse of to_string; lines that begin with # are skipped. Throws Error(argument).
Tuning parse_tuning(std::string_view text);

/// The file of a device: TESSERA_TUNING, else tessera/tuning-NAME.txt in XDG_CACHE_HOME or
/// ~/.cache.
std::string tuning_file(const TunedOn& on);

/// A file's tuning, or why it is not used.
struct ReadTuning {
  Tuning tuning;
  std::string ignored;  ///< "" where it is used or does not exist
};
ReadTuning read_tuning(const std::string& file, const TunedOn& on);

}  // namespace tessera
