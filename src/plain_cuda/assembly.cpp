// Changes the compiler's assembly: see assembly.hpp.
#include "assembly.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace tessera::plain_cuda {

namespace {

constexpr std::string_view kRim = "\t.zero\t64\n";

constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
    {"_Znwm", "tessera_cuda_new"},      {"_Znam", "tessera_cuda_new"},
    {"_ZdlPv", "tessera_cuda_delete"},  {"_ZdaPv", "tessera_cuda_delete"},
    {"_ZdlPvm", "tessera_cuda_delete"}, {"_ZdaPvm", "tessera_cuda_delete"}};

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

using Names = std::unordered_set<std::string_view>;

/// Is it a name in std, __gnu_cxx or tessera?
bool is_of_headers(std::string_view name) {
  for (const std::string_view begin :
       {"_ZNSt", "_ZNKSt", "_ZSt", "_ZNSs", "_ZNKSs", "_ZNSa", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx",
        "_ZN7tessera", "_ZNK7tessera"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

/// The rest of the line after its first `begin` characters, up to a comma.
std::string_view operand(std::string_view line, std::size_t begin) {
  return line.substr(begin, line.find_first_of(",\n", begin) - begin);
}

/// The inline functions of headers that the assembly defines, and the groups that they are in.
Names inline_functions(std::string_view assembly) {
  constexpr std::string_view kWeak = "\t.weak\t", kGroup = ",\"axG\",@progbits,";
  Names out;
  bool is_group = false;
  for (std::size_t at = 0; at < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', at), assembly.size() - 1) + 1;
    const std::string_view line = assembly.substr(at, end - at);
    at = end;
    std::string_view name;
    if (line.starts_with("\t.section")) {
      const std::size_t group = line.find(kGroup);
      is_group = group != line.npos;
      if (is_group) name = operand(line, group + kGroup.size());
    } else if (is_group && line.starts_with(kWeak)) {
      name = operand(line, kWeak.size());
    }
    if (is_of_headers(name)) out.insert(name);
  }
  return out;
}

/// The name in the program of one in the compiler's assembly.
void add_name(std::string& out, std::string_view name, bool may_allocate, const Names& inlines) {
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [&](const auto& each) { return each.first == name; });
  out += may_allocate && found != std::end(kFunctions) ? found->second : name;
  if (inlines.contains(name)) out += ".checked";
}

/// Adds the line with the names that the program has for those in it.
void add_renamed(std::string& out, std::string_view line, bool may_allocate, const Names& inlines) {
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = std::min(line.find("_Z", at), line.size());
    out += line.substr(at, begin - at);
    std::size_t end = begin;
    while (end < line.size() && is_in_name(line[end])) ++end;
    const std::string_view name = line.substr(begin, end - begin);
    if (begin > 0 && is_in_name(line[begin - 1])) out += name;
    else add_name(out, name, may_allocate, inlines);
    at = end;
  }
}

}  // namespace

bool keeps_order(std::string_view assembly) {
  constexpr std::string_view kSigns[] = {"tessera_keeps_order", "__tsan_volatile_",
                                         "__tsan_unaligned_volatile_", "__tsan_atomic",
                                         "_ZN7tessera10plain_cuda3ptx"};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view each) { return assembly.find(each) != assembly.npos; });
}

std::string as_checked(const std::string& assembly) {
  // A program may have an operator new of its own.
  const bool has_own =
      std::any_of(std::begin(kFunctions), std::end(kFunctions), [&](const auto& each) {
        return assembly.find("\n" + std::string(each.first) + ":") != assembly.npos;
      });
  const Names inlines = inline_functions(assembly);
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 16);
  bool is_shared = false;
  for (std::size_t at = 0; at < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', at), assembly.size() - 1) + 1;
    const std::string_view line(assembly.data() + at, end - at);
    at = end;
    if (line.starts_with("\t.section")) is_shared = line.find(".tbss") != line.npos;
    else if (line.starts_with("\t.text") || line.starts_with("\t.data") ||
             line.starts_with("\t.bss"))
      is_shared = false;
    const bool may_call = line.starts_with("\tcall") || line.starts_with("\tb") ||
                          line.starts_with("\tjmp") || line.starts_with("\tmov") ||
                          line.starts_with("\tlea");
    const bool is_text = line.starts_with("\t.string") || line.starts_with("\t.ascii");
    if (is_text) out += line;
    else add_renamed(out, line, may_call && !has_own, inlines);
    if (is_shared && line.starts_with("\t.zero")) out += kRim;
  }
  return out;
}

}  // namespace tessera::plain_cuda
