// From Python's arrays to checked products: see matmul_call.hpp.
#include "matmul_call.hpp"

#include <algorithm>
#include <cstring>

#include "base/overlap.hpp"
#include "batch_axes.hpp"
#include "bindings.hpp"
#include "run_products.hpp"
#include "tessera/core/text.hpp"
#include "tessera/device/devices.hpp"

namespace tessera::python {

namespace {

std::string both(const Operand& a, const Right& b) {
  return cat("a of shape ", shape_text(a.shape), " and b of shape ", shape_text(b.shape()));
}

/// The axes of both that are not multiplied, broadcast. ValueError where they do not fit.
std::vector<index_t> batch_shape(const Operand& a, const Right& b) {
  const auto axes = [](std::vector<index_t> shape) {
    shape.resize(shape.size() < 2 ? 0 : shape.size() - 2);
    return shape;
  };
  std::vector<index_t> x = axes(a.shape), y = axes(b.shape());
  const std::size_t n = std::max(x.size(), y.size());
  x.insert(x.begin(), n - x.size(), 1);
  y.insert(y.begin(), n - y.size(), 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (x[i] == 1) x[i] = y[i];
    else if (y[i] != 1 && y[i] != x[i])
      throw nb::value_error(
          cat("matmul: the batches of ", both(a, b), " do not broadcast: ", x[i], " against ", y[i])
              .c_str());
  }
  return x;
}

/// Steps from one product to the next along each axis of the result; 0 where the operand is
/// broadcast.
std::vector<index_t> batch_steps(const Operand& m, std::size_t axes) {
  std::vector<index_t> out(axes, 0);
  const std::size_t own = m.batch_axes();
  for (std::size_t i = 0; i < own; ++i)
    if (m.shape[i] != 1) out[axes - own + i] = m.strides[i];
  return out;
}

ConstMatrix right_matrix(const Right& b) {
  if (b.packed != nullptr) {  // make_problem() needs an address: that of its panels
    const void* any =
        std::visit([](const auto& panels) { return panels.data(); }, b.packed->panels());
    return {any, b.packed->dtype(), b.packed->rows(), b.packed->cols(), 0, 0};
  }
  return b.array->matrix(Operand::Side::right);
}

/// The output; without an array, the type and strides of a new one.
struct Target {
  DType dtype;
  std::vector<index_t> strides;
  void* data = nullptr;
};

/// C of the first product: the result lacks the row of a vector on the left and the column of one
/// on the right.
Matrix result_matrix(const Target& c, const ConstMatrix& A, const ConstMatrix& B, bool has_rows,
                     bool has_cols) {
  const std::size_t n = c.strides.size();
  const index_t col = has_cols ? c.strides[n - 1] : 1;
  const index_t row = has_rows ? c.strides[n - (has_cols ? 2 : 1)] : B.cols;
  return {c.data, c.dtype, A.rows, B.cols, row, col};
}

std::vector<index_t> dense_strides(const std::vector<index_t>& shape) {
  std::vector<index_t> out(shape.size());
  for (index_t i = std::ssize(shape), step = 1; i-- > 0; step *= shape[i]) out[i] = step;
  return out;
}

Products products_of(const Operand& a, const Right& b, const Target& c) {
  const std::vector<index_t> batch = batch_shape(a, b);
  Products out{a.matrix(Operand::Side::left), right_matrix(b), {}, {}};
  const bool has_rows = a.shape.size() > 1, has_cols = b.shape().size() > 1;
  out.C = result_matrix(c, out.A, out.B, has_rows, has_cols);
  const auto steps_a = batch_steps(a, batch.size());
  const auto steps_b = b.array != nullptr ? batch_steps(*b.array, batch.size())
                                          : std::vector<index_t>(batch.size(), 0);
  for (std::size_t i = 0; i < batch.size(); ++i)
    out.axes.push_back({batch[i], steps_a[i], steps_b[i], batch[i] == 1 ? 0 : c.strides[i]});
  return out;
}

[[noreturn]] void refuse_devices(const char* name, int device, int device_of_a) {
  const auto text = [](int number) {
    return number == Operand::kCpu ? std::string("the CPU") : cat("cuda:", number);
  };
  throw nb::buffer_error(cat("matmul: a is on ", text(device_of_a), " and ", name, " on ",
                             text(device), "; move one of them")
                             .c_str());
}

/// The bias in the type of the sums, and whether it has a value for each row or each column of C.
struct BiasVector {
  Bias side = Bias::none;
  std::vector<std::byte> values;  ///< on the CPU
  const void* data = nullptr;
};

[[noreturn]] void refuse_bias(const Operand& bias, index_t M, index_t N) {
  throw nb::value_error(cat("matmul: bias has shape ", shape_text(bias.shape), ": expected (", N,
                            ",), one number for each column, or (", M, ",1), one for each row")
                            .c_str());
}

/// The bias for one product, checked; `device` is that of all operands.
BiasVector bias_vector(const Operand& bias, const Products& p, int device) {
  const auto& shape = bias.shape;
  const index_t M = p.C.rows, N = p.C.cols;
  BiasVector out;
  if ((shape.size() == 1 && shape[0] == N) || (shape.size() == 2 && shape[0] == 1 && shape[1] == N))
    out.side = Bias::per_column;
  else if (shape.size() == 2 && shape[0] == M && shape[1] == 1) out.side = Bias::per_row;
  else refuse_bias(bias, M, N);
  const DType in = p.A.dtype;
  const DType sum =
      visit_dtype(p.C.dtype, []<class T>(TypeTag<T>) { return dtype_of<Accumulator<T>>(); });
  if (bias.dtype != sum && bias.dtype != in)
    throw nb::type_error(cat("matmul: bias has elements of ", numpy_name(bias.dtype), ": expected ",
                             numpy_name(sum), in == sum ? "" : cat(" or ", numpy_name(in)))
                             .c_str());
  if (bias.device != device) refuse_devices("bias", bias.device, device);
  const bool column = out.side == Bias::per_column;
  const index_t count = column ? N : M, step = bias.strides[column ? shape.size() - 1 : 0];
  if (bias.device != Operand::kCpu) {
    if (bias.dtype != sum || (step != 1 && count > 1))
      throw nb::type_error(
          cat("matmul: bias on a GPU is ", numpy_name(sum), " without gaps").c_str());
    out.data = bias.data;
    return out;
  }
  visit_dtype(in, [&]<class In>(TypeTag<In>) {
    using Sum = Accumulator<In>;
    out.values.resize(static_cast<std::size_t>(std::max<index_t>(count, 1)) * sizeof(Sum));
    auto* to = reinterpret_cast<Sum*>(out.values.data());
    for (index_t i = 0; i < count; ++i)
      to[i] = bias.dtype == sum ? static_cast<const Sum*>(bias.data)[i * step]
                                : convert<Sum>(static_cast<const In*>(bias.data)[i * step]);
  });
  out.data = out.values.data();
  return out;
}

void check_devices(const Operand& a, const Right& b) {
  const int other = b.array != nullptr ? b.array->device : Operand::kCpu;
  if (a.device != other) refuse_devices("b", other, a.device);
}

std::string device_of(const Operand& a) {
  return a.device == Operand::kCpu ? "cpu" : cat("cuda:", a.device);
}

/// The options for these arrays: their device decides, but arrays in host memory may be multiplied
/// elsewhere.
Options options_for(const Operand& a, const Right& b, const Request& request) {
  Options out = request.options;
  const bool moves = a.device == Operand::kCpu && has_gpu_code(Device::parse(out.device).kind());
  if (!moves) out.device = device_of(a);
  if (moves && b.packed != nullptr)
    throw nb::value_error("matmul: a PackedMatrix is multiplied by the CPU: give device='cpu'");
  if (b.packed != nullptr && out.algorithm == "auto") out.algorithm = "packed";
  return out;
}

/// gelu and silu of a whole number are no whole numbers.
void check_activation(DType in, DType out, Activation activation) {
  if (out == DType::i32 && (activation == Activation::gelu || activation == Activation::silu))
    throw nb::type_error(
        cat("matmul: a product of ", numpy_name(in), " has no activation ",
            activation == Activation::gelu ? "'gelu'" : "'silu'", ": expected None or 'relu'; ",
            in == DType::i32 ? "convert a and b to float32 first" : "ask for a float32 result")
            .c_str());
}

void check_result(const Operand& a, const Right& b, const Operand& out) {
  if (const auto shape = product_shape(a, b); out.shape != shape)
    throw nb::value_error(cat("matmul: out has shape ", shape_text(out.shape), ": expected ",
                              shape_text(shape), " for ", both(a, b))
                              .c_str());
  if (out.device != a.device)
    throw nb::buffer_error("matmul: out is on another device than a and b");
}

/// Do two arrays share memory?
bool share_memory(const Operand& a, const Operand& b) {
  const auto modes = [](const Operand& m) {
    std::vector<ByteMode> out;
    for (std::size_t i = 0; i < m.shape.size(); ++i)
      out.push_back({m.shape[i], m.strides[i] * size_of(m.dtype)});
    return out;
  };
  for (const Operand* each : {&a, &b})
    if (std::find(each->shape.begin(), each->shape.end(), 0) != each->shape.end()) return false;
  const auto in_a = modes(a), in_b = modes(b);
  return may_overlap({a.data, size_of(a.dtype), in_a}, {b.data, size_of(b.dtype), in_b});
}

bool is_same(const Operand& c, const Operand& out) {
  bool same = c.data == out.data;
  for (std::size_t i = 0; i < out.shape.size(); ++i)
    same &= out.shape[i] == 1 || c.strides[i] == out.strides[i];
  return same;
}

/// Checks the array to add: shape, type and device of the result.
void check_addend(const Operand& c, const std::vector<index_t>& shape, DType dtype, int device) {
  if (c.shape != shape)
    throw nb::value_error(cat("matmul: c has shape ", shape_text(c.shape), ": expected ",
                              shape_text(shape), ", as the result")
                              .c_str());
  if (c.dtype != dtype)
    throw nb::type_error(cat("matmul: c has elements of ", numpy_name(c.dtype), ": expected ",
                             numpy_name(dtype), ", as the result")
                             .c_str());
  if (c.device != device) refuse_devices("c", c.device, device);
}

/// Checks also that it is `out` itself or does not overlap it.
void check_added(const Operand& c, const Operand& out) {
  check_addend(c, out.shape, out.dtype, out.device);
  if (!is_same(c, out) && share_memory(c, out))
    throw nb::buffer_error(
        "matmul: out shares memory with c; give it memory of its own, or c itself");
}

void check_bias(const Operand& bias, const Operand& out) {
  if (share_memory(bias, out))
    throw nb::buffer_error("matmul: out shares memory with bias; give it memory of its own");
}

/// Element by element, whatever the strides.
void copy(const Operand& from, const Operand& to) {
  if (is_same(from, to)) return;
  const auto bytes = static_cast<std::size_t>(size_of(to.dtype));
  const auto axis = [&](const auto& self, std::size_t i, const char* source, char* target) -> void {
    if (i == to.shape.size()) {
      std::memcpy(target, source, bytes);
      return;
    }
    for (index_t k = 0; k < to.shape[i]; ++k)
      self(self, i + 1, source + k * from.strides[i] * size_of(to.dtype),
           target + k * to.strides[i] * size_of(to.dtype));
  };
  axis(axis, 0, static_cast<const char*>(from.data), static_cast<char*>(to.data));
}

/// The problem of the first product. Without memory for C, or without a product, make_problem()
/// cannot be used.
Problem problem_of(const Products& p, const Right& b, const Request& request,
                   const Epilogue& epilogue) {
  Problem out;
  if (p.C.data != nullptr && p.count() > 0) {
    out = make_problem(p.A, p.B, p.C, request.alpha, request.beta, epilogue);
  } else {
    out.M = p.C.rows, out.N = p.C.cols, out.K = p.A.cols;
    out.in = p.A.dtype, out.out = p.C.dtype;
    if (p.B.dtype != p.A.dtype) out.in_b = p.B.dtype;
    out.a = {p.A.row_stride, p.A.col_stride}, out.b = {p.B.row_stride, p.B.col_stride};
    out.c = {p.C.row_stride, p.C.col_stride};
    out.alpha = request.alpha, out.beta = request.beta;
    out.epilogue = epilogue;
  }
  if (b.packed != nullptr) out.b = {p.B.cols, 1};
  return out;
}

/// The checked products of a call.
struct Call {
  Products products;
  BiasVector bias;
  Plan plan;
};

Call call_of(const Operand& a, const Right& b, const Target& target, const Operand* bias,
             const Request& request) {
  Call out{products_of(a, b, target), {}, {}};
  Products& p = out.products;
  if (bias != nullptr) out.bias = bias_vector(*bias, p, a.device);
  p.simplify(out.bias.side == Bias::per_row ||
             request.options.arithmetic == Arithmetic::lanes);  // each by its own shape
  const Epilogue epilogue{.activation = request.activation, .bias = out.bias.side};
  out.plan = make_plan(problem_of(p, b, request, epilogue), options_for(a, b, request));
  if (target.data != nullptr && p.may_overlap())
    throw nb::buffer_error(
        "matmul: out shares memory with a or b, or holds an element twice; give it memory of its "
        "own");
  return out;
}

void run_all(const Call& call, const Right& b, const Request& request) {
  const Products& p = call.products;
  if (b.packed == nullptr || call.plan.device != "cpu")
    return run_products(call.plan, p, call.bias.data,
                        reinterpret_cast<CUstream_st*>(request.stream));
  for_each_product(p, 0, [&](const auto& A, const auto&, const auto& C) {
    run(call.plan, A, *b.packed, C, call.bias.data);
  });
}

}  // namespace

std::vector<index_t> Right::shape() const {
  if (packed != nullptr) return {packed->rows(), packed->cols()};
  return array->shape;
}

std::vector<index_t> product_shape(const Operand& a, const Right& b) {
  const auto right = b.shape();
  if (a.shape.empty() || right.empty())
    throw nb::value_error(
        cat("matmul: ", both(a, b), ": expected at least one axis each; a number is no matrix")
            .c_str());
  if (b.packed != nullptr && a.dtype != b.packed->dtype_of_a() && is_byte(a.dtype))
    throw nb::type_error(cat("matmul: b was packed for an a of ",
                             numpy_name(b.packed->dtype_of_a()), ", and a has elements of ",
                             numpy_name(a.dtype), "; pack it with a_dtype=\"", numpy_name(a.dtype),
                             "\"")
                             .c_str());
  if (a.dtype != b.dtype() && !(is_byte(a.dtype) && is_byte(b.dtype())))
    throw nb::type_error(cat("matmul: a has elements of ", numpy_name(a.dtype), " and b of ",
                             numpy_name(b.dtype()), "; convert one of them")
                             .c_str());
  check_devices(a, b);
  const index_t k = a.shape.back(), rows = right.size() == 1 ? right[0] : right[right.size() - 2];
  if (k != rows)
    throw nb::value_error(
        cat("matmul: ", both(a, b), " do not fit: a has ", k, " columns but b has ", rows, " rows")
            .c_str());
  std::vector<index_t> out = batch_shape(a, b);
  if (a.shape.size() > 1) out.push_back(a.shape[a.shape.size() - 2]);
  if (right.size() > 1) out.push_back(right.back());
  return out;
}

void multiply(const Operand& a, const Right& b, const Operand& out, const Added& added,
              const Request& request) {
  check_result(a, b, out);
  check_activation(a.dtype, out.dtype, request.activation);
  if (added.c != nullptr) check_added(*added.c, out);
  if (added.bias != nullptr) check_bias(*added.bias, out);
  const Call call = call_of(a, b, {out.dtype, out.strides, out.data}, added.bias, request);
  if (call.products.count() == 0) return;
  const bool copies = added.c != nullptr && request.beta != 0;
  if (copies && a.device != Operand::kCpu) added.copy();
  const auto work = [&] {
    if (copies && a.device == Operand::kCpu) copy(*added.c, out);
    run_all(call, b, request);
  };
  const double flops = call.plan.problem.flops() * static_cast<double>(call.products.count());
  if (flops < kKeepLockFlops) {
    work();
  } else {
    const nb::gil_scoped_release released;
    work();
  }
}

CallPlan plan(const Operand& a, const Right& b, DType dtype, const Operand* out, const Added& added,
              const Request& request) {
  const std::vector<index_t> shape = product_shape(a, b);
  check_activation(a.dtype, out != nullptr ? out->dtype : dtype, request.activation);
  if (out != nullptr) check_result(a, b, *out);
  if (added.bias != nullptr && out != nullptr) check_bias(*added.bias, *out);
  if (added.c != nullptr && out != nullptr) check_added(*added.c, *out);
  else if (added.c != nullptr) check_addend(*added.c, shape, dtype, a.device);
  const Target target = out != nullptr ? Target{out->dtype, out->strides, out->data}
                                       : Target{dtype, dense_strides(shape)};
  const Call call = call_of(a, b, target, added.bias, request);
  return {call.plan, call.products.count()};
}

}  // namespace tessera::python
