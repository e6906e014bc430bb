// Reads and shortens a compiler's messages: see compiler_said.hpp.
#include "compiler_said.hpp"

#include <algorithm>
#include <optional>
#include <regex>

#include "included.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

/// With the quotes that a compiler uses in any locale.
std::string with_plain_quotes(std::string text) {
  for (const std::string_view quote : {"‘", "’"}) {
    for (std::size_t at = text.find(quote); at != text.npos; at = text.find(quote, at))
      text.replace(at, quote.size(), "'");
  }
  return text;
}

struct Headline {
  CompilerError message;
  bool is_error = false;
};

/// FILE:LINE:COLUMN: error: TEXT, or a warning or a note.
std::optional<Headline> headline_of(std::string_view line) {
  if (line.starts_with(' ')) return {};
  for (const std::string_view kind : {": error: ", ": fatal error: ", ": warning: ", ": note: "}) {
    const std::size_t at = line.find(kind);
    if (at == line.npos) continue;
    Headline out{.message = {.text = with_plain_quotes(std::string(line.substr(at + kind.size())))},
                 .is_error = kind.find("error") != kind.npos};
    std::string_view place = line.substr(0, at);
    for (long* const number : {&out.message.column, &out.message.line}) {
      const std::size_t colon = place.rfind(':');
      if (colon == place.npos) return {};
      *number = std::atol(std::string(place.substr(colon + 1)).c_str());
      place = place.substr(0, colon);
    }
    out.message.file = place;
    return out;
  }
  return {};
}

/// The source from the error's column on, where "   12 | source" follows it.
std::string source_of(std::string_view line, const CompilerError& error) {
  const std::string mark = cat(error.line, " | ");
  const std::size_t at = line.find(mark), column = static_cast<std::size_t>(error.column);
  if (at == line.npos || column == 0 || line.size() < at + mark.size() + column) return {};
  return std::string(line.substr(at + mark.size() + column - 1));
}

class Author {
 public:
  Author(std::string_view folder, std::string_view ours) : folder_(folder), ours_(ours) {}

  void add(std::string_view line) {
    if (line.starts_with("In file included from ") || line.starts_with("                 from ")) {
      way_.push_back(line);
      return;
    }
    if (line.ends_with(": In lambda function:")) return;
    if (line.starts_with(' ')) {  // quotes the source of the last message
      if (!is_hidden_) out_ += cat(line, "\n");
      return;
    }
    const auto headline = headline_of(line);
    // The count of a candidate of ours includes the place of the call.
    is_hidden_ = headline && !headline->is_error &&
                 (headline->message.file.starts_with(ours_) ||
                  headline->message.text.starts_with("  candidate expects "));
    if (!is_hidden_) {
      add_way();
      out_ += in_cuda_words(std::string(line)) + "\n";
    }
    way_.clear();
  }
  std::string text() && { return std::move(out_); }

 private:
  /// The files that include the one of the next message.
  void add_way() {
    std::erase_if(way_, [&](const auto& line) { return line.find(folder_) != line.npos; });
    for (std::size_t i = 0; i < way_.size(); ++i)
      out_ += cat(way_[i].substr(0, way_[i].size() - 1), i + 1 < way_.size() ? ",\n" : ":\n");
  }

  std::string_view folder_, ours_;
  std::vector<std::string_view> way_;
  std::string out_;
  bool is_hidden_ = false;
};

}  // namespace

std::vector<CompilerError> errors_in(std::string_view said) {
  std::vector<CompilerError> out;
  bool follows_error = false;
  for_each_line(said, [&](std::string_view line) {
    auto headline = headline_of(line);
    if (follows_error) out.back().source = source_of(line, out.back());
    follows_error = headline && headline->is_error;
    if (follows_error) out.push_back(std::move(headline->message));
  });
  return out;
}

std::string for_author(std::string_view said, std::string_view folder, std::string_view ours) {
  Author author(folder, ours);
  for_each_line(said, [&](std::string_view line) { author.add(line); });
  return std::move(author).text();
}

std::string defined_twice(std::string_view said,
                          const std::vector<std::filesystem::path>& sources) {
  namespace fs = std::filesystem;
  // Each place is FILE:LINE, or the section of an object.
  static const std::regex twice(
      R"((?:unit(\d+)\.s\.o:\([^)]*\)|([^:;\s][^:;]*):(\d+)): multiple definition of `([^']*)'; )"
      R"(\S*unit(\d+)\.s\.o:(?:\([^)]*\)|([^:;]+):(\d+)): first defined here)");
  const auto place = [&](const std::string& unit, const std::string& file,
                         const std::string& line) {
    if (file.empty()) return sources.at(std::stoul(unit)).string();
    const auto known = std::find_if(sources.begin(), sources.end(), [&](const fs::path& each) {
      return fs::absolute(each).lexically_normal() == fs::path(file).lexically_normal();
    });
    return cat(known == sources.end() ? file : known->string(), ":", line);
  };
  std::string out;
  for_each_line(said, [&](std::string_view text) {
    const std::string line(text);
    std::smatch at;
    if (!std::regex_search(line, at, twice)) return;
    out += cat(out.empty() ? "" : "; ", at[4].str(), " is defined twice, at ",
               place(at[1], at[2], at[3]), " and ", place(at[5], at[6], at[7]));
  });
  return out;
}

std::string in_cuda_words(std::string text) {
  if (text.find("tessera::plain_cuda::") == text.npos) return text;
  static const std::regex surplus(
      R"(could not convert .* to (?:‘|')tessera::plain_cuda::Place(?:’|'))"),
      array(R"(tessera::plain_cuda::RequestedArrayOf<([^<>]*)>&?)"),
      place(R"((, )?(const )?tessera::plain_cuda::Place&?)"), others(R"(tessera::plain_cuda::)");
  text = std::regex_replace(text, surplus, "too many arguments");
  text = std::regex_replace(text, array, "array of $1");
  text = std::regex_replace(text, place, "");
  return std::regex_replace(text, others, "");
}

}  // namespace tessera::plain_cuda
