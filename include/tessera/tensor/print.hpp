// Tensors as text, for people. A matrix prints as rows of aligned columns; of higher ranks, one
// matrix for each position of the leading modes, under a line "[1, 0, :, :]". A clipped view prints
// what exists. Long modes are shortened in the middle.
#pragma once

#include <string>
#include <vector>

#include "tessera/core/text.hpp"
#include "tessera/tensor/arithmetic.hpp"

namespace tessera {

/// At most this many positions of a mode are printed: half from each end.
inline constexpr index_t kPrintLimit = 32;

/// One element as text: integers without a decimal point, other numbers with up to 6 digits.
std::string number_text(double value);
std::string number_text(index_t value);

namespace detail {

/// `cells`: the printed positions, last mode fastest. `extents`: how many positions of each mode
/// exist.
std::string format_tensor(const std::vector<index_t>& extents,
                          const std::vector<std::string>& cells);

/// The positions of a mode that are printed.
constexpr index_t printed(index_t extent) { return extent < kPrintLimit ? extent : kPrintLimit; }
/// The position printed at place i.
constexpr index_t printed_position(index_t i, index_t extent) {
  return extent <= kPrintLimit || i < kPrintLimit / 2 ? i : extent - kPrintLimit + i;
}

template <class T>
std::string element_text(const T& value) {
  if constexpr (IsVec<T>::value) {
    std::string text;
    for (int i = 0; i < T::lanes; ++i) text += (i == 0 ? "<" : " ") + element_text(value[i]);
    return text + ">";
  } else if constexpr (std::is_integral_v<T>) {
    return number_text(static_cast<index_t>(value));
  } else {
    return number_text(static_cast<double>(value));
  }
}

template <int Mode, class T, class... I>
void collect_cells(const T& t, std::vector<std::string>& cells, I... outer) {
  if constexpr (Mode == T::rank) cells.push_back(element_text(value_at(t, outer...)));
  else {
    const index_t extent = t.template valid<Mode>();
    for (index_t i = 0; i < printed(extent); ++i)
      collect_cells<Mode + 1>(t, cells, outer..., printed_position(i, extent));
  }
}

}  // namespace detail

/// The elements of t that exist, one line for each row.
template <AnyTensor T>
std::string to_string(const T& t) {
  std::vector<index_t> extents;
  [&]<int... M>(std::integer_sequence<int, M...>) {
    (extents.push_back(t.template valid<M>()), ...);
  }
  (std::make_integer_sequence<int, T::rank>{});
  std::vector<std::string> cells;
  detail::collect_cells<0>(t, cells);
  return detail::format_tensor(extents, cells);
}

}  // namespace tessera
