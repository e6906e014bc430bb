// How products are cut into tasks, and the share of each thread, for any shape.
#include "blocking.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::cpu {
namespace {

constexpr Caches kNearL3{.l1 = 48 << 10, .l2 = 1 << 20, .l3 = 32 << 20, .l2_ways = 16};

class Tasks : public ::testing::Test {
 protected:
  void SetUp() override { before_ = assume_caches(kNearL3); }
  void TearDown() override { assume_caches(before_); }

  /// A product of f32 by micro-tiles of 8 x 48, B row-major.
  static BlockingInput product(index_t M, index_t N, index_t K, int threads) {
    BlockingInput in{};
    in.M = M, in.N = N, in.K = K, in.threads = threads;
    in.mr = 8, in.lanes = 16, in.vectors = 3, in.k_group_bytes = 4, in.group = 1, in.dot_rows = 8;
    in.b_bytes = K * N * 4, in.b_step = N * 4;
    in.b_is_row_major = in.b_is_unconverted = in.packs_only_b = true;
    return in;
  }
  /// The most columns that one thread gets where they take turns.
  static index_t largest_share(const Blocking& cut, index_t N, int threads) {
    index_t most = 0;
    for (int thread = 0; thread < threads; ++thread) {
      index_t share = 0;
      for (index_t j = thread * cut.nc; j < N; j += threads * cut.nc)
        share += std::min(cut.nc, N - j);
      most = std::max(most, share);
    }
    return most;
  }

 private:
  Caches before_;
};

TEST_F(Tasks, OfFewRowsAreSharedOutEvenly) {
  for (const int threads : {2, 3, 4}) {
    for (const index_t M : {13, 16, 20, 24, 32}) {
      for (const index_t K : {300, 2000, 4096}) {
        for (index_t N = 600 * threads; N <= 6000; N += 97) {
          const Blocking cut = block(product(M, N, K, threads));
          if (cut.mc < M) continue;  // threads take turns at rows too
          // Four tasks for each, of whole panels, or two of whole vectors.
          EXPECT_LE(largest_share(cut, N, threads), N / threads + 4 * cut.nr)
              << M << "x" << N << "x" << K << " on " << threads << ": tasks of " << cut.nc;
        }
      }
    }
  }
}

TEST_F(Tasks, WhoseNumberThreadsDoNotDivideAreAvoided) {
  EXPECT_EQ(block(product(16, 2000, 2000, 2)).nc, 7 * 48);  // six tasks, not seven
  EXPECT_EQ(largest_share(block(product(32, 2000, 2000, 2)), 2000, 2), 1024);
  EXPECT_EQ(largest_share(block(product(32, 1000, 3000, 2)), 1000, 2), 512);
}

TEST_F(Tasks, CoverAllColumnsByWholeVectors) {
  for (const int threads : {1, 2, 3}) {
    for (const index_t N : {1, 15, 16, 47, 48, 49, 700, 1000, 4096}) {
      const Blocking cut = block(product(20, N, 2000, threads));
      EXPECT_GT(cut.nc, 0);
      if (cut.stream == Stream::strips) continue;  // cut at vectors by those who run them
      EXPECT_EQ(cut.nc % 16, 0) << N;
      EXPECT_EQ(cut.nr % 16, 0) << N;
    }
  }
}

}  // namespace
}  // namespace tessera::cpu
