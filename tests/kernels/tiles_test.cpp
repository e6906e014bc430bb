// Kernels with tile parameters that nothing else uses: odd, prime, one, wider than deep. Called
// without the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/products.hpp"
#include "tessera/core/random.hpp"
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
#include "tessera/tensor/host_tensor.hpp"

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

/// C of one kernel of matrix units: its bits.
template <class Kernel, class In>
std::vector<float> product(const HostTensor<In>& A, const HostTensor<In>& B) {
  const index_t M = A.rows(), N = B.cols();
  std::vector<float> out(static_cast<std::size_t>(M * N));
  launch(LaunchConfig{.grid = Kernel::grid(M, N), .block = Kernel::block}, Kernel{}, A.view(),
         B.view(), tensor<kRowMajorMatrix>(out.data(), M, N, N));
  return out;
}

/// What the unit gives for each element, one instruction after the other along k, zeros at the end.
template <class In>
std::vector<float> by_the_unit(const HostTensor<In>& A, const HostTensor<In>& B) {
  constexpr int depth = DefaultMma<In>::type::shape.k;
  const auto rounded = [](In value) {
    if constexpr (std::is_same_v<In, float>) return round_to_tf32(value);
    else return value;
  };
  std::vector<float> out;
  for (index_t i = 0; i < A.rows(); ++i) {
    for (index_t j = 0; j < B.cols(); ++j) {
      float sum = 0;
      for (index_t begin = 0; begin < A.cols(); begin += depth) {
        In a[depth]{}, b[depth]{};
        for (index_t k = begin; k < std::min<index_t>(begin + depth, A.cols()); ++k)
          a[k - begin] = rounded(A(i, k)), b[k - begin] = rounded(B(k, j));
        sum = sum_of_products<kEmulatedUnit, depth>(sum, a, b);
      }
      out.push_back(sum);
    }
  }
  return out;
}

template <class In>
void expect_same_bits_of_every_tile() {
  HostTensor<In> A(37, 91), B(91, 53);
  for (index_t i = 0; i < A.size(); ++i) A.data()[i] = In(random_unit(1, i) - 0.5);
  for (index_t i = 0; i < B.size(); ++i) B.data()[i] = In(random_unit(2, i) - 0.5);
  const auto expected = by_the_unit(A, B);
  EXPECT_EQ(
      (product<TensorCoreTiled<TileShape{.bm = 16, .bn = 8, .bk = 32, .wm = 16, .wn = 8}>>(A, B)),
      expected);
  EXPECT_EQ(
      (product<TensorCoreTiled<TileShape{.bm = 32, .bn = 48, .bk = 64, .wm = 32, .wn = 24}>>(A, B)),
      expected);
}

TEST(TensorCoreTiles, GiveTheSameBitsForEveryTile) {
  expect_same_bits_of_every_tile<float>();
  expect_same_bits_of_every_tile<bf16>();
}

}  // namespace
}  // namespace tessera
