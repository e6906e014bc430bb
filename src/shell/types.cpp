// Element types as text: see types.hpp.
#include "types.hpp"

#include <algorithm>
#include <vector>

#include "algorithm_options.hpp"
#include "suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::shell {

namespace {

/// All operand types: "f32", then types of A and B with one of C, "bf16:f32".
std::vector<std::string> type_names() {
  std::vector<std::string> out = product_dtype_names();
  for (const auto& in : product_dtype_names(Products::operands)) {
    for (const auto& to : dtype_names()) {
      const auto supports = [&](const Algorithm& each) {
        return each.supports(parse_dtype(in), parse_dtype(to));
      };
      if (in != to && std::any_of(algorithms().begin(), algorithms().end(), supports))
        out.push_back(cat(in, ":", to));
    }
  }
  for (const char* mixed : {"u8:i8", "i8:u8"})
    for (const DType to : {DType::i32, DType::f32}) out.push_back(cat(mixed, ":", to));
  return out;
}

}  // namespace

DType sums_of(DType in) { return is_byte(in) ? DType::i32 : is_f8(in) ? DType::f32 : in; }

std::string to_string(const Types& types) {
  if (types.in_b != types.in) return cat(types.in, ":", types.in_b, ":", types.out);
  return types.in == types.out && types.out == sums_of(types.in) ? to_string(types.in)
                                                                 : cat(types.in, ":", types.out);
}

Types parse_types(std::string_view text) {
  const auto first = text.find(':'), last = text.rfind(':');
  if (first == std::string_view::npos) {
    const DType all = named_dtype(std::string(text), type_names());
    return {all, sums_of(all)};
  }
  if (std::count(text.begin(), text.end(), ':') > 2)
    throw Error(Category::argument, cat("'", text, "' has more than three types"),
                "one type, that of A and B and that of C, such as i8:i32, or one each, u8:i8:i32");
  const auto operand = [](std::string_view name) {
    return named_dtype(std::string(name), product_dtype_names(Products::operands));
  };
  const DType in = operand(text.substr(0, first)),
              out = named_dtype(std::string(text.substr(last + 1)));
  if (first == last) return {in, out};
  return {in, out, operand(text.substr(first + 1, last - first - 1))};
}

void require_product(const Types& types) {
  const bool fits = types.in == types.in_b || (is_byte(types.in) && is_byte(types.in_b));
  for (const Algorithm& each : algorithms()) {
    if (fits && each.supports(types.in, types.out)) return;
  }
  const std::string operands =
      types.in == types.in_b ? to_string(types.in) : cat(types.in, " and ", types.in_b);
  throw Error(Category::type, cat("there is no product of ", operands, " into ", types.out),
              "one of " + join(type_names()));
}

}  // namespace tessera::shell
