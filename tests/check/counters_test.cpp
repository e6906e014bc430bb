// Counters of whole kernels against counts made by hand and by a plain count of distinct sectors,
// written apart from the checker.
#include <gtest/gtest.h>

#include <set>

#include "tessera/check/format.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/check.hpp"

namespace tessera {
namespace {

check::Report checked(const char* kernel, const TileShape& tile, index_t M, index_t N, index_t K,
                      DType type = DType::f32) {
  const Array a = make_array(type, {M, K}), b = make_array(type, {K, N}),
              c = make_array(type, {M, N});
  const ConstMatrix A{a.data(), type, M, K, K, 1}, B{b.data(), type, K, N, N, 1};
  const Matrix C{c.writable(), type, M, N, N, 1};
  Options options;
  options.algorithm = kernel;
  options.tile = tile;
  return check_matmul(make_plan(make_problem(A, B, C), options), A, B, C);
}

/// Distinct 32-byte sectors of the elements that `body` names, in a matrix with aligned data.
template <class Body>
std::int64_t sectors(const Body& body) {
  std::set<index_t> found;
  body([&](index_t row, index_t col, index_t cols) { found.insert((row * cols + col) * 4 / 32); });
  return static_cast<std::int64_t>(found.size());
}

/// Rows x columns of a tile that exist, as `sectors` of one request.
std::int64_t tile_sectors(index_t row, index_t col, index_t rows, index_t cols, index_t M,
                          index_t N) {
  return sectors([&](auto touch) {
    for (index_t r = row; r < std::min(row + rows, M); ++r) {
      for (index_t c = col; c < std::min(col + cols, N); ++c) touch(r, c, N);
    }
  });
}

TEST(Counters, TheTiledPuzzleIsCountedAsByHand) {
  const check::Counters c = checked("tiled", {.bm = 3, .bn = 3, .bk = 3}, 9, 9, 9).total;
  // 9 blocks of 9 threads, one warp each; 3 steps along k.
  EXPECT_EQ(c.global_load_requests, 9 * 3 * 2);
  EXPECT_EQ(c.global_load_bytes, 9 * 3 * 2 * 9 * 4);
  EXPECT_EQ(c.global_store_requests, 9);
  EXPECT_EQ(c.shared_store_requests, 9 * 3 * 2);
  EXPECT_EQ(c.shared_load_requests, 9 * 3 * 3 * 2);
  EXPECT_EQ(c.fma_threads, 9 * 9 * 9);
  EXPECT_EQ(c.flops, 2 * 9 * 9 * 9);
  EXPECT_EQ(c.block_barriers, 9 * 3 * 2);
  EXPECT_EQ(c.partial_requests, 0);
  EXPECT_EQ(c.active_lanes, 9 * (9 * 3 * 2 + 9 + 9 * 3 * 2 + 9 * 3 * 3 * 2));  // of each request, 9
  EXPECT_EQ(c.merged_load_requests, 0);
  std::int64_t loads = 0, stores = 0;
  for (index_t i = 0; i < 9; i += 3) {
    for (index_t j = 0; j < 9; j += 3) {
      stores += tile_sectors(i, j, 3, 3, 9, 9);
      for (index_t k = 0; k < 9; k += 3)
        loads += tile_sectors(i, k, 3, 3, 9, 9) + tile_sectors(k, j, 3, 3, 9, 9);
    }
  }
  EXPECT_EQ(c.global_load_sectors, loads);
  EXPECT_EQ(c.global_store_sectors, stores);
}

TEST(Counters, NaiveAndCoalescingDifferAsTheirWarpsDo) {
  constexpr index_t kM = 37, kN = 45, kK = 11;
  const auto naive = checked("naive", {.bm = 32, .bn = 32}, kM, kN, kK).total;
  const auto coalescing = checked("coalescing", {.bm = 32, .bn = 32}, kM, kN, kK).total;
  std::int64_t requests = 0, naive_sectors = 0, coalescing_requests = 0, coalescing_sectors = 0;
  for (index_t col = 0; col < kN; ++col) {  // a warp of naive: 32 rows of one column
    for (index_t row = 0; row < kM; row += 32) {
      for (index_t k = 0; k < kK; ++k) {
        requests += 2;
        naive_sectors += tile_sectors(row, k, 32, 1, kM, kK) + 1;
      }
    }
  }
  for (index_t row = 0; row < kM; ++row) {  // a warp of coalescing: 32 columns of one row
    for (index_t col = 0; col < kN; col += 32) {
      for (index_t k = 0; k < kK; ++k) {
        coalescing_requests += 2;
        coalescing_sectors += 1 + tile_sectors(k, col, 1, 32, kK, kN);
      }
    }
  }
  EXPECT_EQ(naive.global_load_requests, requests);
  EXPECT_EQ(naive.global_load_sectors, naive_sectors);
  EXPECT_EQ(coalescing.global_load_requests, coalescing_requests);
  EXPECT_EQ(coalescing.global_load_sectors, coalescing_sectors);
  EXPECT_EQ(naive.flops, 2 * kM * kN * kK);
  EXPECT_GT(naive.global_load_sectors, 3 * coalescing.global_load_sectors);
}

TEST(Counters, LinesAndSuperstepsAddUpToTheTotal) {
  for (const auto& name : checked_algorithms()) {
    const auto report = checked(name.c_str(), {}, 33, 47, 29);
    check::Counters lines, supersteps;
    for (const auto& each : report.by_line) lines += each.counters;
    for (const auto& each : report.by_superstep) supersteps += each.counters;
    EXPECT_EQ(lines, report.total) << name;
    EXPECT_EQ(supersteps, report.total) << name;
  }
}

TEST(Counters, LanesOfEdgesAreThoseThatAreThere) {
  const auto c = checked("coalescing", {.bm = 32, .bn = 32}, 1, 40, 3).total;
  // A row of 40 columns: a warp of 32 lanes and one of 8; 3 loads of A and B, one store.
  EXPECT_EQ(c.global_load_requests + c.global_store_requests, 2 * 7);
  EXPECT_EQ(c.active_lanes, 7 * 40);
  EXPECT_EQ(c.partial_requests, 7);
}

TEST(Counters, WhatMergingDecidedIsCounted) {
  // Neighbouring lanes read one element of 8 bytes.
  const auto report = checked("tiled", {}, 32, 32, 16, DType::f64);
  EXPECT_GT(report.total.merged_load_requests, 0);
  const std::string json = check::to_json(report, check::device_model("h200"));
  EXPECT_NE(json.find("\"by_access\": ["), std::string::npos);
  EXPECT_NE(json.find("\"column\": "), std::string::npos);
  const auto plain = check::to_json(checked("naive", {}, 8, 8, 8), check::device_model("h200"));
  EXPECT_NE(plain.find("\"unmeasured\": []"), std::string::npos);
}

TEST(Counters, AsynchronousCopiesAreCountedApart) {
  const auto c = checked("tiled_idiomatic", {.bm = 16, .bn = 16, .bk = 16}, 32, 32, 32).total;
  EXPECT_EQ(c.global_load_requests, 0);
  EXPECT_EQ(c.shared_store_requests, 0);
  EXPECT_EQ(c.async_copy_requests, 4 * 2 * 2 * 8);  // blocks, steps, tiles, warps
  EXPECT_EQ(c.async_copy_sectors, 4 * 2 * 2 * 16 * 2);
  EXPECT_EQ(c.async_copy_bytes, 4 * 2 * 2 * 16 * 16 * 4);
}

TEST(Counters, MatrixInstructionsAreCounted) {
  const auto c =
      checked("tensor_core", {.bm = 64, .bn = 64, .bk = 32, .wm = 32, .wn = 32}, 64, 64, 32).total;
  EXPECT_EQ(c.mma_flops, 2 * 64 * 64 * 32);
  EXPECT_EQ(c.mma_instructions, (64 / 16) * (64 / 8) * (32 / 8));
  EXPECT_EQ(c.flops, 0);
}

TEST(Report, JsonAndJUnitHoldWhatWasFound) {
  const auto report = checked("naive", {}, 17, 31, 9);
  const std::string json = check::to_json(report, check::device_model("h200"));
  for (const char* wanted : {"\"kernel\": \"naive\"", "\"clean\": true", "\"findings\": []",
                             "\"global_load_sectors\": ", "\"by_line\": [", "\"line\": "})
    EXPECT_NE(json.find(wanted), std::string::npos) << wanted;
  EXPECT_NE(check::to_junit(report).find("failures=\"0\""), std::string::npos);
}

}  // namespace
}  // namespace tessera
