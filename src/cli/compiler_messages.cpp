// Shortens a compiler's messages: see compiler_messages.hpp.
#include "compiler_messages.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

#include "tessera/core/text.hpp"

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
    {"convert", "= Mma::load_", "what load_a and load_b give is held by auto: const auto a = ..."},
    {"copy_async() does not", "",
     "copy_async(t, a tile of A or B, a tile of shared memory): tile<T, T>(A, i, j), s.a.view()"},
    {"atomic_add() does not", "", "t.atomic_add(C(row, col), value)"},
    {"", "Swizzle{", kSwizzle},
    {"';'", "", kSemicolon},
    {"‘;’", "", kSemicolon},
};

/// Without comments, and cut: expressions are looked for in them.
std::vector<std::string> short_lines(const std::string& source) {
  std::vector<std::string> out;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);)
    out.push_back(line.substr(0, std::min<std::size_t>(line.find("//"), 1000)));
  return out;
}

/// "if (row = 3)"
bool assigns_in_condition(const std::string& line) {
  static const std::regex begins(R"(\b(?:if|while)\s*\()"), assigns("[^=<>!+*/&|^-]=[^=]");
  std::smatch match;
  if (!std::regex_search(line, match, begins)) return false;
  int depth = 1;
  std::string condition;
  for (auto at = match[0].second; at != line.end() && depth > 0; ++at) {
    depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    condition += *at;
  }
  return std::regex_search(condition, assigns);
}

/// Something is assigned to that cannot be: is it an input, or what is const, or is == meant?
std::string advice_of_assignment(const std::string& message, const std::string& line,
                                 const std::string& source) {
  static const std::regex refused(
      "lvalue required as left operand|not assignable|read-only|cannot assign to"),
      variable(R"(variable (?:‘|')(\w+))"), element(R"([\w.]+\([^;=]*\)\s*[-+*/]?=[^=])");
  std::smatch name;
  if (!std::regex_search(message, refused)) return {};
  if (assigns_in_condition(line)) return "= stores, and == compares";
  if (!std::regex_search(message, name, variable))
    return std::regex_search(line, element) ? "an input can only be read: write to the output" : "";
  const std::regex declared(cat(R"(\bconst(?:expr)?\s[^;{}]*\b)", name[1].str(), R"(\s*[={])"));
  const auto lines = short_lines(source);
  const bool is_const = std::any_of(lines.begin(), lines.end(), [&](const auto& each) {
    return std::regex_search(each, declared);
  });
  if (!is_const && source.find("[=]") != std::string::npos)
    return cat("[=] copies ", name[1].str(),
               ", and the copy cannot be changed: with [&] it is the one outside");
  return is_const ? cat(name[1].str(), " is declared const: it keeps its first number") : "";
}

/// A name that is not known, though one like it is.
std::string advice_of_name(const std::string& message, const std::string& source) {
  static const std::regex unknown(
      R"((?:‘|')(\w+)(?:’|') (?:was not declared|does not name a type)|(?:undeclared identifier|unknown type name) '(\w+)')"),
      word(R"([A-Za-z_]\w*)");
  std::smatch match;
  if (!std::regex_search(message, match, unknown)) return {};
  if (source.find("using namespace tessera") == std::string::npos &&
      source.find("tessera::") == std::string::npos)
    return "the library's names need 'using namespace tessera;' at the top of the file";
  const std::string name = match[1].str() + match[2].str();
  const auto lower = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  };
  for (const auto& text : short_lines(source))
    for (std::sregex_iterator each(text.begin(), text.end(), word), end; each != end; ++each)
      if (each->str() != name && lower(each->str()) == lower(name))
        return cat("there is ", each->str(), ": large and small letters are different");
  return {};
}

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
  struct Words {
    std::regex said;
    const char* plain;
  };
  static const Words words[] = {
      {std::regex(R"(no matching (?:member )?function for call to (?:‘|')(?:\w+::)*(\w+)[^\w].*)"),
       "$1() does not take what stands in its brackets"},
      {std::regex(
           R"(there are no arguments to ((?:‘|')\w+(?:’|')) that depend on a template parameter.*)"),
       "$1 was not declared in this scope"},
      {std::regex(R"(invalid use of non-static member function (?:‘|')[^(]*\b(\w+)\(.*)"),
       "$1 is a function: its brackets are missing"},
      {std::regex(R"( \{aka [^}]*\}| \[-fpermissive\])"), ""}};
  std::string out = without_arguments(line);
  for (const Words& each : words) out = std::regex_replace(out, each.said, each.plain);
  return out;
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

std::string compile_advice(const std::string& message, const std::string& line,
                           const std::string& source) {
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  for (const Advice& each : kAdvice)
    if (has(message, each.message) && has(line, each.line)) return std::string(each.text);
  const std::string advice = advice_of_assignment(message, line, source);
  return advice.empty() ? advice_of_name(message, source) : advice;
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
