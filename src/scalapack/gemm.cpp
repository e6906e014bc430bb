// p{s,d,c,z}gemm_ for programs that use ScaLAPACK, by link order or LD_PRELOAD. The block-cyclic
// distribution becomes one of parts: rows and columns of C in the order of the grid, so that each
// process has one part of C, and k in its own order, so that the sums have the same bits on any
// grid. multiply_parts() then chooses between keeping C in place and other divisions of the work.
// Calls with illegal arguments, empty extents or replicated matrices, and products for which
// ScaLAPACK sends less, go to the program's ScaLAPACK.
#include <complex>
#include <cstdio>
#include <cstdlib>

#include "base/complex_sums.hpp"
#include "mpi/plugin.h"
#include "scale/mpi_transport.hpp"
#include "windows.hpp"

namespace tessera::scale {

namespace {

bool is_letter(char given, char letter) { return given == letter || given == letter + 32; }

int threads_of_rank() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

/// The matrices of a product as the ranks have them. A complex element is two rows of A, two
/// columns of B, and both of C, whose four sums are combined at the end: the same sums as in
/// zgemm_.
template <class T>
struct Operands {
  using Real = typename RealOf<T>::type;
  static constexpr bool kIsComplex = !std::is_same_v<T, Real>;
  static constexpr index_t kReals = kIsComplex ? 2 : 1;
  static constexpr DType kType = dtype_of<Real>();

  Operands(index_t M, index_t N, index_t K)
      : A{kReals * M, K, kType, {}},
        B{K, kReals * N, kType, {}},
        C{kReals * M, kReals * N, kType, {}} {}

  Owners owners;
  Distributed<ConstMatrix> A, B;
  Distributed<Matrix> C;
  std::vector<std::vector<Real>> memory;  ///< copies and sums
  std::vector<T*> results;                ///< by part of C: its first complex element

  /// Lines of a factor, rows of A or columns of B, as (lines, K). `is_along`: neighbours in memory
  /// are of neighbouring lines, else of one line.
  ConstMatrix lines(const T* first, index_t count, index_t depth, index_t leading, bool is_along) {
    const auto* const reals = reinterpret_cast<const Real*>(first);
    if constexpr (!kIsComplex)
      return {reals, kType, count, depth, is_along ? 1 : leading, is_along ? leading : 1};
    if (is_along) return {reals, kType, 2 * count, depth, 1, 2 * leading};
    Real* const copy = memory.emplace_back(static_cast<std::size_t>(2 * count * depth)).data();
    for (index_t line = 0; line < count; ++line)
      for (index_t k = 0; k < depth; ++k)
        for (index_t part = 0; part < 2; ++part)
          copy[2 * (line + k * count) + part] = reals[2 * (k + line * leading) + part];
    return {copy, kType, 2 * count, depth, 1, 2 * count};
  }

  /// Where the sums of a part of C go: to its place, or to memory of their own.
  Matrix sums(T* first, index_t rows, index_t cols, index_t leading) {
    if constexpr (!kIsComplex) return {first, kType, rows, cols, 1, leading};
    results.push_back(first);
    Real* const data = memory.emplace_back(static_cast<std::size_t>(4 * rows * cols)).data();
    return {data, kType, 2 * rows, 2 * cols, 2 * cols, 1};
  }

  /// C = alpha * sums + beta * C of complex elements.
  void combine(ComplexSums conjugates, T alpha, T beta, index_t leading) const {
    for (std::size_t n = 0; n < results.size(); ++n) {
      const Matrix& m = C.parts[n].data;
      for (index_t i = 0; i < m.rows / 2; ++i) {
        const Real* const re = static_cast<const Real*>(m.data) + 2 * i * m.row_stride;
        const Real* const im = re + m.row_stride;
        for (index_t j = 0; j < m.cols / 2; ++j) {
          T& c = results[n][i + j * leading];
          const T sum = conjugates.combined(re[2 * j], re[2 * j + 1], im[2 * j], im[2 * j + 1]);
          const T product = alpha == T{1} ? sum : scaled(alpha, sum);
          c = beta == T{0} ? product : product + scaled(beta, c);
        }
      }
    }
  }
};

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
  const FactorAxes lines_a{a.axis(true, M, grid), a.axis(false, K, grid), !a.transposed};
  const FactorAxes lines_b{b.axis(false, N, grid), b.axis(true, K, grid), b.transposed};
  const std::vector<int> m = grouped(c.axis(true, M, grid)), n = grouped(c.axis(false, N, grid));
  std::vector<int> k(static_cast<std::size_t>(K));
  std::iota(k.begin(), k.end(), 0);
  using Product = Operands<T>;
  constexpr index_t kReals = Product::kReals;
  Product p(M, N, K);
  each_part(a, runs_of(lines_a.lines, m), runs_of(lines_a.k, k), grid, {kReals, 1}, p.owners.a,
            [&](const Run& i, const Run& j, const T* first) {
              p.A.parts.push_back(
                  {kReals * i.begin, j.begin,
                   p.lines(first, i.end - i.begin, j.end - j.begin, a.d.leading, !a.transposed)});
            });
  each_part(b, runs_of(lines_b.k, k), runs_of(lines_b.lines, n), grid, {1, kReals}, p.owners.b,
            [&](const Run& i, const Run& j, const T* first) {
              p.B.parts.push_back({i.begin, kReals * j.begin,
                                   transposed(p.lines(first, j.end - j.begin, i.end - i.begin,
                                                      b.d.leading, b.transposed))});
            });
  each_part(c, runs_of(c.axis(true, M, grid), m), runs_of(c.axis(false, N, grid), n), grid,
            {kReals, kReals}, p.owners.c, [&](const Run& i, const Run& j, T* first) {
              p.C.parts.push_back({kReals * i.begin, kReals * j.begin,
                                   p.sums(first, i.end - i.begin, j.end - j.begin, c.d.leading)});
            });
  Options options;
  options.threads = threads_of_rank();
  const bool rows_of_a = Product::kIsComplex || !a.transposed;  // neighbours in memory
  const bool columns_of_b = Product::kIsComplex || b.transposed;
  const double factor = Product::kIsComplex ? 1 : std::real(alpha);
  const double theirs = std::min(elements_sent_with(lines_a, lines_b, grid),
                                 elements_sent_with(lines_b, lines_a, grid));
  const Plan plan =
      plan_of_parts(p.A, p.B, p.C, factor, Product::kIsComplex ? 0 : std::real(beta), options);
  if (!multiply_parts(transport, plan, p.owners, p.A, rows_of_a ? Order::fortran : Order::c, p.B,
                      columns_of_b ? Order::c : Order::fortran, p.C,
                      theirs * static_cast<double>(sizeof(T))))
    return false;
  if constexpr (Product::kIsComplex)
    p.combine({a.conjugate, b.conjugate}, alpha, beta, c.d.leading);
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
    const Window<const T> A{a,      descriptor(desca),      *ia - 1, *ja - 1,
                            turn_a, is_letter(*transa, 'C')},
        B{b, descriptor(descb), *ib - 1, *jb - 1, turn_b, is_letter(*transb, 'C')};
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

// The complex types of Fortran have the layout of those of C++, but no linkage of C.
#define TESSERA_PGEMM(name, T)                                                                  \
  extern "C" [[gnu::visibility("default")]] void name(                                          \
      const char* transa, const char* transb, const int* m, const int* n, const int* k,         \
      const void* alpha, const void* a, const int* ia, const int* ja, const int* desca,         \
      const void* b, const int* ib, const int* jb, const int* descb, const void* beta, void* c, \
      const int* ic, const int* jc, const int* descc) {                                         \
    tessera::scale::gemm(#name, transa, transb, m, n, k, static_cast<const T*>(alpha),          \
                         static_cast<const T*>(a), ia, ja, desca, static_cast<const T*>(b), ib, \
                         jb, descb, static_cast<const T*>(beta), static_cast<T*>(c), ic, jc,    \
                         descc);                                                                \
  }

TESSERA_PGEMM(psgemm_, float)
TESSERA_PGEMM(pdgemm_, double)
TESSERA_PGEMM(pcgemm_, std::complex<float>)
TESSERA_PGEMM(pzgemm_, std::complex<double>)
