// The exact product, its bound and the reference's bits, element by element. Shares no arithmetic
// with the kernels: it has its own sums in twice the precision, its own epilogue and its own choice
// of instruction set, so that a common error cannot hide.
// Over 400 lines: the sums and bounds of one verifier for all types.
#include "tessera/matmul/verify.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

#include "product_types.hpp"
#include "tessera/core/dtype.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera {

namespace {

/// Element (i, j) of a matrix of type T.
template <class T, class Void>
T element(const MatrixView<Void>& m, index_t i, index_t j) {
  return static_cast<const T*>(m.data)[i * m.row_stride + j * m.col_stride];
}

/// Calls body(TypeTag<T>{}) for a type that kernels multiply.
template <class Body>
void visit_operand(DType type, Body&& body) {
  if (!detail::visit_product_type(type, body))
    throw Error(Category::type, cat("verify: there is no product of ", name(type)));
}

/// Dense row-major copy in another type.
template <class To>
std::vector<To> dense(const ConstMatrix& m) {
  std::vector<To> out(static_cast<std::size_t>(m.rows * m.cols));
  visit_operand(m.dtype, [&]<class T>(TypeTag<T>) {
    for (index_t i = 0; i < m.rows; ++i) {
      for (index_t j = 0; j < m.cols; ++j)
        out[static_cast<std::size_t>(i * m.cols + j)] = convert<To>(element<T>(m, i, j));
    }
  });
  return out;
}

/// For the chain, GELU and SiLU are those of core/activation.hpp; the exact value uses the C
/// library in higher precision.
template <class Acc>
Acc gelu(Acc x) {
  return activate(Activation::gelu, x);
}
template <class Acc>
Acc silu(Acc x) {
  return activate(Activation::silu, x);
}
long double gelu(long double x) {
  return std::isinf(x) ? std::max(x, -0.L) : x / 2 * std::erfc(-x * std::sqrt(0.5L));
}
long double silu(long double x) {
  if (x >= 0) return x / (1 + std::exp(-x));
  return std::isinf(x) ? -0.L : x * std::exp(x) / (1 + std::exp(x));
}

/// The epilogue again, in the order alpha, beta, bias, activation, clamp; on purpose not the
/// kernels' code.
template <class Acc>
Acc epilogue(const Problem& p, Acc sum, Acc old, Acc bias) {
  const Acc alpha = static_cast<Acc>(p.alpha), beta = static_cast<Acc>(p.beta);
  if constexpr (std::is_integral_v<Acc>) {
    using U = std::make_unsigned_t<Acc>;
    U value = static_cast<U>(alpha) * static_cast<U>(sum);
    if (beta != 0) value += static_cast<U>(beta) * static_cast<U>(old);
    if (p.epilogue.bias != Bias::none) value += static_cast<U>(bias);
    const Acc out = static_cast<Acc>(value);
    const Acc active = p.epilogue.activation == Activation::relu ? std::max<Acc>(out, 0) : out;
    const auto limits = last_step<Acc>(p.epilogue);
    return std::min(std::max(active, limits.low), limits.high);
  } else {
    Acc value = alpha == Acc{1} ? sum : alpha * sum;
    if (beta != Acc{0}) value = std::fma(beta, old, value);
    if (p.epilogue.bias != Bias::none) value = value + bias;
    switch (p.epilogue.activation) {
      case Activation::none: break;
      case Activation::relu: value = value < 0 ? Acc{0} : value; break;
      case Activation::gelu: value = gelu(value); break;
      case Activation::silu: value = silu(value); break;
    }
    if (value < static_cast<Acc>(p.epilogue.low)) value = static_cast<Acc>(p.epilogue.low);
    if (value > static_cast<Acc>(p.epilogue.high)) value = static_cast<Acc>(p.epilogue.high);
    return value;
  }
}

/// Sums of one row of C over a run of columns: the chain in the accumulator's type, the precise sum
/// as high + low, and the sum of magnitudes.
constexpr int kColumns = 256;
template <class Acc>
struct RowSums {
  Acc chain[kColumns];
  double high[kColumns], low[kColumns], magnitude[kColumns];
};

template <class Acc>
struct RowTask {
  const Acc* a;  ///< row of A, K elements
  const Acc* b;  ///< (K, N), row-major, first column of the run
  index_t depth, stride;
  int columns;
  RowSums<Acc>& sums;
};

template <class Acc>
inline __attribute__((always_inline)) void sum_row_body(const RowTask<Acc>& task) {
  RowSums<Acc>& s = task.sums;
  for (int j = 0; j < task.columns; ++j)
    s.chain[j] = 0, s.high[j] = 0, s.low[j] = 0, s.magnitude[j] = 0;
  for (index_t k = 0; k < task.depth; ++k) {
    const Acc a = task.a[k];
    const Acc* b = task.b + k * task.stride;
    if constexpr (std::is_integral_v<Acc>) {
      for (int j = 0; j < task.columns; ++j) {
        s.chain[j] =
            static_cast<Acc>(static_cast<std::uint32_t>(s.chain[j]) +
                             static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b[j]));
      }
    } else if constexpr (sizeof(Acc) == 4) {
      const double wide = a, size = std::fabs(wide);
      for (int j = 0; j < task.columns; ++j) {
        s.chain[j] = __builtin_fmaf(a, b[j], s.chain[j]);
        s.high[j] += wide * static_cast<double>(b[j]);  // the product is exact
        s.magnitude[j] += size * std::fabs(static_cast<double>(b[j]));
      }
    } else {
      for (int j = 0; j < task.columns; ++j) {
        s.chain[j] = __builtin_fma(a, b[j], s.chain[j]);
        const double product = a * b[j];
        const double product_low = __builtin_fma(a, b[j], -product);
        const double sum = s.high[j] + product;  // two-sum, Knuth
        const double back = sum - s.high[j];
        const double sum_low = (s.high[j] - (sum - back)) + (product - back);
        s.high[j] = sum;
        s.low[j] += sum_low + product_low;
        s.magnitude[j] += std::fabs(product);
      }
    }
  }
  if constexpr (std::is_integral_v<Acc>) {
    for (int j = 0; j < task.columns; ++j)
      s.high[j] = s.chain[j], s.magnitude[j] = std::fabs(s.high[j]);
  }
}

template <class Acc>
void sum_row_portable(const RowTask<Acc>& task) {
  sum_row_body(task);
}

#if defined(__x86_64__)
template <class Acc>
[[gnu::target("avx2,fma")]] void sum_row_avx2(const RowTask<Acc>& task) {
  sum_row_body(task);
}
#endif

template <class Acc>
void sum_row(const RowTask<Acc>& task) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return sum_row_avx2(task);
#endif
  sum_row_portable(task);
}

template <class T>
bool is_subnormal(T x) {
  return x != 0 && std::fabs(static_cast<double>(x)) < 0x1p-126;
}
template <class T>
bool has_subnormals(const std::vector<T>& values) {
  return std::any_of(values.begin(), values.end(), is_subnormal<T>);
}
template <class T>
std::vector<T> without_subnormals(std::vector<T> values) {
  std::replace_if(values.begin(), values.end(), is_subnormal<T>, T{0});
  return values;
}

/// The unit roundoff of a floating-point type; 0 for integers, which do not round.
template <class T>
constexpr double kUnitRoundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
template <class T>
constexpr double kSmallestSubnormal = static_cast<double>(std::numeric_limits<T>::denorm_min());
template <class T>
constexpr double kLargest = static_cast<double>(std::numeric_limits<T>::max());

/// The bits of one element, so that -0 and 0, and nothing else, differ as they should. All NaN are
/// alike.
template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (!std::is_integral_v<T>) {
    if (static_cast<double>(value) != static_cast<double>(value)) return ~std::uint64_t{0};
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

}  // namespace

namespace {

/// The relative error of a product of f32 beyond that of the chain: of TF32, that of rounding both
/// inputs; of three bf16, that of the three products left out and of the units' sums, which are cut
/// off at 25 bits, over the 64 products between two additions in f32.
double rounding_of(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::tf32) return 0x1p-10 + 0x1p-22;
  return arithmetic == Arithmetic::three_bf16 ? 0x1p-20 : 0;
}

}  // namespace

struct Verifier::State {
  Problem problem;
  std::vector<double> exact, exact_low, bound;
  std::vector<double> magnitude;     ///< of the sums of f32, for the bounds of other arithmetic
  std::vector<std::uint64_t> chain;  ///< bits of the result in the type of C
};

Verifier::~Verifier() = default;
Verifier::Verifier(Verifier&&) noexcept = default;

// Over 60 lines: its passes over C share the same sums.
Verifier::Verifier(const Problem& problem, const ConstMatrix& A, const ConstMatrix& B,
                   const ConstMatrix& C0, const void* bias, int threads,
                   const std::function<void(index_t, index_t)>& progress)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  const Problem& p = s.problem = problem;
  const auto count = static_cast<std::size_t>(p.M * p.N);
  const index_t depth = p.alpha == 0 ? 0 : p.K;
  s.chain.resize(count);
  if (p.out != DType::i32) s.exact.resize(count), s.bound.resize(count);
  if (p.in == DType::f64) s.exact_low.resize(count);
  if (p.in == DType::f32) s.magnitude.resize(count);
  if (count == 0) return;

  // Sums of type Sum over K; their epilogue in Acc.
  const auto with_accumulator = [&]<class Sum, class Acc>(TypeTag<Sum>, TypeTag<Acc>) {
    const auto a = depth == 0 ? std::vector<Sum>() : dense<Sum>(A);
    const auto b = depth == 0 ? std::vector<Sum>() : dense<Sum>(B);
    // Instructions that multiply pairs of bf16 treat subnormal numbers as zero, and give zero where
    // a sum is subnormal (Intel SDM vol. 2, VDPBF16PS, TDPBF16PS).
    const bool flushes = p.in == DType::bf16;
    const bool flushes_elements = flushes && (has_subnormals(a) || has_subnormals(b));
    const auto flushed_a = flushes_elements ? without_subnormals(a) : std::vector<Sum>();
    const auto flushed_b = flushes_elements ? without_subnormals(b) : std::vector<Sum>();
    const double u = std::is_integral_v<Acc> ? 0 : sizeof(Acc) == 4 ? 0x1p-24 : 0x1p-53;
    // Roundings: of each step of a sum, or of a whole sum; of alpha, beta and the bias.
    const double n = (std::is_integral_v<Sum> ? 1 : static_cast<double>(depth)) + 2 +
                     (p.epilogue.bias != Bias::none ? 1 : 0);
    const double gamma = n * u / (1 - n * u);
    // Matrix units truncate 33 terms and their sum to 13 fraction bits of the largest term, in each
    // of four instructions before the sums are added in f32 (ops/unit_arithmetic.hpp).
    const double units = is_f8(p.in) ? 4 * 34 * 0x1p-13 : 0;
    std::atomic<index_t> done{0};
    std::mutex progress_mutex;
    parallel_for(p.M, threads, [&](index_t i) {
      RowSums<Sum> sums;
      for (index_t j0 = 0; j0 < p.N; j0 += kColumns) {
        const int columns = static_cast<int>(std::min<index_t>(kColumns, p.N - j0));
        sum_row<Sum>({a.data() + i * depth, b.data() + j0, depth, p.N, columns, sums});
        RowSums<Sum> flushed;
        if (flushes_elements)
          sum_row<Sum>(
              {flushed_a.data() + i * depth, flushed_b.data() + j0, depth, p.N, columns, flushed});
        for (int c = 0; c < columns; ++c) {
          const index_t j = j0 + c;
          const auto at = static_cast<std::size_t>(i * p.N + j);
          visit_operand(p.out, [&]<class Out>(TypeTag<Out>) {
            const Acc old = p.beta == 0 ? Acc{0} : convert<Acc>(element<Out>(C0, i, j));
            const Acc* vector = static_cast<const Acc*>(bias);
            const Acc added = p.epilogue.bias == Bias::per_row      ? vector[i]
                              : p.epilogue.bias == Bias::per_column ? vector[j]
                                                                    : Acc{0};
            const Acc sum = static_cast<Acc>(sums.chain[c]);
            s.chain[at] = bits_of(convert<Out>(epilogue<Acc>(p, sum, old, added)));
            if constexpr (!std::is_integral_v<Acc>) {
              const double alpha = static_cast<Acc>(p.alpha), beta = static_cast<Acc>(p.beta);
              double value = alpha * sums.high[c],
                     low = std::fma(alpha, sums.high[c], -value) + alpha * sums.low[c];
              if (beta != 0) {
                const double product = beta * static_cast<double>(old);
                low += std::fma(beta, static_cast<double>(old), -product);
                const double total = value + product, back = total - value;
                low += (value - (total - back)) + (product - back);
                value = total;
              }
              if (p.epilogue.bias != Bias::none) {
                const double total = value + static_cast<double>(added), back = total - value;
                low += (value - (total - back)) + (static_cast<double>(added) - back);
                value = total;
              }
              const double size = std::fabs(alpha) * sums.magnitude[c] +
                                  (beta == 0 ? 0 : std::fabs(beta * static_cast<double>(old))) +
                                  std::fabs(static_cast<double>(added));
              double bound = gamma * size + std::fabs(alpha) * units * sums.magnitude[c] +
                             (n + std::fabs(alpha)) * kSmallestSubnormal<Acc> *
                                 std::max(1.0, std::fabs(alpha));
              if (flushes) bound += std::fabs(alpha) * static_cast<double>(depth) * 0x1p-126;
              if (flushes_elements)
                bound += std::fabs(alpha) * (sums.magnitude[c] - flushed.magnitude[c]);
              // Sums that may overflow on the way in the accumulator's type have no bound.
              if (size * (1 + gamma) > kLargest<Acc> || sums.magnitude[c] > kLargest<Acc>) {
                if (std::isfinite(size)) bound = std::numeric_limits<double>::infinity();
              }
              double magnitude = std::fabs(alpha) * sums.magnitude[c];
              if (!last_step<double>(p.epilogue).changes_nothing()) {
                // Slopes are at most 1.13; evaluating costs a few roundings more.
                Problem activation_only;
                activation_only.epilogue = p.epilogue, activation_only.epilogue.bias = Bias::none;
                value =
                    static_cast<double>(epilogue<long double>(activation_only, value + low, 0, 0));
                low = 0;
                bound = 1.13 * bound + 16 * u * (std::fabs(value) + std::fabs(size));
                magnitude *= 1.13;
              }
              if constexpr (!std::is_same_v<Out, Acc>) {
                bound +=
                    kUnitRoundoff<Out> * (std::fabs(value) + bound) + kSmallestSubnormal<Out> / 2;
                if (std::fabs(value) + bound >= kLargest<Out>)
                  bound = std::numeric_limits<double>::infinity();
              }
              s.exact[at] = value;
              s.bound[at] = bound;
              if (!s.exact_low.empty()) s.exact_low[at] = low;
              else s.exact[at] = value + low;
              if (!s.magnitude.empty()) s.magnitude[at] = magnitude;
            }
          });
        }
      }
      const index_t rows = done.fetch_add(1) + 1;
      if (progress && (rows % 16 == 0 || rows == p.M)) {
        const std::lock_guard lock(progress_mutex);
        progress(rows, p.M);
      }
    });
  };
  const TypeTag<std::int32_t> i32;
  const TypeTag<float> f32;
  if (p.in == DType::f64) with_accumulator(TypeTag<double>{}, TypeTag<double>{});
  else if (p.out == DType::i32) with_accumulator(i32, i32);
  else if (p.in == DType::i8 || p.in == DType::u8) with_accumulator(i32, f32);
  else with_accumulator(f32, f32);
}

Verification Verifier::check(const ConstMatrix& C, Arithmetic arithmetic) const {
  const State& s = *state_;
  const Problem& p = s.problem;
  if (C.rows != p.M || C.cols != p.N || C.dtype != p.out) {
    throw Error(Category::shape, "verify: C is not the matrix of the problem",
                cat(name(p.out), " (", p.M, ",", p.N, ")"), to_string(C));
  }
  Verification out;
  visit_operand(p.out, [&]<class T>(TypeTag<T>) {
    for (index_t i = 0; i < p.M; ++i) {
      for (index_t j = 0; j < p.N; ++j) {
        const auto at = static_cast<std::size_t>(i * p.N + j);
        const T got = element<T>(C, i, j);
        const bool same = bits_of(got) == s.chain[at];
        out.same_bits &= same;
        double ratio = 0, expected = 0;
        const double value = static_cast<double>(got);
        if constexpr (std::is_integral_v<T>) {
          ratio = same ? 0 : std::numeric_limits<double>::infinity();
          expected = static_cast<double>(
              static_cast<std::int32_t>(static_cast<std::uint32_t>(s.chain[at])));
        } else {
          expected = s.exact[at];
          double bound = s.bound[at];
          if (const double rounding = rounding_of(arithmetic); rounding > 0 && !s.magnitude.empty())
            bound += s.magnitude[at] * rounding;
          if (!std::isfinite(expected) || !std::isfinite(bound)) {
            // NaN and infinities of the inputs must propagate; a finite sum that may overflow is
            // allowed to.
            const bool free = std::isfinite(expected) && bound > 0;
            const bool alike = std::isnan(expected) ? std::isnan(value) : value == expected;
            ratio = free || alike || same ? 0 : std::numeric_limits<double>::infinity();
          } else {
            const double low = s.exact_low.empty() ? 0 : s.exact_low[at];
            const double error = std::fabs((value - expected) - low);
            ratio = error == 0 ? 0 : error / bound;
            if (!(ratio == ratio)) ratio = std::numeric_limits<double>::infinity();
          }
        }
        out.max_error_ratio = std::max(out.max_error_ratio, ratio);
        if (!(ratio <= 1)) {
          if (out.outside++ == 0)
            out.row = i, out.col = j, out.expected = expected, out.got = value;
        }
      }
    }
  });
  out.within_bound = out.outside == 0;
  return out;
}

void reference_matmul(const Problem& p, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
                      const void* bias) {
  const index_t depth = p.alpha == 0 ? 0 : p.K;
  if (!detail::has_product(p.in, p.out))
    throw Error(Category::type, "verify: there is no product of these types", {},
                cat(name(p.in), " to ", name(p.out)));
  detail::visit_products(p.in, p.out, detail::EveryProduct{}, [&]<class In, class Out>() {
    using Acc = Accumulator<Out>;
    for (index_t i = 0; i < p.M; ++i) {
      for (index_t j = 0; j < p.N; ++j) {
        Accumulator<In> sum{0};
        for (index_t k = 0; k < depth; ++k) {
          if constexpr (std::is_integral_v<In> && sizeof(In) == 1) {
            const auto b = p.type_of_b() == DType::i8
                               ? static_cast<std::int32_t>(element<std::int8_t>(B, k, j))
                               : static_cast<std::int32_t>(element<std::uint8_t>(B, k, j));
            sum = fma(static_cast<std::int32_t>(element<In>(A, i, k)), b, sum);
          } else {
            sum = fma(element<In>(A, i, k), element<In>(B, k, j), sum);
          }
        }
        Out& target = static_cast<Out*>(C.data)[i * C.row_stride + j * C.col_stride];
        const Acc* vector = static_cast<const Acc*>(bias);
        const Acc added = p.epilogue.bias == Bias::per_row      ? vector[i]
                          : p.epilogue.bias == Bias::per_column ? vector[j]
                                                                : Acc{0};
        target = convert<Out>(epilogue<Acc>(p, static_cast<Acc>(sum),
                                            p.beta == 0 ? Acc{0} : convert<Acc>(target), added));
      }
    }
  });
}

}  // namespace tessera
