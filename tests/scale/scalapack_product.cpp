// One pdgemm or pzgemm of a program that is linked to ScaLAPACK: `scalapack_product d|z N|T|C P Q
// M N K NB`, block-cyclic on a P x Q grid; N, T or C: B as it is, transposed or conjugated. All
// elements are small whole numbers, so the result is exact and is compared. Prints `right`, or how
// many elements are wrong.
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
#define PGEMM(name)                                                                               \
  void name(const char*, const char*, const int*, const int*, const int*, const void*,            \
            const void*, const int*, const int*, const int*, const void*, const int*, const int*, \
            const int*, const void*, void*, const int*, const int*, const int*)
PGEMM(pdgemm_);
PGEMM(pzgemm_);
}

namespace {

int context = 0, down = 0, across = 0, my_row = 0, my_col = 0, block = 0;

/// Indices of `count` that process `mine` of `processes` has.
std::vector<int> own_indices(int count, int mine, int processes) {
  std::vector<int> out;
  for (int n = 0; n < count; ++n)
    if (n / block % processes == mine) out.push_back(n);
  return out;
}

template <class T>
T with_imaginary_part(double re, double im) {
  if constexpr (std::is_same_v<T, double>) return re;
  else return {re, im};
}
template <class T>
T element_a(int i, int k) {
  return with_imaginary_part<T>((i * 3 + k) % 7 - 3, (i + k * 2) % 3 - 1);
}
template <class T>
T element_b(int k, int j) {
  return with_imaginary_part<T>((k + j * 5) % 5 - 2, (k * 3 + j) % 4 - 1);
}

/// A block-cyclic matrix, column by column.
template <class T>
struct Matrix {
  std::vector<int> rows, cols;
  std::vector<T> data;
  int descriptor[9];

  template <class Element>
  Matrix(int row_count, int col_count, const Element& element)
      : rows(own_indices(row_count, my_row, down)), cols(own_indices(col_count, my_col, across)) {
    const int leading = std::max<int>(1, static_cast<int>(rows.size()));
    const int numbers[] = {1, context, row_count, col_count, block, block, 0, 0, leading};
    std::copy(std::begin(numbers), std::end(numbers), descriptor);
    for (const int j : cols)
      for (const int i : rows) data.push_back(element(i, j));
    data.resize(std::max<std::size_t>(1, data.size()));
  }
};

/// How many elements of C are wrong on this process.
template <class T>
long product(const char* op, int M, int N, int K, decltype(pdgemm_)* pgemm) {
  const bool is_plain = *op == 'N';
  const double sign = *op == 'C' ? -1 : 1;
  const Matrix<T> A(M, K, element_a<T>);
  const Matrix<T> B(is_plain ? K : N, is_plain ? N : K, [&](int i, int j) {
    const T element = is_plain ? element_b<T>(i, j) : element_b<T>(j, i);
    return with_imaginary_part<T>(std::real(element), sign * std::imag(element));
  });
  Matrix<T> C(M, N, [](int, int) { return 1; });
  const int one = 1;
  const T alpha = with_imaginary_part<T>(2, 1), beta = with_imaginary_part<T>(3, -1);
  pgemm("N", op, &M, &N, &K, &alpha, A.data.data(), &one, &one, A.descriptor, B.data.data(), &one,
        &one, B.descriptor, &beta, C.data.data(), &one, &one, C.descriptor);
  long wrong = 0;
  const std::size_t step = 1 + C.data.size() / 2000;  // some of many elements
  for (std::size_t n = 0; n < C.rows.size() * C.cols.size(); n += step) {
    const int i = C.rows[n % C.rows.size()], j = C.cols[n / C.rows.size()];
    T sum = 0;
    for (int k = 0; k < K; ++k) sum += element_a<T>(i, k) * element_b<T>(k, j);
    wrong += C.data[n] != alpha * sum + beta ? 1 : 0;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 9) return 2;
  const int M = std::atoi(argv[5]), N = std::atoi(argv[6]), K = std::atoi(argv[7]);
  block = std::atoi(argv[8]);
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", std::atoi(argv[3]), std::atoi(argv[4]));
  Cblacs_gridinfo(context, &down, &across, &my_row, &my_col);
  const long wrong = *argv[1] == 'z' ? product<std::complex<double>>(argv[2], M, N, K, pzgemm_)
                                     : product<double>(argv[2], M, N, K, pdgemm_);
  long all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && all == 0) std::puts("right");
  else if (rank == 0) std::printf("%ld elements are wrong\n", all);
  MPI_Finalize();
  return 0;
}
