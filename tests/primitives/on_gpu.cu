// See on_gpu.hpp. The kernels in the project's words run here as on the CPU engine; single matrix
// instructions have kernels of their own.
#include <functional>
#include <list>
#include <map>

#include "copies.hpp"
#include "gates.hpp"
#include "on_gpu.hpp"
#include "stores.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/launch.cuh"
#include "tessera/cuda/tensor_map.hpp"
#include "tessera/ops/tensor_core.hpp"
#include "units.hpp"

namespace tessera::primitives {

namespace {

class GpuMachine {
 public:
  BulkMap map(const BulkFields& fields) const { return cuda::tensor_map(fields); }
  template <class T>
  void* upload(const std::vector<T>& values) {
    kept_.emplace_back(values.size() * sizeof(T), 0);
    cuda::copy(kept_.back().data(), values.data(), kept_.back().bytes(), stream_);
    stream_.synchronize();
    return kept_.back().data();
  }
  template <class T>
  std::vector<T> download(const void* from, std::size_t count) const {
    std::vector<T> out(count);
    cuda::copy(out.data(), from, count * sizeof(T), stream_);
    stream_.synchronize();
    return out;
  }
  template <class Kernel, class... Args>
  void run(Dim3 grid, const Kernel& kernel, const Args&... args) {
    cuda::launch(stream_, grid, kernel, args...);
  }

 private:
  cuda::Stream stream_ = cuda::Stream::create(0);
  std::list<cuda::DeviceBuffer> kept_;
};

/// One wgmma m64n16k16 on operands that threads store: thread t's values at out[t * 8].
template <Major A, Major B>
struct OneUnit {
  static constexpr const char* name = "one_unit";
  static constexpr Dim3 block{128};
  static constexpr bool needs_sm_90a = true;
  struct alignas(1024) Shared {
    std::uint16_t a[UnitRun::halves_of_a], b[UnitRun::halves_of_b];
  };
  TESSERA_KERNEL void operator()([[maybe_unused]] auto t, [[maybe_unused]] const std::uint16_t* a,
                                 [[maybe_unused]] const std::uint16_t* b,
                                 [[maybe_unused]] std::uint64_t of_a,
                                 [[maybe_unused]] std::uint64_t of_b,
                                 [[maybe_unused]] float* out) const {
#if defined(__CUDA_ARCH__)
    auto& s = shared<Shared>(t);
    for (int i = t.thread; i < UnitRun::halves_of_a; i += 128) s.a[i] = a[i];
    for (int i = t.thread; i < UnitRun::halves_of_b; i += 128) s.b[i] = b[i];
    fence_async(t);
    t.barrier();  // the operands are complete
    const std::uint64_t begin = descriptor_address(t.async().address(s.a));
    float d[kValues];
    t.async().begin_units(Here::current());
    tessera::detail::wgmma<bf16, bf16, UnitRun::n, A == Major::mn, B == Major::mn>(d, of_a + begin,
                                                                                   of_b + begin, 0);
    t.async().commit_units(Here::current());
    t.async().template wait_units<0>(Here::current());
    for (int v = 0; v < kValues; ++v) out[t.thread * kValues + v] = d[v];
#endif
  }
};

std::vector<float> registers_of(const UnitRun& run) {
  GpuMachine machine;
  auto* a = static_cast<std::uint16_t*>(machine.upload(run.a));
  auto* b = static_cast<std::uint16_t*>(machine.upload(run.b));
  auto* out = static_cast<float*>(machine.upload(std::vector<float>(128 * kValues)));
  const auto start = [&](const auto& kernel) {
    machine.run(Dim3{1}, kernel, a, b, run.descriptor_a, run.descriptor_b, out);
  };
  using enum Major;
  if (run.major_a == k && run.major_b == k) start(OneUnit<k, k>{});
  else if (run.major_a == k) start(OneUnit<k, mn>{});
  else if (run.major_b == k) start(OneUnit<mn, k>{});
  else start(OneUnit<mn, mn>{});
  return machine.download<float>(out, 128 * kValues);
}

/// D (64,16) from the registers of its threads.
std::vector<float> multiplied(const UnitRun& run) {
  using Unit = WarpgroupUnit<float, bf16, bf16, 64, UnitRun::n>;
  const std::vector<float> sums = registers_of(run);
  std::vector<float> out(sums.size());
  for (int i = 0; i < 128 * kValues; ++i) {
    const int at = Unit::position(i / kValues, i % kValues);
    out[static_cast<std::size_t>(at % 64 * UnitRun::n + at / 64)] =
        sums[static_cast<std::size_t>(i)];
  }
  return out;
}

Dump record_p5() {
  Dump out;
  for (const float each : registers_of(numbered_run()))
    out.push_back(static_cast<std::uint32_t>(each));
  return out;
}

/// P7: a warp multiplies each tile, m16n8k16 of f64.
struct OneChain {
  static constexpr const char* name = "one_chain";
  static constexpr Dim3 block{32};
  static constexpr bool needs_sm_90a = true;
  TESSERA_KERNEL void operator()([[maybe_unused]] auto t, [[maybe_unused]] const double* a,
                                 [[maybe_unused]] const double* b,
                                 [[maybe_unused]] double* c) const {
#if defined(__CUDA_ARCH__)
    using Mma = TensorCore<double, double, MmaShape{16, 8, 16}>;
    constexpr Layout layout_a = Mma::layout_a, layout_b = Mma::layout_b, layout_c = Mma::layout_c;
    a += t.block * 256, b += t.block * 128, c += t.block * 128;
    double x[Mma::values_a], y[Mma::values_b], d[4];
#pragma unroll
    for (int v = 0; v < Mma::values_a; ++v) {
      const int at = static_cast<int>(index_of<layout_a>(t.lane, v));
      x[v] = a[at % 16 * 16 + at / 16];
    }
#pragma unroll
    for (int v = 0; v < Mma::values_b; ++v) {
      const int at = static_cast<int>(index_of<layout_b>(t.lane, v));
      y[v] = b[at % 8 * 16 + at / 8];
    }
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int at = static_cast<int>(index_of<layout_c>(t.lane, v));
      d[v] = c[at % 16 * 8 + at / 16];
    }
    tessera::detail::mma_sync<16>(d, x, y);
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int at = static_cast<int>(index_of<layout_c>(t.lane, v));
      c[at % 16 * 8 + at / 16] = d[v];
    }
#endif
  }
};

Dump record_p7() {
  GpuMachine machine;
  const Chains all = chains();
  auto* a = static_cast<double*>(machine.upload(all.a));
  auto* b = static_cast<double*>(machine.upload(all.b));
  auto* c = static_cast<double*>(machine.upload(all.c));
  machine.run(Dim3{Chains::tiles}, OneChain{}, a, b, c);
  return bits_of_doubles(machine.download<double>(c, all.c.size()));
}

/// On a machine of its own.
template <class Record>
std::function<Dump()> recorded(Record record) {
  return [record] {
    GpuMachine machine;
    return record(machine);
  };
}

}  // namespace

Dump record_on_gpu(std::string_view name) {
  const cuda::Device device = cuda::device(0);
  if (device.major != 9)
    throw Error(Category::unavailable, "the primitives are of compute capability 9.0", {},
                cat(device.name, " has ", device.major, ".", device.minor));
  const cuda::OnDevice on(0);
  static const std::map<std::string_view, std::function<Dump()>> records = {
      {"p1", recorded([](auto& machine) { return record_p1(machine); })},
      {"p2", recorded([](auto& machine) { return record_p2(machine); })},
      {"p3", [] { return record_reads(kRowCases, multiplied); }},
      {"p4", [] { return record_reads(kOtherCases, multiplied); }},
      {"p5", record_p5},
      {"p6", recorded([](auto& machine) { return record_p6(machine); })},
      {"p7", record_p7},
      {"p8", recorded([](auto& machine) { return record_p8(machine); })},
      {"p9", recorded([](auto& machine) { return record_p9(machine); })},
      {"p10", record_p10},
      {"p11", record_p11}};
  return records.at(name)();
}

}  // namespace tessera::primitives
