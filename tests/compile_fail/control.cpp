// Every kernel of the ladder with tiles that fit together, and the verbs with shapes that agree:
// this must compile, so the other files here fail for their own reason.
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

using namespace tessera;

constexpr TileShape kSquare{.bm = 16, .bn = 16, .bk = 16};
constexpr TileShape kRegisters{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 8};
constexpr TileShape kWarps{.bm = 64, .bn = 64, .bk = 32, .wm = 32, .wn = 32};
constexpr TileShape kColumn{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 1};
constexpr TileShape kPipelined{.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 4};
constexpr auto use = sizeof(Naive<kSquare>) + sizeof(Coalescing<kSquare>) + sizeof(Tiled<kSquare>) +
                     sizeof(SingleBlock<kSquare>) + sizeof(TiledByHand<kSquare>) +
                     sizeof(TiledIdiomatic<kSquare>) + sizeof(SarekTiled<kSquare>) +
                     sizeof(SarekNaive<TileShape{.bm = 1, .bn = 32}>) +
                     sizeof(TiledRegister<kColumn>) + sizeof(BlockTiled<kRegisters>) +
                     sizeof(BlockTiledVectorized<kRegisters>) + sizeof(TensorCoreTiled<kWarps>) +
                     sizeof(Pipelined<kPipelined>);
