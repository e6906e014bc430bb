// cuBLASLt called by rows, its algorithms and which of them are the peer. fake_cublas_lt.cpp is
// the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "bench/cublas/lt.hpp"
#include "bench/device.hpp"
#include "support/refusal.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::bench {
namespace {

using tessera::testing::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using F32 = Cublas::F32;

class CublasLtPeer : public ::testing::Test {
 protected:
  ~CublasLtPeer() override { offers(3); }

  void offers(int algorithms, int status = 0, std::uint64_t refused = 0, std::uint64_t wrong = 0,
              std::uint64_t unusable = 0) {
    symbol<void(int, int, std::uint64_t, std::uint64_t, std::uint64_t)>("fake_lt_offers")(
        algorithms, status, refused, wrong, unusable);
  }
  int live() { return symbol<int()>("fake_lt_live")(); }

  /// Whether the product by this choice is right; of f8, by hand.
  bool is_right(const CublasLt::Choice& choice, const BenchCase& now) {
    const OperandPlaces places(now);
    std::vector<char> memory(places.end, static_cast<char>(0xff));
    SharedOperands shared;
    shared.prepare(now, 1);
    std::memcpy(memory.data(), shared.A(0).data, places.c);
    lt_.multiply(choice, memory.data() + places.a, memory.data() + places.b,
                 memory.data() + places.c);
    bool right = true;
    for (index_t i = 0; i < now.shape.batch; ++i) {
      const Verifier verifier(make_problem(shared.A(i), shared.B(i), shared.C(i)), shared.A(i),
                              shared.B(i), shared.C(i));
      Matrix C = shared.C(i);
      C.data = memory.data() + places.c + static_cast<std::size_t>(i) * places.c_step;
      right = right && verifier.check(C).within_bound;
    }
    return right;
  }
  void expect_right(const char* types, const Shape& shape, F32 f32 = F32::exact) {
    const BenchCase now{shell::parse_types(types), shape};
    for (const auto& choice : lt_.choices(now, f32))
      EXPECT_TRUE(is_right(choice, now)) << types << " " << to_string(shape) << choice.rank;
  }
  template <class F>
  F* symbol(const char* name) {
    return reinterpret_cast<F*>(dlsym(library_, name));
  }

  void* library_ = dlopen(FAKE_CUBLAS_LT, RTLD_NOW);
  float one_ = 1;
  char workspace_ = 0;  // the fake does not write there
  CublasLt lt_{nullptr, {&workspace_, &one_}, {"no such file", FAKE_CUBLAS_LT}};
};

TEST_F(CublasLtPeer, MultipliesRowsTransposedMatricesAndBatches) {
  EXPECT_EQ(lt_.path(), FAKE_CUBLAS_LT);
  EXPECT_EQ(lt_.version(), "cuBLASLt 13.12.11");
  for (const index_t batch : {1, 3}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        expect_right("f32", {5, 7, 3, batch, ta, tb});
        expect_right("f32", {5, 7, 3, batch, ta, tb}, F32::tf32);
        expect_right("f64", {2, 9, 4, batch, ta, tb});
        expect_right("i8:i32", {4, 8, 12, batch, ta, tb});
      }
    }
  }
}

TEST_F(CublasLtPeer, F8HasAScaleForEachMatrixAndFastSums) {
  const BenchCase now{{DType::f8e4m3, DType::f32, DType::f8e4m3}, {2, 3, 4, 1, false, true}};
  const auto choices = lt_.choices(now, F32::exact);
  std::vector<f8e4m3> A(8, f8e4m3(0.5f)), B(12, f8e4m3(2.0f));
  std::vector<float> C(6, -1);
  lt_.multiply(choices[0], A.data(), B.data(), C.data());  // the fake refuses any without them
  EXPECT_EQ(C, std::vector<float>(6, 4.0f));
  one_ = 2;
  lt_.multiply(choices[0], A.data(), B.data(), C.data());
  EXPECT_EQ(C, std::vector<float>(6, 16.0f));
}

TEST_F(CublasLtPeer, AProductThatItDoesNotOfferIsOneSentenceAndALayoutThatItDoes) {
  const BenchCase rows{{DType::f8e4m3, DType::f32, DType::f8e4m3}, {16, 16, 16}};
  EXPECT_THAT(
      refusal([&] { lt_.choices(rows, F32::exact); }, Category::unavailable),
      ::testing::AllOf(HasSubstr("no algorithm for f8e4m3:f32 of 16"), HasSubstr("512-NT")));
  offers(0);
  EXPECT_THAT(refusal(
                  [&] {
                    lt_.choices({{}, {4, 4, 4}}, F32::exact);
                  },
                  Category::unavailable),
              HasSubstr("no algorithm for f32 of 4"));
  offers(3, 13);
  EXPECT_THAT(refusal(
                  [&] {
                    lt_.choices({{}, {4, 4, 4}}, F32::exact);
                  },
                  Category::failed),
              HasSubstr("cuBLASLt, looking for an algorithm: a fake status"));
}

TEST_F(CublasLtPeer, AtMostSixteenAlgorithmsAndOnlyThoseThatItCallsUsable) {
  offers(40);
  EXPECT_EQ(lt_.choices({{}, {4, 4, 4}}, F32::exact).size(), 16u);
  offers(4, 0, 0, 0, 0b0101);
  const auto some = lt_.choices({{}, {4, 4, 4}}, F32::exact);
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[0].rank, 2);
  EXPECT_EQ(some[1].rank, 4);
}

TEST_F(CublasLtPeer, TheFastestComesFirstAndWhatFailsIsLeftOut) {
  offers(5, 0, 0b00010);
  const BenchCase now{{}, {4, 4, 4}};
  const std::vector<double> seconds = {4e-3, 1e-6, 3e-3, 9e-3, 2e-3};
  std::map<int, index_t> calls;
  std::vector<float> A(16), B(16), C(16);
  const auto ordered =
      fastest_first(lt_.choices(now, F32::exact), [&](const auto& choice, index_t n) {
        lt_.multiply(choice, A.data(), B.data(), C.data());
        calls[choice.rank] += n;
        return seconds[static_cast<std::size_t>(choice.rank - 1)] * static_cast<double>(n);
      });
  std::vector<int> ranks;
  for (const auto& choice : ordered) ranks.push_back(choice.rank);
  EXPECT_THAT(ranks, ElementsAre(5, 3, 1, 4));
  EXPECT_EQ(calls[1], 2 + 5);
  EXPECT_EQ(calls[4], 2) << "one that is far behind is not timed further";
}

TEST_F(CublasLtPeer, ASingleSlowSampleDoesNotDecide) {
  offers(2);
  int samples = 0;
  const auto ordered =
      fastest_first(lt_.choices({{}, {4, 4, 4}}, F32::exact), [&](const auto& choice, index_t n) {
        const double each = choice.rank == 1 ? 2e-6 : ++samples == 4 ? 1 : 1e-6;
        return each * static_cast<double>(n);
      });
  EXPECT_EQ(ordered[0].rank, 2);
}

TEST_F(CublasLtPeer, WhereNoneRunsItsOwnWordIsTold) {
  offers(2, 0, 0b11);
  const auto choices = lt_.choices({{}, {4, 4, 4}}, F32::exact);
  const auto run = [&] {
    fastest_first(choices, [&](const auto& choice, index_t) {
      lt_.multiply(choice, nullptr, nullptr, nullptr);
      return 1.0;
    });
  };
  EXPECT_THAT(refusal(run, Category::failed), HasSubstr("cuBLASLt, multiplying: a fake status"));
}

TEST_F(CublasLtPeer, AnAlgorithmThatMultipliesWronglyIsFound) {
  offers(2, 0, 0, 0b10);
  const BenchCase now{{}, {5, 7, 3}};
  const auto choices = lt_.choices(now, F32::exact);
  EXPECT_TRUE(is_right(choices[0], now));
  EXPECT_FALSE(is_right(choices[1], now));
}

TEST_F(CublasLtPeer, WhatItMakesIsGivenBack) {
  const int before = live();
  {
    const CublasLt other(nullptr, {&workspace_, &one_}, {FAKE_CUBLAS_LT});
    const auto choices = other.choices({{}, {4, 4, 4}}, F32::exact);
    EXPECT_EQ(live(), before + 5);  // a handle, a product, three layouts
  }
  EXPECT_EQ(live(), before);
}

TEST_F(CublasLtPeer, WhereItIsNotThereOneSentenceSaysWhatToDo) {
  const auto told = [](const std::string& file) {
    return refusal([&] { CublasLt lt(nullptr, {}, {file}); }, Category::unavailable);
  };
  EXPECT_THAT(told("/nowhere/libcublasLt.so.13"), HasSubstr("LD_LIBRARY_PATH"));
  EXPECT_THAT(told("libc.so.6"), HasSubstr("has no cublasLtMatmul"));
}

TEST_F(CublasLtPeer, TypesThatItMultiplies) {
  const auto multiplies = [](const char* text, F32 f32 = F32::exact) {
    return CublasLt::multiplies(shell::parse_types(text), f32);
  };
  for (const char* text : {"f64", "f32", "f16", "bf16", "bf16:f32", "i8:i32", "f8e4m3:f32",
                           "f8e4m3:bf16", "f8e4m3:f8e5m2:f32"})
    EXPECT_TRUE(multiplies(text)) << text;
  for (const char* text : {"i32", "u8:i32", "i8:f32", "f8e5m2:f32", "u8:i8:i32", "f64:f32"})
    EXPECT_FALSE(multiplies(text)) << text;
  EXPECT_TRUE(multiplies("f32", F32::tf32));
  EXPECT_FALSE(multiplies("i8:i32", F32::tf32));
}

TEST(CublasCandidates, CublasLtIsLookedForBesideTheNamedCublas) {
  setenv("TESSERA_CUBLAS", "/opt/nvidia/lib/libcublas.so.13", 1);
  EXPECT_EQ(cublas_candidates()[0], "/opt/nvidia/lib/libcublas.so.13");
  EXPECT_EQ(cublas_candidates("libcublasLt")[0], "/opt/nvidia/lib/libcublasLt.so.13");
  unsetenv("TESSERA_CUBLAS");
  EXPECT_EQ(cublas_candidates("libcublasLt")[0], "libcublasLt.so.13");
}

}  // namespace
}  // namespace tessera::bench
