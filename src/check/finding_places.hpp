// Where a finding is shown by formats that need a place for each, and how its file is named there.
// Private to src/check.
#pragma once

#include <string>
#include <vector>

#include "tessera/check/report.hpp"

namespace tessera::check {

/// The place of a finding; of one without a place the first line of the file that was checked, or
/// of the kernel's first access. line 0: nobody knows any.
Location place_of(const Report& report, const Finding& finding);

/// Another place of a finding, and what it is.
struct OtherPlace {
  Location location;
  std::string what;  ///< "the other access"
};
/// First the one that the finding conflicts with, then where else it shows, each place once.
std::vector<OtherPlace> other_places(const Report& report, const Finding& finding);

/// "race in shared memory".
std::string title_of(const Finding& finding);

std::string current_folder();
/// GITHUB_WORKSPACE, else the nearest folder from here upwards with .git, else the current one.
std::string checkout_folder();
/// `file` as seen from `folder`, where it is below it; else its whole path.
std::string path_from(const std::string& folder, const std::string& file);

}  // namespace tessera::check
