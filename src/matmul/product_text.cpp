// Products in words: see product_text.hpp.
#include "product_text.hpp"

#include <string_view>
#include <vector>

#include "product_types.hpp"

namespace tessera::detail {

namespace {

/// "f32, f16 or bf16": the element types for which `is_one` is true.
template <class IsOne>
std::string types_text(const IsOne& is_one) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kElementTypeCount; ++i)
    if (is_one(static_cast<DType>(i))) names.push_back(kElementTypes[i].name);
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += cat(i == 0 ? "" : i + 1 < names.size() ? ", " : " or ", names[i]);
  return out;
}

}  // namespace

std::string products_text(bool (*has)(DType in, DType out)) {
  std::string out;
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    const auto in = static_cast<DType>(i);
    if (const auto into = types_text([&](DType to) { return has(in, to); }); !into.empty())
      out += cat(out.empty() ? "" : "; ", name(in), " into ", into);
  }
  return out;
}

std::string every_product_text() {
  return products_text(has_product) + "; A and B may also be i8 and u8";
}

std::string packed_operands_text() {
  return types_text([](DType in) {
    for (std::size_t to = 0; to < kElementTypeCount; ++to)
      if (has_cpu_product(in, static_cast<DType>(to))) return true;
    return false;
  });
}

}  // namespace tessera::detail
