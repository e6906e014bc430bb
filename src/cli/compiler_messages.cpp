// Shortens a compiler's messages: see compiler_messages.hpp.
#include "compiler_messages.hpp"

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
    {"tessera::Recorded", "", "an element is taken by its type: float x = A(row, col); not auto"},
    {"", "__syncthreads", "here: t.barrier()"},
    {"", "threadIdx", "here: t.thread.x, t.thread.y"},
    {"", "blockIdx", "here: t.block.x, t.block.y"},
    {"", "blockDim", "here: the numbers of `block`, which the kernel declares"},
    {"", "__shared__", "here: struct Shared, and shared<Shared>(t)"},
    {"operator[]", "", kBrackets},
    {"subscript", "", kBrackets},
    {"void", "= Mma::mma", "mma returns nothing: it adds to its second argument"},
    {"lvalue required", "", kInput},
    {"not assignable", "", kInput},
    {"read-only", "", kInput},
    {"", "Swizzle{", kSwizzle},
    {"';'", "", kSemicolon},
    {"‘;’", "", kSemicolon},
};

}  // namespace

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
