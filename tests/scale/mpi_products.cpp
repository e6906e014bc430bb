// Products of distributed matrices under mpirun, on communicators of 1 to all ranks: every element
// is compared with that of one call. Prints how many products, and how many were wrong.
#include <cstdio>
#include <cstring>
#include <vector>

#include "tessera/core/random.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/scale/mpi.hpp"

namespace {

using tessera::index_t;

/// The part of an extent that block n of `count` has.
index_t place(index_t extent, int n, int count) { return extent * n / count; }

template <class T>
std::vector<T> random_elements(index_t count, std::uint64_t seed) {
  std::vector<T> out(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < out.size(); ++n)
    out[n] = static_cast<T>(200 * tessera::random_unit(seed, n) - 100);
  return out;
}

/// How a matrix is distributed: bands of rows, of columns, or the whole of it on the last rank.
enum class Cut { rows, columns, last };

template <class M, class T>
tessera::mpi::Distributed<M> distributed(T* whole, index_t rows, index_t cols, Cut cut, int rank,
                                         int ranks) {
  tessera::mpi::Distributed<M> out{rows, cols, tessera::dtype_of<std::remove_const_t<T>>(), {}};
  index_t i0 = 0, i1 = rows, j0 = 0, j1 = cols;
  if (cut == Cut::rows) i0 = place(rows, rank, ranks), i1 = place(rows, rank + 1, ranks);
  if (cut == Cut::columns) j0 = place(cols, rank, ranks), j1 = place(cols, rank + 1, ranks);
  if (cut == Cut::last && rank + 1 != ranks) return out;
  out.parts.push_back({i0, j0, M{whole + i0 * cols + j0, out.dtype, i1 - i0, j1 - j0, cols, 1}});
  return out;
}

template <class In, class Out>
bool is_right(MPI_Comm communicator, index_t M, index_t N, index_t K, Cut a, Cut b, Cut c,
              double beta) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  const std::vector<In> A = random_elements<In>(M * K, 1), B = random_elements<In>(K * N, 2);
  std::vector<Out> C = random_elements<Out>(M * N, 3), expected = C;
  const auto dtype = tessera::dtype_of<In>(), out = tessera::dtype_of<Out>();
  tessera::Options options;
  options.algorithm = "packed", options.threads = 1;
  tessera::matmul(tessera::ConstMatrix{A.data(), dtype, M, K, K, 1},
                  tessera::ConstMatrix{B.data(), dtype, K, N, N, 1},
                  tessera::Matrix{expected.data(), out, M, N, N, 1}, 1, beta, options);
  const auto own = distributed<tessera::Matrix>(C.data(), M, N, c, rank, ranks);
  tessera::mpi::matmul(
      communicator, distributed<tessera::ConstMatrix>(A.data(), M, K, a, rank, ranks),
      distributed<tessera::ConstMatrix>(B.data(), K, N, b, rank, ranks), own, 1, beta, options);
  bool right = true;
  for (const auto& each : own.parts) {
    for (index_t i = each.row; i < each.row + each.data.rows; ++i) {
      const auto at = static_cast<std::size_t>(i * N + each.col);
      right = right && std::memcmp(&C[at], &expected[at],
                                   static_cast<std::size_t>(each.data.cols) * sizeof(Out)) == 0;
    }
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, products = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int count = 1; count <= ranks; ++count) {
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &some);
    if (some == MPI_COMM_NULL) continue;
    for (const Cut a : {Cut::rows, Cut::columns}) {
      for (const Cut c : {Cut::rows, Cut::columns, Cut::last}) {
        const bool right[] = {
            is_right<float, float>(some, 67, 45, 83, a, Cut::rows, c, 0),
            is_right<double, double>(some, 20, 31, 300, a, Cut::columns, c, 1),
            is_right<std::int8_t, std::int32_t>(some, 90, 17, 40, a, Cut::last, c, 0)};
        for (const bool each : right) ++products, wrong += each ? 0 : 1;
      }
    }
    MPI_Comm_free(&some);
  }
  int all_wrong = 0;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d products, %d wrong\n", products, all_wrong);
  MPI_Finalize();
  return 0;
}
