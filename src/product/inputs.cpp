// Reading A, B and C0: see inputs.hpp.
#include "inputs.hpp"

#include "conversion.hpp"
#include "operand.hpp"
#include "shell/progress.hpp"
#include "tessera/io/io.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera::product {

namespace {

/// `array` with another shape and strides over the same memory.
Array viewed(const Array& array, std::vector<index_t> shape, std::vector<index_t> strides) {
  return Array::read_only(array.dtype(), std::move(shape), std::move(strides), array.data(),
                          std::make_shared<Array>(array));
}

enum class Vector { row, column };

/// A file as a matrix; one dimension is a row or a column.
Array read_matrix(const shell::Context& context, const std::string& path, const std::string& what,
                  Vector vector, const MultiplyRequest& request) {
  ReadOptions options;
  if (!request.dtype.empty()) {
    const DType type = parse_dtype(request.dtype);
    if (type == DType::bf16 || type == DType::f16) options.untyped = type;
  }
  Array out = [&] {
    const shell::Progress progress(context, "reading " + path, 1);  // a pipe's writer may stall
    return read_array(path, options);
  }();
  if (out.rank() == 1) {
    const index_t n = out.shape()[0], stride = out.strides()[0];
    return vector == Vector::row ? viewed(out, {1, n}, {n * stride, stride})
                                 : viewed(out, {n, 1}, {stride, stride});
  }
  out.require_matrix(cat(what, " (", path, ")"));
  return out;
}

std::string shape_of(const Array& array) { return cat("(", array.rows(), ",", array.cols(), ")"); }

/// `matrix` in the type `to`. If the user chose that type, nothing but rounding may be lost.
Array converted(const shell::Context& context, const MultiplyRequest& request, const Array& matrix,
                DType to, DType natural, const std::string& what) {
  if (matrix.dtype() == to) return matrix;
  if (!request.dtype.empty()) {
    const Conversion found = examine_conversion(matrix, to);
    require_lossless(found, matrix.count(), to, natural, what);
    if (found.rounded > 0)
      context.detail(cat(what, ": ", found.rounded, " of ", matrix.count(), " elements rounded to ",
                         name(to)));
  } else if (is_wide_integer(matrix.dtype())) {
    context.note(cat(what, " is ", name(matrix.dtype()), ": computed in ", name(to),
                     ", exact for values up to 2^53"));
  }
  return convert(matrix, to);
}

}  // namespace

bool multiplied_as_bytes(const MultiplyRequest& request, DType a, DType b, DType product) {
  const bool packed = request.algorithm == "packed" || request.algorithm == "split_k" ||
                      (request.algorithm == "auto" && request.tile.empty());
  const bool by_warpgroups = request.algorithm == "warpgroup" && a == b;
  return (packed || by_warpgroups) && is_byte(a) && is_byte(b) && product == DType::i32;
}

DType natural_type(const MultiplyRequest& request, DType a, DType b) {
  return request.algorithm == "warpgroup" && a == b && is_f8(a) ? DType::f32 : product_type(a, b);
}

void require_inner_extents(const MultiplyRequest& request, index_t a_rows, index_t a_cols,
                           index_t b_rows, index_t b_cols) {
  if (a_cols == b_rows) return;
  const auto shown = [](const std::string& path, bool turned) {
    return turned ? path + " transposed" : path;
  };
  std::string advice = "check which file is which";
  if (a_cols == b_cols) advice = "try --transpose-b";
  else if (a_rows == b_rows) advice = "try --transpose-a";
  throw Error(
      Category::shape,
      cat("A (", shown(request.a, request.transpose_a), ") has ", a_cols, " columns but B (",
          shown(request.b, request.transpose_b), ") has ", b_rows, " rows"),
      {}, cat("A (", a_rows, ",", a_cols, ") and B (", b_rows, ",", b_cols, ")"), advice);
}

Operands read_operands(const shell::Context& context, const MultiplyRequest& request) {
  const auto turned = [](const Array& matrix, bool turn) {
    return turn ? transposed(matrix) : matrix;
  };
  const Array a = read_matrix(context, request.a, "A", Vector::row, request);
  const Array b = read_matrix(context, request.b, "B", Vector::column, request);
  const Array left = turned(a, request.transpose_a), right = turned(b, request.transpose_b);
  require_inner_extents(request, left.rows(), left.cols(), right.rows(), right.cols());
  const DType natural = natural_type(request, a.dtype(), b.dtype());
  Operands out;
  out.type = request.dtype.empty() ? natural : parse_dtype(request.dtype);
  const auto fit = [&](const Array& matrix, const char* what, const std::string& path) {
    return converted(context, request, matrix, out.type, natural, cat(what, " (", path, ")"));
  };
  const bool as_f8 = out.type == natural && natural != product_type(a.dtype(), b.dtype());
  const bool as_bytes = as_f8 || multiplied_as_bytes(request, a.dtype(), b.dtype(), out.type);
  // Shapes as stored in the files, so that messages name the elements as the user knows them.
  out.a = turned(as_bytes ? a : fit(a, "A", request.a), request.transpose_a);
  out.b = turned(as_bytes ? b : fit(b, "B", request.b), request.transpose_b);
  if (request.c.empty()) return out;
  const Array c0 =
      read_matrix(context, request.c, "C0", out.M() == 1 ? Vector::row : Vector::column, request);
  if (c0.rows() != out.M() || c0.cols() != out.N()) {
    throw Error(Category::shape, cat("C0 (", request.c, ") does not have the shape of the product"),
                cat("(", out.M(), ",", out.N(), ")"), shape_of(c0));
  }
  if (request.beta.value_or(0) != 0) out.c0 = fit(c0, "C0", request.c);
  return out;
}

}  // namespace tessera::product
