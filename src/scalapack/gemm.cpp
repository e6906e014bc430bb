// psgemm_ and pdgemm_ for programs that use ScaLAPACK, by link order or LD_PRELOAD. The
// block-cyclic distribution becomes one of parts: rows and columns of C in the order of the grid,
// so that each process has one part of C, and k in its own order, so that the sums have the same
// bits on any grid. multiply_parts() then weighs keeping C in place against other boxes. Whatever
// is not plainly a product (wrong arguments, empty extents, replicated matrices) goes to the
// program's ScaLAPACK.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "mpi/plugin.h"
#include "scale/distributed_parts.hpp"
#include "scale/mpi_transport.hpp"

namespace tessera::scale {

namespace {

/// How indices are dealt out: blocks of `block`, the first one of `begin`, to processes from
/// `first` on.
struct Cyclic {
  int begin, block, first;
};

struct Descriptor {
  bool is_known = false;
  int context, rows, cols, leading;
  Cyclic down, across;
};

/// The two kinds of ScaLAPACK's descriptors: 1, and that of the PBLAS with a first block of its
/// own.
Descriptor descriptor(const int* d) {
  if (d[0] == 1) return {true, d[1], d[2], d[3], d[8], {d[4], d[4], d[6]}, {d[5], d[5], d[7]}};
  if (d[0] == 2) return {true, d[1], d[2], d[3], d[10], {d[4], d[6], d[8]}, {d[5], d[7], d[9]}};
  return {};
}

struct Grid {
  int down = 0, across = 0, row = -1, col = -1;
};

template <class Function>
Function* symbol(void* where, const char* name) {
  return reinterpret_cast<Function*>(dlsym(where, name));
}

/// One extent of a product along one extent of a matrix: for each index its owner among the rows
/// (or columns) of the grid, and its place in the owner's memory.
struct Axis {
  std::vector<int> owner, place;
};

Axis axis_of(int from, int count, const Cyclic& dealt, int processes) {
  Axis out;
  for (int at = from; at < from + count; ++at) {
    const int later = at - dealt.begin;  // behind the first block
    const int number = later < 0 ? 0 : 1 + later / dealt.block;
    const int before = number / processes;  // blocks of the same owner
    const bool has_first = number % processes == 0 && number > 0;
    out.owner.push_back((number + dealt.first) % processes);
    out.place.push_back(before * dealt.block + (has_first ? dealt.begin - dealt.block : 0) +
                        (later < 0 ? at : later % dealt.block));
  }
  return out;
}

/// Indices that one owner has side by side, in the order of the product: [begin, end).
struct Run {
  index_t begin, end;
  int owner, place;
};

std::vector<Run> runs_of(const Axis& axis, const std::vector<int>& order) {
  std::vector<Run> out;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const auto at = static_cast<std::size_t>(order[n]);
    const auto position = static_cast<index_t>(n);
    const bool goes_on = !out.empty() && out.back().owner == axis.owner[at] &&
                         out.back().place + (position - out.back().begin) == axis.place[at];
    if (goes_on) out.back().end = position + 1;
    else out.push_back({position, position + 1, axis.owner[at], axis.place[at]});
  }
  return out;
}

/// Indices by their owners.
std::vector<int> grouped(const Axis& axis) {
  std::vector<int> order(axis.owner.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return axis.owner[static_cast<std::size_t>(a)] < axis.owner[static_cast<std::size_t>(b)];
  });
  return order;
}

/// The part of a matrix that a product uses.
template <class T>
struct Window {
  T* data;
  Descriptor d;
  int row, col;  ///< of its first element, from 0
  bool transposed = false;

  bool is_plain(const Grid& grid, int rows, int cols) const {
    if (transposed) std::swap(rows, cols);
    const auto is_dealt = [](const Cyclic& c, int processes) {
      return c.begin > 0 && c.block > 0 && c.first >= 0 && c.first < processes;
    };
    return d.is_known && row >= 0 && col >= 0 && row + rows <= d.rows && col + cols <= d.cols &&
           is_dealt(d.down, grid.down) && is_dealt(d.across, grid.across);
  }
  /// Is there memory for this process's rows? Others may have fewer.
  bool has_room(const Grid& grid) const {
    const Axis all = axis_of(0, d.rows, d.down, grid.down);
    int own = 0;
    for (const int owner : all.owner) own += owner == grid.row ? 1 : 0;
    return d.leading >= std::max(1, own);
  }
  Axis axis(bool rows_of_product, int count, const Grid& grid) const {
    return rows_of_product != transposed ? axis_of(row, count, d.down, grid.down)
                                         : axis_of(col, count, d.across, grid.across);
  }
};

/// The parts of a window, for all ranks into `all` and for this one into `own`.
template <class T, class M>
void add_parts(const Window<T>& window, const std::vector<Run>& rows, const std::vector<Run>& cols,
               const Grid& grid, std::vector<Named>& all, Distributed<M>& own) {
  for (const Run& i : rows) {
    for (const Run& j : cols) {
      const Run &row = window.transposed ? j : i, &col = window.transposed ? i : j;
      all.push_back({{i.begin, i.end, j.begin, j.end}, row.owner * grid.across + col.owner});
      if (row.owner != grid.row || col.owner != grid.col) continue;
      T* const first = window.data + row.place + static_cast<index_t>(col.place) * window.d.leading;
      const index_t leading = window.d.leading;
      own.parts.push_back({i.begin, j.begin,
                           M{first, own.dtype, i.end - i.begin, j.end - j.begin,
                             window.transposed ? leading : 1, window.transposed ? 1 : leading}});
    }
  }
}

/// The grid of a context, and its communicator, whose ranks are the grid's processes row by row.
bool find_grid(int context, Grid& grid, MPI_Comm& communicator) {
  static auto* const info =
      symbol<void(int, int*, int*, int*, int*)>(RTLD_DEFAULT, "Cblacs_gridinfo");
  static auto* const get = symbol<void(int, int, int*)>(RTLD_DEFAULT, "Cblacs_get");
  static auto* const handle = symbol<MPI_Comm(int)>(RTLD_DEFAULT, "Cblacs2sys_handle");
  if (info == nullptr || get == nullptr || handle == nullptr || context < 0) return false;
  info(context, &grid.down, &grid.across, &grid.row, &grid.col);
  if (grid.row < 0 || grid.col < 0) return false;
  constexpr int kSystemContext = 10;
  int number = -1;
  get(context, kSystemContext, &number);
  communicator = handle(number);
  int rank = -1, ranks = 0;
  return MPI_Comm_rank(communicator, &rank) == MPI_SUCCESS &&
         MPI_Comm_size(communicator, &ranks) == MPI_SUCCESS && ranks == grid.down * grid.across &&
         rank == grid.row * grid.across + grid.col;
}

bool is_letter(char given, char letter) { return given == letter || given == letter + 32; }

int threads_of_rank() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

/// Computes the product; false, with nothing done, if ScaLAPACK should do it.
template <class T>
bool multiply(const Window<const T>& a, const Window<const T>& b, const Window<T>& c, int M, int N,
              int K, T alpha, T beta) {
  Grid grid;
  MPI_Comm communicator = MPI_COMM_NULL;
  if (M <= 0 || N <= 0 || K <= 0 || alpha == T{0} || a.d.context != b.d.context ||
      a.d.context != c.d.context || !find_grid(c.d.context, grid, communicator) ||
      !a.is_plain(grid, M, K) || !b.is_plain(grid, K, N) || !c.is_plain(grid, M, N))
    return false;
  MpiTransport transport(tessera_mpi(), MPI_Comm_c2f(communicator), [](const std::string& text) {
    std::fprintf(stderr, "tessera: pgemm: %s\n", text.c_str());
  });
  const bool has_room = a.has_room(grid) && b.has_room(grid) && c.has_room(grid);
  if (transport.least(has_room ? 1 : 0) == 0) return false;
  const std::vector<int> m = grouped(c.axis(true, M, grid)), n = grouped(c.axis(false, N, grid));
  std::vector<int> k(static_cast<std::size_t>(K));
  std::iota(k.begin(), k.end(), 0);
  Owners owners;
  const DType dtype = dtype_of<T>();
  Distributed<ConstMatrix> A{M, K, dtype, {}}, B{K, N, dtype, {}};
  Distributed<Matrix> C{M, N, dtype, {}};
  add_parts(a, runs_of(a.axis(true, M, grid), m), runs_of(a.axis(false, K, grid), k), grid,
            owners.a, A);
  add_parts(b, runs_of(b.axis(true, K, grid), k), runs_of(b.axis(false, N, grid), n), grid,
            owners.b, B);
  add_parts(c, runs_of(c.axis(true, M, grid), m), runs_of(c.axis(false, N, grid), n), grid,
            owners.c, C);
  Options options;
  options.threads = threads_of_rank();
  multiply_parts(transport, plan_of_parts(A, B, C, alpha, beta, options), owners, A,
                 a.transposed ? Order::c : Order::fortran, B,
                 b.transposed ? Order::c : Order::fortran, C);
  return true;
}

template <class T>
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*,
                  const int*, const int*, const int*, const T*, const int*, const int*, const int*,
                  const T*, T*, const int*, const int*, const int*);

template <class T>
void gemm(const char* name, const char* transa, const char* transb, const int* m, const int* n,
          const int* k, const T* alpha, const T* a, const int* ia, const int* ja, const int* desca,
          const T* b, const int* ib, const int* jb, const int* descb, const T* beta, T* c,
          const int* ic, const int* jc, const int* descc) {
  const bool turn_a = is_letter(*transa, 'T') || is_letter(*transa, 'C');
  const bool turn_b = is_letter(*transb, 'T') || is_letter(*transb, 'C');
  if ((turn_a || is_letter(*transa, 'N')) && (turn_b || is_letter(*transb, 'N'))) {
    const Window<const T> A{a, descriptor(desca), *ia - 1, *ja - 1, turn_a},
        B{b, descriptor(descb), *ib - 1, *jb - 1, turn_b};
    const Window<T> C{c, descriptor(descc), *ic - 1, *jc - 1};
    if (multiply(A, B, C, *m, *n, *k, *alpha, *beta)) return;
  }
  auto* const other = symbol<Gemm<T>>(RTLD_NEXT, name);
  if (other == nullptr) {
    std::fprintf(stderr, "tessera: %s: these arguments need ScaLAPACK, which is not loaded\n",
                 name);
    std::abort();
  }
  other(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc, descc);
}

}  // namespace

}  // namespace tessera::scale

extern "C" {

[[gnu::visibility("default")]] void pdgemm_(const char* transa, const char* transb, const int* m,
                                            const int* n, const int* k, const double* alpha,
                                            const double* a, const int* ia, const int* ja,
                                            const int* desca, const double* b, const int* ib,
                                            const int* jb, const int* descb, const double* beta,
                                            double* c, const int* ic, const int* jc,
                                            const int* descc) {
  tessera::scale::gemm("pdgemm_", transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb,
                       descb, beta, c, ic, jc, descc);
}

[[gnu::visibility("default")]] void psgemm_(const char* transa, const char* transb, const int* m,
                                            const int* n, const int* k, const float* alpha,
                                            const float* a, const int* ia, const int* ja,
                                            const int* desca, const float* b, const int* ib,
                                            const int* jb, const int* descb, const float* beta,
                                            float* c, const int* ic, const int* jc,
                                            const int* descc) {
  tessera::scale::gemm("psgemm_", transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb,
                       descb, beta, c, ic, jc, descc);
}

}  // extern "C"
