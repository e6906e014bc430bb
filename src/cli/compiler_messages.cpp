// Shortens a compiler's messages: see compiler_messages.hpp.
#include "compiler_messages.hpp"

#include <cctype>
#include <regex>
#include <sstream>
#include <string_view>

namespace tessera::cli {

namespace {

bool is_context(std::string_view line) {
  for (const char* each : {"   required from ", ": In instantiation of ", ": In substitution of ",
                           "   recursively required ", " instantiation contexts, use "}) {
    if (line.find(each) != std::string_view::npos) return true;
  }
  return false;
}

/// Where a message holds the one and the line the other, there is something to say.
struct Advice {
  std::string_view message, line, text;
};
constexpr std::string_view kInput = "an input can only be read: write to the output";
constexpr std::string_view kBrackets =
    "elements are written with round brackets: a(i), A(row, col)";
constexpr std::string_view kSemicolon = "is there a ; missing here, or in the line before?";
constexpr std::string_view kSwizzle = "bits may be at most shift, and both at most 31";
constexpr Advice kAdvice[] = {
    {"Recorded", "", "an element is taken by its type: float x = A(row, col); not auto"},
    {"", "__syncthreads", "here: t.barrier()"},
    {"", "threadIdx", "here: t.thread.x, t.thread.y"},
    {"", "blockIdx", "here: t.block.x, t.block.y"},
    {"", "blockDim", "here: the numbers of `block`, which the kernel declares"},
    {"", "__shared__", "here: struct Shared, and shared<Shared>(t)"},
    {"operator[]", "", kBrackets},
    {"subscript", "", kBrackets},
    {"mma() does not", "",
     "mma(t, sum, a, b): the sums, then what load_a gave, then what load_b gave"},
    {"load_a() does not", "", "load_a(t, a tile of A)"},
    {"load_b() does not", "", "load_b(t, a tile of B)"},
    {"store_d() does not", "", "store_d(t, a tile of C, sum)"},
    {"void", "= Mma::mma", "mma returns nothing: it adds to its second argument"},
    {"lvalue required", "", kInput},
    {"not assignable", "", kInput},
    {"read-only", "", kInput},
    {"", "Swizzle{", kSwizzle},
    {"';'", "", kSemicolon},
    {"‘;’", "", kSemicolon},
};

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Behind the bracket that closes the one at `at`, of any kind.
std::size_t behind_arguments(std::string_view line, std::size_t at) {
  constexpr std::string_view opening = "<{(", closing = ">})";
  int depth = 0;
  do {
    depth += opening.find(line[at]) != opening.npos   ? 1
             : closing.find(line[at]) != closing.npos ? -1
                                                      : 0;
  } while (++at < line.size() && depth > 0);
  return at;
}

/// "Tensor" instead of "tessera::Tensor<float*, tessera::Layout{...}, tessera::Whole>".
std::string without_arguments(std::string_view line) {
  constexpr std::string_view library = "tessera::";
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    if (!line.substr(i).starts_with(library)) {
      out += line[i++];
      continue;
    }
    i += library.size();
    while (i < line.size() && !out.ends_with("operator")) {
      if (line[i] == '<' || line[i] == '{') i = behind_arguments(line, i);
      else if (line.substr(i).starts_with("::")) out += "::", i += 2;
      else if (is_of_name(line[i])) out += line[i++];
      else break;
    }
  }
  return out;
}

}  // namespace

std::string in_plain_words(std::string_view line) {
  static const std::regex mismatch(
      R"(no matching (?:member )?function for call to (?:‘|')(?:\w+::)*(\w+)[^\w].*)");
  return std::regex_replace(without_arguments(line), mismatch,
                            "$1() does not take what stands in its brackets");
}

std::string without_values(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    out += line[i];
    const bool opens_value = line[i] == '{' && i > 0 && line[i - 1] != ' ' && line[i - 1] != ':';
    if (!opens_value || out.find("tessera::") == std::string::npos) continue;
    std::size_t end = i + 1;
    for (int depth = 1; end < line.size() && depth > 0; ++end)
      depth += line[end] == '{' ? 1 : line[end] == '}' ? -1 : 0;
    if (line[end - 1] != '}' || end - i < 16) continue;  // a tile or a block stays as it is
    out += "...}";
    i = end - 1;
  }
  return out;
}

std::string compile_advice(const std::string& message, const std::string& line) {
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  for (const Advice& each : kAdvice)
    if (has(message, each.message) && has(line, each.line)) return std::string(each.text);
  return {};
}

std::string readable_messages(const std::string& said, const std::string& source) {
  std::istringstream lines(said);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (is_context(line) && !line.starts_with(source + ":")) continue;
    const bool quotes_source = line.find(" | ") != std::string::npos;
    out += (quotes_source ? line : without_values(line)) + "\n";
  }
  return out;
}

}  // namespace tessera::cli
