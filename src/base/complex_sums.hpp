// A complex product from four real ones: the real and imaginary parts of A are separate rows, those
// of B separate columns, and each pair of factors gives one sum.
#pragma once

#include <complex>

namespace tessera {

/// The type of the parts of a complex T; a real T itself.
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};

template <class R>
R scaled(R factor, R x) {
  return factor * x;
}
/// A real factor only scales both parts, so that it does not turn infinities into NaN.
template <class R>
std::complex<R> scaled(std::complex<R> factor, std::complex<R> x) {
  const R a = factor.real(), b = factor.imag();
  if (b == R{0}) return {a * x.real(), a * x.imag()};
  return {a * x.real() - b * x.imag(), a * x.imag() + b * x.real()};
}

/// How the sums become an element of C; which factors are conjugated.
struct ComplexSums {
  bool of_a = false, of_b = false;

  /// `ri`: the sum of real parts of A times imaginary parts of B.
  template <class R>
  std::complex<R> combined(R rr, R ri, R ir, R ii) const {
    // Subtracted from 0, so that the conjugate of a zero is +0, whichever factors are conjugated.
    return {of_a == of_b ? rr - ii : rr + ii, of_a   ? (of_b ? (R{0} - ri) : ri) - ir
                                              : of_b ? ir - ri
                                                     : ri + ir};
  }
};

}  // namespace tessera
