// The packed path on another architecture, without any library: a shape table against scalar chains
// of fused multiply-adds, bit for bit, and integers exactly. Prints what differs; exit status 0
// when nothing does. neon_test.py cross-compiles it and runs it under qemu.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "kernels.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/core/dtype.hpp"
#include "tessera/cpu/gemm.hpp"
#include "tessera/cpu/lanes.hpp"

namespace tessera {
namespace {

/// Strides by which a (rows, cols) matrix may lie.
struct Lie {
  index_t row, col, first, size;
};
Lie lie_of(int order, index_t rows, index_t cols) {
  switch (order) {
    case 0: return {cols + 2, 1, 0, rows * (cols + 2)};
    case 1: return {1, rows + 1, 0, cols * (rows + 1)};
    case 2: return {-(cols + 1), 1, (rows - 1) * (cols + 1), rows * (cols + 1)};
    default: return {2, 2 * rows + 1, 0, cols * (2 * rows + 1) + 2};
  }
}

template <class T>
struct Matrix {
  Lie lie;
  std::vector<T> elements;
  Matrix(int order, index_t rows, index_t cols)
      : lie(lie_of(order, rows, cols)), elements(static_cast<std::size_t>(lie.size) + 8) {}
  T* data() { return elements.data() + lie.first; }
  T& operator()(index_t i, index_t j) { return data()[i * lie.row + j * lie.col]; }
};

template <class T>
T random(std::mt19937_64& engine) {
  const std::uint64_t bits = engine();
  if constexpr (std::is_integral_v<T>) return static_cast<T>(bits >> 20);
  else return convert<T>(static_cast<double>(bits >> 11) * 0x1p-52 - 1);
}

template <class Sum>
Sum step(Sum a, Sum b, Sum sum) {
  if constexpr (std::is_integral_v<Sum>) {
    return static_cast<Sum>(static_cast<std::uint32_t>(sum) +
                            static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
  } else {
    return std::fma(a, b, sum);
  }
}

/// Elements of one product that are not the chain's, or not alpha * chain + beta * C, and one more
/// where something outside C has changed.
template <class In, class Out>
long differing(index_t M, index_t N, index_t K, int orders, bool scaled, int threads) {
  using Sum = typename cpu::Gemm<In, Out>::Sum;
  using Scalar = typename cpu::Gemm<In, Out>::Scalar;
  std::mt19937_64 engine(static_cast<std::uint64_t>(M * 131 + N * 17 + K));
  Matrix<In> A(orders & 3, M, K), B(orders >> 2 & 3, K, N);
  Matrix<Out> C(orders >> 4 & 3, M, N);
  for (index_t i = 0; i < M; ++i)
    for (index_t k = 0; k < K; ++k) A(i, k) = random<In>(engine);
  for (index_t k = 0; k < K; ++k)
    for (index_t j = 0; j < N; ++j) B(k, j) = random<In>(engine);
  for (Out& element : C.elements) element = random<Out>(engine);
  Matrix<Out> before = C;
  cpu::Gemm<In, Out> call{M,        N,         K,         A.data(), A.lie.row, A.lie.col,
                          B.data(), B.lie.row, B.lie.col, C.data(), C.lie.row, C.lie.col};
  if (scaled) call.alpha = Scalar(3), call.beta = Scalar(-2);
  call.threads = threads;
  cpu::gemm(call);
  long wrong = 0;
  for (index_t i = 0; i < M; ++i) {
    for (index_t j = 0; j < N; ++j) {
      Sum sum{0};
      for (index_t k = 0; k < K; ++k)
        sum = step<Sum>(static_cast<Sum>(A(i, k)), static_cast<Sum>(B(k, j)), sum);
      Scalar value = static_cast<Scalar>(sum);
      if (scaled) {
        const Scalar three = std::is_integral_v<Scalar> ? step<Scalar>(3, value, 0) : 3 * value;
        value = step<Scalar>(-2, static_cast<Scalar>(before(i, j)), three);
      }
      const Out want = convert<Out>(value), got = C(i, j);
      wrong += std::memcmp(&want, &got, sizeof(Out)) != 0;
      C(i, j) = before(i, j);
    }
  }
  const std::size_t bytes = C.elements.size() * sizeof(Out);
  return wrong + (std::memcmp(C.elements.data(), before.elements.data(), bytes) != 0);
}

struct Shape {
  index_t M, N, K;
};

template <class In, class Out>
long check(const char* type) {
  std::vector<Shape> shapes = {{1, 1, 1},       {1, 300, 40}, {300, 1, 40},   {2, 3, 1100},
                               {70, 60, 50},    {49, 97, 51}, {33, 101, 515}, {130, 51, 17},
                               {12, 110, 3000}, {1, 49, 40},  {1, 200, 700},  {2, 150, 60}};
  for (index_t M = 1; M <= 17; ++M) shapes.push_back({M, 25, 9}), shapes.push_back({M, 13, 50});
  for (index_t N = 1; N <= 50; ++N) shapes.push_back({9, N, 7}), shapes.push_back({5, N + 48, 49});
  long wrong = 0;
  const auto multiply = [&](Shape s, int orders, bool scaled, int threads) {
    const long here = differing<In, Out>(s.M, s.N, s.K, orders, scaled, threads);
    if (here != 0 && wrong == 0) {
      std::printf("%s %ldx%ldx%ld, orders %d: %ld elements differ\n", type, static_cast<long>(s.M),
                  static_cast<long>(s.N), static_cast<long>(s.K), orders, here);
    }
    wrong += here;
  };
  int turn = 0;
  for (const Shape s : shapes) {
    for (int round = 0; round < 3; ++round, turn += 7)
      multiply(s, turn % 64, turn % 2 != 0, 1 + round % 3);
  }
  // Few rows of matrices that lie row by row: the sums of all columns in registers, or not.
  for (const Shape s : {Shape{1, 49, 40}, {1, 90, 40}, {1, 200, 700}, {2, 150, 60}, {3, 110, 60}}) {
    for (int threads = 1; threads <= 3; ++threads) multiply(s, 0, false, threads);
  }
  return wrong;
}

/// Elements of products in dot form, of Arithmetic::lanes, that sum_by_lanes() does not give.
template <class T>
long check_lanes() {
  long wrong = 0;
  for (const Shape s : {Shape{1, 1, 16}, {1, 33, 75}, {33, 2, 512}, {12, 3, 128}, {5, 7, 301}}) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(s.M * 131 + s.N));
    Matrix<T> A(0, s.M, s.K), B(1, s.K, s.N), C(0, s.M, s.N);
    for (T& element : A.elements) element = random<T>(engine);
    for (T& element : B.elements) element = random<T>(engine);
    cpu::Gemm<T> call{s.M,      s.N,       s.K,       A.data(), A.lie.row, A.lie.col,
                      B.data(), B.lie.row, B.lie.col, C.data(), C.lie.row, C.lie.col};
    call.arithmetic = Arithmetic::lanes;
    cpu::gemm(call);
    for (index_t i = 0; i < s.M; ++i) {
      for (index_t j = 0; j < s.N; ++j) {
        const T want = cpu::sum_by_lanes(s.K, &A(i, 0), &B(0, j)), got = C(i, j);
        wrong += std::memcmp(&want, &got, sizeof(T)) != 0;
      }
    }
  }
  return wrong;
}

int run(std::string_view expected_path) {
  if (name(vector_path()) != expected_path || cpu::kernel_set().f32.isa != expected_path) {
    std::printf("the path is %s with the kernels of %s\n", cpu_text().c_str(),
                cpu::kernel_set().f32.isa);
    return 1;
  }
  const long wrong = check_lanes<float>() + check_lanes<double>() + check<float, float>("f32") +
                     check<double, double>("f64") + check<f16, f16>("f16") +
                     check<bf16, float>("bf16") + check<std::int8_t, std::int32_t>("i8") +
                     check<std::uint8_t, std::int32_t>("u8") +
                     check<std::int8_t, float>("i8 into f32");
  std::printf("%s: %ld elements differ\n", cpu_text().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) { return tessera::run(argc > 1 ? argv[1] : "neon"); }
