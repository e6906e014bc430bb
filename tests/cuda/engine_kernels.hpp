// Kernels that use one thing of the engine each, for the CPU and for a GPU: both must write the
// same numbers. engine_kernels.cu starts them on a GPU.
#pragma once

#include "tessera/cuda/runtime.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/tensor_core.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera::testing {

/// out[block] = 2 * block.y + block.x, by one thread of each block: no block is lost or counted
/// twice.
struct NumberBlocks {
  static constexpr const char* name = "number_blocks";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, int* out) const {
    if (t.thread == 0) t.atomic_add(out[t.block], 2 * t.block.y + t.block.x);
  }
};

/// What a launch costs when a kernel does nothing.
struct Nothing {
  static constexpr const char* name = "nothing";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto) const {}
};

/// Reverses 25600 numbers through 100 KiB of shared memory.
struct ReverseLarge {
  static constexpr const char* name = "reverse_large";
  static constexpr Dim3 block{256};
  static constexpr int count = 25600;
  struct Shared {
    int values[count];
  };
  TESSERA_KERNEL void operator()(auto t, const int* in, int* out) const {
    auto& stage = shared<Shared>(t);
    t.superstep("load", [&] {
      for (int i = t.thread; i < count; i += block.x) stage.values[i] = in[i];
    });
    for (int i = t.thread; i < count; i += block.x) out[i] = stage.values[count - 1 - i];
  }
};

/// Needs more shared memory than an sm_80 has, and as much as an sm_90 has.
struct LargestShared {
  static constexpr const char* name = "largest_shared";
  static constexpr Dim3 block{32};
  struct Shared {
    unsigned char bytes[227 * 1024];
  };
  TESSERA_KERNEL void operator()(auto t, int* out) const {
    auto& stage = shared<Shared>(t);
    stage.bytes[sizeof stage.bytes - 1 - t.thread] = 7;
    t.barrier();
    if (t.thread == 0) out[0] = stage.bytes[sizeof stage.bytes - 32];
  }
};

/// Warp verbs: each lane writes what the verbs gave it. The second warp has 16 lanes.
struct WarpVerbs {
  static constexpr const char* name = "warp_verbs";
  static constexpr Dim3 block{48};
  static constexpr int verbs = 7;
  TESSERA_KERNEL void operator()(auto t, int* out) const {
    int* const mine = out + t.thread * verbs;
    const int value = 100 * t.warp + t.lane;
    mine[0] = t.shuffle(value, 3);
    mine[1] = t.shuffle_down(value, 5);
    mine[2] = t.shuffle_up(value, 2);
    mine[3] = t.shuffle_xor(value, 1);
    mine[4] = static_cast<int>(t.ballot(t.lane % 3 == 0));
    mine[5] = t.any(t.lane == 20) ? 1 : 0;
    mine[6] = t.all(t.lane < 16) ? 1 : 0;
  }
};

/// Atomics of all blocks on five counters: sum, largest, smallest, how many were the first to
/// claim.
struct Atomics {
  static constexpr const char* name = "atomics";
  static constexpr Dim3 block{64};
  TESSERA_KERNEL void operator()(auto t, int* out) const {
    const int number = 64 * t.block + t.thread;
    t.atomic_add(out[0], number % 7);
    t.atomic_max(out[1], number);
    t.atomic_min(out[2], -number);
    if (t.atomic_compare_exchange(out[3], 0, 1) == 0) t.atomic_add(out[4], 1);
  }
};

/// Sums the columns of A, (40,64) or fewer rows, through two stages of asynchronous copies: the
/// next on its way while one is added.
struct AsyncStages {
  static constexpr const char* name = "async_stages";
  static constexpr Dim3 block{64};
  static constexpr int stages = 10, rows = 4;
  struct Shared {
    Tile<int, rows, 64> stage[2];
  };
  TESSERA_KERNEL void operator()(auto t, auto A, int* out) const {
    auto& s = shared<Shared>(t);
    int sum = 0;
    copy_async(t, tile<rows, 64>(A, 0, 0), s.stage[0].view());
    commit(t);
    for (int k = 0; k < stages; ++k) {
      if (k + 1 < stages) copy_async(t, tile<rows, 64>(A, k + 1, 0), s.stage[(k + 1) % 2].view());
      commit(t);
      wait<1>(t);
      t.barrier();
      for (int i = 0; i < rows; ++i) sum += s.stage[k % 2].view()(i, t.thread);
      t.barrier();
    }
    out[t.thread] = sum;
  }
};

/// Adds 1 again and again, so that what comes after it in a stream would overtake it if it could.
struct CountSlowly {
  static constexpr const char* name = "count_slowly";
  static constexpr Dim3 block{1};
  TESSERA_KERNEL void operator()(auto t, int* out, int times) const {
    for (int i = 0; i < times; ++i) t.atomic_add(*out, 1);
  }
};

/// Writes where nothing is.
struct Faulty {
  static constexpr const char* name = "faulty";
  static constexpr Dim3 block{1};
  TESSERA_KERNEL void operator()(auto, int* out) const { *out = 1; }
};

/// C (16,8) = A (16,K) * B (K,8) by one matrix instruction.
template <class In, class Out, int K>
struct MatrixUnit {
  static constexpr const char* name = "matrix_unit";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
    if constexpr (sizeof(In) == 1 && !std::is_integral_v<In>) return;  // f8
    else
#endif
    {
      using Mma = TensorCore<Out, In, MmaShape{16, 8, K}>;
      auto sums = Mma::zero();
      Mma::mma(t, sums, Mma::load_a(t, A), Mma::load_b(t, B));
      Mma::store_d(t, C, sums);
    }
  }
};
template <class In, class Out, int K>
void matrix_unit(const cuda::Stream& stream, const In* A, const In* B, Out* C);

void number_blocks(const cuda::Stream& stream, Dim3 grid, int* out);
void nothing(const cuda::Stream& stream);
void reverse_large(const cuda::Stream& stream, const int* in, int* out);
void largest_shared(const cuda::Stream& stream, int* out);
void warp_verbs(const cuda::Stream& stream, int* out);
void atomics(const cuda::Stream& stream, int blocks, int* out);
void async_stages(const cuda::Stream& stream, const int* in, int rows, int* out);
void count_slowly(const cuda::Stream& stream, int* out, int times);
void faulty(const cuda::Stream& stream, int* out);

}  // namespace tessera::testing
