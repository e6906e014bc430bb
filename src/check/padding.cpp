// Copies of objects with padding in kernels of plain CUDA: see padding.hpp.
#include "padding.hpp"

#include "block/recorder.hpp"

namespace tessera::check {

bool BlockRecorder::has_value(int number, std::uint64_t offset) {
  Shadow& cells = shadow(number);
  if (cells.cell(offset / cells.piece()).written()) return true;
  return number != kSharedRegion && !context_.options.fresh_outputs &&
         !holds_nothing({number, 1, 0, offset, 0, 0});
}

bool BlockRecorder::is_padding(const LaneAccess& whole, const LaneAccess& piece) {
  const auto bytes = static_cast<std::uint64_t>(whole.bytes);
  if (!context_.launch.is_cuda || whole.offset % bytes != 0) return false;
  std::uint64_t begin = 0;  // of the array
  std::size_t element = 1;
  if (whole.region == kSharedRegion) {
    const auto* const variable = shared_variable_at(whole.offset);
    if (variable == nullptr) return false;
    begin = variable->offset, element = variable->element_bytes;
  } else {
    const Region& r = region(whole.region);
    const auto& buffer = context_.launch.buffers[static_cast<std::size_t>(r.buffer)];
    begin = reinterpret_cast<std::uint64_t>(buffer.data) - r.begin;
    element = buffer.element_bytes;
  }
  const std::uint64_t end = piece.offset + static_cast<std::uint64_t>(piece.bytes);
  for (std::uint64_t at = whole.offset; at < end; ++at) {
    const std::uint64_t first = at;
    while (at < whole.offset + bytes && !has_value(whole.region, at)) ++at;
    if (at == first || at <= piece.offset) continue;
    if (first == whole.offset || !may_be_padding(first - begin, at - begin, element)) return false;
  }
  return true;
}

}  // namespace tessera::check
