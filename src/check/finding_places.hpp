// The source position of a finding, for formats that need one, and the name of its file there.
// Private to src/check.
#pragma once

#include <string>
#include <vector>

#include "tessera/check/report.hpp"

namespace tessera::check {

/// The position of a finding; if it has none, the first line of the checked file, or of the
/// kernel's first access. line 0: unknown.
Location place_of(const Report& report, const Finding& finding);

/// Another position of a finding, and its role.
struct OtherPlace {
  Location location;
  std::string what;  ///< "the other access"
};
/// First the one that the finding conflicts with, then its other positions, each once.
std::vector<OtherPlace> other_places(const Report& report, const Finding& finding);

/// The kernel of a finding; the program if it happened in none.
const std::string& kernel_of(const Report& report, const Finding& finding);
/// The same of a program with several kernels, to say where it happened; else empty.
std::string where_of(const Report& report, const Finding& finding);

/// "... reads a(1), which nobody has written; 7 times in all".
std::string counted_problem(const Finding& finding);
/// "race in shared memory".
std::string title_of(const Finding& finding);

std::string current_folder();
/// GITHUB_WORKSPACE, else the nearest folder from here upwards with .git, else the current one.
std::string checkout_folder();
/// `file` relative to `folder`, if it is below it; else its whole path.
std::string path_from(const std::string& folder, const std::string& file);

}  // namespace tessera::check
