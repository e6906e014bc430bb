// Reads what XLA hands over and multiplies it in place: no operand is copied, and an Error
// goes back to XLA, which raises it in Python. See xla.hpp.
#include "xla.hpp"

#include <nanobind/stl/string.h>

#include <cfenv>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "operand.hpp"
#include "run_products.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::python {

namespace {

/// XLA's threads flush subnormal numbers to zero; products have the same bits everywhere.
class StandardArithmetic {
 public:
  StandardArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StandardArithmetic() { std::fesetenv(&before_); }
  StandardArithmetic(const StandardArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

DType dtype_of(xla::Type type) {
  switch (type) {
    case xla::Type::s8: return DType::i8;
    case xla::Type::u8: return DType::u8;
    case xla::Type::s32: return DType::i32;
    case xla::Type::f16: return DType::f16;
    case xla::Type::bf16: return DType::bf16;
    case xla::Type::f32: return DType::f32;
    case xla::Type::f64: return DType::f64;
    default:
      throw Error(Category::type, "matmul: XLA hands over an element type without a product",
                  multiplied_text(), cat("its type ", static_cast<int>(type)));
  }
}

/// An operand's extents and strides; the last two dimensions are a matrix, those in front of them a
/// batch.
struct Array {
  void* data;
  DType dtype;
  std::vector<index_t> shape, strides;

  explicit Array(const xla::Buffer& buffer)
      : data(buffer.data),
        dtype(dtype_of(buffer.type)),
        shape(buffer.extents, buffer.extents + buffer.rank),
        strides(shape.size()) {
    index_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  }

  Matrix matrix(bool transpose) const {
    const std::size_t n = shape.size();
    const Matrix m{data, dtype, shape[n - 2], shape[n - 1], strides[n - 2], strides[n - 1]};
    return transpose ? transposed(m) : m;
  }
  /// From one product to the next along an axis of a batch of `axes`; 0 where this is the same for
  /// all.
  index_t step(std::size_t axis, std::size_t axes) const {
    const std::size_t own = shape.size() - 2, missing = axes - own;
    return axis < missing || shape[axis - missing] == 1 ? 0 : strides[axis - missing];
  }
};

/// The value of an attribute, which is of kind `kind`.
const void* attribute(const xla::Call& call, std::string_view name, xla::AttributeKind kind) {
  const xla::Attributes& all = call.attributes;
  for (std::int64_t i = 0; i < all.size; ++i) {
    if (std::string_view(all.names[i]->data, all.names[i]->size) == name && all.kinds[i] == kind)
      return all.values[i];
  }
  throw Error(Category::argument, cat("matmul: XLA's call has no attribute '", name, "'"), {}, {},
              "call it through tessera.jax");
}
std::string text(const xla::Call& call, std::string_view name) {
  const auto* value =
      static_cast<const xla::Text*>(attribute(call, name, xla::AttributeKind::text));
  return {value->data, value->size};
}
template <class T>
T scalar(const xla::Call& call, std::string_view name, xla::Type type) {
  const auto* value =
      static_cast<const xla::Scalar*>(attribute(call, name, xla::AttributeKind::scalar));
  if (value->type != type)
    throw Error(Category::type, cat("matmul: XLA's attribute '", name, "' has another type"));
  return *static_cast<const T*>(value->value);
}

bool flag(const xla::Call& call, std::string_view name) {
  return scalar<bool>(call, name, xla::Type::pred);
}

/// What the call requests; JAX has checked that it fits.
Products products_of(const xla::Call& call) {
  const Array A(*call.arguments.buffers[0]), B(*call.arguments.buffers[1]);
  const Array C(*call.results.buffers[0]);
  Products products{A.matrix(flag(call, "transpose_a")),
                    B.matrix(flag(call, "transpose_b")),
                    C.matrix(false),
                    {}};
  const std::size_t axes = C.shape.size() - 2;
  for (std::size_t i = 0; i < axes; ++i)
    products.axes.push_back({C.shape[i], A.step(i, axes), B.step(i, axes), C.step(i, axes)});
  return products;
}

struct Where {
  std::string device = "cpu";
  CUstream_st* stream = nullptr;
};

void execute(const xla::Call& call, const Where& where) {
  Products products = products_of(call);
  if (products.count() == 0) return;
  products.simplify(false);
  const bool has_bias = call.arguments.size == 3;
  const void* bias = has_bias ? call.arguments.buffers[2]->data : nullptr;
  const Epilogue epilogue{
      parse_problem("activation=" + text(call, "activation")).epilogue.activation,
      has_bias ? Bias::per_column : Bias::none};
  const Problem problem = make_problem(products.A, products.B, products.C,
                                       scalar<double>(call, "alpha", xla::Type::f64), 0, epilogue);
  const Options options{
      .algorithm = text(call, "algorithm"),
      .device = where.device,
      .threads = static_cast<int>(scalar<std::int64_t>(call, "threads", xla::Type::s64))};
  run_products(make_plan(problem, options), products, bias, where.stream);
}

xla::Code code_of(Category category) {
  switch (category) {
    case Category::argument:
    case Category::shape:
    case Category::type: return xla::Code::invalid_argument;
    case Category::unavailable: return xla::Code::unavailable;
    case Category::resource: return xla::Code::resource_exhausted;
    default: return xla::Code::internal;
  }
}

xla::Error* refuse(const xla::Call& call, xla::Code code, const char* message) {
  xla::CreateError arguments{{sizeof arguments, nullptr}, message, code};
  return call.functions->create_error(&arguments);
}

/// Reports the handler's metadata, if that is the purpose of the call.
bool introduce(const xla::Call& call, std::uint32_t traits) {
  for (const xla::Extension* each = call.head.extensions; each != nullptr; each = each->next) {
    if (each->kind != xla::ExtensionKind::metadata) continue;
    xla::Metadata& metadata = *reinterpret_cast<const xla::MetadataExtension*>(each)->metadata;
    metadata.version.major = xla::kMajor, metadata.version.minor = xla::kMinor;
    metadata.traits = traits;
    return true;
  }
  return false;
}

template <class Body>
xla::Error* answer(const xla::Call& call, const Body& body) noexcept try {
  body();
  return nullptr;
} catch (const Error& error) {
  return refuse(call, code_of(error.category()), error.what());
} catch (const std::bad_alloc&) {
  return refuse(call, xla::Code::resource_exhausted, "matmul: no memory");
} catch (const std::exception& error) {
  return refuse(call, xla::Code::internal, error.what());
}

}  // namespace

xla::Error* xla_matmul_cpu(xla::Call* call) noexcept {
  if (introduce(*call, 0)) return nullptr;
  return answer(*call, [&] {
    const StandardArithmetic standard;
    execute(*call, {});
  });
}

xla::Error* xla_matmul_cuda(xla::Call* call) noexcept {
  if (introduce(*call, xla::kCommandBufferCompatible)) return nullptr;
  xla::GetStream ask{{sizeof ask, nullptr}, call->context, nullptr};
  if (xla::Error* error = call->functions->get_stream(&ask)) return error;
  return answer(*call, [&] {
    auto* const stream = static_cast<CUstream_st*>(ask.stream);
    execute(*call, {cat("cuda:", cuda::Stream::borrow(stream).device()), stream});
  });
}

void add_xla(nb::module_& m) {
  m.def(
      "xla_targets",
      [] {
        nb::dict out;
        out["cpu"] = nb::capsule(reinterpret_cast<void*>(&xla_matmul_cpu));
        if (cuda::is_built()) out["CUDA"] = nb::capsule(reinterpret_cast<void*>(&xla_matmul_cuda));
        return out;
      },
      "What jax.ffi.register_ffi_target takes for each platform that has a product.");
  m.def(
      "check_algorithm",
      [](const std::string& name) {
        if (name != "auto") find_algorithm(name);
      },
      "ValueError with the nearest name where no algorithm is called so.");
}

}  // namespace tessera::python
