// One access of a warp, written as a layout that the lanes walk or as a formula of the lane: which
// elements the lanes touch, and what that costs by the rules of memory_rules.hpp. `tessera banks`
// and the live page of the documents show it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/check/memory_rules.hpp"
#include "tessera/check/report.hpp"
#include "tessera/layout/composed.hpp"

namespace tessera::check {

struct WarpPatternRequest {
  /// A layout, as `tessera layout` reads it; or a formula with the word `lane`, which gives the
  /// first element of each lane: "lane % 8 * 33 + lane / 8", "row_major(32,33)(lane,0)".
  std::string expression;
  DType dtype = DType::f32;
  int vector = 1;            ///< elements of one lane, contiguous in memory
  int lanes = kWarpLanes;    ///< active ones, from lane 0
  index_t along = 0;         ///< of a layout: the mode that the lanes walk first
  std::string at = {};       ///< of a layout: the coordinate of lane 0; empty: the first
  std::string swizzle = {};  ///< "3,0,3": maps the elements; empty: none
  index_t pad = 0;           ///< of a plain layout with two modes: elements added to each row
};

struct WarpPattern {
  std::string text;                      ///< the layout with padding and swizzle, or the formula
  std::optional<ComposedLayout> layout;  ///< nothing for a formula
  std::vector<index_t> elements;         ///< the first of each active lane
  int element_bytes = 4, bytes = 4;      ///< of one element, of a lane
  GlobalCost global{0, 0};
  SharedCost load{0, 0, 0}, store{0, 0, 0};

  /// For access_picture() and access_text(): a load.
  AccessSample sample(Memory memory) const;
};

/// Throws ExpressionError for an expression that cannot be read, Error(argument) for a pattern that
/// a GPU does not execute: elements below 0, lanes that are not aligned, more than 16 bytes.
WarpPattern warp_pattern(const WarpPatternRequest& request);

/// What access_picture() draws, as text: a row for each wavefront, or for each 128-byte line; split
/// into bands if a line would have more than `columns` characters (0: never).
std::string access_text(const AccessSample& sample, std::size_t columns = 0);

}  // namespace tessera::check
