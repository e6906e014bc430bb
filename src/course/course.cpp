// Reads the course: see course.hpp.
#include "course.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>

#include "process/compile.hpp"
#include "shell/options.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarker = "//> ";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// "FILL ME IN ..." or "CHANGE ..." of a marker, "instead", "end"; empty for any other line.
std::string_view marker_of(std::string_view line) {
  line = trimmed(line);
  return line.starts_with(kMarker) ? line.substr(kMarker.size()) : std::string_view{};
}

[[noreturn]] void refuse(const std::string& file, std::size_t line, const std::string& what) {
  throw Error(Category::file, cat(file, ":", line, ": ", what));
}

/// Sections of a page: heading and text, in order. The first has the title as heading.
struct Section {
  std::string heading, text;
};
std::vector<Section> sections_of(const std::string& page) {
  std::vector<Section> out;
  bool is_code = false;
  for (const auto& line : lines_of(page)) {
    is_code ^= line.starts_with("```");
    const bool is_heading = !is_code && (line.starts_with("# ") || line.starts_with("## "));
    if (is_heading) out.push_back({line.substr(line.find(' ') + 1), {}});
    else if (!out.empty()) out.back().text += line + "\n";
  }
  for (auto& each : out) {
    const auto begin = each.text.find_first_not_of('\n'), end = each.text.find_last_not_of('\n');
    each.text = begin == std::string::npos ? "" : each.text.substr(begin, end - begin + 1) + "\n";
  }
  return out;
}

Puzzle read_puzzle(const fs::path& folder) {
  Puzzle out;
  const std::string name = folder.filename().string();
  out.folder = folder;
  out.id = name.substr(0, name.find('_'));
  out.number = std::atoi(out.id.c_str() + 1);
  const std::string page = (folder / "page.md").string();
  const auto sections = sections_of(read_text(page));
  if (sections.empty()) refuse(page, 1, "a page begins with '# Title'");
  out.title = sections.front().heading;
  for (const auto& section : sections) {
    if (&section == &sections.front() || section.heading == "Idea") out.idea += section.text;
    else if (section.heading == "Configuration") out.configuration = section.text;
    else if (section.heading == "Picture") out.pictures.push_back(section.text);
    else if (section.heading == "Hint") out.hints.push_back(section.text);
    else if (section.heading == "Explanation") out.explanation = section.text;
    else if (section.heading == "In plain CUDA") out.cuda_note = section.text;
    else
      refuse(page, 1,
             cat("unknown section '", section.heading,
                 "': expected Idea, Picture, Configuration, Hint, In plain CUDA, Explanation"));
  }
  constexpr std::string_view key = "variants: ";
  if (out.idea.starts_with(key)) {
    const auto end = out.idea.find('\n');
    for (const auto& each : shell::split(out.idea.substr(key.size(), end - key.size()), ','))
      out.variants.emplace_back(trimmed(each));
    const auto begin = out.idea.find_first_not_of('\n', end);
    out.idea = begin == std::string::npos ? "" : out.idea.substr(begin);
  }
  if (out.idea.empty() || out.configuration.empty() || out.hints.empty() || out.explanation.empty())
    refuse(page, 1, "a page has an idea, '## Configuration', '## Hint' and '## Explanation'");
  return out;
}

/// How often, and where, `part` occurs in `whole`; ignores blanks at both ends of lines.
std::vector<std::size_t> places_of(const std::vector<std::string>& part,
                                   const std::vector<std::string>& whole) {
  std::vector<std::size_t> out;
  for (std::size_t at = 0; !part.empty() && at + part.size() <= whole.size(); ++at) {
    const bool is_here =
        std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(at),
                   [](const auto& a, const auto& b) { return trimmed(a) == trimmed(b); });
    if (is_here) out.push_back(at);
  }
  return out;
}

/// Those whose lines, in CUDA's names, are lines of that solution. What the answers say differs.
std::vector<Mistake> mistakes_in_cuda(std::vector<Mistake> all,
                                      const std::vector<std::string>& solution) {
  static const std::regex matrix(R"(\b[A-Z]\()");  // A(r, c), which is a pointer there
  std::vector<Mistake> out;
  for (Mistake& each : all) {
    each.says.clear();
    if (!each.cause_in_cuda.empty()) each.cause = each.cause_in_cuda;
    bool applies = each.cause != "none" && each.cause != kDoesNotCompile;
    for (auto* lines : {&each.right, &each.wrong})
      for (std::string& line : *lines) {
        line = with_names_of_cuda(line);
        applies = applies && !std::regex_search(line, matrix);
      }
    const bool is_of_start = each.right.empty() && each.wrong.empty();
    applies = applies && (is_of_start || places_of(each.right, solution).size() == 1);
    if (applies) out.push_back(std::move(each));
  }
  return out;
}

/// The number in "4", "04", "p4", "P04"; -1: any other text.
int number_of(std::string_view id) {
  if (id.starts_with('p') || id.starts_with('P')) id.remove_prefix(1);
  int out = -1;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), out);
  const bool is_number = error == std::errc{} && end == id.data() + id.size() && out >= 0;
  return is_number ? out : -1;
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || !fs::is_regular_file(file))
    throw Error(Category::file, cat("the file ", file.string(), " cannot be read"));
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string cut(std::string_view text, Side side, const std::string& file) {
  enum class Place { outside, solution, instead } place = Place::outside;
  std::string out;
  std::size_t number = 0;
  for (const auto& line : lines_of(text)) {
    ++number;
    const std::string_view marker = marker_of(line);
    if (marker.starts_with("FILL ME IN") || marker.starts_with("CHANGE")) {
      if (place != Place::outside) refuse(file, number, "the region before has no '//> end'");
      place = Place::solution;
      if (side == Side::start) out += cat(line.substr(0, line.find("//>")), "// ", marker, "\n");
    } else if (marker == "instead" && place == Place::solution) {
      place = Place::instead;
    } else if (marker == "end" && place != Place::outside) {
      place = Place::outside;
    } else if (!marker.empty()) {
      refuse(file, number, cat("'", marker, "' does not belong here"));
    } else if (place == Place::outside || (place == Place::solution) == (side == Side::solution)) {
      out += line + "\n";
    }
  }
  if (place != Place::outside) refuse(file, number, "the last region has no '//> end'");
  return out;
}

namespace {
std::string side_of(const Puzzle& puzzle, Side side) {
  const auto file = puzzle.folder / (puzzle.is_in_cuda ? "puzzle.cu" : "puzzle.cpp");
  return cut(read_text(file), side, file.string());
}
}  // namespace

std::string Puzzle::solution() const { return side_of(*this, Side::solution); }

std::string Puzzle::start() const { return side_of(*this, Side::start); }

std::vector<Mistake> Puzzle::mistakes() const {
  const fs::path file = folder / "mistakes.txt";
  std::vector<Mistake> out;
  if (!fs::exists(file)) return out;
  std::size_t number = 0;
  for (const auto& line : lines_of(read_text(file))) {
    ++number;
    const auto value = [&](std::string_view key) {
      return std::string(trimmed(line.substr(key.size())));
    };
    if (line.starts_with("== ")) out.push_back({.title = value("== ")});
    else if (trimmed(line).empty()) continue;
    else if (out.empty()) refuse(file.string(), number, "expected '== what is wrong'");
    else if (line.starts_with("cause: ")) out.back().cause = value("cause: ");
    else if (line.starts_with("in-cuda: ")) out.back().cause_in_cuda = value("in-cuda: ");
    else if (line.starts_with("variant: ")) out.back().variant = value("variant: ");
    else if (line.starts_with("says: ")) out.back().says.push_back(value("says: "));
    else if (line[0] == '-') out.back().right.push_back(line.substr(1));
    else if (line[0] == '+') out.back().wrong.push_back(line.substr(1));
    else
      refuse(file.string(), number, "expected cause:, in-cuda:, variant:, says:, -line or +line");
  }
  return is_in_cuda ? mistakes_in_cuda(std::move(out), lines_of(solution())) : out;
}

fs::path course_folder(const std::string& folder) {
  if (!folder.empty()) return folder;
  const char* const named = std::getenv("TESSERA_COURSE");
  if (named != nullptr && *named != '\0') return named;
  const process::Installed at = process::installed();
  const fs::path prefix = at.include.parent_path();
  for (const fs::path& each : {prefix / "share/tessera/course", prefix / "course"})
    if (fs::is_directory(each)) return each;
  throw Error(Category::unavailable, "the course is not found",
              cat("share/tessera/course below ", prefix.string()), {},
              "install Tessera with its data, or name the folder in TESSERA_COURSE");
}

std::vector<Puzzle> read_course(const fs::path& folder) {
  std::vector<Puzzle> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > 1 && name[0] == 'p' && std::isdigit(static_cast<unsigned char>(name[1])) != 0)
      out.push_back(read_puzzle(entry.path()));
  }
  if (out.empty())
    throw Error(Category::file, cat("there are no puzzles in ", folder.string()),
                "folders pNN_name");
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return out;
}

const Puzzle& find_puzzle(const std::vector<Puzzle>& course, const std::string& id) {
  const int number = number_of(id);
  std::vector<std::string> known;
  for (const auto& each : course) {
    const std::string name = each.folder.filename().string();
    if (id == each.id || id == name || number == each.number) return each;
    known.push_back(each.id);
  }
  throw Error(Category::argument, cat("there is no puzzle '", id, "'"),
              cat("one of ", known.front(), " to ", known.back()), {},
              "'tessera puzzle list' shows them all" + shell::did_you_mean(id, known));
}

std::string with_mistake(const Puzzle& puzzle, const Mistake& mistake) {
  const auto lines = lines_of(puzzle.solution());
  const auto places = places_of(mistake.right, lines);
  if (places.size() != 1)
    throw Error(Category::file, cat(puzzle.id, ": mistake '", mistake.title, "'"),
                "lines that occur once in the solution", cat(places.size(), " times"));
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == places[0])
      for (const auto& line : mistake.wrong) out += line + "\n";
    if (i < places[0] || i >= places[0] + mistake.right.size()) out += lines[i] + "\n";
  }
  return out;
}

}  // namespace tessera::course
