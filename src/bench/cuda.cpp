// A GPU in a benchmark: see cuda.hpp. Everything runs on one stream.
#include "cuda.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

#include "cublas/cublas.hpp"
#include "cublas/lt.hpp"
#include "nvml.hpp"
#include "process/clock.hpp"
#include "shell/json_text.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::bench {

namespace {

/// Time between two queries of a GPU's state.
constexpr auto kLookAround = std::chrono::milliseconds(1);
/// A run that takes this long, and longer than at this speed, does not end.
constexpr double kLongestSeconds = 10, kSlowestFlops = 1e11;

/// A library's product. `choice` numbers the cuBLASLt choices, the fastest is 0; -1: cuBLAS.
struct CudaPeer {
  const char* name;
  Cublas::F32 f32;
  int choice;
  const char* settings;
};
using F32 = Cublas::F32;
constexpr std::array kCudaPeers = {
    CudaPeer{"cublas", F32::exact, -1, "f32 as f32, other types on tensor cores"},
    CudaPeer{"cublas-tf32", F32::tf32, -1, "f32 rounded to TF32, on tensor cores"},
    CudaPeer{"cublaslt", F32::exact, 0, "the fastest of at most 16 algorithms, workspace 64 MiB"},
    CudaPeer{"cublaslt-2", F32::exact, 1, "the second fastest of them"},
    CudaPeer{"cublaslt-tf32", F32::tf32, 0, "as cublaslt, f32 rounded to TF32"},
    CudaPeer{"cublaslt-tf32-2", F32::tf32, 1, "the second fastest of them"},
};

const CudaPeer& cuda_peer(std::string_view name) {
  for (const CudaPeer& known : kCudaPeers) {
    if (known.name == name) return known;
  }
  throw Error(Category::argument, cat("no peer '", name, "'"));
}

std::vector<shell::Types> types_of(const CudaPeer& peer) {
  std::vector<shell::Types> out;
  for (std::size_t in = 0; in < kElementTypeCount; ++in) {
    for (std::size_t in_b = 0; in_b < kElementTypeCount; ++in_b) {
      for (std::size_t result = 0; result < kElementTypeCount; ++result) {
        const shell::Types types{static_cast<DType>(in), static_cast<DType>(result),
                                 static_cast<DType>(in_b)};
        if (peer.choice < 0 ? types.in == types.in_b && Cublas::multiplies(types, peer.f32)
                            : CublasLt::multiplies(types, peer.f32))
          out.push_back(types);
      }
    }
  }
  return out;
}

class CudaBench : public BenchDevice {
 public:
  explicit CudaBench(int number)
      : device_(cuda::device(number)),
        stream_(cuda::Stream::create(number)),
        begin_(number),
        end_(number),
        nvml_(Nvml::open(device_.pci_bus_id)) {
    const cuda::OnDevice on(number);
    try {
      cublas_ = std::make_unique<Cublas>(stream_.handle());
    } catch (const Error& error) {
      missing_ = error.what();
    }
    try {
      open_cublas_lt();
    } catch (const Error& error) {
      missing_ += cat(missing_.empty() ? "" : "; ", error.what());
    }
  }

  std::string name() const override { return cat("cuda:", device_.number); }
  nlohmann::ordered_json description() const override;
  std::vector<Peer> peers() const override;
  std::string missing_peers() const override { return missing_; }

  void load(const BenchCase& now, const SharedOperands& shared) override;
  void unload() override { free_memory(); }
  index_t sets() const override { return sets_; }
  void spoil_results() override;
  void copy_results_to(const SharedOperands& shared) override;

  Call kernel(const Candidate& who) override;
  Call peer(const std::string& name) override;
  double run(const Call& call, index_t count) override;
  bool hangs() const override { return hangs_; }
  DeviceState state() const override { return state_; }
  double peak_flops(std::string_view units, const shell::Types& types) override;

 private:
  /// The positions of a set's operands.
  char* set(index_t number) const {
    return static_cast<char*>(memory_.data()) + static_cast<std::size_t>(number) * places_.end;
  }
  void open_cublas_lt();
  const std::vector<CublasLt::Choice>& lt_choices(Cublas::F32 f32);
  BenchDevice::Call lt_call(const CublasLt::Choice& choice);
  void watch(index_t count);
  void free_memory();

  cuda::Device device_;
  cuda::Stream stream_;
  cuda::Event begin_, end_;
  std::unique_ptr<Nvml> nvml_;
  DeviceState state_;
  std::unique_ptr<Cublas> cublas_;
  std::unique_ptr<CublasLt> lt_;
  cuda::DeviceBuffer lt_room_;  ///< the workspace, then the scale of f8
  std::string missing_;
  /// for the loaded case, the fastest first; empty: not yet searched
  std::array<std::vector<CublasLt::Choice>, 2> lt_choices_;  // f32 as f32, as TF32

  BenchCase case_;
  OperandPlaces places_{case_};
  cuda::DeviceBuffer memory_;  ///< sets_ times places_.end bytes; empty: nothing is loaded
  index_t sets_ = 1, next_ = 0;
  bool hangs_ = false;
};

/// Of a device that hangs the memory is given up: freeing it would wait.
void CudaBench::free_memory() {
  if (hangs_) new cuda::DeviceBuffer(std::move(memory_));
  memory_ = {};
}

nlohmann::ordered_json CudaBench::description() const {
  nlohmann::ordered_json out = shell::json_object();
  out["summary"] = cat(device_.name, ", ", device_.sms, " SMs, driver of CUDA ",
                       cuda::driver_version(), cublas_ ? ", " + cublas_->version() : "");
  out["name"] = device_.name;
  out["compute_capability"] = cat(device_.major, ".", device_.minor);
  out["sms"] = device_.sms;
  out["memory_bytes"] = device_.memory_bytes;
  out["l2_bytes"] = device_.l2_bytes;
  out["highest_clock_hz"] = device_.clock_hz;
  out["clock_of_peak"] = nvml_ ? "read from NVML during the previous sample" : "the highest";
  out["driver"] = cuda::driver_version();
  out["runtime"] = cuda::runtime_version();
  if (nvml_) {
    out["power_limit_watts"] = nvml_->power_limit_watts();
    out["temperature_celsius"] = nvml_->temperature_celsius();
    out["throttle_reasons"] = nvml_->throttle_reasons();
  }
  return out;
}

void CudaBench::open_cublas_lt() {
  constexpr float one = 1;
  lt_room_ = cuda::DeviceBuffer(CublasLt::kWorkspaceBytes + sizeof one, device_.number);
  char* const room = static_cast<char*>(lt_room_.data());
  cuda::copy(room + CublasLt::kWorkspaceBytes, &one, sizeof one, stream_);
  stream_.synchronize();
  lt_ = std::make_unique<CublasLt>(stream_.handle(),
                                   CublasLt::Room{room, room + CublasLt::kWorkspaceBytes});
}

std::vector<Peer> CudaBench::peers() const {
  std::vector<Peer> out;
  for (const CudaPeer& known : kCudaPeers) {
    if (known.choice < 0 ? cublas_ == nullptr : lt_ == nullptr) continue;
    Peer peer;
    peer.name = known.name;
    peer.settings = known.settings;
    peer.path = known.choice < 0 ? cublas_->path() : lt_->path();
    peer.version = known.choice < 0 ? cublas_->version() : lt_->version();
    peer.types = types_of(known);
    out.push_back(std::move(peer));
  }
  return out;
}

void CudaBench::load(const BenchCase& now, const SharedOperands& shared) {
  if (memory_.data() != nullptr && case_ == now) return;
  if (hangs_) throw Error(Category::unavailable, "a kernel that does not end blocks the device");
  free_memory();  // the old memory first, so that both never exist together
  lt_choices_ = {};
  case_ = now;
  places_ = OperandPlaces(now);
  sets_ = sets_beyond_cache(places_.end, device_.l2_bytes);
  next_ = 0;
  memory_ = cuda::DeviceBuffer(static_cast<std::size_t>(sets_) * places_.end, device_.number);
  cuda::copy(set(0), shared.A(0).data, places_.c, stream_);  // all A, then all B
  for (index_t i = 1; i < sets_; ++i) cuda::copy(set(i), set(0), places_.c, stream_);
  stream_.synchronize();
}

void CudaBench::spoil_results() {
  for (index_t i = 0; i < sets_; ++i)
    cuda::fill(set(i) + places_.c, 0xff, places_.end - places_.c, stream_);
}

void CudaBench::copy_results_to(const SharedOperands& shared) {
  const std::size_t bytes = places_.end - places_.c;
  char* const first = static_cast<char*>(shared.C(0).data);
  cuda::copy(first, set(0) + places_.c, bytes, stream_);
  std::vector<char> other(sets_ > 1 ? bytes : 0);
  for (index_t i = 1; i < sets_; ++i) {
    cuda::copy(other.data(), set(i) + places_.c, bytes, stream_);
    stream_.synchronize();
    if (std::memcmp(first, other.data(), bytes) != 0)
      throw Error(Category::failed,
                  cat("products of equal operands differ: in set 0 and in set ", i));
  }
  stream_.synchronize();
}

BenchDevice::Call CudaBench::kernel(const Candidate& who) {
  Options options;
  options.algorithm = who.algorithm;
  options.tile = who.tile;
  options.parts = who.parts;
  options.device = name();
  return [this, plan = make_plan(problem_of(case_), options)](index_t number) {
    const Problem& p = plan.problem;
    char* const base = set(number);
    for (index_t i = 0; i < case_.shape.batch; ++i) {
      const auto at = static_cast<std::size_t>(i);
      cuda::run(plan, {base + places_.a + at * places_.a_step, p.in, p.M, p.K, p.a.row, p.a.col},
                {base + places_.b + at * places_.b_step, p.in, p.K, p.N, p.b.row, p.b.col},
                {base + places_.c + at * places_.c_step, p.out, p.M, p.N, p.c.row, p.c.col},
                stream_);
    }
  };
}

BenchDevice::Call CudaBench::peer(const std::string& name) {
  const CudaPeer& known = cuda_peer(name);
  if (known.choice < 0) {
    return [this, f32 = known.f32](index_t number) {
      char* const base = set(number);
      cublas_->multiply(case_, f32, base + places_.a, base + places_.b, base + places_.c);
    };
  }
  const auto& choices = lt_choices(known.f32);
  const auto at = static_cast<std::size_t>(known.choice);
  if (at >= choices.size())
    throw Error(Category::unavailable,
                "cuBLASLt offers only one algorithm that runs on this device");
  return lt_call(choices[at]);
}

/// All choices of cuBLASLt, timed before anything is measured.
const std::vector<CublasLt::Choice>& CudaBench::lt_choices(Cublas::F32 f32) {
  auto& out = lt_choices_[f32 == Cublas::F32::tf32 ? 1 : 0];
  if (!out.empty()) return out;
  const cuda::OnDevice on(device_.number);
  out = fastest_first(lt_->choices(case_, f32), [this](const auto& choice, index_t calls) {
    return run(lt_call(choice), calls);
  });
  return out;
}

BenchDevice::Call CudaBench::lt_call(const CublasLt::Choice& choice) {
  return [this, choice](index_t number) {
    char* const base = set(number);
    lt_->multiply(choice, base + places_.a, base + places_.b, base + places_.c);
  };
}

double CudaBench::run(const Call& call, index_t count) {
  if (hangs_) throw Error(Category::unavailable, "a kernel that does not end blocks the device");
  const cuda::OnDevice on(device_.number);  // cuBLAS needs the current device
  begin_.record(stream_);
  for (index_t i = 0; i < count; ++i) {
    call(next_);
    next_ = next_ + 1 == sets_ ? 0 : next_ + 1;
  }
  end_.record(stream_);
  watch(count);
  end_.synchronize();
  return cuda::Event::seconds_between(begin_, end_);
}

/// Queries the device until the run has ended.
void CudaBench::watch(index_t count) {
  DeviceState seen;
  int looks = 0;
  const auto start = process::Clock::now();
  const double longest =
      kLongestSeconds + case_.flops() * static_cast<double>(count) / kSlowestFlops;
  while (!end_.reached()) {
    if (const double clock = nvml_ ? nvml_->sm_clock_hz() : 0; clock > 0) {
      seen.clock_hz += clock, seen.watts += nvml_->power_watts(), ++looks;
      seen.throttle_reasons |= nvml_->throttle_reasons();
    }
    std::this_thread::sleep_for(kLookAround);
    if (process::seconds_since(start) < longest) continue;
    hangs_ = true;
    throw Error(Category::kernel, fmt::format("a kernel did not end within {:.0f} s", longest));
  }
  if (looks > 0) state_ = {seen.clock_hz / looks, seen.watts / looks, seen.throttle_reasons};
}

double CudaBench::peak_flops(std::string_view units, const shell::Types& types) {
  const int each = multiply_adds_per_clock(device_.major, device_.minor, units, types.in);
  if (each == 0)
    throw Error(Category::unavailable,
                cat("the peak of the ", units, " of ", device_.name, " for ", types.in,
                    " is not known (compute capability ", device_.major, ".", device_.minor, ")"));
  return 2.0 * each * device_.sms * (state_.clock_hz > 0 ? state_.clock_hz : device_.clock_hz);
}

}  // namespace

std::unique_ptr<BenchDevice> open_cuda_bench(const std::string& device) {
  int number = 0;
  std::from_chars(device.data() + sizeof "cuda:" - 1, device.data() + device.size(), number);
  return std::make_unique<CudaBench>(number);
}

int multiply_adds_per_clock(int major, int minor, std::string_view units, DType in) {
  const bool a100 = major == 8 && minor == 0, hopper = major == 9 && minor == 0;
  if (units == kCores) {
    if (in == DType::i32) return a100 || hopper ? 64 : 0;
    if (in == DType::f64) return a100 ? 32 : hopper ? 64 : 0;
    return a100 ? 64 : major >= 8 ? 128 : 0;  // f16 and bf16 are multiplied as f32
  }
  if (!a100 && !hopper) return 0;
  switch (in) {
    case DType::f64: return a100 ? 64 : 128;
    case DType::f32: return a100 ? 512 : 1024;  // as TF32
    case DType::f16:
    case DType::bf16: return a100 ? 1024 : 2048;
    case DType::i8:
    case DType::u8: return a100 ? 2048 : 4096;
    case DType::f8e4m3:
    case DType::f8e5m2: return a100 ? 0 : 4096;
    default: return 0;
  }
}

index_t sets_beyond_cache(std::size_t set_bytes, index_t cache_bytes) {
  const auto bytes = static_cast<index_t>(set_bytes);
  return 3 * cache_bytes / bytes + 1;
}

}  // namespace tessera::bench
