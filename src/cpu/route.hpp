// The route of a product as a value: which code computes it, in which form, with how many threads
// and how much memory. choose.hpp decides it, gemm.cpp carries it out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "packed/plan.hpp"
#include "reported_route.hpp"
#include "small/forms.hpp"

namespace tessera::cpu {

/// Which code computes a product.
enum class Variant : char {
  nothing,  ///< none: C is empty
  scaled,   ///< the epilogue alone: K or alpha is 0
  lanes,    ///< lane_sums.hpp
  chains,   ///< small/products.hpp
  tiny,     ///< the same or small/k_groups.hpp, panels on the stack
  small,    ///< the same, panels in a workspace
  packed    ///< packed/product.hpp
};

struct Route {
  Variant variant = Variant::nothing;
  SmallForm form = SmallForm::no;  ///< of tiny and small
  bool is_transposed = false;      ///< C' = B' A' is computed instead, by `lanes` and `packed`
  int threads = 1;                 ///< at most
  index_t columns_apart = 0;       ///< the last columns, computed first as rows of C'
  std::size_t workspace = 0;       ///< bytes, if all threads take part
  PackedPlan packed;               ///< of `packed` only, else indeterminate

  bool operator==(const Route& other) const {
    return variant == other.variant && form == other.form && is_transposed == other.is_transposed &&
           threads == other.threads && columns_apart == other.columns_apart &&
           workspace == other.workspace && (variant != Variant::packed || packed == other.packed);
  }
};

/// All of it, as name=value.
std::string to_text(const Route& route);

/// Throws Error for text that to_text() does not write.
Route route_from(std::string_view text);

/// What reports say of it, where the caller allows `most_threads`.
GemmRoute report_of(const Route& route, int most_threads);

}  // namespace tessera::cpu
