// The rule of product types: see operand.hpp.
#include "operand.hpp"

#include <algorithm>

#include "shell/algorithm_options.hpp"
#include "shell/suggest.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::product {

namespace {

bool multipliable(DType type) {
  const auto& known = algorithms();
  return std::any_of(known.begin(), known.end(),
                     [type](const Algorithm& each) { return each.supports(type, type); });
}

bool is_one_of(DType type, std::initializer_list<DType> types) {
  for (auto each : types) {
    if (each == type) return true;
  }
  return false;
}

/// Does `wide` hold every value of `type` exactly?
bool holds(DType wide, DType type) {
  using enum DType;
  if (wide == type) return true;
  const bool byte_sized = size_of(type) == 1;
  switch (wide) {
    case i32: return is_one_of(type, {i8, u8, i16, u16, boolean});
    case f16:
    case bf16: return byte_sized;
    case f32: return byte_sized || is_one_of(type, {f16, bf16, i16, u16});
    default: return true;
  }
}

}  // namespace

DType product_type(DType a, DType b) {
  if (a == b && multipliable(a)) return a;
  for (auto type : {DType::i32, DType::f16, DType::bf16, DType::f32}) {
    if (holds(type, a) && holds(type, b)) return type;
  }
  return DType::f64;
}

void require_product(DType type) {
  if (!multipliable(type))
    throw Error(Category::type, cat("there is no ", name(type), " product"),
                "one of " + shell::join(shell::product_dtype_names()));
}

bool is_wide_integer(DType type) { return is_one_of(type, {DType::u32, DType::i64, DType::u64}); }

}  // namespace tessera::product
