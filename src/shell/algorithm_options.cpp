// Options that name algorithms and element types: see algorithm_options.hpp.
#include "algorithm_options.hpp"

#include <algorithm>

#include "suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::shell {

std::vector<std::string> dtype_names() {
  std::vector<std::string> out;
  for (const auto& each : kElementTypes) out.emplace_back(each.name);
  return out;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> out;
  for (const auto& each : algorithms()) out.emplace_back(each.name);
  return out;
}

std::vector<std::string> product_dtype_names(Products products) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    const auto in = static_cast<DType>(i);
    const auto has_product = [&](const Algorithm& each) {
      for (std::size_t to = 0; to < kElementTypeCount; ++to) {
        if ((to == i || products == Products::operands) &&
            each.supports(in, static_cast<DType>(to)))
          return true;
      }
      return false;
    };
    if (std::any_of(algorithms().begin(), algorithms().end(), has_product))
      out.emplace_back(name(in));
  }
  return out;
}

DType named_dtype(const std::string& text, const std::vector<std::string>& taken) {
  try {
    return parse_dtype(text);
  } catch (const Error& error) {
    const std::string near = nearest(text, taken);
    throw Error(Category::type, error.problem(), "one of " + join(taken), error.got(),
                near.empty() ? "" : "did you mean '" + near + "'?");
  }
}

std::string named_algorithm(const std::string& text, const std::string& also) {
  auto names = algorithm_names();
  if (!also.empty()) {
    for (const auto& each : split(also, '|')) names.insert(names.begin(), each);
  }
  for (const auto& name : names) {
    if (name == text) return name;
  }
  const std::string near = nearest(text, names);
  throw Error(Category::argument, cat("unknown algorithm '", text, "'"), "one of " + join(names),
              {}, near.empty() ? "" : "did you mean '" + near + "'?");
}

CLI::Option* add_dtype(CLI::App& app, std::string flags, std::string& target,
                       std::string description, const std::vector<std::string>& taken) {
  return add_checked(
      app, flags,
      [&target, taken](const std::string& text) {
        target = std::string(name(named_dtype(text, taken)));
      },
      std::move(description), "TYPE");
}

CLI::Option* add_algorithm(CLI::App& app, std::string flags, std::string& target,
                           std::string description) {
  return add_checked(
      app, flags, [&target](const std::string& text) { target = named_algorithm(text, "auto"); },
      std::move(description), "ALGORITHM");
}

CLI::Option* add_algorithms(CLI::App& app, std::string flags, std::vector<std::string>& target,
                            std::string description, const std::string& also) {
  return add_checked(
      app, flags,
      [&target, also](const std::string& text) {
        target.clear();
        if (text == "all") return;
        for (const auto& each : split(text, ',')) {
          const std::string name = named_algorithm(each, also);
          if (std::find(target.begin(), target.end(), name) == target.end()) target.push_back(name);
        }
        if (target.empty())
          throw Error(Category::argument, "no algorithm named", "names joined by commas, or all");
      },
      std::move(description), also.empty() ? "ALGORITHMS" : cat("ALGORITHMS|", also));
}

}  // namespace tessera::shell
