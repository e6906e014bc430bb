// The entry of a kernel in GPU code that Clang makes: see gpu_kernel.hpp. Included by run.hpp in
// that pass, and by the files of the ladder.
#pragma once

#include <cstring>

#include "tessera/device/gpu_kernel.hpp"
#include "tessera/simt/gpu_thread.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/host_tensor.hpp"

#if defined(__HIP__)  // for GPUs alone

namespace tessera::detail {

using GpuWord = unsigned long;
template <std::size_t>
using NthWord = GpuWord;

/// The argument of a parameter, from its address and its words.
template <class Param>
struct GpuArgument {
  using Address = GpuWord;
  static_assert(alignof(Param) <= 8,
                "a value that is given to a GPU is aligned to 8 bytes or less");
  alignas(8) unsigned char bytes[sizeof(Param)];
  __device__ GpuArgument(Address, const GpuWord* words) {
    std::memcpy(bytes, words, sizeof(Param));
  }
  __device__ const Param& get() const { return *reinterpret_cast<const Param*>(bytes); }
};
template <class T, int Rank>
struct GpuArgument<Elements<T, Rank>> {
  using Address = T*;
  using View = Tensor<T*, row_major_pattern<Rank>()>;
  T* data;
  typename View::Values values{};  // the extents, then the strides of all modes but the last
  __device__ GpuArgument(Address base, const GpuWord* words)
      : data(base + static_cast<index_t>(words[0]) / static_cast<index_t>(sizeof(T))) {
    index_t stride = 1;
    TESSERA_UNROLL
    for (int i = Rank - 1; i >= 0; --i) {
      values.v[i] = static_cast<index_t>(words[1 + i]);
      if (i + 1 < Rank) values.v[Rank + i] = stride;
      stride *= values.v[i];
    }
  }
  __device__ View get() const { return View(data, values, Whole{}); }
};

#if defined(__AMDGCN__)
extern __attribute__((shared, aligned(128))) unsigned char amd_shared[];
using SharedBytes = GpuWord;  // the launch gives the size
#else
using SharedBytes = __attribute__((address_space(3))) unsigned char*;
#endif

template <std::size_t... Word, class Kernel, class... Params>
struct GpuEntry<std::index_sequence<Word...>, Kernel, Params...> {
  static constexpr int threads = static_cast<int>(volume(declared_block<Kernel>()));

#if defined(__AMDGCN__)  // decides how many registers a thread may have
  __attribute__((amdgpu_flat_work_group_size(1, threads > 0 ? threads : 1)))
#endif
  __attribute__((global)) static void
  tessera_gpu_entry([[maybe_unused]] SharedBytes shared,
                    typename GpuArgument<Params>::Address... addresses, NthWord<Word>... words) {
    const GpuWord all[] = {words...};
#if defined(__AMDGCN__)
    void* const storage = amd_shared;
#else
    void* const storage = (void*)shared;  // NOLINT: a cast between address spaces
#endif
    if constexpr (threads > 0)
      call(storage, all, std::index_sequence_for<Params...>(), addresses...);
  }

 private:
  /// The words before parameter number `at`.
  static constexpr int words_before(std::size_t at) {
    constexpr GpuParam params[] = {kGpuParam<Params>..., {0, 0}};
    int out = kGridWords + words_for(sizeof(Kernel));
    for (std::size_t i = 0; i < at; ++i) out += params[i].words();
    return out;
  }
  template <std::size_t... I>
  __device__ static void call(void* shared, const GpuWord* words, std::index_sequence<I...>,
                              typename GpuArgument<Params>::Address... addresses) {
    const GpuArgument<Dim3> grid(0, words);
    const GpuArgument<Kernel> kernel(0, words + kGridWords);
    GpuThread<declared_block<Kernel>(), declared_warp<Kernel>()> t(grid.get(), shared);
    kernel.get()(t, GpuArgument<Params>(addresses, words + words_before(I)).get()...);
  }
};

}  // namespace tessera::detail

#endif
