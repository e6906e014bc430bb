// Matrices and problems: what a leading dimension means, errors of shapes, types and overlaps,
// text in both directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <set>
#include <vector>

#include "support/refusal.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::refusal;

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
  EXPECT_THAT(refusal(
                  [&] {
                    make_problem(matrix(x.a.data(), -3, 4), matrix(x.b.data(), 4, 4),
                                 matrix(x.c.data(), 3, 4));
                  },
                  Category::shape),
              HasSubstr("A has a negative extent"));
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
          [&] { matmul(matrix(i.data(), 3, 5), matrix(i.data(), 5, 4), matrix(d.data(), 3, 4)); },
          Category::type),
      HasSubstr("no i8 into f64 product"));
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

// Over 60 lines: a table, one case or field a line.
TEST(Problem, OverlapOfTheResultIsFoundExactly) {
  std::vector<float> all(1000);
  float* p = all.data();
  const auto b = std::vector<float>(100);
  const auto B = matrix(b.data(), 4, 4);
  const auto with_c = [&](const ConstMatrix& A, const Matrix& C) { return make_problem(A, B, C); };
  EXPECT_THAT(refusal([&] { with_c(matrix(p, 4, 4), matrix(p, 4, 4)); }, Category::argument),
              HasSubstr("C overlaps A"));
  EXPECT_THAT(refusal([&] { with_c(matrix(p, 4, 4), matrix(p + 15, 4, 4)); }, Category::argument),
              HasSubstr("C overlaps A: got A f32 (4,4):(4,1), C f32 (4,4):(4,1) 60 bytes after it; "
                        "give C memory of its own"));
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
  EXPECT_TRUE(rc::check("an overlap with A is found exactly", [&] {
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
    RC_ASSERT(refused == overlaps);
  }));
  // C's own elements: brute force against the rule.
  EXPECT_TRUE(rc::check("self-overlap is exact", [&] {
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
  }));
}

TEST(Problem, TextRoundTrips) {
  EXPECT_TRUE(rc::check("parse(to_string(p)) == p", [] {
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
    if (*rc::gen::arbitrary<bool>()) p.in_b = p.in == DType::u8 ? DType::i8 : DType::u8;
    if (*rc::gen::arbitrary<bool>()) p.epilogue.low = *rc::gen::inRange(-100, 100) / 8.;
    if (*rc::gen::arbitrary<bool>()) p.epilogue.high = *rc::gen::inRange(-100, 100) / 8.;
    RC_ASSERT(parse_problem(to_string(p)) == p);
  }));
  EXPECT_EQ(
      to_string(parse_problem("m=2 n=3 k=4")),
      "m=2 n=3 k=4 in=f32 out=f32 a=4:1 b=3:1 c=3:1 alpha=1 beta=0 bias=none activation=none");
}

TEST(Problem, WholeNumbersHaveNoGeluAndNoSilu) {
  std::int8_t elements[2] = {};
  std::int32_t c = 0;
  const auto with = [&](Activation activation) {
    return make_problem(matrix(elements, 1, 1), matrix(elements + 1, 1, 1), matrix(&c, 1, 1), 1, 0,
                        {.activation = activation});
  };
  EXPECT_NO_THROW(make_plan(with(Activation::relu)));
  EXPECT_EQ(refusal([&] { with(Activation::gelu); }, Category::type),
            "multiply: a result of i32 has no activation gelu: expected none or relu; multiply in "
            "f32");
  EXPECT_THAT(refusal([&] { with(Activation::silu); }, Category::type), HasSubstr("silu"));
  const Problem read = parse_problem("m=1 n=1 k=1 in=i32 activation=silu");
  EXPECT_THAT(refusal([&] { make_plan(read); }, Category::type), HasSubstr("silu"));
}

TEST(Problem, ClampsThatKeepNothingAreRefused) {
  double elements[3] = {};
  const auto clamped = [&](DType type, double low, double high) {
    make_problem(ConstMatrix(elements, type, 1, 1, 1), ConstMatrix(elements + 1, type, 1, 1, 1),
                 Matrix(elements + 2, type, 1, 1, 1), 1, 0, {.low = low, .high = high});
  };
  EXPECT_NO_THROW(clamped(DType::f32, 0, 6));
  EXPECT_NO_THROW(clamped(DType::f32, 1, 1));
  EXPECT_NO_THROW(clamped(DType::i32, -5, kMost<double>));
  const auto refused = [&](DType type, double low, double high) {
    return refusal([&] { clamped(type, low, high); }, Category::argument);
  };
  EXPECT_THAT(refused(DType::f32, 1e300, kMost<double>), HasSubstr("a clamp of f32 is beyond f32"));
  EXPECT_NO_THROW(clamped(DType::f64, -1e300, 1e300));
  EXPECT_EQ(refused(DType::f32, 6, 0),
            "multiply: the clamp keeps nothing: expected low <= high, got [6, 0]");
  EXPECT_NE(refused(DType::f32, std::nan(""), 1), "");
  EXPECT_EQ(refused(DType::i32, 0.5, 6),
            "multiply: a clamp of i32 is no i32: expected a whole number of 32 bits, got 0.5");
  EXPECT_NE(refused(DType::i32, 0, 3e9), "");
}

}  // namespace
}  // namespace tessera
