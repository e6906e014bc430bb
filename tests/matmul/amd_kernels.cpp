// The kernels of the ladder, f32, in tiles that AMD GPUs have registers for: amd_code_test.py
// compiles them.
#include "tessera/device/gpu_prefix.hpp"
//
#include "matmul/gpu_code/ladder.hpp"
#include "tessera/kernels/block_tiled.hpp"
#include "tessera/kernels/block_tiled_vectorized.hpp"
#include "tessera/kernels/coalescing.hpp"
#include "tessera/kernels/naive.hpp"
#include "tessera/kernels/pipelined.hpp"
#include "tessera/kernels/sarek_tiled.hpp"
#include "tessera/kernels/single_block.hpp"
#include "tessera/kernels/tiled.hpp"
#include "tessera/kernels/tiled_by_hand.hpp"
#include "tessera/kernels/tiled_idiomatic.hpp"
#include "tessera/kernels/tiled_register.hpp"

namespace tessera::detail {

/// The lanes of a warp of 64 and of 32 exchange values, inside a wave of either size.
template <int Warp>
struct WarpSum {
  static constexpr const char* name = "warp_sum";
  static constexpr int warp = Warp;
  static constexpr Dim3 block{128};
  TESSERA_KERNEL void operator()(auto t, auto x, auto y) const {
    float sum = x(t.thread.linear);
    for (int delta = Warp / 2; delta > 0; delta /= 2) sum += t.shuffle_down(sum, delta);
    if (t.lane == 0 && t.any(sum != 0)) t.atomic_add(y(0), sum);
  }
};

template <class... Kernels>
void make() {
  (static_cast<void>(&GpuParams<float, float>::Entry<Kernels>::tessera_gpu_entry), ...);
}
template <class... Kernels>
void make_sums() {
  (static_cast<void>(
       &GpuEntryOf<Kernels, Elements<const float, 1>, Elements<float, 1>>::tessera_gpu_entry),
   ...);
}

void make_all() {
  constexpr TileShape plain{.bm = 16, .bn = 16}, cube{.bm = 16, .bn = 16, .bk = 16},
      column{.bm = 64, .bn = 64, .bk = 8, .tm = 8},
      square{.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8},
      ring{.bm = 64, .bn = 64, .bk = 16, .tm = 8, .tn = 4};
  make<Naive<plain>, Coalescing<plain>, Tiled<cube>, TiledRegister<column>, BlockTiled<square>,
       BlockTiledVectorized<square>, Pipelined<ring>, SingleBlock<cube>, TiledByHand<cube>,
       TiledIdiomatic<cube>, SarekTiled<cube>>();
#if !defined(TESSERA_NO_WAVE_64)
  make_sums<WarpSum<64>>();
#endif
  make_sums<WarpSum<32>>();
}

}  // namespace tessera::detail
