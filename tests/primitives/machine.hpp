// Where a primitive's kernel runs: on the CPU engine here, on a GPU in on_gpu.cu, which has a
// GpuMachine of the same members. A machine keeps what its kernels read.
#pragma once

#include <cstring>
#include <list>
#include <vector>

#include "primitive.hpp"
#include "tessera/simt/bulk_map.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/gate.hpp"
#if !defined(__CUDACC__)
#include "tessera/simt/launch.hpp"
#endif

namespace tessera::primitives {

/// The software map of fields that the rules may forbid, for what a GPU might take them for.
inline BulkMap unchecked_map(const BulkFields& fields) {
  BulkMap map;
  std::memcpy(map.words, &fields, sizeof fields);
  return map;
}

#if !defined(__CUDACC__)
class CpuMachine {
 public:
  explicit CpuMachine(ThreadOrder order = ThreadOrder::forward) : order_(order) {}
  BulkMap map(const BulkFields& fields) const { return unchecked_map(fields); }
  /// A copy in the machine's memory, at a multiple of 16 bytes.
  template <class T>
  void* upload(const std::vector<T>& values) {
    auto& bytes = kept_.emplace_back(values.size() * sizeof(T) + 16);
    const auto beyond = reinterpret_cast<std::uintptr_t>(bytes.data()) % 16;
    std::byte* const at = bytes.data() + (16 - beyond) % 16;
    std::memcpy(at, values.data(), values.size() * sizeof(T));
    return at;
  }
  template <class T>
  std::vector<T> download(const void* from, std::size_t count) const {
    std::vector<T> out(count);
    std::memcpy(out.data(), from, count * sizeof(T));
    return out;
  }
  template <class Kernel, class... Args>
  void run(Dim3 grid, const Kernel& kernel, const Args&... args) {
    launch({.grid = grid, .block = Kernel::block, .order = order_, .seed = 5}, kernel, args...);
  }

 private:
  ThreadOrder order_;
  std::list<std::vector<std::byte>> kept_;
};
#endif

/// Waits for the end of a phase as wait() does; on a GPU for at most 50 ms, so that a gate that
/// never opens is a word of the dump and no hang. Did the phase end?
template <class Thread>
TESSERA_KERNEL bool wait_briefly(Thread& t, Gate& gate, unsigned phase) {
#if defined(__CUDA_ARCH__)
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    int over;
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.s32 %0, 1, 0, p;\n}"
        : "=r"(over)
        : "r"(t.async().address(&gate)), "r"(phase)
        : "memory");
    if (over != 0) return true;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < 50'000'000);
  return false;
#else
  wait(t, gate, phase);
  return true;
#endif
}

}  // namespace tessera::primitives
