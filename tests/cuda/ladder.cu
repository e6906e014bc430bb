// Compiles every kernel of the ladder for a GPU. Nothing runs: the test reads what ptxas says about
// each.
#include "tessera/kernels/block_tiled.hpp"
#include "tessera/kernels/block_tiled_vectorized.hpp"
#include "tessera/kernels/coalescing.hpp"
#include "tessera/kernels/naive.hpp"
#include "tessera/kernels/pipelined.hpp"
#include "tessera/kernels/sarek_naive.hpp"
#include "tessera/kernels/sarek_tiled.hpp"
#include "tessera/kernels/single_block.hpp"
#include "tessera/kernels/tensor_core.hpp"
#include "tessera/kernels/tiled.hpp"
#include "tessera/kernels/tiled_by_hand.hpp"
#include "tessera/kernels/tiled_idiomatic.hpp"
#include "tessera/kernels/tiled_register.hpp"
#include "tessera/simt/cuda_thread.cuh"

namespace tessera {

template <class T>
using In = Tensor<const T*, kAnyMatrix>;
template <class T>
using Out = Output<Tensor<T*, kAnyMatrix>>;

#define TESSERA_KERNEL_FOR(T, ...)                                                            \
  template __global__ void entry<__VA_ARGS__, In<T>, In<T>, Out<T>>(__VA_ARGS__, Dim3, In<T>, \
                                                                    In<T>, Out<T>);
#define TESSERA_KERNELS_FOR(T)                                                    \
  TESSERA_KERNEL_FOR(T, Naive<TileShape{32, 32}>)                                 \
  TESSERA_KERNEL_FOR(T, Coalescing<TileShape{32, 32}>)                            \
  TESSERA_KERNEL_FOR(T, Tiled<TileShape{32, 32, 32}>)                             \
  TESSERA_KERNEL_FOR(T, TiledRegister<TileShape{64, 64, 8, 0, 0, 8}>)             \
  TESSERA_KERNEL_FOR(T, BlockTiled<TileShape{128, 128, 8, 0, 0, 8, 8}>)           \
  TESSERA_KERNEL_FOR(T, BlockTiledVectorized<TileShape{128, 128, 8, 0, 0, 8, 8}>) \
  TESSERA_KERNEL_FOR(T, SingleBlock<TileShape{16, 16, 16}>)                       \
  TESSERA_KERNEL_FOR(T, TiledByHand<TileShape{16, 16, 16}>)                       \
  TESSERA_KERNEL_FOR(T, TiledIdiomatic<TileShape{32, 32, 32}>)                    \
  TESSERA_KERNEL_FOR(T, SarekNaive<TileShape{1, 256}>)                            \
  TESSERA_KERNEL_FOR(T, SarekTiled<TileShape{16, 16, 16}>)

TESSERA_KERNELS_FOR(float)
TESSERA_KERNEL_FOR(float, Pipelined<TileShape{128, 128, 16, 0, 0, 8, 8}>)
TESSERA_KERNEL_FOR(float, TensorCoreTiled<TileShape{64, 64, 32, 32, 32}>)
TESSERA_KERNEL_FOR(f16, TensorCoreTiled<TileShape{64, 64, 32, 32, 32}>)
TESSERA_KERNEL_FOR(bf16, TensorCoreTiled<TileShape{64, 64, 32, 32, 32}>)
TESSERA_KERNEL_FOR(double, Tiled<TileShape{32, 32, 32}>)
TESSERA_KERNEL_FOR(f16, BlockTiled<TileShape{128, 128, 8, 0, 0, 8, 8}>)
TESSERA_KERNEL_FOR(std::int32_t, Tiled<TileShape{32, 32, 32}>)

}  // namespace tessera
