// Products of short elements under the names of OpenBLAS and MKL: bf16 and f16 into float, bytes
// into int32 with offsets.
#include <algorithm>

#include "blas_calls.hpp"
#include "tessera/core/small_float.hpp"

#define TESSERA_TEST_HALVES(stem)                                                            \
  void stem##_(const char*, const char*, const int*, const int*, const int*, const float*,   \
               const void*, const int*, const void*, const int*, const float*, float*,       \
               const int*);                                                                  \
  void cblas_##stem(int, int, int, int, int, int, float, const void*, int, const void*, int, \
                    float, float*, int);
extern "C" {
TESSERA_TEST_HALVES(sbgemm)
TESSERA_TEST_HALVES(shgemm)
TESSERA_TEST_HALVES(gemm_bf16bf16f32)
TESSERA_TEST_HALVES(gemm_f16f16f32)
void gemm_s8u8s32_(const char*, const char*, const char*, const int*, const int*, const int*,
                   const float*, const void*, const int*, const std::int8_t*, const void*,
                   const int*, const std::int8_t*, const float*, std::int32_t*, const int*,
                   const std::int32_t*);
void cblas_gemm_s8u8s32(int, int, int, int, int, int, int, float, const void*, int, std::int8_t,
                        const void*, int, std::int8_t, float, std::int32_t*, int,
                        const std::int32_t*);
}

namespace tessera::testing {
namespace {

/// The place of op(X)(row, col) in a matrix with this leading dimension.
index_t place(int order, int trans, index_t ld, index_t row, index_t col) {
  if (transposes(trans)) std::swap(row, col);
  return order == kRow ? row * ld + col : col * ld + row;
}

struct Sizes {
  int m, n, k;
};
constexpr Sizes kSizes[] = {{0, 3, 2},    {1, 1, 1},     {5, 7, 0},
                            {17, 33, 20}, {70, 65, 130}, {3, 200, 64}};

int leading(int order, int trans, int rows, int cols) {
  return std::max(1, ((order == kRow) != transposes(trans) ? cols : rows)) + 3;
}

template <class T, class Fortran, class Cblas>
void check_halves(const Fortran& fortran, const Cblas& cblas) {
  std::mt19937 random(2);
  for (const auto& [m, n, k] : kSizes)
    for (const int order : {kRow, kColumn})
      for (const int ta : {kNone, kTrans})
        for (const int tb : {kNone, kTrans})
          for (const float beta : {0.0f, 1.0f, -0.5f}) {
            const int lda = leading(order, ta, m, k), ldb = leading(order, tb, k, n),
                      ldc = leading(order, kNone, m, n);
            const auto fill = [&](int ld, int lines) {
              std::vector<T> out(static_cast<std::size_t>(ld) * (lines + 1));
              // Small integers, so that every order of summation gives the same sums.
              for (T& x : out) x = T(static_cast<float>(static_cast<int>(random() % 17) - 8));
              return out;
            };
            const std::vector<T> A = fill(lda, std::max(m, k)), B = fill(ldb, std::max(k, n));
            std::vector<float> C(static_cast<std::size_t>(ldc) * (std::max(m, n) + 1), 3.0f);
            if (beta == 0) std::fill(C.begin(), C.end(), std::numeric_limits<float>::quiet_NaN());
            const std::vector<float> before = C;
            std::vector<float> other = C;
            const float alpha = 0.25f;
            cblas(order, ta, tb, m, n, k, alpha, A.data(), lda, B.data(), ldb, beta, C.data(), ldc);
            const char a = letter(ta), b = letter(tb);
            if (order == kColumn)
              fortran(&a, &b, &m, &n, &k, &alpha, A.data(), &lda, B.data(), &ldb, &beta,
                      other.data(), &ldc);
            int wrong = 0;
            std::vector<float> expected = before;
            for (int i = 0; i < m; ++i)
              for (int j = 0; j < n; ++j) {
                float sum = 0;
                for (int l = 0; l < k; ++l)
                  sum += static_cast<float>(A[place(order, ta, lda, i, l)]) *
                         static_cast<float>(B[place(order, tb, ldb, l, j)]);
                float& to = expected[place(order, kNone, ldc, i, j)];
                to = alpha * sum + (beta == 0 ? 0 : beta * to);
              }
            for (std::size_t at = 0; at < C.size(); ++at)
              wrong +=
                  !same(C[at], expected[at]) + (order == kColumn && !same(other[at], expected[at]));
            EXPECT_EQ(wrong, 0) << "order=" << order << " m=" << m << " n=" << n << " k=" << k
                                << " trans=" << a << b << " beta=" << beta;
          }
}

TEST(BlasMixed, HalvesIntoFloat) {
  check_halves<bf16>(sbgemm_, cblas_sbgemm);
  check_halves<bf16>(gemm_bf16bf16f32_, cblas_gemm_bf16bf16f32);
  check_halves<f16>(shgemm_, cblas_shgemm);
  check_halves<f16>(gemm_f16f16f32_, cblas_gemm_f16f16f32);
}

constexpr int kRowOffset = 171, kColumnOffset = 172, kFixedOffset = 173;

/// C := alpha (A + ao) (B + bo) + beta C + co, rounded once, saturated.
TEST(BlasMixed, BytesIntoIntegers) {
  std::mt19937 random(3);
  for (const auto& [m, n, k] : kSizes)
    for (const int order : {kRow, kColumn})
      for (const int ta : {kNone, kTrans})
        for (const int tb : {kNone, kTrans})
          for (const int form : {kRowOffset, kColumnOffset, kFixedOffset})
            for (const auto& [alpha, beta, ao, bo] : {std::tuple{1.0f, 0.0f, 0, 0},
                                                      {1.0f, 1.0f, 3, -128},
                                                      {0.37f, -0.5f, -7, 2},
                                                      {1e6f, 0.0f, 0, 0}}) {
              const int lda = leading(order, ta, m, k), ldb = leading(order, tb, k, n),
                        ldc = leading(order, kNone, m, n);
              std::vector<std::uint8_t> A(static_cast<std::size_t>(lda) * (std::max(m, k) + 1)),
                  B(static_cast<std::size_t>(ldb) * (std::max(k, n) + 1));
              for (auto* bytes : {&A, &B})
                for (auto& x : *bytes) x = static_cast<std::uint8_t>(random());
              std::vector<std::int32_t> C(static_cast<std::size_t>(ldc) * (std::max(m, n) + 1)),
                  co(static_cast<std::size_t>(std::max(m, n)) + 1);
              for (auto& x : C) x = static_cast<std::int32_t>(random() % 2001) - 1000;
              for (auto& x : co) x = static_cast<std::int32_t>(random() % 201) - 100;
              std::vector<std::int32_t> expected = C, other = C;
              const auto byte = [](std::uint8_t x, bool is_signed) {
                return is_signed ? static_cast<int>(static_cast<std::int8_t>(x)) : int{x};
              };
              for (int i = 0; i < m; ++i)
                for (int j = 0; j < n; ++j) {
                  std::int64_t sum = 0;
                  for (int l = 0; l < k; ++l)
                    sum +=
                        std::int64_t{byte(A[place(order, ta, lda, i, l)], order == kColumn) + ao} *
                        (byte(B[place(order, tb, ldb, l, j)], order == kRow) + bo);
                  std::int32_t& to = expected[place(order, kNone, ldc, i, j)];
                  const std::int32_t offset = co[form == kFixedOffset ? 0
                                                 : form == kRowOffset ? j
                                                                      : i];
                  const double value =
                      double{alpha} * static_cast<double>(sum) + double{beta} * to + offset;
                  to = static_cast<std::int32_t>(
                      std::nearbyint(std::clamp(value, -2147483648.0, 2147483647.0)));
                }
              const auto a8 = static_cast<std::int8_t>(ao), b8 = static_cast<std::int8_t>(bo);
              cblas_gemm_s8u8s32(order, ta, tb, form, m, n, k, alpha, A.data(), lda, a8, B.data(),
                                 ldb, b8, beta, C.data(), ldc, co.data());
              EXPECT_EQ(C, expected) << "order=" << order << " m=" << m << " n=" << n << " k=" << k
                                     << " form=" << form << " alpha=" << alpha << " ao=" << ao;
              if (order != kColumn) continue;
              const char a = letter(ta), b = letter(tb), f = "RCF"[form - kRowOffset];
              const float scale = alpha, keep = beta;
              gemm_s8u8s32_(&a, &b, &f, &m, &n, &k, &scale, A.data(), &lda, &a8, B.data(), &ldb,
                            &b8, &keep, other.data(), &ldc, co.data());
              EXPECT_EQ(other, expected) << "Fortran m=" << m << " n=" << n << " k=" << k;
            }
}

}  // namespace
}  // namespace tessera::testing
