// A matrix packed once multiplies like the matrix itself, bit for bit: every type, order of
// strides, epilogue and number of threads, again and again, and after it has been moved.
#include "tessera/cpu/packed_matrix.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/multiply.hpp"
#include "support/child.hpp"
#include "support/packed_types.hpp"
#include "support/thinned.hpp"
#include "tessera/core/error.hpp"

namespace tessera {
namespace {

using cpu::PackedMatrix;
using testing::call_on;
using testing::describe;
using testing::difference;
using testing::Guarded;
using testing::kOrders;
using testing::kThreads;
using testing::multiply;
using testing::Order;
using testing::RandomData;
using testing::Shape;
using testing::Thinned;

template <class T>
class Packed : public ::testing::Test {};
TYPED_TEST_SUITE(Packed, testing::PackedTypes, testing::IntoNames);

template <class In>
PackedMatrix<In> packed(Guarded<In>& B) {
  const ConstMatrix view = B.view();
  return {static_cast<const In*>(view.data), view.rows, view.cols, view.row_stride,
          view.col_stride};
}

/// The product without packing beforehand, and with.
template <class In, class Out>
void expect_the_same(Guarded<In>& A, Guarded<In>& B, const PackedMatrix<In>& once,
                     const Guarded<Out>& C0, const cpu::Gemm<In, Out>& call) {
  Guarded<Out> expected = C0, C = C0;
  multiply(call, A.view(), B.view(), expected.view());
  auto with_packed = call_on(call, A.view(), B.view(), C.view());
  with_packed.B = nullptr, with_packed.b_row = with_packed.b_col = 0;
  cpu::gemm(with_packed, once);
  EXPECT_EQ(difference(C, expected), "") << describe(with_packed);
  EXPECT_TRUE(C.guards_intact()) << describe(with_packed);
}

TYPED_TEST(Packed, MultipliesLikeTheMatrixItself) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  Thinned thinned(7);
  std::size_t turn = 0;
  for (const Shape s : {Shape{1, 1, 1},
                        {5, 6, 7},
                        {0, 5, 3},
                        {1, 97, 300},
                        {8, 500, 140},
                        {33, 50, 70},
                        {97, 1, 61},
                        {60, 101, 1031},
                        {20, 49, 2050},
                        {203, 307, 530},
                        {17, 4201, 9}}) {
    for (const auto order_b : kOrders<In>) {
      Guarded<In> A(s.M, s.K, kOrders<In>[turn % 5]), B(s.K, s.N, order_b);
      Guarded<Out> C(s.M, s.N, kOrders<Out>[turn / 5 % 5]);
      const bool whole = std::is_integral_v<In>;
      A.fill(RandomData(1, whole));
      B.fill(RandomData(2, whole));
      C.fill(RandomData(3, true));
      const PackedMatrix<In> once = packed(B);
      EXPECT_EQ(once.rows(), s.K);
      EXPECT_EQ(once.cols(), s.N);
      using Scalar = typename cpu::Gemm<In, Out>::Scalar;
      for (const auto& call :
           {cpu::Gemm<In, Out>{}, cpu::Gemm<In, Out>{.alpha = Scalar(3), .beta = Scalar(-2)},
            cpu::Gemm<In, Out>{.alpha = Scalar(0), .beta = Scalar(1)},
            cpu::Gemm<In, Out>{.last = {Activation::relu}}}) {
        auto threaded = call;
        threaded.threads = kThreads[turn++ % 4];
        if (thinned.takes(s.M, order_b, call.alpha, call.beta, call.last.activation,
                          threaded.threads))
          expect_the_same<In, Out>(A, B, once, C, threaded);
      }
      if (this->HasFailure()) return;
    }
  }
}

TEST(PackedMatrix, MayBeEmpty) {
  for (const Shape s : {Shape{5, 0, 3}, {5, 3, 0}, {0, 0, 0}}) {
    // In a child: a division by an extent would end the process.
    EXPECT_EQ(testing::in_child(10,
                                [&]() -> std::string {
                                  Guarded<float> A(s.M, s.K), B(s.K, s.N), C(s.M, s.N);
                                  C.fill([](index_t, index_t) { return 1; });
                                  const PackedMatrix<float> once = packed(B);
                                  cpu::gemm(call_on<float>({}, A.view(), B.view(), C.view()), once);
                                  return difference(C, [](index_t, index_t) { return 0.f; });
                                }),
              "")
        << s.K << "x" << s.N;
  }
}

TEST(PackedMatrix, IsReadByManyCallersAtOnce) {
  Guarded<float> A(70, 300), B(300, 130), expected(70, 130);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  const PackedMatrix<float> once = packed(B);
  multiply<float>({}, A.view(), B.view(), expected.view());
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 20; ++caller) {
    callers.emplace_back([&, caller] {
      Guarded<float> C(70, 130);
      for (int call = 0; call < 50; ++call) {
        cpu::gemm(call_on<float>({.threads = 1 + caller % 3}, A.view(), B.view(), C.view()), once);
        wrong += !difference(C, expected).empty();
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(PackedMatrix, OutlivesItsSourceAndMoves) {
  Guarded<double> A(9, 40), B(40, 30), expected(9, 30), C(9, 30);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  multiply<double>({}, A.view(), B.view(), expected.view());
  PackedMatrix<double> first = packed(B);
  B.fill([](index_t, index_t) { return 0; });
  PackedMatrix<double> second = std::move(first);
  Guarded<double> other(3, 4);
  PackedMatrix<double> third = packed(other);
  third = std::move(second);
  EXPECT_EQ(third.rows(), 40);
  cpu::gemm(call_on<double>({}, A.view(), B.view(), C.view()), third);
  EXPECT_EQ(difference(C, expected), "");
}

TEST(PackedMatrix, SaysSoWhereThereIsNoMemory) {
  const float one = 1;
  try {
    const PackedMatrix<float> huge(&one, index_t{1} << 30, index_t{1} << 30, 0, 0);
    FAIL() << "2^62 bytes were had";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::resource);
  }
}

}  // namespace
}  // namespace tessera
