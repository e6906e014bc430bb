// Changes the compiler's assembly: see assembly.hpp.
#include "assembly.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
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

/// Adds the line with the run-time's functions that replace new and delete.
void add_renamed(std::string& out, std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = std::min(line.find("_Z", at), line.size());
    out += line.substr(at, begin - at);
    std::size_t end = begin;
    while (end < line.size() && is_in_name(line[end])) ++end;
    std::string_view name = line.substr(begin, end - begin);
    const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                    [&](const auto& each) { return each.first == name; });
    if (found != std::end(kFunctions) && (begin == 0 || !is_in_name(line[begin - 1])))
      name = found->second;
    out += name;
    at = end;
  }
}

}  // namespace

std::string as_checked(const std::string& assembly) {
  // A program may have an operator new of its own.
  const bool has_own =
      std::any_of(std::begin(kFunctions), std::end(kFunctions), [&](const auto& each) {
        return assembly.find("\n" + std::string(each.first) + ":") != assembly.npos;
      });
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 64);
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
    if (may_call && !has_own) add_renamed(out, line);
    else out += line;
    if (is_shared && line.starts_with("\t.zero")) out += kRim;
  }
  return out;
}

}  // namespace tessera::plain_cuda
