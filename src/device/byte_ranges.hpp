// A set of bytes as sorted ranges that do not touch.
#pragma once

#include <algorithm>
#include <vector>

#include "tessera/device/managed_bytes.hpp"

namespace tessera::detail {

class ByteRanges {
 public:
  void add(ByteRange range) {
    if (range.begin >= range.end) return;
    std::vector<ByteRange> out;
    for (const ByteRange& each : ranges_) {
      if (each.end < range.begin || range.end < each.begin) {
        out.push_back(each);
      } else {
        range = {std::min(range.begin, each.begin), std::max(range.end, each.end)};
      }
    }
    out.insert(std::find_if(out.begin(), out.end(),
                            [&](const ByteRange& each) { return each.begin > range.end; }),
               range);
    ranges_ = std::move(out);
  }

  void remove(ByteRange range) {
    std::vector<ByteRange> out;
    for (const ByteRange& each : ranges_) {
      const ByteRange before{each.begin, std::min(each.end, range.begin)};
      const ByteRange after{std::max(each.begin, range.end), each.end};
      if (range.begin >= range.end || each.end <= range.begin || range.end <= each.begin) {
        out.push_back(each);
        continue;
      }
      if (before.begin < before.end) out.push_back(before);
      if (after.begin < after.end) out.push_back(after);
    }
    ranges_ = std::move(out);
  }

  /// The part of `range` that is in the set.
  std::vector<ByteRange> within(ByteRange range) const {
    std::vector<ByteRange> out;
    for (const ByteRange& each : ranges_) {
      const ByteRange both{std::max(each.begin, range.begin), std::min(each.end, range.end)};
      if (both.begin < both.end) out.push_back(both);
    }
    return out;
  }

  /// The part of `range` that is not.
  std::vector<ByteRange> missing_of(ByteRange range) const {
    ByteRanges out;
    out.add(range);
    for (const ByteRange& each : ranges_) out.remove(each);
    return out.ranges_;
  }

 private:
  std::vector<ByteRange> ranges_;
};

}  // namespace tessera::detail
