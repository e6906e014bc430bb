// A caller whose arithmetic flushes subnormal numbers: every algorithm keeps them nevertheless, so
// all have the same bits, and the caller's arithmetic is as before.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tessera/matmul/batch.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/packed_matrix.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>

namespace tessera {
namespace {

constexpr unsigned kDaz = 0x40, kFtz = 0x8000;

class Flushes {
 public:
  explicit Flushes(unsigned how) { _mm_setcsr(before_ | how); }
  ~Flushes() { _mm_setcsr(before_); }

 private:
  const unsigned before_ = _mm_getcsr();
};

/// Sums of elements that are subnormal or not much larger.
struct Tiny {
  static constexpr index_t M = 21, N = 19, K = 17;
  std::vector<float> a = std::vector<float>(M * K), b = std::vector<float>(K * N),
                     c = std::vector<float>(M * N, 1e-39f);

  Tiny() {
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = 1e-38f * static_cast<float>(static_cast<int>(i % 7) - 3) / static_cast<float>(i + 1);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) / 4 - 0.5f;
  }
  ConstMatrix A() const { return matrix(a.data(), M, K); }
  ConstMatrix B() const { return matrix(b.data(), K, N); }
  Matrix C() { return matrix(c.data(), M, N); }
  bool same_as(const Tiny& other) const {
    return std::memcmp(c.data(), other.c.data(), c.size() * sizeof(float)) == 0;
  }
};

template <class Multiply>
void expect_kept(const std::string& what, const Multiply& multiply) {
  Tiny expected;
  multiply(expected);
  for (const unsigned how : {kDaz, kFtz, kDaz | kFtz}) {
    Tiny got;
    {
      const Flushes flushes(how);
      const unsigned before = _mm_getcsr() & ~0x3Fu;
      multiply(got);
      EXPECT_EQ(_mm_getcsr() & ~0x3Fu, before) << what;
    }
    EXPECT_TRUE(got.same_as(expected)) << what << ", MXCSR + " << how;
  }
}

TEST(Flushing, ChangesNoProductOfAnyAlgorithm) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const double alpha : {1.0, -0.5}) {
      for (const double beta : {0.0, 1.0}) {
        const auto multiply = [&](Tiny& p) {
          matmul(p.A(), p.B(), p.C(), alpha, beta, {.algorithm = std::string(algorithm.name)});
        };
        try {
          Tiny tried;
          multiply(tried);
        } catch (const Error&) {
          continue;  // for other types, or another device
        }
        expect_kept(std::string(algorithm.name), multiply);
      }
    }
  }
}

TEST(Flushing, ChangesNoBatchAndNoProductOfAPackedMatrix) {
  expect_kept("packed matrix", [](Tiny& p) { matmul(p.A(), PackedMatrix(p.B()), p.C()); });
  expect_kept("strided", [](Tiny& p) { matmul_strided(p.A(), p.B(), p.C(), 1, {}); });
  expect_kept("batch", [](Tiny& p) {
    const std::vector<Product> one = {{p.A(), p.B(), p.C()}};
    matmul_batch(one, 1, 1);
  });
}

}  // namespace
}  // namespace tessera
#endif
