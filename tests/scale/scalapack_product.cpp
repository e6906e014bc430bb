// One pdgemm of a program that is linked to ScaLAPACK: `scalapack_product P Q M N K NB`,
// block-cyclic on a P x Q grid. All elements are small whole numbers, so the result is exact and is
// compared. Prints `right`, or how many elements are wrong.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
             const double*, const int*, const int*, const int*, const double*, const int*,
             const int*, const int*, const double*, double*, const int*, const int*, const int*);
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

double element_a(int i, int k) { return (i * 3 + k) % 7 - 3; }
double element_b(int k, int j) { return (k + j * 5) % 5 - 2; }

/// A block-cyclic matrix, column by column.
struct Matrix {
  std::vector<int> rows, cols;
  std::vector<double> data;
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

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 7) return 2;
  const int M = std::atoi(argv[3]), N = std::atoi(argv[4]), K = std::atoi(argv[5]);
  block = std::atoi(argv[6]);
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", std::atoi(argv[1]), std::atoi(argv[2]));
  Cblacs_gridinfo(context, &down, &across, &my_row, &my_col);
  const Matrix A(M, K, element_a), B(K, N, element_b);
  Matrix C(M, N, [](int, int) { return 1; });
  const int one = 1;
  const double alpha = 2, beta = 3;
  pdgemm_("N", "N", &M, &N, &K, &alpha, A.data.data(), &one, &one, A.descriptor, B.data.data(),
          &one, &one, B.descriptor, &beta, C.data.data(), &one, &one, C.descriptor);
  long wrong = 0;
  const std::size_t step = 1 + C.data.size() / 2000;  // some of many elements
  for (std::size_t n = 0; n < C.rows.size() * C.cols.size(); n += step) {
    const int i = C.rows[n % C.rows.size()], j = C.cols[n / C.rows.size()];
    double sum = 0;
    for (int k = 0; k < K; ++k) sum += element_a(i, k) * element_b(k, j);
    wrong += C.data[n] != alpha * sum + beta ? 1 : 0;
  }
  long all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && all == 0) std::puts("right");
  else if (rank == 0) std::printf("%ld elements are wrong\n", all);
  MPI_Finalize();
  return 0;
}
