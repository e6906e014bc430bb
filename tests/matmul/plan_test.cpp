// Plans: which algorithm and tile are chosen and why, errors, and
// text in both directions. Any text at all is a problem, a plan or a tile, or an Error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/refusal.hpp"
#include "tessera/matmul/batch.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/packed_matrix.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::refusal;

TEST(Plan, TextRoundTrips) {
  for (const auto& algorithm : algorithms()) {
    for (const auto& tile : algorithm.tiles) {
      Options options{.algorithm = std::string(algorithm.name),
                      .tile = tile,
                      .threads = 3,
                      .order = ThreadOrder::shuffled,
                      .seed = 77};
      Plan plan = make_plan(parse_problem("m=10 n=20 k=30"), options);
      plan.reason = "a \"quoted\" reason \\ with = signs";
      Plan back = parse_plan(to_string(plan));
      EXPECT_EQ(back, plan) << to_string(plan);
    }
  }
}

TEST(Plan, AutomaticChoiceSaysWhyTheOthersWereNotTaken) {
  for (const char* shape : {"m=1 n=1 k=1", "m=64 n=64 k=64", "m=1024 n=1024 k=1024"}) {
    for (const char* type : {"f32", "i32"}) {
      const Plan plan = make_plan(parse_problem(cat(shape, " in=", type)));
      EXPECT_FALSE(plan.reason.empty());
      EXPECT_EQ(plan.rejected.size(), algorithms().size() - 1);
      for (const auto& rejected : plan.rejected) {
        // Statements about speed come from measurements.
        const bool of_speed = rejected.reason.find("faster") != std::string::npos ||
                              rejected.reason.find("slower") != std::string::npos;
        EXPECT_FALSE(rejected.reason.empty()) << rejected.algorithm;
        if (of_speed) {
          EXPECT_THAT(rejected.reason, HasSubstr("measured")) << rejected.algorithm;
        }
      }
    }
  }
}

TEST(Plan, BytesWithALongKAndASmallCAreSplitForSeveralThreads) {
  const auto chosen = [](const char* text, int threads) {
    return make_plan(parse_problem(text), {.threads = threads}).algorithm;
  };
  EXPECT_EQ(chosen("m=4 n=4 k=1000000 in=i8 out=i32", 2), "split_k");
  EXPECT_EQ(chosen("m=1 n=48 k=100000 in=u8 out=f32", 3), "split_k");
  EXPECT_EQ(chosen("m=4 n=4 k=1000000 in=i8 out=i32", 1), "packed");
  EXPECT_EQ(chosen("m=64 n=64 k=65536 in=i8 out=i32", 2), "packed") << "rows are shared out";
  EXPECT_EQ(chosen("m=4 n=4 k=500 in=i8 out=i32", 2), "packed");
  EXPECT_EQ(chosen("m=0 n=4 k=1000000 in=i8 out=i32", 2), "packed");
  for (const char* type : {"f64", "f32", "bf16", "f16"})
    EXPECT_EQ(chosen(cat("m=4 n=4 k=1000000 in=", type).c_str(), 2), "packed");
}

TEST(Plan, ThatSplitsBytesMultipliesPackedOnesToo) {
  const index_t M = 3, N = 5, K = 70'000;
  std::vector<std::int8_t> a(M * K), b(K * N);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int8_t>(i * 7 % 251 - 125);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int8_t>(i * 11 % 253 - 126);
  std::vector<std::int32_t> c(M * N), split(M * N), packed(M * N);
  for (index_t i = 0; i < M * N; ++i) {
    for (index_t k = 0; k < K; ++k)
      c[static_cast<std::size_t>(i)] +=
          a[static_cast<std::size_t>(i / N * K + k)] * b[static_cast<std::size_t>(k * N + i % N)];
  }
  const auto A = matrix(a.data(), M, K), B = matrix(b.data(), K, N);
  const auto to = matrix(split.data(), M, N);
  const Plan plan = make_plan(make_problem(A, B, to), {.threads = 2});
  EXPECT_EQ(plan.algorithm, "split_k");
  run(plan, A, B, to);
  EXPECT_EQ(split, c);
  run(plan, A, PackedMatrix(B), matrix(packed.data(), M, N));
  EXPECT_EQ(packed, c);
}

TEST(Plan, TinyThinSmallAndLargeProductsHaveTheirAlgorithms) {
  const auto chosen = [](const char* text) { return make_plan(parse_problem(text)).algorithm; };
  EXPECT_EQ(chosen("m=4 n=4 k=4 in=f32"), "packed");
  EXPECT_EQ(chosen("m=4 n=4 k=4 in=i32"), "sarek_naive");
  EXPECT_EQ(chosen("m=4096 n=1 k=4096 in=i32"), "sarek_naive");
  EXPECT_EQ(chosen("m=32 n=32 k=32 in=i32"), "coalescing");
  EXPECT_EQ(chosen("m=512 n=512 k=512 in=i32"), "block_tiled_vectorized");
  EXPECT_EQ(chosen("m=100 n=100 k=9223372036854775807 in=i32"), "block_tiled_vectorized");
}

TEST(Plan, AnEnormousProductIsNotASmallOne) {
  const Problem p = parse_problem("m=64 n=64 k=1152921504606846976 in=i32 a=0:0 b=0:0 c=64:1");
  EXPECT_EQ(make_plan(p).algorithm, "block_tiled_vectorized");
}

TEST(Plan, WhatIsReadIsCheckedAsWhatIsMade) {
  const std::string plan = " algorithm=naive tile=32x32 ";
  const std::string shape = "m=5 n=3 k=2";
  EXPECT_EQ(parse_plan(shape + plan + "threads=4096").threads, 4096);
  for (const char* threads : {"threads=0", "threads=-1", "threads=4097", "threads=1000000"}) {
    EXPECT_THAT(refusal([&] { parse_plan(shape + plan + threads); }, Category::argument),
                HasSubstr("1 to 4096"));
  }
  EXPECT_THAT(refusal([&] { parse_plan("m=3 n=x"); }, Category::argument),
              HasSubstr("problem: n is no number in range"));
  EXPECT_THAT(refusal([&] { parse_plan(shape + plan + "threads=x"); }, Category::argument),
              HasSubstr("plan: threads is no number in range"));
  EXPECT_THAT(refusal([&] { parse_plan("m=1000000000 n=1000000000 k=1" + plan); }, Category::shape),
              HasSubstr("too many elements"));
  EXPECT_THAT(refusal([&] { parse_plan(shape + " in=i32 alpha=0.5" + plan); }, Category::argument),
              HasSubstr("whole number"));
}

TEST(Plan, ImpossibleRequestsAreRefusedWithTheReason) {
  const Problem p = parse_problem("m=10 n=20 k=30");
  EXPECT_THAT(refusal([&] { make_plan(p, {.algorithm = "tield"}); }, Category::argument),
              HasSubstr("did you mean 'tiled'"));
  EXPECT_THAT(
      refusal([&] { make_plan(p, {.algorithm = "tiled", .tile = {.bm = 33, .bn = 7, .bk = 2}}); },
              Category::argument),
      AllOf(HasSubstr("33x7x2"), HasSubstr("built: 32x32x64, 16x16x16")));
  EXPECT_THAT(
      refusal([&] { make_plan(parse_problem("m=1 n=1 k=1 in=i32"), {.algorithm = "tensor_core"}); },
              Category::argument),
      HasSubstr("no i32 product"));
  EXPECT_THAT(refusal(
                  [&] {
                    make_plan(parse_problem("m=1 n=1 k=1 in=f16"),
                              {.algorithm = "tiled", .tile = {.bm = 8, .bn = 8, .bk = 8}});
                  },
                  Category::argument),
              HasSubstr("not built in for f16 (built: 32x32x64, 16x16x16)"));
  EXPECT_THAT(refusal([&] { make_plan(p, {.device = "gpu"}); }, Category::argument),
              HasSubstr("cpu, cuda:N, opencl:N or hip:N"));
  EXPECT_THAT(refusal([&] { make_plan(p, {.threads = -1}); }, Category::argument), HasSubstr("-1"));
  EXPECT_THAT(refusal([&] { make_plan(parse_problem("m=1 n=1 k=1 in=i32 alpha=0.5")); },
                      Category::argument),
              HasSubstr("whole number"));
  for (const char* type : {"f32", "f16", "bf16"}) {
    for (const char* factor : {"alpha=1e39", "beta=-1e300", "alpha=1e-46"}) {
      const Problem scaled = parse_problem(cat("m=1 n=1 k=1 in=", type, " ", factor));
      EXPECT_THAT(refusal([&] { make_plan(scaled); }, Category::argument),
                  HasSubstr("applied in f32"));
    }
    EXPECT_NO_THROW(make_plan(parse_problem(cat("m=1 n=1 k=1 in=", type, " alpha=inf beta=nan"))));
  }
  EXPECT_NO_THROW(make_plan(parse_problem("m=1 n=1 k=1 in=f64 alpha=1e300 beta=1e-300")));
  EXPECT_THAT(refusal([&] { make_plan(parse_problem("m=1 n=1 k=1 in=u8")); }, Category::type),
              HasSubstr("no u8 product"));
  EXPECT_THAT(refusal([&] { parse_tile("12xx3"); }, Category::argument), HasSubstr("12xx3"));
}

// Over 60 lines: a table, one case or field a line.
TEST(Plan, TilesThatCannotWorkAreRefusedWithTheNumbers) {
  const struct {
    const char *algorithm, *tile, *why;
  } cases[] = {
      {"naive", "33x33", "1,089 threads in a block, at most 1,024"},
      {"naive", "8x8x8", "BMxBN: a thread computes one element"},
      {"coalescing", "1x1025", "1,025 threads"},
      {"tiled", "100x100x100", "10,000 threads in a block, at most 1,024"},
      {"tiled", "32x32x1000", "64,000 elements of 4 bytes in shared storage of 232,448 bytes"},
      {"tiled", "16x17", "its tiles are BMxBNxBK"},
      {"tiled_by_hand", "16x16x8", "three equal extents"},
      {"tiled_idiomatic", "32x33x8", "1,056 threads"},
      {"tiled_register", "64x64x8/5x1", "TM = 5 does not divide BM = 64"},
      {"tiled_register", "64x64x8/8x2", "TMx1"},
      {"tiled_register", "64x64x8/2x1", "2,048 threads"},
      {"block_tiled", "64x64x8/5x8", "TM = 5 does not divide BM = 64"},
      {"block_tiled", "64x64x8/8x5", "TN = 5 does not divide BN = 64"},
      {"block_tiled", "128x128x8/2x2", "4,096 threads"},
      {"block_tiled", "100x100x8", "BMxBNxBK/TMxTN"},
      {"block_tiled_vectorized", "64x64x6/8x8", "BK = 6 is no multiple of the width 4"},
      {"block_tiled_vectorized", "64x66x8/8x6", "BN = 66 is no multiple of the width 4"},
      {"pipelined", "100x100x16", "BMxBNxBK/TMxTN"},
      {"pipelined", "128x128x15/8x8", "BK = 15 is odd"},
      {"pipelined", "60x64x16/6x8", "TM = 6 is no multiple of 4"},
      {"pipelined", "64x60x16/8x6", "TN = 6 is no multiple of 4"},
      {"pipelined", "96x64x16/8x8", "8 TM = 64 does not divide BM = 96"},
      {"pipelined", "64x48x16/8x8", "4 TN = 32 does not divide BN = 48"},
      {"pipelined", "512x512x16/8x8", "4,096 threads"},
      {"pipelined", "1024x512x16/32x32", "73,920 elements of 4 bytes in shared storage of 232,448"},
      {"pipelined", "32x16x64/4x4", "32 threads share out a row of A, at least 64"},
      {"bulk_tiled", "256x128x16/16x8", "BK = 16 is not 32"},
      {"bulk_tiled", "96x64x32/6x8", "TM = 6 is not 4, 8, 12 or 16"},
      {"bulk_tiled", "64x192x32/8x12", "TN = 12 is neither 4 nor 8"},
      {"bulk_tiled", "96x64x32/8x8", "8 TM = 64 does not divide BM = 96"},
      {"bulk_tiled", "64x48x32/8x8", "4 TN = 32 does not divide BN = 48"},
      {"bulk_tiled", "512x64x32/16x8", "at most 256 rows"},
      {"bulk_tiled", "64x256x32/8x4",
       "512 threads cannot share out 4 x 4 blocks of 64 or 256 x 32"},
      {"bulk_tiled", "256x256x32/16x8", "two stages take 264,192 bytes, at most 230,400"},
      {"tensor_core", "16x264x32/16x264", "32 threads share out a row of B, at least 66"},
      {"tensor_core", "256x640x32/64x80", "59,904 elements"},
      {"tensor_core", "64x64x20/32x32", "BK of 32"},
      {"tensor_core", "64x64x32/30x32", "WM = 30 does not divide BM = 64"},
      {"tensor_core", "64x64x32/32x24", "WN = 24 does not divide BN = 64"},
      {"tensor_core", "512x512x32/16x8", "65,536 threads"},
      {"warpgroup", "128x256x64/64x256", "its tiles are BMxBN/WMxBN"},
      {"warpgroup", "128x256/64x128", "its tiles are BMxBN/WMxBN"},
      {"warpgroup", "192x128/64x128", "BM = 2 WM"},
      {"warpgroup", "64x128/32x128", "WM is a multiple of 64"},
      {"warpgroup", "128x264/64x264", "BN of 8 up to 256"},
      {"warpgroup", "192x256/192x256", "384 sums, at most 192"},
      {"warpgroup", "128x128/64x128/4x4", "a cluster of 16 blocks, at most 8"},
      {"warpgroup", "128x128/64x128/1x4", "multiples of 64 rows of A each"},
      {"pipelined", "64x64x16/8x4/2x1", "only warpgroup has clusters of blocks"},
      {"single_block", "8x8x4", "three equal extents"},
      {"sarek_tiled", "33x33x33", "1,089 threads"},
      {"sarek_naive", "2x64", "1xBN"},
      {"sarek_naive", "1x2000", "2,000 threads"},
      {"packed", "64x64", "takes no tile"},
      {"tiled", "16x16x2147483647", "elements of 4 bytes"},
  };
  const Problem p = parse_problem("m=10 n=20 k=30");
  for (const auto& [algorithm, tile, why] : cases) {
    const Options options{.algorithm = algorithm, .tile = parse_tile(tile)};
    EXPECT_THAT(refusal([&] { make_plan(p, options); }, Category::argument), HasSubstr(why))
        << algorithm << " " << tile;
  }
}

TEST(Plan, SaysWhichKernelTakesThePlaceOfOneWithBulkCopies) {
  const auto reason_of = [](const char* algorithm, const char* problem) {
    return make_plan(parse_problem(problem), {.algorithm = algorithm}).reason;
  };
  EXPECT_EQ(reason_of("warpgroup", "m=64 n=64 k=64 in=bf16"), "requested");
  EXPECT_EQ(reason_of("warpgroup", "m=64 n=64 k=64 b=1:64"), "requested");
  const auto tf32 = reason_of("warpgroup", "m=64 n=64 k=64");
  EXPECT_THAT(tf32, HasSubstr("requested; tensor_core takes its place. B: K is not contiguous"));
  EXPECT_THAT(tf32, HasSubstr("only 16-bit elements along the other mode"));
  EXPECT_THAT(reason_of("bulk_tiled", "m=64 n=63 k=64"), HasSubstr("pipelined takes its place. B"));
}

TEST(Plan, ATileHasItsClusterAsThirdPart) {
  const Problem p = parse_problem("m=300 n=200 k=30");
  const char* const text = "128x128/64x128/2x1";
  const Plan plan = make_plan(p, {.algorithm = "warpgroup", .tile = parse_tile(text)});
  EXPECT_EQ(to_string(plan.tile), text);
  EXPECT_EQ(plan.tile.cm, 2);
  EXPECT_EQ(parse_plan(to_string(plan)).tile, plan.tile);
  EXPECT_EQ(parse_tile("64x64/64x64/1x1"), parse_tile("64x64/64x64"));
  EXPECT_THAT(refusal([&] { parse_tile("128x128/64x128/2"); }, Category::argument),
              HasSubstr("BMxBN/WMxWN/CMxCN"));
  EXPECT_THAT(refusal(
                  [&] {
                    make_plan(p,
                              {.algorithm = "warpgroup", .tile = parse_tile("128x128/64x128/1x2")});
                  },
                  Category::argument),
              HasSubstr(".wn = 128, .cm = 1, .cn = 2}>"));
}

TEST(Plan, TilesThatAreNotBuiltInCanBeLaunched) {
  const Problem p = parse_problem("m=10 n=20 k=30");
  const auto told = [&](const char* algorithm, const char* tile) {
    return refusal([&] { make_plan(p, {.algorithm = algorithm, .tile = parse_tile(tile)}); },
                   Category::argument);
  };
  EXPECT_THAT(told("tiled", "24x24x24"),
              AllOf(HasSubstr("tile 24x24x24 is possible, but not built in for f32"),
                    HasSubstr("launch Tiled<TileShape{.bm = 24, .bn = 24, .bk = 24}>")));
  EXPECT_THAT(
      told("tensor_core", "32x32x32/16x16"),
      HasSubstr("TensorCoreTiled<TileShape{.bm = 32, .bn = 32, .bk = 32, .wm = 16, .wn = 16}>"));
  for (const auto& algorithm : algorithms()) {
    for (const auto& tile : algorithm.tiles) {
      EXPECT_NO_THROW(make_plan(p, {.algorithm = std::string(algorithm.name), .tile = tile}))
          << algorithm.name << " " << to_string(tile);
    }
  }
}

TEST(Plan, AutomaticChoiceTakesAnAlgorithmWithTheTileAskedFor) {
  const Problem p = parse_problem("m=100 n=100 k=100");
  const auto chosen = [&](const char* tile) {
    return make_plan(p, {.tile = parse_tile(tile)}).algorithm;
  };
  EXPECT_EQ(chosen("16x16x16"), "tiled");
  EXPECT_EQ(chosen("64x64x8/8x8"), "block_tiled");
  EXPECT_EQ(chosen("1x256"), "sarek_naive");
  // Only tensor_core has it, and it rounds f32.
  EXPECT_THAT(refusal([&] { chosen("64x64x32/32x32"); }, Category::argument),
              HasSubstr("no algorithm has tile 64x64x32/32x32"));
}

TEST(Plan, RunRefusesABiasThatLiesInC) {
  std::vector<float> a(3 * 5, 1), b(5 * 4, 1), c(3 * 8);
  const auto A = matrix(a.data(), 3, 5), B = matrix(b.data(), 5, 4);  // (3,5), (5,4)
  const Matrix C(c.data(), DType::f32, 3, 4, 8);                      // (3,4), rows 8 apart
  const auto run_with = [&](Bias kind, const float* bias) {
    run(make_plan(make_problem(A, B, C, 1, 0, {.bias = kind})), A, B, C, bias);
  };
  EXPECT_THAT(refusal([&] { run_with(Bias::per_column, c.data()); }, Category::argument),
              HasSubstr("C overlaps the bias"));
  EXPECT_THAT(refusal([&] { run_with(Bias::per_row, c.data() + 6); }, Category::argument),
              HasSubstr("C overlaps the bias"));
  EXPECT_NO_THROW(run_with(Bias::per_column, c.data() + 4));  // in the gap between two rows
  EXPECT_NO_THROW(run_with(Bias::per_row, a.data()));
  const Problem p = make_problem(A, B, C, 1, 0, {.bias = Bias::per_column});
  EXPECT_THAT(
      refusal([&] { matmul_strided(A, B, C, 2, {.c = 4}, 1, 0, {}, p.epilogue, c.data() + 4); },
              Category::argument),
      HasSubstr("C overlaps the bias"));
  EXPECT_THAT(refusal(
                  [&] {
                    matmul_strided(A, B, C, 2, {.c = index_t{1} << 62}, 1, 0, {}, p.epilogue,
                                   a.data());
                  },
                  Category::shape),
              HasSubstr("beyond 64-bit"));
}

TEST(Plan, SaysHowMuchMemoryThePackedPathTakes) {
  const auto bytes = [](index_t n, const char* algorithm) {
    Problem p;
    p.M = p.N = p.K = n, p.a = p.b = p.c = {n, 1};
    return make_plan(p, {.algorithm = algorithm, .threads = 2}).workspace_bytes;
  };
  EXPECT_EQ(bytes(16, "packed"), 0);
  EXPECT_GT(bytes(2048, "packed"), 100'000);
  EXPECT_LT(bytes(2048, "packed"), 3 * 2048 * 2048 * 4);
  EXPECT_GT(bytes(2048, "split_k"), 4 * 2048 * 2048 * 4);  // the sums of four parts, and panels
  EXPECT_LT(bytes(2048, "split_k"), 5 * 2048 * 2048 * 4);
  EXPECT_EQ(bytes(2048, "tiled"), 0);
  for (const char* algorithm : {"packed", "split_k"}) {
    for (const index_t k : {index_t{1} << 60, std::numeric_limits<index_t>::max()}) {
      Problem p;
      p.M = p.N = 100, p.K = k, p.a = {k, 1}, p.b = p.c = {100, 1};
      EXPECT_EQ(make_plan(p, {.algorithm = algorithm}).workspace_bytes, 0) << algorithm << " " << k;
    }
  }
}

TEST(Plan, RunRefusesOtherMatricesThanPlanned) {
  std::vector<float> a(18, 1), b(20, 1), c(12);  // (3,5) or (3,6), (5,4), (3,4)
  const auto B = matrix(b.data(), 5, 4);
  const auto C = matrix(c.data(), 3, 4);
  const Plan plan = make_plan(make_problem(matrix(a.data(), 3, 5), B, C));
  EXPECT_THAT(refusal([&] { run(plan, matrix(a.data(), 3, 6), B, C); }, Category::shape),
              HasSubstr("run: A"));
  EXPECT_THAT(refusal([&] { run(plan, matrix(a.data(), 3, 5), B, matrix(a.data(), 3, 4)); },
                      Category::argument),
              HasSubstr("overlaps"));
}

TEST(Parse, RandomTextIsAValueOrAnError) {
  std::mt19937 random(1);
  const std::string seed =
      "m=10 n=20 k=30 in=f32 a=3:1 alpha=1e3 algorithm=tiled tile=32x32x32 reason=\"x y\" "
      "threads=2";
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed;
    for (int edits = 1 + static_cast<int>(random() % 6); edits > 0; --edits) {
      const auto at = random() % text.size();
      if (random() % 3 == 0) text.erase(at, 1 + random() % 5);
      else text[at] = static_cast<char>(random() % 128);
      if (text.empty()) text = " ";
    }
    try {
      parse_problem(text);
    } catch (const Error&) {
    }
    try {
      parse_plan(text);
    } catch (const Error&) {
    }
    try {
      parse_tile(text.substr(0, 12));
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace tessera
