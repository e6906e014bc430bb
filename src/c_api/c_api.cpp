// The C interface over the C++ one: tessera.h. Each function turns its arguments into those of C++,
// and exceptions into a status and a text.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/device/devices.hpp"
#include "tessera/layout/expression.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/packed_matrix.hpp"
#include "tessera/matmul/verify.hpp"
#pragma GCC visibility push(default)  // nothing else of the library is visible
#include "tessera/tessera.h"
#pragma GCC visibility pop

using tessera::cat;
using tessera::Category;
using tessera::Error;

struct tessera_plan {
  tessera::Plan plan;
  std::string text;
};
struct tessera_packed {
  tessera::PackedMatrix matrix;
};
struct tessera_layout {
  tessera::ComposedLayout layout;
  std::string text;
};

namespace {

thread_local std::string last_error;

tessera_status failed(tessera_status status, const char* text) noexcept {
  try {
    last_error = text;
  } catch (...) {
    last_error.clear();  // no memory even for the text
  }
  return status;
}

/// Calls body(); what it throws becomes a status.
template <class Body>
tessera_status guarded(const Body& body) noexcept {
  try {
    body();
    return TESSERA_OK;
  } catch (const Error& error) {
    const int code = tessera::exit_code(error.category());
    return failed(code == TESSERA_INVALID       ? TESSERA_INVALID
                  : code == TESSERA_UNAVAILABLE ? TESSERA_UNAVAILABLE
                                                : TESSERA_FAILED,
                  error.what());
  } catch (const std::bad_alloc&) {
    return failed(TESSERA_FAILED, "no memory is left");
  } catch (const std::exception& error) {
    return failed(TESSERA_FAILED, error.what());
  } catch (...) {
    return failed(TESSERA_FAILED, "an unknown exception");
  }
}

/// Throws if a pointer is null; `name` is that of the argument.
void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw Error(Category::argument, cat(name, " is NULL"), "an object");
}

constexpr tessera::DType kTypes[] = {tessera::DType::f64,  tessera::DType::f32, tessera::DType::f16,
                                     tessera::DType::bf16, tessera::DType::i32, tessera::DType::i8,
                                     tessera::DType::u8};

tessera::DType dtype_of(tessera_dtype type, const char* name) {
  const auto at = static_cast<std::size_t>(type);
  if (at >= std::size(kTypes))
    throw Error(Category::type, cat(name, ": unknown element type"), "a tessera_dtype",
                cat(static_cast<int>(type)));
  return kTypes[at];
}

/// A null pointer to the data is refused later, unless the matrix is empty.
tessera::Matrix matrix_of(const tessera_matrix* m, const char* name) {
  require(m, name);
  return {m->data, dtype_of(m->dtype, name), m->rows, m->cols, m->row_stride, m->col_stride};
}

/// The members that the caller's version of a structure has; others keep their defaults.
tessera_options complete(const tessera_options* given) {
  tessera_options out = TESSERA_OPTIONS;
  if (given == nullptr) return out;
  if (given->size < sizeof given->size || given->size > 4096)
    throw Error(Category::argument, "options->size is not set", "sizeof(tessera_options)",
                cat(given->size), "begin with TESSERA_OPTIONS");
  std::memcpy(&out, given, std::min(given->size, sizeof out));
  return out;
}

tessera::Epilogue epilogue_of(const tessera_options& options) {
  const auto bias = static_cast<unsigned>(options.bias),
             activation = static_cast<unsigned>(options.activation);
  if (bias > TESSERA_BIAS_PER_COLUMN)
    throw Error(Category::argument, "unknown bias", "a tessera_bias", cat(bias));
  if (activation > TESSERA_SILU)
    throw Error(Category::argument, "unknown activation", "a tessera_activation", cat(activation));
  constexpr tessera::Bias kBiases[] = {tessera::Bias::none, tessera::Bias::per_row,
                                       tessera::Bias::per_column};
  constexpr tessera::Activation kActivations[] = {
      tessera::Activation::none, tessera::Activation::relu, tessera::Activation::gelu,
      tessera::Activation::silu};
  return {.activation = kActivations[activation], .bias = kBiases[bias]};
}

tessera::Options options_of(const tessera_options& options) {
  tessera::Options out;
  if (options.algorithm != nullptr) out.algorithm = options.algorithm;
  if (options.arithmetic != nullptr) out.arithmetic = tessera::parse_arithmetic(options.arithmetic);
  out.threads = options.threads;
  return out;
}

template <class B>
tessera::Problem problem_of(const tessera_matrix* a, const B& b, const tessera_matrix* c,
                            const tessera_options& options) {
  return tessera::make_problem(matrix_of(a, "a"), b, matrix_of(c, "c"), options.alpha, options.beta,
                               epilogue_of(options));
}

/// Gives the caller the object that `make` returns.
template <class Object, class Make>
tessera_status made(Object** out, const char* name, const Make& make) {
  return guarded([&] {
    require(out, name);
    *out = nullptr;
    *out = std::make_unique<Object>(make()).release();
  });
}

/// Text into a field of fixed length, cut where it is too long.
template <std::size_t N>
void copy_text(char (&to)[N], const std::string& from) {
  const std::size_t length = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), length);
  to[length] = 0;
}

}  // namespace

extern "C" {

const char* tessera_version(void) { return TESSERA_VERSION; }
const char* tessera_error(void) { return last_error.c_str(); }

tessera_status tessera_matmul(const tessera_matrix* a, const tessera_matrix* b,
                              const tessera_matrix* c, const void* bias,
                              const tessera_options* options) {
  return guarded([&] {
    const tessera_options all = complete(options);
    const auto A = matrix_of(a, "a"), B = matrix_of(b, "b"), C = matrix_of(c, "c");
    tessera::run(tessera::make_plan(problem_of(a, B, c, all), options_of(all)), A, B, C, bias);
  });
}

tessera_status tessera_plan_make(tessera_plan** plan, const tessera_matrix* a,
                                 const tessera_matrix* b, const tessera_matrix* c,
                                 const tessera_options* options) {
  return made(plan, "plan", [&] {
    require(a, "a");
    require(c, "c");
    const tessera_options all = complete(options);
    // A plan does not depend on addresses, but make_problem() refuses null pointers and overlaps:
    // it gets invented addresses, far apart.
    tessera::Matrix B = matrix_of(b, "b");
    tessera_matrix a_apart = *a, c_apart = *c;
    const auto address = [](std::uintptr_t n) { return reinterpret_cast<void*>(n << 60); };
    a_apart.data = address(1), B.data = address(2), c_apart.data = address(3);
    tessera_plan out;
    out.plan = tessera::make_plan(problem_of(&a_apart, B, &c_apart, all), options_of(all));
    out.text = tessera::to_string(out.plan);
    return out;
  });
}

const char* tessera_plan_text(const tessera_plan* plan) { return plan->text.c_str(); }

tessera_status tessera_plan_run(const tessera_plan* plan, const tessera_matrix* a,
                                const tessera_matrix* b, const tessera_matrix* c,
                                const void* bias) {
  return guarded([&] {
    require(plan, "plan");
    tessera::run(plan->plan, matrix_of(a, "a"), matrix_of(b, "b"), matrix_of(c, "c"), bias);
  });
}

void tessera_plan_free(tessera_plan* plan) { delete plan; }

tessera_status tessera_pack(tessera_packed** packed, const tessera_matrix* b,
                            tessera_dtype dtype_of_a) {
  return made(packed, "packed", [&] {
    return tessera_packed{
        tessera::PackedMatrix(matrix_of(b, "b"), dtype_of(dtype_of_a, "dtype_of_a"))};
  });
}

size_t tessera_packed_bytes(const tessera_packed* packed) { return packed->matrix.bytes(); }

tessera_status tessera_packed_matmul(const tessera_matrix* a, const tessera_packed* packed,
                                     const tessera_matrix* c, const void* bias,
                                     const tessera_options* options) {
  return guarded([&] {
    require(packed, "packed");
    const tessera_options all = complete(options);
    const auto A = matrix_of(a, "a"), C = matrix_of(c, "c");
    tessera::run(tessera::make_plan(problem_of(a, packed->matrix, c, all), options_of(all)), A,
                 packed->matrix, C, bias);
  });
}

void tessera_packed_free(tessera_packed* packed) { delete packed; }

tessera_status tessera_check_product(tessera_check* check, const tessera_matrix* a,
                                     const tessera_matrix* b, const tessera_matrix* c,
                                     const tessera_matrix* c_before, const void* bias,
                                     const tessera_options* options) {
  return guarded([&] {
    require(check, "check");
    if (check->size < sizeof check->size || check->size > 4096)
      throw Error(Category::argument, "check->size is not set", "sizeof(tessera_check)",
                  cat(check->size));
    const tessera_options all = complete(options);
    const auto A = matrix_of(a, "a"), B = matrix_of(b, "b"), C = matrix_of(c, "c");
    const tessera::Problem problem = problem_of(a, B, c, all);
    if (all.beta != 0) require(c_before, "c_before");
    const tessera::ConstMatrix before = c_before == nullptr ? C : matrix_of(c_before, "c_before");
    if (before.rows != C.rows || before.cols != C.cols || before.dtype != C.dtype)
      throw Error(Category::shape, "c_before is not as c", to_string(C), to_string(before));
    const tessera::Verifier verifier(problem, A, B, before, bias, all.threads);
    const tessera::Options how = options_of(all);
    const tessera::Verification found = verifier.check(C, how.arithmetic);
    const tessera_check out{
        check->size,   found.within_bound, found.same_bits, found.max_error_ratio,
        found.outside, found.row,          found.col,       found.expected,
        found.got};
    std::memcpy(check, &out, std::min(check->size, sizeof out));
  });
}

tessera_status tessera_layout_make(tessera_layout** layout, const char* expression) {
  return made(layout, "layout", [&] {
    require(expression, "expression");
    const tessera::LayoutValue value = tessera::eval_expression(expression);
    return tessera_layout{tessera::composed_of(value, expression), tessera::to_string(value)};
  });
}

const char* tessera_layout_text(const tessera_layout* layout) { return layout->text.c_str(); }
int64_t tessera_layout_size(const tessera_layout* layout) { return layout->layout.size(); }

tessera_status tessera_layout_offset(const tessera_layout* layout, int64_t index, int64_t* offset) {
  return guarded([&] {
    require(layout, "layout");
    require(offset, "offset");
    const tessera::index_t size = layout->layout.size();
    if (size == tessera::dynamic)
      throw Error(Category::argument, "the layout has extents that are not known", "numbers",
                  layout->text);
    if (index < 0 || index >= size)
      throw Error(Category::argument, "index is outside the layout", cat("from 0 to ", size - 1),
                  cat(index));
    *offset = layout->layout(index);
  });
}

void tessera_layout_free(tessera_layout* layout) { delete layout; }

tessera_status tessera_devices(tessera_device* devices, int most, int* count) {
  return guarded([&] {
    require(count, "count");
    if (most > 0) require(devices, "devices");
    const std::size_t size =
        most > 0 ? devices->size : 0;  // of the caller's version, in all of them
    if (most > 0 && (size < sizeof devices->size || size > 4096))
      throw Error(Category::argument, "devices->size is not set", "sizeof(tessera_device)",
                  cat(size));
    int found = 0;
    for (const tessera::DeviceInfo& info : tessera::devices()) {
      if (info.device == tessera::Device::checked()) continue;
      if (found < most) {
        tessera_device out{};
        out.size = size;
        copy_text(out.name, tessera::to_string(info.device));
        copy_text(out.full_name, info.name);
        out.bytes = static_cast<std::uint64_t>(info.memory_bytes);
        std::memcpy(reinterpret_cast<char*>(devices) + static_cast<std::size_t>(found) * size, &out,
                    std::min(size, sizeof out));
      }
      ++found;
    }
    *count = found;
  });
}
}
