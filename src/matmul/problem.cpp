// Problems as values: their text, and make_problem, which checks every product. All errors of the
// three matrices are reported here, before an element is read; later stages check nothing.
#include "tessera/matmul/problem.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "call.hpp"
#include "fields.hpp"
#include "overlap.hpp"
#include "overlap_error.hpp"

namespace tessera {

namespace {

constexpr std::array<std::string_view, 4> kActivationNames = {"none", "relu", "gelu", "silu"};
constexpr std::array<std::string_view, 3> kBiasNames = {"none", "per_row", "per_column"};

template <std::size_t N>
std::size_t index_in(const std::array<std::string_view, N>& names, std::string_view text,
                     std::string_view what) {
  std::string known;
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return i;
    known += cat(i == 0 ? "" : ", ", names[i]);
  }
  throw Error(Category::argument, cat("problem: unknown ", what, " '", text, "'"),
              "one of " + known);
}

std::string text_of_strides(Strides s) { return cat(s.row, ":", s.col); }

std::string clamp_text(const Epilogue& e) {
  if (e.low == kLeast<double> && e.high == kMost<double>) return "";
  return cat(" clamp=", detail::exact_text(e.low), ":", detail::exact_text(e.high));
}
void parse_clamp(std::string_view text, Epilogue& e) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos)
    throw Error(Category::argument, "problem: clamp", "low:high", cat("'", text, "'"));
  e.low = detail::parse_number<double>(text.substr(0, colon), "problem", "clamp");
  e.high = detail::parse_number<double>(text.substr(colon + 1), "problem", "clamp");
}

Strides parse_strides(std::string_view text, std::string_view what) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    throw Error(Category::argument, cat("problem: strides of ", what), "row:col",
                cat("'", text, "'"));
  }
  return {detail::parse_number<index_t>(text.substr(0, colon), "problem", what),
          detail::parse_number<index_t>(text.substr(colon + 1), "problem", what)};
}

std::string shape_text(std::string_view name, index_t rows, index_t cols) {
  return cat(name, " is (", rows, ",", cols, ")");
}

/// Do two different elements of C share an address? Exact: they do iff a step of cs/g rows equals
/// one of rs/g columns. Matrices that reach beyond 64 bits have been refused.
bool overlaps_itself(const Matrix& c) {
  if (c.rows == 0 || c.cols == 0) return false;
  const index_t rs = c.rows == 1 ? 0 : std::abs(c.row_stride);
  const index_t cs = c.cols == 1 ? 0 : std::abs(c.col_stride);
  // Fast path for nearly every C: whole rows, or columns, one after the other.
  if ((cs > 0 || c.cols == 1) && (rs > cs * (c.cols - 1) || c.rows == 1)) return false;
  if ((rs > 0 || c.rows == 1) && (cs > rs * (c.rows - 1) || c.cols == 1)) return false;
  const index_t g = std::gcd(rs, cs);
  if (g == 0) return true;
  return cs / g < c.rows && rs / g < c.cols;
}

}  // namespace

namespace detail {

bool reach_fits(const ConstMatrix& m, index_t count, index_t step) {
  // Three products of two such numbers, each times the size of an element, stay far below 2^63.
  const auto is_small = [](auto... numbers) {
    return ((numbers > -(index_t{1} << 28) && numbers < index_t{1} << 28) && ...);
  };
  if (is_small(m.rows, m.cols, count, m.row_stride, m.col_stride, step)) return true;
  index_t low = 0, high = 0;
  bool overflow = false;
  for (const auto& [extent, stride] :
       {std::pair{m.rows, m.row_stride}, std::pair{m.cols, m.col_stride}, std::pair{count, step}}) {
    index_t far = 0;
    overflow |= __builtin_mul_overflow(extent - 1, stride, &far);
    index_t& end = far < 0 ? low : high;
    overflow |= __builtin_add_overflow(end, far, &end);
  }
  overflow |= __builtin_add_overflow(high, 1, &high);
  const index_t bytes = size_of(m.dtype);
  overflow |= __builtin_mul_overflow(low, bytes, &low);
  overflow |= __builtin_mul_overflow(high, bytes, &high);
  return !overflow;
}

void check_epilogue(const Epilogue& e, DType out) {
  const bool whole = out == DType::i32;
  if (whole && (e.activation == Activation::gelu || e.activation == Activation::silu)) {
    throw Error(Category::type,
                cat("multiply: a result of i32 has no activation ",
                    kActivationNames[static_cast<std::size_t>(e.activation)]),
                "none or relu", {}, "multiply in f32");
  }
  if (!(e.low <= e.high)) {
    throw Error(Category::argument, "multiply: the clamp keeps nothing", "low <= high",
                cat("[", e.low, ", ", e.high, "]"));
  }
  for (const double bound : {e.low, e.high}) {
    if (whole && std::isfinite(bound) &&
        (bound != std::trunc(bound) || bound < kLeast<std::int32_t> ||
         bound > kMost<std::int32_t>)) {
      throw Error(Category::argument, "multiply: a clamp of i32 is no i32",
                  "a whole number of 32 bits", cat(bound));
    }
    if (!whole && out != DType::f64 && std::isfinite(bound) &&
        std::fabs(bound) > std::numeric_limits<float>::max()) {
      throw Error(Category::argument, cat("multiply: a clamp of ", name(out), " is beyond f32"),
                  "at most 3.40282347e+38, or infinity", cat(bound));
    }
  }
}

void check_extents(std::string_view name, const ConstMatrix& m) {
  if (m.rows < 0 || m.cols < 0) {
    throw Error(Category::shape, cat(name, " has a negative extent"), "0 or more rows and columns",
                cat("(", m.rows, ",", m.cols, ")"));
  }
}

void check_data(std::string_view name, const ConstMatrix& m) {
  if (m.rows == 0 || m.cols == 0) return;
  if (m.data == nullptr) {
    throw Error(Category::argument, cat(name, " of shape (", m.rows, ",", m.cols, ") has no data"),
                "a pointer to its first element", "a null pointer");
  }
  if (!reach_fits(m))
    throw Error(Category::shape, cat(name, " reaches beyond 64-bit addresses"), {}, to_string(m));
}

}  // namespace detail

std::string to_string(const Problem& p) {
  return cat("m=", p.M, " n=", p.N, " k=", p.K, " in=", name(p.in),
             p.in_b ? cat(" in_b=", name(*p.in_b)) : "", " out=", name(p.out),
             " a=", text_of_strides(p.a), " b=", text_of_strides(p.b), " c=", text_of_strides(p.c),
             " alpha=", detail::exact_text(p.alpha), " beta=", detail::exact_text(p.beta),
             " bias=", kBiasNames[static_cast<std::size_t>(p.epilogue.bias)],
             " activation=", kActivationNames[static_cast<std::size_t>(p.epilogue.activation)],
             clamp_text(p.epilogue));
}

Problem parse_problem(std::string_view text) {
  Problem p;
  bool has_a = false, has_b = false, has_c = false, has_out = false;
  for (const auto& [key, value] : detail::parse_fields(text, "problem")) {
    if (key == "m") p.M = detail::parse_number<index_t>(value, "problem", key);
    else if (key == "n") p.N = detail::parse_number<index_t>(value, "problem", key);
    else if (key == "k") p.K = detail::parse_number<index_t>(value, "problem", key);
    else if (key == "in") p.in = parse_dtype(value);
    else if (key == "in_b") p.in_b = parse_dtype(value);
    else if (key == "out") p.out = parse_dtype(value), has_out = true;
    else if (key == "a") p.a = parse_strides(value, key), has_a = true;
    else if (key == "b") p.b = parse_strides(value, key), has_b = true;
    else if (key == "c") p.c = parse_strides(value, key), has_c = true;
    else if (key == "alpha") p.alpha = detail::parse_number<double>(value, "problem", key);
    else if (key == "beta") p.beta = detail::parse_number<double>(value, "problem", key);
    else if (key == "bias") p.epilogue.bias = static_cast<Bias>(index_in(kBiasNames, value, key));
    else if (key == "activation")
      p.epilogue.activation = static_cast<Activation>(index_in(kActivationNames, value, key));
    else if (key == "clamp") parse_clamp(value, p.epilogue);
    else
      throw Error(Category::argument, cat("problem: unknown field '", key, "'"),
                  "m n k in in_b out a b c alpha beta bias activation clamp");
  }
  if (p.M < 0 || p.N < 0 || p.K < 0) {
    throw Error(Category::shape, "problem: negative extent", "m, n, k of 0 or more",
                cat("m=", p.M, " n=", p.N, " k=", p.K));
  }
  if (p.in_b == p.in) p.in_b.reset();
  if (!has_out) p.out = p.in;
  if (!has_a) p.a = {p.K, 1};
  if (!has_b) p.b = {p.N, 1};
  if (!has_c) p.c = {p.N, 1};
  return p;
}

Problem make_problem(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, double alpha,
                     double beta, Epilogue epilogue) {
  detail::check_extents("multiply: A", A);
  detail::check_extents("multiply: B", B);
  detail::check_extents("multiply: C", C);
  if (A.cols != B.rows) {
    throw Error(Category::shape,
                cat("multiply: A has ", A.cols, " columns but B has ", B.rows, " rows"), {},
                cat(shape_text("A", A.rows, A.cols), ", ", shape_text("B", B.rows, B.cols)),
                "transpose one of them, or exchange them");
  }
  if (C.rows != A.rows || C.cols != B.cols) {
    throw Error(Category::shape, "multiply: C does not have the shape of the product",
                cat("(", A.rows, ",", B.cols, ")"), cat("(", C.rows, ",", C.cols, ")"));
  }
  detail::check_data("multiply: A", A);
  detail::check_data("multiply: B", B);
  detail::check_data("multiply: C", C);
  if (A.dtype != B.dtype && !(is_byte(A.dtype) && is_byte(B.dtype))) {
    throw Error(Category::type, "multiply: A and B have different element types", {},
                cat(name(A.dtype), " and ", name(B.dtype)), "convert one of them");
  }
  if (overlaps_itself(C)) {
    throw OverlapError(Category::shape, "multiply: elements of C overlap each other",
                       "strides that give every element its own place", to_string(C));
  }
  const auto expect_apart = [&C](std::string_view label, const ConstMatrix& m) {
    if (m.rows > 0 && m.cols > 0 && C.rows > 0 && C.cols > 0 && detail::may_overlap(m, C)) {
      throw OverlapError(Category::argument, cat("multiply: C overlaps ", label), {},
                         detail::places(label, m, C), "give C memory of its own");
    }
  };
  expect_apart("A", A);
  expect_apart("B", B);
  detail::check_epilogue(epilogue, C.dtype);
  Problem p;
  p.M = A.rows, p.N = B.cols, p.K = A.cols;
  p.in = A.dtype, p.out = C.dtype;
  if (B.dtype != A.dtype) p.in_b = B.dtype;
  p.a = {A.row_stride, A.col_stride}, p.b = {B.row_stride, B.col_stride},
  p.c = {C.row_stride, C.col_stride};
  p.alpha = alpha, p.beta = beta;
  p.epilogue = epilogue;
  return p;
}

}  // namespace tessera
