// Finds which file includes a header: see included.hpp.
#include "included.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace tessera::plain_cuda {

namespace {

/// "FILE:LINE" at the beginning of the text, whatever follows.
std::pair<std::string, long> place_of(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
    const long line = std::atol(std::string(text.substr(colon + 1, 12)).c_str());
    if (line > 0) return {std::string(text.substr(0, colon)), line};
  }
  return {std::string(text), 0};
}

/// # 12 "file" 1 3
struct Mark {
  long line = 0;
  std::string_view file;
  bool enters = false, returns = false, is_of_system = false;
};
std::optional<Mark> mark_of(std::string_view line) {
  const std::size_t begin = line.find('"'), end = line.rfind('"');
  if (!line.starts_with("# ") || begin == line.npos || begin == end) return {};
  const std::string_view flags = line.substr(end + 1);
  const auto has = [&](const char* flag) { return flags.find(flag) != flags.npos; };
  return Mark{std::atol(std::string(line.substr(2, begin - 2)).c_str()),
              line.substr(begin + 1, end - begin - 1), has(" 1"), has(" 2"), has(" 3")};
}

/// Is the file in a toolkit's folder of headers, or below it?
bool is_in_toolkit(std::string_view file) {
  std::error_code none;
  auto folder = std::filesystem::weakly_canonical(file, none).parent_path();
  for (int levels = 0; levels < 4; ++levels, folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "cuda_runtime_api.h", none)) return true;
  }
  return false;
}

}  // namespace

std::optional<HeaderInclude> missing_header(std::string_view messages) {
  static constexpr std::string_view kFatal = " fatal error: ", kIncluded = "In file included from ",
                                    kFrom = " from ";
  std::optional<HeaderInclude> out;
  std::vector<std::pair<std::string, long>> from;
  for_each_line(messages, [&](std::string_view line) {
    if (out) return;
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    if (line.starts_with(kIncluded)) {
      from = {place_of(line.substr(kIncluded.size()))};
      return;
    }
    if (blanks > 4 && line.substr(blanks - 1).starts_with(kFrom)) {
      from.push_back(place_of(line.substr(blanks - 1 + kFrom.size())));
      return;
    }
    const std::size_t fatal = line.find(kFatal);
    if (fatal == line.npos) return;
    std::string_view rest = line.substr(fatal + kFatal.size());
    const std::size_t end = std::min(rest.find(": No such file"), rest.find(" file not found"));
    if (end == rest.npos) return;
    rest = rest.substr(0, end);
    if (rest.starts_with('\'') && rest.ends_with('\'')) rest = rest.substr(1, rest.size() - 2);
    auto [file, number] = place_of(line);
    out = HeaderInclude{std::string(rest), std::move(file), number, std::move(from)};
  });
  return out;
}

bool is_of_toolkit(std::string_view header) {
  static constexpr const char* kLibraries[] = {
      "cu",   "thrust/", "cub/",    "nv",       "npp",     "cutlass/", "cute/", "nccl",
      "mma.", "sm_",     "texture", "surface_", "device_", "vector_",  "math_"};
  return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                     [&](const char* each) { return header.starts_with(each); });
}

std::optional<HeaderInclude> toolkit_header(std::string_view preprocessed, std::string_view ours) {
  std::optional<HeaderInclude> first, out;
  bool leads_to_types = false;
  int depth = 0, first_depth = 0;
  for_each_line(preprocessed, [&](std::string_view line) {
    const auto mark = out ? std::nullopt : mark_of(line);
    if (!mark) return;
    depth += mark->enters ? 1 : mark->returns ? -1 : 0;
    if (first && mark->returns && depth < first_depth) {  // the line after the include
      first->file = mark->file, first->line = mark->line - 1;
      if (leads_to_types) out = std::move(first);
      first.reset();
    }
    const bool is_theirs = mark->is_of_system && mark->file.find(ours) == mark->file.npos;
    if (!mark->enters || !is_theirs) return;
    const std::string_view name = mark->file.substr(mark->file.rfind('/') + 1);
    if (!first && is_of_toolkit(name)) {
      first = HeaderInclude{std::string(name), {}, 0, {}};
      first_depth = depth;
      leads_to_types = is_in_toolkit(mark->file);
    }
    leads_to_types =
        first && (leads_to_types || name == "vector_types.h" || name == "driver_types.h");
  });
  return out;
}

}  // namespace tessera::plain_cuda
