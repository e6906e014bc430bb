// Calls the entry points of the forwarding functions, the first time and the second.
#include <complex>
#include <cstdio>

struct Large {
  double values[6];
};

extern "C" {
int saxpy_(int, long, int, long, int, long, int, long, int, long, double, float, double, float,
           double, float, double, float, double, float);
float sdot_(float);
double ddot_(double);
std::complex<float> cdotc_(std::complex<float>);
std::complex<double> zdotc_(std::complex<double>);
Large drotm_(Large, int);
const void* caxpy_(const void*);
int dscal_();
}

int main(int count, char**) {
  for (int time = 1; time <= 2; ++time) {
    int wrong = 0;
    wrong += saxpy_(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20) != 1;
    wrong += sdot_(7) != 3.5f;
    wrong += ddot_(9) != 4.5;
    wrong += cdotc_({1, 2}) != std::complex<float>(1, -2);
    wrong += zdotc_({3, 4}) != std::complex<double>(3, -4);
    wrong += drotm_({{1, 2, 3, 4, 5, 6}}, 3).values[5] != 18;
    wrong += caxpy_(&wrong) != &wrong;
    std::printf("%d wrong\n", wrong);
    std::fflush(stdout);
  }
  return count > 1 ? dscal_() : 0;  // a name that no other BLAS has
}
