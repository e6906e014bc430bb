// Which element each lane touches, from a layout or a formula; the costs are those of
// memory_rules.cpp.
#include <algorithm>

#include "check/lane_formula.hpp"
#include "layout/parse.hpp"
#include "tessera/check/warp_pattern.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/expression.hpp"

namespace tessera::check {

namespace {

constexpr index_t kMostElements = index_t{1} << 40;

[[noreturn]] void refuse(std::string problem, std::string expected = {}, std::string got = {},
                         std::string advice = {}) {
  throw Error(Category::argument, std::move(problem), std::move(expected), std::move(got),
              std::move(advice));
}

/// Every row `pad` elements longer: the strides of the mode with the larger ones grow.
Layout padded(const Layout& layout, index_t pad) {
  if (layout.rank() != 2)
    refuse("padding needs a layout with two modes", "rows and columns", to_string(layout));
  const auto pitch_of = [&](int mode) {
    const IntTuple stride = layout.stride.mode(mode);
    index_t least = stride.leaf(0);
    for (int i = 1; i < stride.count; ++i) least = std::min(least, stride.leaf(i));
    return least;
  };
  const int rows = pitch_of(0) >= pitch_of(1) ? 0 : 1;
  const index_t pitch = pitch_of(rows);
  IntTuple stride = layout.stride;
  for (int i = stride.mode_begin(rows); i < stride.mode_begin(rows + 1); ++i) {
    const index_t s = stride.leaf(i);
    if (pitch < 1 || s % pitch != 0)
      refuse("padding needs rows of one length", "strides that are multiples of the smallest",
             to_string(layout));
    stride = stride.with_leaf(i, checked_mul(s / pitch, checked_add(pitch, pad)));
  }
  return Layout(layout.shape, stride);
}

ComposedLayout layout_of(const WarpPatternRequest& request, bool& is_plain) {
  const LayoutValue value = eval_expression(request.expression);
  ComposedLayout out = composed_of(value, request.expression);
  is_plain = std::holds_alternative<Layout>(value);
  if (!out.inner.is_static()) refuse("a layout with '?' has no addresses", "numbers");
  if (request.pad != 0) {
    if (!is_plain) refuse("padding needs a plain layout", "shape:stride", request.expression);
    out.inner = padded(out.inner, request.pad);
  }
  if (!request.swizzle.empty()) {
    if (!is_plain) refuse("a swizzle needs a plain layout", "shape:stride", request.expression);
    out.swizzle = parse_swizzle(request.swizzle);
    is_plain = false;
  }
  return out;
}

/// The mode that is contiguous in memory; -1: none.
int contiguous_mode(const Layout& layout) {
  for (int m = 0; m < layout.rank(); ++m) {
    const int first = layout.stride.mode_begin(m);
    if (layout.stride.leaf(first) == 1 && layout.shape.leaf(first) > 1) return m;
  }
  return -1;
}

/// The coordinates of a layout in pieces of `vector` elements, in the order in which lanes walk
/// them.
class Walk {
 public:
  Walk(const Layout& layout, const WarpPatternRequest& request)
      : layout_(layout), vector_(request.vector) {
    const int rank = layout.rank();
    if (request.along < 0 || request.along >= rank)
      refuse("the lanes walk a mode of the layout", cat("0 to ", rank - 1), cat(request.along));
    order_.push_back(static_cast<int>(request.along));
    for (int m = 0; m < rank; ++m)
      if (m != request.along) order_.push_back(m);
    contiguous_ = vector_ > 1 ? contiguous_mode(layout) : -1;
    if (vector_ > 1 && (contiguous_ < 0 || extent_of_leaf(contiguous_) % vector_ != 0))
      refuse(cat("a vector of ", vector_, " elements needs that many side by side"),
             "a stride of 1 and an extent that is a multiple of the vector", to_string(layout));
    for (int m = 0; m < rank; ++m) {
      extents_.push_back(layout.shape.mode(m).product() / (m == contiguous_ ? vector_ : 1));
      start_.push_back(0);
    }
    if (!request.at.empty()) start_at(parse_tuple(bracketed(request.at)));
  }

  index_t size() const {
    index_t out = 1;
    for (const int m : order_) out = checked_mul(out, extents_[static_cast<std::size_t>(m)]);
    return out;
  }

  /// The index, in the inner layout, of the first element of piece `position`; nothing after the
  /// last piece.
  std::optional<index_t> operator()(index_t position) const {
    index_t out = 0;
    for (const int m : order_) {
      const auto i = static_cast<std::size_t>(m);
      const bool is_last = m == order_.back();
      const index_t whole = position + start_[i];
      if (is_last && whole >= extents_[i]) return {};
      position = whole / extents_[i];
      const index_t piece = whole % extents_[i] * (m == contiguous_ ? vector_ : 1);
      out = checked_add(out, crd2idx(IntTuple(piece), layout_.mode(m)));
    }
    return out;
  }

 private:
  index_t extent_of_leaf(int mode) const {
    return layout_.shape.leaf(layout_.shape.mode_begin(mode));
  }

  void start_at(const IntTuple& at) {
    const bool one_per_mode = at.rank() == layout_.rank() && at.is_flat();
    for (int m = 0; one_per_mode && m < layout_.rank(); ++m) {
      const index_t c = at.leaf(m), step = m == contiguous_ ? vector_ : 1;
      if (c < 0 || c >= layout_.shape.mode(m).product())
        refuse("lane 0 is outside the layout", cat("a coordinate below ", layout_.shape),
               to_string(at));
      if (c % step != 0)
        refuse("lane 0 is not at the beginning of a vector", cat("a multiple of ", step), cat(c));
      start_[static_cast<std::size_t>(m)] = c / step;
    }
    if (!one_per_mode)
      refuse("lane 0 needs a coordinate of the layout",
             cat("one number per mode of ", layout_.shape), to_string(at));
  }

  const Layout& layout_;
  int vector_, contiguous_;
  std::vector<int> order_;
  std::vector<index_t> extents_, start_;  // in pieces
};

index_t outer(const ComposedLayout& layout, index_t inner) {
  const index_t at = checked_add(layout.offset, inner);
  return layout.swizzled ? layout.swizzle(at) : crd2idx(IntTuple(at), layout.outer);
}

/// The first element of a lane; its vector must stay whole.
template <class Map>
index_t first_element(Map&& map, index_t inner, int vector, int lane) {
  const index_t first = map(inner);
  for (int i = 1; i < vector; ++i)
    if (map(inner + i) != first + i)
      refuse(cat("the elements of lane ", lane, " are not side by side"),
             cat(first, " to ", first + vector - 1), cat("element ", i, " at ", map(inner + i)),
             "a swizzle keeps 2^BASE elements together");
  return first;
}

std::vector<index_t> elements_of_layout(const WarpPatternRequest& request,
                                        const ComposedLayout& layout) {
  const Walk walk(layout.inner, request);
  std::vector<index_t> out;
  if (walk.size() == 0) refuse("the layout has no elements");
  for (int lane = 0; lane < request.lanes; ++lane) {
    const std::optional<index_t> inner = walk(lane);
    if (!inner) break;
    out.push_back(
        first_element([&](index_t at) { return outer(layout, at); }, *inner, request.vector, lane));
  }
  return out;
}

std::vector<index_t> elements_of_formula(const WarpPatternRequest& request) {
  if (request.pad != 0 || request.along != 0 || !request.at.empty())
    refuse("padding, a mode to walk and a first coordinate need a layout", {}, request.expression,
           "write them into the formula");
  const Swizzle swizzle = request.swizzle.empty() ? Swizzle() : parse_swizzle(request.swizzle);
  std::vector<index_t> out;
  for (int lane = 0; lane < request.lanes; ++lane)
    out.push_back(
        first_element(swizzle, lane_formula(request.expression, lane), request.vector, lane));
  return out;
}

void check_lanes(const std::vector<index_t>& elements, index_t element_bytes, int bytes) {
  for (std::size_t lane = 0; lane < elements.size(); ++lane) {
    const index_t element = elements[lane];
    if (element < 0 || element > kMostElements)
      refuse(cat("lane ", lane, " touches element ", element), cat("0 to ", kMostElements));
    if (element * element_bytes % bytes != 0)
      refuse(cat("lane ", lane, " begins at byte ", element * element_bytes, ": a GPU stops there"),
             cat("a multiple of the ", bytes, " bytes that it accesses"), {},
             "pad by whole vectors, or take a shorter vector");
  }
}

}  // namespace

WarpPattern warp_pattern(const WarpPatternRequest& request) {
  const int element_bytes = static_cast<int>(size_of(request.dtype));
  if (request.lanes < 1 || request.lanes > kWarpLanes)
    refuse("a warp has 32 lanes", "1 to 32", cat(request.lanes));
  if (request.vector < 1 || request.vector > 16 || (request.vector & (request.vector - 1)) != 0 ||
      request.vector * element_bytes > 16)
    refuse("a lane accesses at most 16 bytes at once",
           cat("1 to ", 16 / element_bytes, " elements of ", request.dtype, ", a power of two"),
           cat(request.vector));
  WarpPattern out;
  out.element_bytes = element_bytes;
  out.bytes = element_bytes * request.vector;
  if (is_lane_formula(request.expression)) {
    out.elements = elements_of_formula(request);
    out.text = request.swizzle.empty()
                   ? request.expression
                   : cat(parse_swizzle(request.swizzle), " o ", request.expression);
  } else {
    bool is_plain = true;
    out.layout = layout_of(request, is_plain);
    out.text = is_plain ? to_string(out.layout->inner) : to_string(*out.layout);
    out.elements = elements_of_layout(request, *out.layout);
  }
  check_lanes(out.elements, element_bytes, out.bytes);
  std::uint64_t address[kWarpLanes] = {};
  for (std::size_t lane = 0; lane < out.elements.size(); ++lane)
    address[lane] = static_cast<std::uint64_t>(out.elements[lane] * element_bytes);
  const WarpAccess access{address, out.bytes, kAllLanes >> (kWarpLanes - out.elements.size())};
  out.global = global_access(access);
  out.load = shared_load(access);
  out.store = shared_store(access);
  return out;
}

AccessSample WarpPattern::sample(Memory memory) const {
  AccessSample out;
  out.memory = memory;
  out.bytes = bytes;
  const bool is_shared = memory == Memory::shared;
  out.transfers = is_shared ? load.wavefronts : global.sectors;
  out.ideal = is_shared ? load.ideal : global.ideal;
  out.requests = 1;
  out.all_transfers = out.transfers;
  out.lanes.assign(kWarpLanes, -1);
  for (std::size_t lane = 0; lane < elements.size(); ++lane)
    out.lanes[lane] = elements[lane] * element_bytes;
  return out;
}

}  // namespace tessera::check
