// The pictures of a report as SVG elements without a style of their own: the page around them says
// how their classes look on light and dark ground. Private to src/check.
#pragma once

#include <string>
#include <vector>

#include "tessera/check/explain.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// Global memory: one row for each touched line of 128 bytes, one column for each word of it, in
/// each cell the lanes that touch the word; words that travel with a sector and are not used show.
/// Shared memory: one row for each wavefront, one column for each bank.
std::string access_picture(const AccessSample& sample);
/// Did the rule of merging wide loads, which is unmeasured on sm_90, decide its wavefronts?
bool is_merged(const AccessSample& sample);

/// The roof of the device and where one or two kernels stand below it.
struct RooflineMark {
  std::string name;
  const Explanation* explanation;
};
std::string roofline_picture(const std::vector<RooflineMark>& marks);

/// For each superstep the clocks for which one block keeps the parts of a multiprocessor busy.
std::string timeline_picture(const Report& report, const Explanation& e);

}  // namespace tessera::check
