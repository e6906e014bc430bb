// A BLAS to be passed on to, with functions that no BLAS has: they look at every register and stack
// slot that can hold an argument, and return in every way there is.
#include <complex>

struct Large {
  double values[6];
};

extern "C" {
void dgemm_() {}
void cblas_dgemm() {}

/// 1 where all of 10 integers and 10 numbers are what they should be.
int saxpy_(int a, long b, int c, long d, int e, long f, int g, long h, int i, long j, double k,
           float l, double m, float n, double o, float p, double q, float r, double s, float t) {
  const bool integers = a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 &&
                        h == 8 && i == 9 && j == 10;
  const bool numbers = k == 11 && l == 12 && m == 13 && n == 14 && o == 15 && p == 16 && q == 17 &&
                       r == 18 && s == 19 && t == 20;
  return integers && numbers ? 1 : 0;
}
float sdot_(float x) { return x / 2; }
double ddot_(double x) { return x / 2; }
std::complex<float> cdotc_(std::complex<float> x) { return std::conj(x); }
std::complex<double> zdotc_(std::complex<double> x) { return std::conj(x); }
/// Returned through memory that the caller gives.
Large drotm_(Large x, int by) {
  for (double& value : x.values) value *= by;
  return x;
}
const void* caxpy_(const void* x) { return x; }
}
