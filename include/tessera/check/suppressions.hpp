// Accepted findings, each with a reason. A suppressed finding does not count; the report keeps it
// with the reason, and lists the suppressions that matched nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/check/report.hpp"

namespace tessera::check {

/// Matches findings that agree with every member given. In texts * matches anything.
struct Suppression {
  std::string reason;        ///< mandatory
  std::optional<Kind> kind;  ///< none: any
  std::string kernel;        ///< name of the kernel; empty: any
  std::string memory;        ///< "shared", "global", "local" or "none"; empty: any
  std::string tensor;        ///< as the finding names it: "C", "tile (16,16)*"; empty: any
  std::string file;          ///< the end of the path of either place: "tiled.hpp"; empty: any
  int line = 0;              ///< of the same place as `file`; 0: any
  std::string origin;        ///< where it is written, for messages: "known.txt:3"
};

/// Reads one suppression from each line:
///
///   kind=race tensor=C file=tiled.hpp line=20 reason="two blocks write the same flag"
///
/// Keys are the members but `origin`; values with blanks are in double quotes. Empty lines and
/// lines that begin with # are skipped. `name` is the file's, for messages. Throws Error(file) with
/// the line's number for a word that is no key=value, an unknown key or kind, a line without a
/// reason, or with nothing but a reason.
std::vector<Suppression> parse_suppressions(std::string_view text, const std::string& name);
/// The same from a file. Throws Error(file) where it cannot be read.
std::vector<Suppression> read_suppressions(const std::string& path);

/// The line of a file that says this.
std::string to_string(const Suppression& suppression);

/// Moves what they match from `findings` to `suppressed`, by the first that matches, and counts
/// again. Those for this kernel that matched nothing are named in `unused_suppressions`.
void suppress(Report& report, const std::vector<Suppression>& suppressions);

}  // namespace tessera::check
