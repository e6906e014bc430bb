// The pictures of a report as SVG elements without their own style, like access_picture() of
// check/html_report.hpp: the page around them styles their classes. Private to src/check.
#pragma once

#include <string>
#include <vector>

#include "tessera/check/explain.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// Did the rule of merging wide loads decide its wavefronts?
bool is_merged(const AccessSample& sample);

/// The roof of the device and the marks of one or two kernels below it.
struct RooflineMark {
  std::string name;
  const Explanation* explanation;
};
std::string roofline_picture(const std::vector<RooflineMark>& marks);

/// For each superstep, the clocks for which one block keeps the parts of a multiprocessor busy.
std::string timeline_picture(const Report& report, const Explanation& e);

/// The stages of a pipeline over time; empty where there are none.
std::string stages_picture(const Report& report);
/// How many phases are in flight at once.
int most_in_flight(const std::vector<GatePhase>& phases);

}  // namespace tessera::check
