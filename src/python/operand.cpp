// From Python's arrays to addresses: see operand.hpp.
#include "operand.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "tessera/core/text.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::python {

namespace {

constexpr int kDlpackCpu = 1, kDlpackCuda = 2, kDlpackCudaHost = 3, kDlpackCudaManaged = 13;

/// The element type of a letter of the buffer protocol, if it is one of Tessera's.
std::optional<DType> dtype_of_letter(char letter) {
  constexpr bool kWideLong = sizeof(long) == 8;
  switch (letter) {
    case 'd': return DType::f64;
    case 'f': return DType::f32;
    case 'e': return DType::f16;
    case 'b': return DType::i8;
    case 'B': return DType::u8;
    case 'h': return DType::i16;
    case 'H': return DType::u16;
    case 'i': return DType::i32;
    case 'I': return DType::u32;
    case 'l': return kWideLong ? DType::i64 : DType::i32;
    case 'L': return kWideLong ? DType::u64 : DType::u32;
    case 'q': return DType::i64;
    case 'Q': return DType::u64;
    case '?': return DType::boolean;
    default: return {};
  }
}

/// Elements of another kind, as NumPy's users call them.
std::string foreign_name(const std::string& code) {
  constexpr std::pair<std::string_view, const char*> names[] = {
      {"g", "longdouble"},   {"Zf", "complex64"},     {"Zd", "complex128"},
      {"Zg", "clongdouble"}, {"O", "Python objects"}, {"c", "bytes"}};
  for (const auto& [known, name] : names)
    if (code == known) return name;
  if (code.starts_with('T')) return "several fields";
  if (code.ends_with('w')) return "text";
  if (code.ends_with('s')) return "bytes";
  if (code.ends_with('x')) return "void";
  return cat("'", code, "'");
}

/// An element type of the buffer protocol, in this machine's byte order. Throws nb::type_error.
DType dtype_of_format(const std::string& name, const char* format) {
  std::string code = format == nullptr ? "B" : format;
  const bool turned = code.starts_with('>');
  if (turned || code.starts_with('@') || code.starts_with('=') || code.starts_with('<'))
    code.erase(0, 1);
  const auto dtype = code.size() == 1 ? dtype_of_letter(code[0]) : std::nullopt;
  if (turned)
    refuse_dtype(name,
                 cat(dtype ? numpy_name(*dtype) : foreign_name(code), " in another byte order"));
  if (!dtype) refuse_dtype(name, foreign_name(code));
  return *dtype;
}

DType dtype_of_dlpack(const std::string& name, nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const auto is = [&](Code code, int bits) {
    return type.code == static_cast<std::uint8_t>(code) && type.bits == bits && type.lanes == 1;
  };
  if (is(Code::Float, 64)) return DType::f64;
  if (is(Code::Float, 32)) return DType::f32;
  if (is(Code::Float, 16)) return DType::f16;
  if (is(Code::Bfloat, 16)) return DType::bf16;
  if (is(Code::Float8_E4M3FN, 8)) return DType::f8e4m3;
  if (is(Code::Float8_E5M2, 8)) return DType::f8e5m2;
  if (is(Code::Bool, 8)) return DType::boolean;
  if (is(Code::Int, 8)) return DType::i8;
  if (is(Code::Int, 16)) return DType::i16;
  if (is(Code::Int, 32)) return DType::i32;
  if (is(Code::Int, 64)) return DType::i64;
  if (is(Code::UInt, 8)) return DType::u8;
  if (is(Code::UInt, 16)) return DType::u16;
  if (is(Code::UInt, 32)) return DType::u32;
  if (is(Code::UInt, 64)) return DType::u64;
  refuse_dtype(name, type.code == static_cast<std::uint8_t>(Code::Complex)
                         ? cat("complex", int{type.bits})
                         : cat("DLPack code ", int{type.code}, ", ", int{type.bits}, " bits"));
}

bool is_multiplied(DType dtype) {
  const auto& all = multiplied_dtypes();
  return std::find(all.begin(), all.end(), dtype) != all.end();
}

[[noreturn]] void refuse_read_only(const std::string& name) {
  throw nb::buffer_error(cat("matmul: ", name, " is read-only").c_str());
}

/// Strides in bytes of contiguous elements, for a buffer that has no strides.
std::vector<index_t> dense_strides(const std::vector<index_t>& shape, index_t bytes) {
  std::vector<index_t> out(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; bytes *= shape[i]) out[i] = bytes;
  return out;
}

/// The capsule of the array's __dlpack__. nanobind could call it, but does not mark the capsule as
/// used: a producer that returns the same capsule again would free its memory twice. A versioned
/// capsule takes time to make, but only it says that memory is read-only, so it is used for
/// outputs.
nb::object capsule_of(nb::handle array, Access access) {
  const nb::object producer = array.attr("__dlpack__");
  const auto plain = [&] { return producer(); };
  const auto versioned = [&] { return producer(nb::arg("max_version") = nb::make_tuple(1, 1)); };
  const auto may_give_the_other = [](const nb::python_error& error) {
    return error.matches(PyExc_TypeError) || error.matches(PyExc_BufferError);
  };
  try {
    return access == Access::write ? versioned() : plain();
  } catch (const nb::python_error& first) {
    if (!may_give_the_other(first)) throw;
    if (access == Access::write) return plain();
    try {
      return versioned();
    } catch (const nb::python_error& second) {
      if (!may_give_the_other(second)) throw;
    }
    throw;
  }
}

bool is_numpy(nb::handle array) {
  static PyObject* const ndarray =  // never freed
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  return PyObject_TypeCheck(array.ptr(), reinterpret_cast<PyTypeObject*>(ndarray)) != 0;
}

}  // namespace

std::string shape_text(const std::vector<index_t>& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) out += cat(i == 0 ? "" : ",", shape[i]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::string numpy_name(DType dtype) {
  if (dtype == DType::boolean) return "bool";  // numpy.bool_ is its class
  return std::string(kElementTypes[static_cast<std::size_t>(dtype)].numpy);
}

bool has_product(DType in, DType out) {
  const auto all = algorithms();
  return std::any_of(all.begin(), all.end(),
                     [&](const Algorithm& each) { return each.supports(in, out); });
}

const std::vector<DType>& multiplied_dtypes() {
  static const std::vector<DType> all = [] {
    std::vector<DType> out;
    for (std::size_t i = 0; i < kElementTypeCount; ++i) {
      const auto in = static_cast<DType>(i);
      if (!is_f8(in) && has_product(in, result_dtypes(in).front())) out.push_back(in);
    }
    return out;
  }();
  return all;
}

std::vector<DType> result_dtypes(DType in) {
  std::vector<DType> out = {is_byte(in) ? DType::i32 : in};
  for (std::size_t i = 0; i < kElementTypeCount; ++i)
    if (const auto to = static_cast<DType>(i); to != out.front() && has_product(in, to))
      out.push_back(to);
  return out;
}

std::string multiplied_text() {
  const auto& all = multiplied_dtypes();
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i)
    out += cat(i == 0 ? "" : i + 1 < all.size() ? ", " : " or ", numpy_name(all[i]));
  return out;
}

void refuse_dtype(const std::string& name, const std::string& what) {
  throw nb::type_error(cat("matmul: ", name, " has elements of ", what, ": expected ",
                           multiplied_text(), ", or for both a and b ", numpy_name(DType::f8e4m3),
                           " or ", numpy_name(DType::f8e5m2), "; convert it first")
                           .c_str());
}

Operand::Operand(nb::handle array, const std::string& name_, Access access) : name(name_) {
  const bool numpy = is_numpy(array);
  if (!numpy && nb::hasattr(array, "__dlpack__")) {
    take_dlpack(array, access);
  } else if (!take_buffer(array, access)) {
    if (!numpy)
      throw nb::type_error(cat("matmul: ", name, " is a ", nb::type_name(array.type()).c_str(),
                               ": expected an array of NumPy, JAX, PyTorch or CuPy, or another "
                               "object with DLPack or "
                               "the buffer protocol")
                               .c_str());
    take_custom_numpy(array, access);
  }
  if (!is_multiplied(dtype)) refuse_dtype(name, numpy_name(dtype));
}

/// False where the object has no buffer, or one whose elements it cannot describe.
bool Operand::take_buffer(nb::handle array, Access access) {
  if (PyObject_CheckBuffer(array.ptr()) == 0) return false;
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(array.ptr(), view.get(), PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  buffer_.reset(view.release());
  if (access == Access::write && buffer_->readonly != 0) refuse_read_only(name);
  dtype = dtype_of_format(name, buffer_->format);
  data = buffer_->buf;
  if (buffer_->shape != nullptr) shape.assign(buffer_->shape, buffer_->shape + buffer_->ndim);
  else if (buffer_->ndim == 1) shape = {buffer_->len / buffer_->itemsize};
  if (buffer_->strides == nullptr) check_addresses(dense_strides(shape, buffer_->itemsize));
  else check_addresses({buffer_->strides, buffer_->strides + buffer_->ndim});
  return true;
}

/// An element type that NumPy knows by name only: bfloat16 and f8 of ml_dtypes.
void Operand::take_custom_numpy(nb::handle array, Access access) {
  const std::string type = nb::cast<std::string>(array.attr("dtype").attr("name"));
  const std::optional<DType> known = dtype_of_numpy(type);
  if (!known) refuse_dtype(name, type);
  const nb::object words = array.attr("view")(size_of(*known) == 2 ? "u2" : "u1");
  if (!take_buffer(words, access)) refuse_dtype(name, type);
  dtype = *known;
}

void Operand::take_dlpack(nb::handle array, Access access) {
  owner_ = nb::borrow(array);
  // PyTorch exports no tensor that requires a gradient, not even where none is recorded.
  if (nb::getattr(array, "requires_grad", nb::none()).is(nb::handle(Py_True)))
    owner_ = array.attr("detach")();
  const nb::object capsule = capsule_of(owner_, access);
  if (access == Access::read) {
    nb::try_cast(capsule, dlpack_, false);
  } else if (nb::ndarray<> writable; nb::try_cast(capsule, writable, false)) {
    dlpack_ = nb::ndarray<nb::ro>(writable);
  } else if (nb::try_cast(capsule, dlpack_, false)) {
    refuse_read_only(name);
  }
  if (!dlpack_.is_valid())
    throw nb::buffer_error(
        cat("matmul: ", name,
            ": its __dlpack__ gives no DLPack capsule, or one that was used before: "
            "expected a new one from each call")
            .c_str());
  const int where = dlpack_.device_type();
  if (where == kDlpackCuda || where == kDlpackCudaManaged) device = dlpack_.device_id();
  else if (where != kDlpackCpu && where != kDlpackCudaHost)
    throw nb::buffer_error(cat("matmul: ", name, " is on a device of DLPack type ", where,
                               ": expected the CPU or a CUDA device")
                               .c_str());
  dtype = dtype_of_dlpack(name, dlpack_.dtype());
  data = const_cast<void*>(dlpack_.data());
  std::vector<index_t> byte_strides;
  for (std::size_t i = 0; i < dlpack_.ndim(); ++i) {
    shape.push_back(static_cast<index_t>(dlpack_.shape(i)));
    byte_strides.push_back(dlpack_.stride(i) * size_of(dtype));
  }
  check_addresses(byte_strides);
}

/// Sets the strides in elements. Refuses elements that are not aligned to their size.
void Operand::check_addresses(const std::vector<index_t>& byte_strides) {
  const index_t bytes = size_of(dtype);
  bool between = reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) != 0;
  strides.clear();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    between |= shape[i] > 1 && byte_strides[i] % bytes != 0;
    strides.push_back(byte_strides[i] / bytes);
  }
  if (between && dtype != DType::boolean)
    throw nb::buffer_error(
        cat("matmul: ", name, " has elements that are not aligned to their size; pass a copy")
            .c_str());
}

ConstMatrix Operand::matrix(Side side) const {
  const std::size_t n = shape.size();
  if (n == 1)
    return side == Side::left ? ConstMatrix(data, dtype, 1, shape[0], 0, strides[0])
                              : ConstMatrix(data, dtype, shape[0], 1, strides[0], 0);
  return {data, dtype, shape[n - 2], shape[n - 1], strides[n - 2], strides[n - 1]};
}

void Operand::transpose() {
  const std::size_t n = shape.size();
  std::swap(shape[n - 2], shape[n - 1]);
  std::swap(strides[n - 2], strides[n - 1]);
}

}  // namespace tessera::python
