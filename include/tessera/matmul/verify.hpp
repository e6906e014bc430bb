// Is a computed C right? Every element is compared with an independent, more precise product and
// with the componentwise bound  |C - exact| <= gamma(K+2) (|alpha| |A| |B| + |beta| |C0|) +
// rounding of inputs and result. Source of the bound: Higham, "Accuracy and Stability of Numerical
// Algorithms", 2nd ed., section 3.5. The reference shares no code with the kernels.
#pragma once

#include <functional>
#include <memory>

#include "tessera/core/arithmetic.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera {

/// The largest number of bytes that a Verifier keeps for each element of C: the exact value (in two
/// parts for f64),
/// its bound (and that of TF32 for f32), the bits of the chain. f16 and bf16 take 24 bytes, i32
/// takes 8.
inline constexpr index_t kVerifierBytes = 32;

struct Verification {
  double max_error_ratio =
      0;  ///< largest |error| / bound over all elements; NaN or infinity where one is not allowed
  bool within_bound =
      true;  ///< max_error_ratio <= 1, and NaN and infinities exactly where they must be
  bool same_bits = true;  ///< equal, bit for bit, to one chain of fused multiply-adds in order of k
  index_t outside = 0;    ///< elements beyond the bound
  index_t row = -1, col = -1;  ///< the first of them
  double expected = 0, got = 0;
};

/// Keeps the exact product, its bound and the chain's bits of one problem, to check many results
/// against. Memory: kVerifierBytes for each element of C; while it is built also A and B in the
/// accumulator's type. Time: about three plain products.
class Verifier {
 public:
  /// `C0` is C before the product (read only when beta != 0). `progress(done, total)` is called
  /// from time to time.
  Verifier(const Problem& problem, const ConstMatrix& A, const ConstMatrix& B,
           const ConstMatrix& C0, const void* bias = nullptr, int threads = 0,
           const std::function<void(index_t, index_t)>& progress = {});
  ~Verifier();
  Verifier(Verifier&&) noexcept;
  /// Compares C, (M,N) of the problem's type, element by element. Throws Error(shape) for any other
  /// matrix.
  Verification check(const ConstMatrix& C, Arithmetic arithmetic = Arithmetic::chain) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The plain triple loop: one chain of fused multiply-adds in order of k for each element, then the
/// epilogue. This is the definition of "the same bits". A is (M,K), B is (K,N), C is
/// (M,N), as make_problem() has checked them: only their types are looked at. Throws Error(type)
/// for types without a product.
void reference_matmul(const Problem& problem, const ConstMatrix& A, const ConstMatrix& B,
                      const Matrix& C, const void* bias = nullptr);

}  // namespace tessera
