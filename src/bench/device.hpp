// A device that a benchmark runs on instead of this machine's CPU, and its contestants: all in this
// process, on the same operands, in one sequence of calls. cuda.hpp is the real one; tests have one
// of their own.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "contestant.hpp"
#include "matmul/tuning.hpp"

namespace tessera::bench {

/// The units of a device that multiply, each with its own peak; tables use these names.
inline constexpr std::string_view kCores = "CUDA cores", kMatrixUnits = "tensor cores";

/// The algorithm of a product that names none.
inline constexpr const char* kAutomatic = "auto";

/// Does another library's product round f32 to TF32: "cublas-tf32", "cublaslt-tf32-2"?
constexpr bool rounds_to_tf32(std::string_view peer) {
  return peer.find("-tf32") != std::string_view::npos;
}

class BenchDevice {
 public:
  virtual ~BenchDevice() = default;

  /// "cuda:0"
  virtual std::string name() const = 0;
  /// The device's entries in a file of results: its name, versions, clocks, limits.
  virtual nlohmann::ordered_json description() const = 0;
  /// Other libraries that multiply there; why one is missing, "" if it is not.
  virtual std::vector<Peer> peers() const = 0;
  virtual std::string missing_peers() const = 0;

  /// Copies A and B of the case into the device's memory, as many times as needed so that calls
  /// never find their operands in a cache, and allocates as many C. Does nothing if the case is
  /// loaded already.
  virtual void load(const BenchCase& now, const SharedOperands& shared) = 0;
  virtual void unload() = 0;
  /// The number of copies of the operands.
  virtual index_t sets() const = 0;
  /// Fills every C with a value that no product may leave unchanged.
  virtual void spoil_results() = 0;
  /// Copies the results into the shared ones. Throws Error(failed) if those of two sets differ.
  virtual void copy_results_to(const SharedOperands& shared) = 0;

  /// Starts the loaded case's product on one of the sets and returns immediately.
  using Call = std::function<void(index_t set)>;
  /// Both throw Error if there is no such product.
  virtual Call kernel(const Candidate& who) = 0;
  /// With its default tile, or the automatic choice.
  Call algorithm(const std::string& name) { return kernel({name, {}, 0}); }
  virtual Call peer(const std::string& name) = 0;
  /// Starts this many calls, each on the next set, waits for them, and returns their total time in
  /// seconds, by the device's clock. Throws Error(kernel) if they do not end: then hangs().
  virtual double run(const Call& call, index_t count) = 0;
  /// A kernel did not end. Nothing on the device will, not even what frees its memory: the program
  /// leaves by leave_hanging().
  virtual bool hangs() const { return false; }
  /// The device's state during the latest run that was long enough to observe it.
  virtual DeviceState state() const { return {}; }

  /// The most multiplications and additions a second of its units, at the clock of the latest run.
  /// Throws Error(unavailable) if that is unknown.
  virtual double peak_flops(std::string_view units, const shell::Types& types) = 0;
};

/// Ends the program at once if the device hangs, without destructors that would wait for it.
void leave_hanging(const BenchDevice& device, int exit_code);

/// The contestants of a device. The device and the shared operands must outlive them.
std::unique_ptr<Contestant> device_algorithm(const std::string& name, const shell::Types& types,
                                             BenchDevice& device, SharedOperands& shared);
std::unique_ptr<Contestant> device_peer(const std::string& name, const shell::Types& types,
                                        BenchDevice& device, SharedOperands& shared);
std::unique_ptr<Contestant> device_peak(std::string_view units, BenchDevice& device);

}  // namespace tessera::bench
