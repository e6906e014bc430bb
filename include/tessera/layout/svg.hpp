// Layouts as pictures: SVG text, the same for the same input, readable on light and dark
// backgrounds.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tessera/layout/table.hpp"

namespace tessera {

/// What is at an index, as text.
using ValueAt = std::function<std::string(index_t index)>;

/// Each cell shows its index, darker as it grows, or with `value_at` what is there; a marked tile
/// stands out. Throws Error(argument) for more than kMaxPictureCells cells, numbers known only at
/// run time, or a tile outside the layout.
std::string svg(const Layout& layout, const std::optional<TileMark>& mark = {},
                const ValueAt& value_at = {});
/// The same for a swizzled or composed layout.
std::string svg(const ComposedLayout& layout, const std::optional<TileMark>& mark = {},
                const ValueAt& value_at = {});

/// A thread-value map: (thread, value) -> position in a tile of `shape`, first mode fastest. Each
/// cell shows "T3" over "V1" and has the colour of its thread.
std::string svg_thread_values(const Layout& thread_value, const IntTuple& shape);

/// A swizzled layout: the indices before and after, coloured by bank: `banks` groups of
/// `elements_per_bank` consecutive elements.
std::string svg_swizzle(const ComposedLayout& layout, index_t elements_per_bank, index_t banks);

}  // namespace tessera
