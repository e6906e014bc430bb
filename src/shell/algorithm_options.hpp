// Options that name algorithms and element types of products, and the names that they accept.
#pragma once

#include "options.hpp"
#include "tessera/core/dtype.hpp"

namespace tessera::shell {

/// The names of all element types.
std::vector<std::string> dtype_names();
/// The types with a product whose A, B and C all have that type; `operands` adds the types of A and
/// B of products into another type.
enum class Products { of_one_type, operands };
std::vector<std::string> product_dtype_names(Products products = Products::of_one_type);
/// The names of all algorithms in the order of the ladder.
std::vector<std::string> algorithm_names();
/// As parse_dtype, for the names `taken`. Throws Error(type) with those and the nearest of them.
DType named_dtype(const std::string& text,
                  const std::vector<std::string>& taken = product_dtype_names());
/// The algorithm's own name, or one of `also`. Throws Error(argument) with the nearest name.
std::string named_algorithm(const std::string& text, const std::string& also = {});

/// An element type by name; the message for a wrong one lists `taken`.
CLI::Option* add_dtype(CLI::App& app, std::string flags, std::string& target,
                       std::string description,
                       const std::vector<std::string>& taken = product_dtype_names());
/// One algorithm, or "auto".
CLI::Option* add_algorithm(CLI::App& app, std::string flags, std::string& target,
                           std::string description);
/// Algorithms joined by commas, or "all"; `also`: more names, joined by |.
CLI::Option* add_algorithms(CLI::App& app, std::string flags, std::vector<std::string>& target,
                            std::string description, const std::string& also = {});

}  // namespace tessera::shell
