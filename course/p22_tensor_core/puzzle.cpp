// Puzzle 22: fragments of a tensor core.
// C = A * B: (16,16) times (16,8), one warp, two matrix instructions of 16 x 8 x 8.
#include "tessera/puzzle/puzzle.hpp"

#include "tessera/ops/tensor_core.hpp"

using namespace tessera;

struct OneWarp {
  static constexpr const char* name = "one_warp";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    using Mma = TensorCore<float, float, MmaShape{16, 8, 8}>;  // f32 inputs, rounded to TF32
    auto sum = Mma::zero();  // this lane's share of the 16 x 8 sums
    for (int k = 0; k < 2; ++k) {
      //> FILL ME IN (3 lines): load_a of a tile (16,8), load_b of a tile (8,8), mma
      const auto a = Mma::load_a(t, tile<16, 8>(A, 0, k));
      const auto b = Mma::load_b(t, tile<8, 8>(B, k, 0));
      Mma::mma(t, sum, a, b);
      //> end
    }
    //> FILL ME IN (1 line): store_d to the tile (16,8) of C
    Mma::store_d(t, tile<16, 8>(C, 0, 0), sum);
    //> end
  }
};
