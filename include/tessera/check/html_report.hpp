// The report as one self-contained page: summary, findings, roofline, the kernel's source with its
// counters, what the lanes of the worst warps touch, supersteps, coverage. No scripts, nothing is
// loaded; light and dark follow the reader's system. The same report gives the same bytes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tessera/check/device_model.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// The text of a source file as reports name it, or nothing where it is not on this machine.
using SourceReader = std::function<std::optional<std::string>(const std::string& file)>;
/// Reads the file under that name.
std::optional<std::string> read_source(const std::string& file);

/// The page of one kernel. Without the source, lines show numbers and counters only.
std::string html_report(const Report& report, const DeviceModel& device,
                        const SourceReader& source = read_source);

/// Two kernels side by side: what differs in the counters, both sources, all pictures.
std::string html_comparison(const Report& a, const Report& b, const DeviceModel& device,
                            const SourceReader& source = read_source);

/// One access as an SVG element whose classes are styled by the page around it; "" where no lane
/// takes part. Global memory: a row for each accessed 128-byte line, a column for each of its
/// words, in each cell the lanes that access the word; unused words of a loaded sector are marked.
/// Shared memory: a row for each wavefront, a column for each bank.
std::string access_picture(const AccessSample& sample);

}  // namespace tessera::check
