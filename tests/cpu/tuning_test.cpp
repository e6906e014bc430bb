// The values by which the packed path fits a microarchitecture: their text, whose they are, and
// that no product's bits depend on them.
#include "cpu/tuning.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "cpu/blocking.hpp"
#include "tessera/core/error.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {
namespace {

std::string complaint(std::string_view text) {
  try {
    (void)tuning_from(text, tuning());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Tuning, IsReadBackFromItsText) {
  for (const char* name : {"sapphire_rapids", "zen4", "zen5"}) {
    const Tuning* values = tuning_named(name);
    ASSERT_NE(values, nullptr) << name;
    Tuning other = tuning_from(to_text(*values), Tuning{});
    other.name = values->name;
    EXPECT_EQ(other, *values) << name;
    for (const TuningValue& value : kTuningValues) {
      EXPECT_GE(values->*value.member, value.least) << name << " " << value.name;
      EXPECT_LE(values->*value.member, value.most) << name << " " << value.name;
    }
  }
  EXPECT_EQ(tuning_named("z80"), nullptr);
}

TEST(Tuning, KeepsWhatAFileDoesNotName) {
  const Tuning found = tuning_from("# mine\n\n axpy_rows = 7 \r\nfar_l3=1", *tuning_named("zen4"));
  EXPECT_EQ(found.axpy_rows, 7);
  EXPECT_EQ(found.far_l3, 1);
  EXPECT_EQ(found.near_one_row, tuning_named("zen4")->near_one_row);
}

TEST(Tuning, RefusesWhatIsNoValue) {
  EXPECT_EQ(
      complaint("axpy_rows = 12\nrows = 3"),
      "line 2: 'rows': expected a value of the packed path; 'tessera tune --device cpu' writes "
      "such a file");
  for (const char* text : {"axpy_rows = 0", "axpy_rows = 257", "axpy_rows = 1e2", "axpy_rows",
                           "axpy_rows = 99999999999999999999"})
    EXPECT_NE(complaint(text).find("axpy_rows: expected an integer from 1 to 256, got '"),
              std::string::npos)
        << text;
  std::mt19937 random(1);
  for (int turn = 0; turn < 2000; ++turn) {
    std::string text = to_text(tuning());
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
    (void)complaint(text);
  }
}

TEST(Tuning, OfAnUnknownProcessorIsThatOfTheCachesMostLikeIt) {
  EXPECT_EQ(tuning_like({48 << 10, 2 << 20}).name, "sapphire_rapids");
  EXPECT_EQ(tuning_like({32 << 10, 1 << 20}).name, "zen4");
  EXPECT_EQ(tuning_like({48 << 10, 1 << 20}).name, "zen5");
}

/// Any values within their limits give the bits of any others.
TEST(Tuning, ChangesNoBit) {
  std::mt19937 random(2);
  const Tuning before = tuning();
  struct Shape {
    index_t M, N, K;
    bool b_transposed;
  };
  for (const Shape& shape : {Shape{1, 700, 900, false},
                             {5, 600, 700, false},
                             {3, 300, 1200, true},
                             {40, 500, 600, false},
                             {130, 140, 300, false}}) {
    std::vector<float> A(shape.M * shape.K), B(shape.K * shape.N), C(shape.M * shape.N), first;
    std::uniform_real_distribution<float> any(-1, 1);
    for (auto* matrix : {&A, &B})
      for (float& x : *matrix) x = any(random);
    for (int turn = 0; turn < 40; ++turn) {
      Tuning now = before;
      for (const TuningValue& value : kTuningValues)
        now.*value.member =
            value.least +
            static_cast<index_t>(random()) % (std::min<index_t>(value.most, 200) - value.least + 1);
      if (turn > 0) assume_tuning(now);
      Gemm<float> call;
      call.M = shape.M, call.N = shape.N, call.K = shape.K;
      call.A = A.data(), call.a_row = shape.K, call.B = B.data(), call.C = C.data();
      call.b_row = shape.b_transposed ? 1 : shape.N, call.b_col = shape.b_transposed ? shape.K : 1;
      call.c_row = shape.N, call.threads = 1 + turn % 2;
      gemm(call);
      if (turn == 0) first = C;
      EXPECT_EQ(C, first) << to_text(tuning());
    }
  }
  assume_tuning(before);
}

}  // namespace
}  // namespace tessera::cpu
