// Places of findings and names of files: see finding_places.hpp.
#include "finding_places.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tessera/core/text.hpp"

namespace tessera::check {

namespace {

namespace fs = std::filesystem;

/// The role of the other place that a finding names.
std::string what_is_other(Kind kind) {
  switch (kind) {
    case Kind::race: return "the other access";
    case Kind::stale_read: return "written here before";
    case Kind::async_not_waited: return "the asynchronous copy";
    case Kind::early_return: return "last seen here: a thread that has ended";
    default: return "the other place";
  }
}

}  // namespace

Location place_of(const Report& report, const Finding& finding) {
  if (finding.location.line > 0) return finding.location;
  if (!report.source.empty()) return {report.source, 1, 0};
  if (!report.by_line.empty()) return report.by_line.front().location;
  return {};
}

std::vector<OtherPlace> other_places(const Report& report, const Finding& finding) {
  std::vector<OtherPlace> out;
  std::vector<Location> known = {place_of(report, finding)};
  const auto add = [&](const Location& at, const std::string& what) {
    if (at.line == 0 || std::find(known.begin(), known.end(), at) != known.end()) return;
    known.push_back(at);
    out.push_back({at, what});
  };
  add(finding.other, what_is_other(finding.kind));
  for (const Also& also : finding.also) {
    add(also.location, cat("also in ", also.tensor));
    add(also.other, cat(what_is_other(finding.kind), ", of ", also.tensor));
  }
  return out;
}

const std::string& kernel_of(const Report& report, const Finding& finding) {
  return finding.kernel.empty() ? report.kernel : finding.kernel;
}

std::string where_of(const Report& report, const Finding& finding) {
  return report.launches.size() > 1 ? finding.kernel : std::string();
}

std::string counted_problem(const Finding& finding) {
  if (finding.count <= 1) return finding.problem;
  return cat(finding.problem, "; ", finding.count, " times in all");
}

std::string title_of(const Finding& finding) {
  const std::string kind{name(finding.kind)};
  if (finding.memory == Memory::none) return kind;
  return cat(kind, " in ", name(finding.memory), " memory");
}

std::string current_folder() {
  std::error_code failed;
  return fs::current_path(failed).string();
}

std::string checkout_folder() {
  const char* const workspace = std::getenv("GITHUB_WORKSPACE");
  if (workspace != nullptr && *workspace != '\0') return workspace;
  const std::string here = current_folder();
  std::error_code failed;
  for (fs::path at = here; !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", failed)) return at.string();
    if (at == at.parent_path()) break;
  }
  return here;
}

std::string path_from(const std::string& folder, const std::string& file) {
  std::error_code failed;
  const fs::path whole = fs::absolute(file, failed).lexically_normal();
  if (failed) return file;
  for (const fs::path& base : {fs::path(folder), fs::weakly_canonical(folder, failed)}) {
    const fs::path seen = whole.lexically_relative(base.lexically_normal());
    if (!seen.empty() && *seen.begin() != ".." && seen != ".") return seen.string();
  }
  return whole.string();
}

}  // namespace tessera::check
