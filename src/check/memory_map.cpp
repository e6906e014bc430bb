// Regions and coordinates: see memory_map.hpp.
#include "memory_map.hpp"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace tessera::check {

namespace {

/// Offsets of the first and the last element from data().
struct Reach {
  index_t low = 0, high = 0;
};
Reach reach_of(const Layout& layout) {
  Reach out;
  for (int leaf = 0; leaf < layout.shape.leaves(); ++leaf) {
    const index_t reach = (layout.shape.leaf(leaf) - 1) * layout.stride.leaf(leaf);
    (reach < 0 ? out.low : out.high) += reach;
  }
  return out;
}

}  // namespace

std::pair<std::uint64_t, std::uint64_t> (*heap_block)(std::uint64_t address) = nullptr;

std::pair<std::uint64_t, std::uint64_t> memory_of(const detail::Buffer& buffer) {
  const Reach reach = reach_of(buffer.layout);
  const auto bytes = static_cast<index_t>(buffer.element_bytes);
  const auto data = reinterpret_cast<std::uint64_t>(buffer.data);
  const auto [first, last] = heap_block == nullptr ? std::pair(data, data) : heap_block(data);
  const auto begin = data + static_cast<std::uint64_t>(reach.low * bytes),
             end = data + static_cast<std::uint64_t>((reach.high + 1) * bytes);
  if (first == last) return {begin, end};
  return {std::max(begin, first), std::min(end, last)};
}

std::uint64_t reach_of(const detail::Buffer& buffer) {
  const Reach reach = reach_of(buffer.layout);
  return static_cast<std::uint64_t>(reach.high - reach.low + 1) * buffer.element_bytes;
}

bool lies_in_null(const detail::Buffer& buffer, std::uint64_t address) {
  if (buffer.data != nullptr || buffer.layout.size() == 0) return false;
  const Reach reach = reach_of(buffer.layout);
  const auto bytes = static_cast<index_t>(buffer.element_bytes);
  const auto at = static_cast<index_t>(address);
  return at >= reach.low * bytes && at < (reach.high + 1) * bytes;
}

void detail::drop_views(std::vector<Buffer>& buffers) {
  const auto all = buffers;
  std::erase_if(buffers, [&](const Buffer& view) {
    const auto is_same_memory = [&](const Buffer& other) {
      if (other.is_bulk || other.layout.size() == 0) return false;
      const auto [begin, end] = memory_of(other);
      const auto at = reinterpret_cast<std::uint64_t>(view.data);
      return at >= begin && at < end;
    };
    return view.is_bulk && std::any_of(all.begin(), all.end(), is_same_memory);
  });
}

std::vector<Region> regions_of(const std::vector<detail::Buffer>& buffers) {
  std::vector<Region> out;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& b = buffers[i];
    if (b.layout.size() == 0 || b.data == nullptr) continue;
    const auto [begin, end] = memory_of(b);
    out.push_back({begin, end, Memory::global, b.is_output, static_cast<int>(i)});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::vector<Region> merged;
  for (const Region& each : out) {
    if (merged.empty() || merged.back().end <= each.begin) {
      merged.push_back(each);
      continue;
    }
    Region& last = merged.back();
    last.end = std::max(last.end, each.end);
    if (each.is_output && !last.is_output) last.buffer = each.buffer;
    last.is_output = last.is_output || each.is_output;
  }
  return merged;
}

std::vector<std::byte> copy_of(const Region& region) {
  std::vector<std::byte> out(static_cast<std::size_t>(region.end - region.begin));
  const iovec to{out.data(), out.size()};
  const iovec from{reinterpret_cast<void*>(region.begin), out.size()};
  const ssize_t bytes = process_vm_readv(getpid(), &to, 1, &from, 1, 0);  // an error, not a signal
  out.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return out;
}

bool coordinates_of(const Layout& layout, std::int64_t offset, std::vector<index_t>& out) {
  const int rank = layout.rank();
  out.assign(static_cast<std::size_t>(rank), 0);
  if (layout.shape.leaves() == rank) {
    std::vector<int> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    const auto step = [&](int mode) { return std::abs(layout.stride.leaf(mode)); };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return step(a) > step(b); });
    index_t rest = offset;
    for (int mode = 0; mode < rank; ++mode) {  // as if all strides were positive
      if (layout.stride.leaf(mode) < 0)
        rest -= (layout.shape.leaf(mode) - 1) * layout.stride.leaf(mode);
    }
    for (const int mode : order) {
      if (step(mode) == 0) continue;
      if (rest < 0) return false;  // before the first
      index_t at = std::min(rest / step(mode), layout.shape.leaf(mode) - 1);
      rest -= at * step(mode);
      if (layout.stride.leaf(mode) < 0) at = layout.shape.leaf(mode) - 1 - at;
      out[static_cast<std::size_t>(mode)] = at;
    }
    return rest == 0;
  }
  for (index_t i = 0; i < layout.size(); ++i) {
    if (layout(i) != offset) continue;
    index_t rest = i;
    for (int mode = 0; mode < rank; ++mode) {
      const index_t extent = layout.shape.mode(mode).product();
      out[static_cast<std::size_t>(mode)] = rest % extent;
      rest /= extent;
    }
    return true;
  }
  return false;
}

bool is_static_storage(std::uint64_t address) {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(address), &info) != 0;
}

}  // namespace tessera::check
