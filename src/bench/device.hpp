// A device that a benchmark runs on instead of this machine's processor, and the contestants that
// run there: all in this process, on the same operands, in one order of calls. cuda.hpp is
// the real one; tests have one of their own.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "contestant.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::bench {

/// What multiplies on a device, each with a peak of its own: the names are those of tables.
inline constexpr std::string_view kCores = "CUDA cores", kMatrixUnits = "tensor cores";

/// The algorithm that a product takes which names none.
inline constexpr const char* kAutomatic = "auto";

/// Whether another library's product rounds f32 to TF32: "cublas-tf32", "cublaslt-tf32-2".
constexpr bool rounds_to_tf32(std::string_view peer) {
  return peer.find("-tf32") != std::string_view::npos;
}

class BenchDevice {
 public:
  virtual ~BenchDevice() = default;

  /// "cuda:0"
  virtual std::string name() const = 0;
  /// What a file of results must say about it: its name, versions, clocks, limits.
  virtual nlohmann::ordered_json description() const = 0;
  /// Other libraries that multiply there; why one is not there, "" where it is.
  virtual std::vector<Peer> peers() const = 0;
  virtual std::string missing_peers() const = 0;

  /// Copies A and B of the case into the device's memory, so many times that call after call never
  /// finds its operands in a cache, with room for as many C. Nothing where that is loaded already.
  virtual void load(const BenchCase& now, const SharedOperands& shared) = 0;
  virtual void unload() = 0;
  /// How many copies of the operands there are.
  virtual index_t sets() const = 0;
  /// Fills every C with what no product may leave standing.
  virtual void spoil_results() = 0;
  /// Copies the results into the shared ones. Throws Error(failed) where those of two sets differ.
  virtual void copy_results_to(const SharedOperands& shared) = 0;

  /// Starts the loaded case's product on one of the sets and returns before it is done.
  using Call = std::function<void(index_t set)>;
  /// Throw Error where there is no such product.
  virtual Call kernel(const std::string& algorithm, const TileShape& tile) = 0;
  /// With its default tile, or what is taken by itself.
  Call algorithm(const std::string& name) { return kernel(name, {}); }
  virtual Call peer(const std::string& name) = 0;
  /// Starts so many calls, each on the next set, waits for them, and says how long they took
  /// together, by the device's clock, in seconds.
  virtual double run(const Call& call, index_t count) = 0;
  /// How the device was during the latest run that was long enough to see it.
  virtual DeviceState state() const { return {}; }

  /// Multiplications and additions a second that its units can do at most, at the clock of the
  /// latest run. Throws Error(unavailable) where that is not known.
  virtual double peak_flops(std::string_view units, const shell::Types& types) = 0;
};

/// The contestants of a device. Each needs the device and the shared operands as long as it lives.
std::unique_ptr<Contestant> device_algorithm(const std::string& name, BenchDevice& device,
                                             SharedOperands& shared);
std::unique_ptr<Contestant> device_peer(const std::string& name, const shell::Types& types,
                                        BenchDevice& device, SharedOperands& shared);
std::unique_ptr<Contestant> device_peak(std::string_view units, BenchDevice& device);

}  // namespace tessera::bench
