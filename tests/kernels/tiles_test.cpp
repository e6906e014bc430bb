// Kernels with tile parameters that nothing else uses: odd, prime, one, wider than deep. Called
// without the library.
#include <gtest/gtest.h>

#include "support/products.hpp"
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
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::RandomData;

/// C is a plain tensor here: no epilogue, the kernel as a learner calls it.
template <class Kernel>
class Tiles : public ::testing::Test {};

using Kernels = ::testing::Types<
    Naive<TileShape{.bm = 1, .bn = 1}>, Naive<TileShape{.bm = 7, .bn = 3}>,
    Coalescing<TileShape{.bm = 3, .bn = 40}>, Tiled<TileShape{.bm = 5, .bn = 7, .bk = 3}>,
    Tiled<TileShape{.bm = 1, .bn = 64, .bk = 1}>,
    TiledRegister<TileShape{.bm = 15, .bn = 11, .bk = 5, .tm = 3}>,
    BlockTiled<TileShape{.bm = 24, .bn = 40, .bk = 6, .tm = 4, .tn = 5}>,
    BlockTiled<TileShape{.bm = 8, .bn = 8, .bk = 1, .tm = 8, .tn = 8}>,
    BlockTiledVectorized<TileShape{.bm = 12, .bn = 20, .bk = 4, .tm = 3, .tn = 5}>,
    BlockTiledVectorized<TileShape{.bm = 32, .bn = 64, .bk = 16, .tm = 2, .tn = 4}>,
    TensorCoreTiled<TileShape{.bm = 16, .bn = 8, .bk = 32, .wm = 16, .wn = 8}>,
    TensorCoreTiled<TileShape{.bm = 32, .bn = 48, .bk = 32, .wm = 32, .wn = 24}>,
    Pipelined<TileShape{.bm = 32, .bn = 16, .bk = 16, .tm = 4, .tn = 4}>,
    Pipelined<TileShape{.bm = 128, .bn = 128, .bk = 16, .tm = 8, .tn = 8}>,
    SingleBlock<TileShape{.bm = 1, .bn = 1, .bk = 1}>,
    SingleBlock<TileShape{.bm = 13, .bn = 13, .bk = 13}>,
    TiledByHand<TileShape{.bm = 1, .bn = 1, .bk = 1}>,
    TiledByHand<TileShape{.bm = 7, .bn = 7, .bk = 7}>,
    TiledIdiomatic<TileShape{.bm = 9, .bn = 4, .bk = 10}>,
    SarekNaive<TileShape{.bm = 1, .bn = 100}>, SarekTiled<TileShape{.bm = 6, .bn = 6, .bk = 6}>>;

TYPED_TEST_SUITE(Tiles, Kernels);

TYPED_TEST(Tiles, AreRightForEveryShapeAndOrder) {
  int turn = 0;
  for (const auto& s : testing::nasty_shapes(13)) {
    Guarded<float> A(s.M, s.K), B(s.K, s.N, Guarded<float>::Order::col_major), C(s.M, s.N);
    const bool exact =
        std::string(TypeParam::name) == "tensor_core";  // whole numbers: exact in TF32 too
    A.fill(RandomData(1, exact));
    B.fill(RandomData(2, exact));
    const auto a = A.view(), b = B.view(), c = C.view();
    const auto gA =
        tensor<kRowMajorMatrix>(static_cast<const float*>(a.data), s.M, s.K, a.row_stride);
    const auto gB =
        tensor<kAnyMatrix>(static_cast<const float*>(b.data), s.K, s.N, b.row_stride, b.col_stride);
    const auto gC = tensor<kRowMajorMatrix>(static_cast<float*>(c.data), s.M, s.N, c.row_stride);
    const ThreadOrder order = static_cast<ThreadOrder>(turn++ % 3);
    launch(LaunchConfig{.grid = TypeParam::grid(s.M, s.N),
                        .block = TypeParam::block,
                        .order = order,
                        .seed = 8},
           TypeParam{}, gA, gB, gC);
    const Verifier verifier(make_problem(A.view(), B.view(), C.view()), A.view(), B.view(),
                            C.view());
    const auto result = verifier.check(C.view());
    EXPECT_TRUE(result.within_bound && result.same_bits)
        << s.M << "x" << s.N << "x" << s.K << " first wrong " << result.row << "," << result.col;
    EXPECT_TRUE(A.guards_intact() && B.guards_intact() && C.guards_intact());
  }
}

}  // namespace
}  // namespace tessera
