// See gpu_time.hpp. The rates are checked by primitive P11 (tests/primitives), clocks for each
// multiply-add by scripts/issue_model.py and bench/results/gpu.
#include "gpu_time.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tessera/layout/int_tuple.hpp"
#include "waves.hpp"

namespace tessera::detail {

namespace {

constexpr double kSms = kHopperMultiprocessors, kClock = 1.75e9, kUnitClock = 1.6e9;  // under load
constexpr double kMemory = 3.97e12, kL2 = 7.9e12;  // bytes a second
constexpr double kCopies = 13.5e12;                // from L2, where neighbours read the same tiles
constexpr double kLaunch = 2.5e-6;                 // where the host does not delay it
constexpr double kFill = 1500;                     // clocks of the first tiles
constexpr double kEpilogueBytes = 18;              // of C that a multiprocessor stores in a clock

double blocks(index_t extent, int tile) {
  return static_cast<double>(ceil_div(extent, index_t{std::max(tile, 1)}));
}

/// Clocks of one multiply-add of a thread on CUDA cores, and blocks of a multiprocessor at one
/// time.
struct CoreKernel {
  std::string_view name;
  double clocks, clocks_of_small;  ///< small: tiles of 64 x 64
  int resident;                    ///< of small tiles
};
constexpr CoreKernel kCoreKernels[] = {{"bulk_tiled", 1.22, 1.40, 2},
                                       {"pipelined", 1.24, 1.63, 2},
                                       {"block_tiled_vectorized", 1.8, 2.1, 2},
                                       {"block_tiled", 3.15, 3.5, 2},
                                       {"tiled_register", 8.6, 8.6, 4},
                                       {"coalescing", 11.4, 11.4, 4},
                                       {"naive", 118, 118, 4}};

double clocks_on_cores(const Problem& p, const Candidate& who) {
  CoreKernel kernel{"", 9.3, 9.3, 4};
  for (const CoreKernel& each : kCoreKernels)
    if (each.name == who.algorithm) kernel = each;
  const TileShape& t = who.tile;
  const int bm = std::max(t.bm, 1), bn = std::max(t.bn, 1);
  const bool is_small = bm * bn <= 64 * 64, is_medium = !is_small && bm * bn < 128 * 128;
  const double resident = is_small ? kernel.resident : 1;
  const double rounds = std::ceil(blocks(p.M, bm) * blocks(p.N, bn) / (kSms * resident));
  const double clocks = is_small    ? kernel.clocks_of_small
                        : is_medium ? (kernel.clocks + kernel.clocks_of_small) / 2
                                    : kernel.clocks;
  const double each = clocks * (p.in == DType::f64 ? 2 : 1);
  return kFill + rounds * resident * bm * bn * static_cast<double>(p.K) / 128 * each;
}

/// Clocks in which bulk copies load these bytes into a multiprocessor; `readers`: the blocks of C
/// that read the same bytes.
double clocks_of_copies(double bytes, double readers) {
  return bytes / ((readers > 1 ? kCopies : kL2) / kSms / kUnitClock);
}

/// Clocks of a warpgroup's instruction for 64 rows and 32 bytes of K: those of its multiply-adds or
/// of its reads of shared memory, at 128 bytes a clock, whichever are more.
double clocks_of_unit(int n) { return std::max(n / 2.0, (64 * 32 + n * 32) / 128.0); }

/// Clocks for 32 bytes of K in which threads add sums of f8 while the unit waits: of all sums of a
/// tile, in large tiles of its last part alone.
double clocks_of_adding(const Problem& p, const TileShape& t) {
  if (p.in != DType::f8e4m3 && p.in != DType::f8e5m2) return 0;
  const int sums = t.wm * t.bn / 128;  // of a thread
  return sums > 64 ? t.wm == t.bm ? 25 : 0 : 12 + sums / 2.0;
}

double clocks_on_warpgroups(const Problem& p, const TileShape& t) {
  const int down = std::max(t.cm, 1), across = std::max(t.cn, 1);
  const double tiles_down = blocks(p.M, t.bm * down) * down;
  const double tiles_across = blocks(p.N, t.bn * across) * across;
  const double depths = static_cast<double>(p.K) * size_of(p.in) / 32;
  const double together = down * across > 1 ? 1.03 : 1;  // blocks of a cluster await each other
  const double units = t.bm / 64.0 * clocks_of_unit(t.bn) * together;
  const double copies = clocks_of_copies(double(t.bm) / across * 32, tiles_across) +
                        clocks_of_copies(double(t.bn) / down * 32, tiles_down);
  const double each = std::max(units, copies) + clocks_of_adding(p, t);
  const double epilogue = t.bm * t.bn * static_cast<double>(size_of(p.out)) / kEpilogueBytes;
  // Warpgroups that own whole tiles alternately store one while the other is multiplied.
  const double rounds = std::ceil(tiles_down * tiles_across / kSms);
  return kFill + rounds * depths * each + (t.wm == t.bm ? 1 : rounds) * epilogue;
}

double clocks_of_tensor_core(const Problem& p, const TileShape& t) {
  const bool is_f64 = p.in == DType::f64;  // 128 multiply-adds a clock
  const double rate = is_f64 ? 128 * 0.9 : 690.0 * 2 / static_cast<double>(size_of(p.in));
  const double resident = t.bm * t.bn <= 64 * 64 ? 4 : is_f64 ? 1 : 2;
  const double rounds = std::ceil(blocks(p.M, t.bm) * blocks(p.N, t.bn) / (kSms * resident));
  return kFill + rounds * resident * t.bm * t.bn * static_cast<double>(p.K) / rate;
}

}  // namespace

double modelled_seconds(const Problem& p, const Candidate& who) {
  const double a = static_cast<double>(p.M) * static_cast<double>(p.K) * size_of(p.in);
  const double b = static_cast<double>(p.K) * static_cast<double>(p.N) * size_of(p.type_of_b());
  const double c = static_cast<double>(p.M) * static_cast<double>(p.N) * size_of(p.out);
  double seconds = 0;
  if (who.algorithm == "thin")
    seconds = expected_thin_clocks(p, who.tile, who.parts, kHopperMultiprocessors) / kUnitClock;
  else if (who.parts > 1)
    seconds =
        expected_clocks(std::span(&p, 1), who.tile, who.parts, kHopperMultiprocessors) / kUnitClock;
  else if (who.algorithm == "warpgroup") seconds = clocks_on_warpgroups(p, who.tile) / kUnitClock;
  else if (who.algorithm == "tensor_core")
    seconds = clocks_of_tensor_core(p, who.tile) / kUnitClock;
  else seconds = clocks_on_cores(p, who) / kClock;
  return kLaunch + std::max(seconds, (a + b + c) / kMemory);
}

}  // namespace tessera::detail
