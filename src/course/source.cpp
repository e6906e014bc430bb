// Searches the learner's text: see source.hpp.
#include "source.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <regex>
#include <set>

#include "course.hpp"

namespace tessera::course {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The position after the bracket that closes the one at `at`; npos if none does.
std::size_t behind_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

/// The position after the statement or block that begins at `at`.
std::size_t behind_statement(std::string_view text, std::size_t at) {
  int braces = 0, brackets = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    brackets += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == '{') ++braces;
    if (c == '}' && --braces == 0 && brackets == 0) return at + 1;
    if (c == ';' && braces == 0 && brackets == 0) return at + 1;
  }
  return at;
}

/// Those that begin with one of the words, in their order for each word.
std::vector<Loop> statements_of(const std::string& source,
                                std::initializer_list<std::string_view> words) {
  std::string text;
  for (const auto& line : lines_of(source)) text += without_comment(line) + "\n";
  const auto number = [&](std::size_t at) {
    return 1 +
           static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
  };
  std::vector<Loop> out;
  for (const std::string_view word : words) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) {
      const std::size_t header = text.find_first_not_of(' ', at + word.size());
      const bool is_one =
          (at == 0 || !is_word(text[at - 1])) && header != std::string::npos && text[header] == '(';
      const std::size_t body = is_one ? behind_brackets(text, header) : std::string::npos;
      if (body != std::string::npos)
        out.push_back({number(at), number(behind_statement(text, body) - 1)});
    }
  }
  return out;
}

}  // namespace

std::string without_comment(const std::string& line) {
  constexpr std::size_t most = 1000;
  return line.substr(0, std::min(line.find("//"), most));
}

std::string line_of(const std::string& source, int line) {
  const auto lines = lines_of(source);
  if (line < 1 || line > static_cast<int>(lines.size())) return {};
  return without_comment(lines[static_cast<std::size_t>(line - 1)]);
}

int line_with(const std::string& source, std::string_view text, int first, int last) {
  const auto lines = lines_of(source);
  for (int i = std::max(first, 1); i <= last && i <= static_cast<int>(lines.size()); ++i)
    if (without_comment(lines[static_cast<std::size_t>(i - 1)]).find(text) != std::string::npos)
      return i;
  return 0;
}

Loop loop_around(const std::string& source, int first, int last) {
  Loop out;
  for (const Loop& each : statements_of(source, {"for", "while"})) {
    const bool is_around = each.first <= first && last <= each.last;
    if (is_around && (out.first == 0 || each.last - each.first < out.last - out.first)) out = each;
  }
  return out;
}

std::vector<Loop> loops_in(const std::string& source) {
  return statements_of(source, {"for", "while"});
}

std::vector<Loop> loops_around(const std::string& source, int line) {
  std::vector<Loop> out;
  for (const Loop& each : loops_in(source))
    if (each.first <= line && line <= each.last) out.push_back(each);
  std::sort(out.begin(), out.end(),
            [](const Loop& a, const Loop& b) { return a.last - a.first > b.last - b.first; });
  return out;
}

std::string loop_variable(const std::string& line) {
  static const std::regex head(R"(\bfor\s*\([^;=]*\b(\w+)\s*[={])");
  std::smatch match;
  return std::regex_search(line, match, head) ? match[1].str() : "";
}

Loop loop_over(const std::string& source, int line, const std::string& variable) {
  Loop out;
  for (const Loop& each : loops_around(source, line))
    if (!variable.empty() && loop_variable(line_of(source, each.first)) == variable) out = each;
  return out;
}

Loop kernel_named(const std::string& source, const std::string& name) {
  const int count = static_cast<int>(lines_of(source).size());
  const int named = name.empty() ? 0 : line_with(source, "\"" + name + "\"", 1, count);
  if (named == 0) return {1, count};
  const int next = line_with(source, "* name = \"", named + 1, count);
  return {named, next == 0 ? count : next - 1};
}

Loop guard_between(const std::string& source, int first, int last) {
  for (const Loop& each : statements_of(source, {"if"}))
    if (first < each.first && each.first < last && last <= each.last) return each;
  return {};
}

int barrier_between(const std::string& source, int first, int last) {
  for (int i = first + 1; i < last; ++i) {
    const std::string line = line_of(source, i);
    const auto at = line.find("barrier()");
    const bool is_of_block = (at != std::string::npos && (at == 0 || !is_word(line[at - 1]))) ||
                             line.find("__syncthreads()") != std::string::npos;
    if (is_of_block || line.find("});") != std::string::npos) return i;
  }
  return 0;
}

bool comes_from(const std::string& source, const std::string& text, std::string_view part) {
  static const std::regex name(R"([A-Za-z_]\w*)");
  std::set<std::string> seen;
  std::vector<std::string> texts{text};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].find(part) != std::string::npos) return true;
    const std::string here = texts[i];
    for (std::sregex_iterator each(here.begin(), here.end(), name), end; each != end; ++each) {
      if (!seen.insert(each->str()).second) continue;
      std::smatch declared;
      const std::regex begins("\\b" + each->str() + R"(\s*=\s*([^=;,][^;,]*))");
      if (std::regex_search(source, declared, begins)) texts.push_back(declared[1]);
    }
  }
  return false;
}

bool stands_in(const std::string& source, const std::string& text) {
  const auto dense = [](const std::string& from) {
    std::string out;
    for (const auto& line : lines_of(from))
      for (const char c : without_comment(line))
        if (c != ' ') out += c;
    return out;
  };
  const std::string all = dense(source), wanted = dense(text);
  const auto assigns = wanted.find('=');
  if (wanted.empty() || all.find(wanted) != std::string::npos) return !wanted.empty();
  if (assigns == std::string::npos) return false;
  const std::string target = wanted.substr(0, assigns), begin = target + "=" + target + "+";
  return wanted.starts_with(begin) &&
         all.find(target + "+=" + wanted.substr(begin.size())) != std::string::npos;
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

std::vector<std::string> indices_of(const std::string& line, const std::string& tensor) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = line.find(tensor + "(", at)) != std::string::npos; ++at) {
    if (at > 0 && (is_word(line[at - 1]) || line[at - 1] == '.')) continue;
    if (!out.empty()) return {};
    const std::size_t begin = at + tensor.size(), end = behind_brackets(line, begin);
    if (end == std::string::npos) return {};
    int depth = 0;
    out.emplace_back();
    for (const char c : line.substr(begin + 1, end - begin - 2)) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) out.emplace_back();
      else if (c != ' ' || !out.back().empty()) out.back() += c;
    }
  }
  return out;
}

std::string called(const std::string& source, const std::string& tensor) {
  const std::size_t bracket = tensor.find('[');
  if (bracket == std::string::npos) return tensor;
  static const std::regex special(R"([.^$|()\[\]{}*+?\\])");
  const std::string array = std::regex_replace(tensor.substr(0, bracket), special, R"(\$&)");
  const std::regex view(R"(\b([A-Za-z_]\w*)\s*=\s*)" + array + R"(\s*\[)");
  std::smatch found;
  return std::regex_search(source, found, view) ? found[1].str() : tensor;
}

}  // namespace tessera::course
