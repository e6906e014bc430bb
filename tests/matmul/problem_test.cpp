// Problem and plan: what is refused and how it is said; text both ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <random>
#include <set>
#include <vector>

#include "support/products.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Action>
std::string refusal(Action action, Category category) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), category) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

struct Buffers {
  std::vector<float> a = std::vector<float>(4096, 1), b = a, c = a;
};

TEST(Matrix, TheLeadingDimensionIsTakenAsItIs) {
  float x[12] = {};
  for (const index_t leading : {-4, -1, 0, 3, 4, 9}) {
    const auto m = matrix(x, 3, 4, leading);
    EXPECT_EQ(m.row_stride, leading);
    EXPECT_EQ(m.col_stride, 1);
  }
  EXPECT_EQ(matrix(x, 3, 4).row_stride, 4);
  EXPECT_EQ(matrix(x, 3, 0).row_stride, 0);
}

TEST(Matrix, ANegativeLeadingDimensionIsRowsFromTheLastToTheFirst) {
  Buffers x;
  float c[6], want[6];
  for (int i = 0; i < 8; ++i) x.a[i] = static_cast<float>(i);
  matmul(matrix(x.a.data(), 2, 4), matrix(x.b.data(), 4, 3), matrix(want, 2, 3));
  matmul(matrix(x.a.data() + 4, 2, 4, -4), matrix(x.b.data(), 4, 3), matrix(c, 2, 3));
  for (int j = 0; j < 3; ++j) {
    EXPECT_EQ(c[j], want[3 + j]);
    EXPECT_EQ(c[3 + j], want[j]);
  }
}

TEST(Problem, ShapesThatDoNotFitNameBothShapes) {
  Buffers x;
  const auto text = refusal(
      [&] {
        make_problem(matrix(x.a.data(), 3, 64), matrix(x.b.data(), 32, 4),
                     matrix(x.c.data(), 3, 4));
      },
      Category::shape);
  EXPECT_THAT(text, AllOf(HasSubstr("A has 64 columns but B has 32 rows"), HasSubstr("(3,64)"),
                          HasSubstr("(32,4)")));
  EXPECT_THAT(refusal(
                  [&] {
                    make_problem(matrix(x.a.data(), 3, 5), matrix(x.b.data(), 5, 4),
                                 matrix(x.c.data(), 4, 3));
                  },
                  Category::shape),
              AllOf(HasSubstr("expected (3,4)"), HasSubstr("got (4,3)")));
  EXPECT_THAT(refusal(
                  [&] {
                    make_problem(matrix(x.a.data(), -1, 5), matrix(x.b.data(), 5, 4),
                                 matrix(x.c.data(), -1, 4));
                  },
                  Category::shape),
              HasSubstr("negative extent"));
}

TEST(Problem, NullPointersAndTypesAreRefused) {
  Buffers x;
  const float* none = nullptr;
  EXPECT_THAT(refusal(
                  [&] {
                    make_problem(matrix(none, 3, 5), matrix(x.b.data(), 5, 4),
                                 matrix(x.c.data(), 3, 4));
                  },
                  Category::argument),
              HasSubstr("null pointer"));
  EXPECT_NO_THROW(make_problem(matrix(none, 3, 0), matrix(none, 0, 4), matrix(x.c.data(), 3, 4)));
  std::vector<double> d(64);
  EXPECT_THAT(refusal(
                  [&] {
                    make_problem(matrix(x.a.data(), 3, 5), matrix(d.data(), 5, 4),
                                 matrix(x.c.data(), 3, 4));
                  },
                  Category::type),
              HasSubstr("f32 and f64"));
  std::vector<std::int8_t> i(64);
  EXPECT_THAT(
      refusal(
          [&] { matmul(matrix(i.data(), 3, 5), matrix(i.data(), 5, 4), matrix(x.c.data(), 3, 4)); },
          Category::type),
      HasSubstr("no i8 into f32 product"));
}

TEST(Problem, StridesBeyondSixtyFourBitsAreRefused) {
  Buffers x;
  const ConstMatrix far(x.a.data(), DType::f32, 1 << 20, 1 << 20,
                        std::numeric_limits<index_t>::max() / 4, 1);
  EXPECT_THAT(refusal(
                  [&] {
                    make_problem(far, far,
                                 Matrix(x.c.data(), DType::f32, 1 << 20, 1 << 20, 1 << 20));
                  },
                  Category::shape),
              HasSubstr("64-bit"));
}

TEST(Problem, OverlapOfTheResultIsFoundExactly) {
  std::vector<float> all(1000);
  float* p = all.data();
  const auto b = std::vector<float>(100);
  const auto B = matrix(b.data(), 4, 4);
  const auto with_c = [&](const ConstMatrix& A, const Matrix& C) { return make_problem(A, B, C); };
  EXPECT_THAT(refusal([&] { with_c(matrix(p, 4, 4), matrix(p, 4, 4)); }, Category::argument),
              HasSubstr("C overlaps A"));
  EXPECT_THAT(refusal([&] { with_c(matrix(p, 4, 4), matrix(p + 15, 4, 4)); }, Category::argument),
              HasSubstr("C overlaps A"));
  EXPECT_NO_THROW(with_c(matrix(p, 4, 4), matrix(p + 16, 4, 4)));
  EXPECT_NO_THROW(
      with_c(matrix(p, 4, 4, 8), matrix(p + 4, 4, 4, 8)));  // two column windows of the same rows
  refusal([&] { with_c(matrix(p, 4, 4, 8), matrix(p + 5, 4, 4, 8)); }, Category::argument);
  // Windows of one (20,20) buffer X, row-major and as its column-major twin.
  const auto B10 = matrix(b.data(), 10, 10);
  const auto allowed = [&](index_t a_at, Strides a, index_t c_at, Strides c) {
    try {
      make_problem(ConstMatrix(p + a_at, DType::f32, 10, 10, a.row, a.col), B10,
                   Matrix(p + c_at, DType::f32, 10, 10, c.row, c.col));
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(allowed(0, {20, 1}, 10, {20, 1}));     // left and right half of the columns
  EXPECT_TRUE(allowed(0, {1, 20}, 10, {1, 20}));     // the same of the transposed matrix
  EXPECT_TRUE(allowed(0, {1, 20}, 10, {20, 1}));     // one of them transposed
  EXPECT_TRUE(allowed(0, {20, 2}, 1, {20, 2}));      // even and odd columns
  EXPECT_TRUE(allowed(0, {2, 20}, 1, {2, 20}));      // even and odd rows of the twin
  EXPECT_TRUE(allowed(0, {40, 1}, 20, {40, 1}));     // even and odd rows
  EXPECT_TRUE(allowed(0, {40, 1}, 10, {20, 1}));     // even rows on the left, all on the right
  EXPECT_TRUE(allowed(380, {-20, 1}, 10, {20, 1}));  // backwards
  EXPECT_FALSE(allowed(0, {20, 1}, 9, {20, 1}));
  EXPECT_FALSE(allowed(0, {20, 2}, 18, {20, 2}));
  EXPECT_FALSE(allowed(0, {40, 1}, 40, {40, 1}));
  EXPECT_FALSE(allowed(0, {1, 20}, 9, {20, 1}));
  // Elements of A and C: brute force against the rule.
  rc::check("an overlap with A is never missed, and exact for equal strides", [&] {
    const auto extent = rc::gen::inRange<index_t>(1, 6);
    const auto M = *extent, N = *extent, K = *extent;
    const auto c_row = *rc::gen::inRange<index_t>(-12, 13),
               c_col = *rc::gen::inRange<index_t>(-12, 13);
    const bool same = *rc::gen::arbitrary<bool>(), turned = *rc::gen::arbitrary<bool>();
    auto a_row = *rc::gen::inRange<index_t>(-12, 13), a_col = *rc::gen::inRange<index_t>(-12, 13);
    if (same) a_row = turned ? c_col : -c_row, a_col = turned ? -c_row : c_col;
    const auto at = *rc::gen::inRange<index_t>(-60, 61);
    const auto indices = [](index_t rows, index_t cols, index_t rs, index_t cs, index_t start) {
      std::set<index_t> out;
      for (index_t i = 0; i < rows; ++i) {
        for (index_t j = 0; j < cols; ++j) out.insert(start + i * rs + j * cs);
      }
      return out;
    };
    const auto in_c = indices(M, N, c_row, c_col, 0), in_a = indices(M, K, a_row, a_col, at);
    RC_PRE(static_cast<index_t>(in_c.size()) == M * N);
    const bool overlaps =
        std::any_of(in_a.begin(), in_a.end(), [&](index_t i) { return in_c.count(i) > 0; });
    bool refused = false;
    try {
      make_problem(ConstMatrix(p + 500 + at, DType::f32, M, K, a_row, a_col),
                   matrix(b.data(), K, N), Matrix(p + 500, DType::f32, M, N, c_row, c_col));
    } catch (const Error&) {
      refused = true;
    }
    RC_ASSERT(refused || !overlaps);
    if (same) RC_ASSERT(refused == overlaps);
  });
  // C's own elements: brute force against the rule.
  rc::check("self-overlap is exact", [&] {
    const auto rows = *rc::gen::inRange<index_t>(1, 6), cols = *rc::gen::inRange<index_t>(1, 6);
    const auto rs = *rc::gen::inRange<index_t>(-8, 9), cs = *rc::gen::inRange<index_t>(-8, 9);
    std::vector<index_t> seen;
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < cols; ++j) seen.push_back(i * rs + j * cs);
    }
    std::sort(seen.begin(), seen.end());
    const bool overlaps = std::adjacent_find(seen.begin(), seen.end()) != seen.end();
    const float* none = nullptr;
    bool refused = false;
    try {
      make_problem(matrix(none, rows, 0), matrix(none, 0, cols),
                   Matrix(p + 500, DType::f32, rows, cols, rs, cs));
    } catch (const Error&) {
      refused = true;
    }
    RC_ASSERT(refused == overlaps);
  });
}

TEST(Problem, TextRoundTrips) {
  rc::check("parse(to_string(p)) == p", [] {
    Problem p;
    p.M = *rc::gen::inRange<index_t>(0, 1 << 30), p.N = *rc::gen::inRange<index_t>(0, 1 << 30),
    p.K = *rc::gen::inRange<index_t>(0, 1 << 30);
    p.in = static_cast<DType>(*rc::gen::inRange(0, 15)),
    p.out = static_cast<DType>(*rc::gen::inRange(0, 15));
    for (auto* s : {&p.a, &p.b, &p.c})
      *s = {*rc::gen::arbitrary<index_t>(), *rc::gen::arbitrary<index_t>()};
    p.alpha = static_cast<double>(*rc::gen::arbitrary<int>()) / 7;
    p.beta = static_cast<double>(*rc::gen::arbitrary<int>()) * 1e-300;
    p.epilogue = {static_cast<Activation>(*rc::gen::inRange(0, 4)),
                  static_cast<Bias>(*rc::gen::inRange(0, 3))};
    RC_ASSERT(parse_problem(to_string(p)) == p);
  });
  EXPECT_EQ(
      to_string(parse_problem("m=2 n=3 k=4")),
      "m=2 n=3 k=4 in=f32 out=f32 a=4:1 b=3:1 c=3:1 alpha=1 beta=0 bias=none activation=none");
}

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
        // What is said of speed is said of measurements.
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
      refusal([&] { make_plan(parse_problem("m=1 n=1 k=1 in=f64"), {.algorithm = "tensor_core"}); },
              Category::argument),
      HasSubstr("no f64 product"));
  EXPECT_THAT(refusal(
                  [&] {
                    make_plan(parse_problem("m=1 n=1 k=1 in=f16"),
                              {.algorithm = "tiled", .tile = {.bm = 8, .bn = 8, .bk = 8}});
                  },
                  Category::argument),
              HasSubstr("not built in for f16 (built: 32x32x64, 16x16x16)"));
  EXPECT_THAT(refusal([&] { make_plan(p, {.device = "cuda:0"}); }, Category::unavailable),
              HasSubstr("cuda:0"));
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
      {"tensor_core", "64x64x20/32x32", "BK of 16"},
      {"tensor_core", "64x64x32/30x32", "WM = 30 does not divide BM = 64"},
      {"tensor_core", "64x64x32/32x24", "WN = 24 does not divide BN = 64"},
      {"tensor_core", "512x512x16/16x8", "65,536 threads"},
      {"single_block", "8x8x4", "three equal extents"},
      {"sarek_tiled", "33x33x33", "1,089 threads"},
      {"sarek_naive", "2x64", "1xBN"},
      {"sarek_naive", "1x2000", "2,000 threads"},
      {"packed", "64x64", "takes no tile"},
      {"tiled", "16x16x2147483647", "elements of 4 bytes"},
  };
  const Problem p = parse_problem("m=10 n=20 k=30");
  for (const auto& [algorithm, tile, why] : cases) {
    EXPECT_THAT(refusal([&] { make_plan(p, {.algorithm = algorithm, .tile = parse_tile(tile)}); },
                        Category::argument),
                HasSubstr(why))
        << algorithm << " " << tile;
  }
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
      told("tensor_core", "32x32x16/16x16"),
      HasSubstr("TensorCoreTiled<TileShape{.bm = 32, .bn = 32, .bk = 16, .wm = 16, .wn = 16}>"));
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

TEST(Plan, RunRefusesOtherMatricesThanPlanned) {
  Buffers x;
  const Plan plan = make_plan(
      make_problem(matrix(x.a.data(), 3, 5), matrix(x.b.data(), 5, 4), matrix(x.c.data(), 3, 4)));
  EXPECT_THAT(refusal(
                  [&] {
                    run(plan, matrix(x.a.data(), 3, 6), matrix(x.b.data(), 5, 4),
                        matrix(x.c.data(), 3, 4));
                  },
                  Category::shape),
              HasSubstr("run: A"));
  EXPECT_THAT(refusal(
                  [&] {
                    run(plan, matrix(x.a.data(), 3, 5), matrix(x.b.data(), 5, 4),
                        matrix(x.a.data(), 3, 4));
                  },
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
