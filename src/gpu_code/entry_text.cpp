// See entry_text.hpp. The text is that of Clang 14: one definition, one instruction on each line.
#include "entry_text.hpp"

#include <cstdint>
#include <vector>

#include "tessera/core/text.hpp"

namespace tessera::gpu_code {

namespace {

/// How the symbol of an entry ends; what precedes it is the name of its class.
constexpr std::string_view kFunction = "17tessera_gpu_entryE";

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string name_of_class(std::string_view name) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "tessera_";
  const std::uint64_t hash = hash_of(name);
  for (int shift = 60; shift >= 0; shift -= 4) out += digits[hash >> shift & 15];
  return out;
}

/// The symbol after '@' or '$'.
std::string_view symbol_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                               text[end] == '_' || text[end] == '.' || text[end] == '$'))
    ++end;
  return text.substr(0, end);
}

/// The entry's name, where a symbol is one.
std::string entry_of_symbol(std::string_view symbol) {
  const auto at = symbol.rfind(kFunction);
  if (!symbol.starts_with("_ZN") || at == symbol.npos) return {};
  return name_of_class(cat(symbol.substr(2, at - 2), "E"));
}

std::string with_names(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    out += line[i];
    if (line[i] != '@' && line[i] != '$') continue;
    const std::string_view symbol = symbol_at(line.substr(i + 1));
    const std::string name = entry_of_symbol(symbol);
    out += name.empty() ? std::string(symbol) : name;
    i += symbol.size();
  }
  return out;
}

/// The parameters of a definition: the text between its parentheses, at commas outside of others.
std::vector<std::string_view> parameters_of(std::string_view line) {
  std::vector<std::string_view> out;
  std::size_t begin = line.find('(', line.find('@')) + 1;
  int depth = 1;
  for (std::size_t i = begin; i < line.size(); ++i) {
    if (line[i] == '(' || line[i] == '{') ++depth;
    if (line[i] == ')' || line[i] == '}') --depth;
    if (depth > 0 && (line[i] != ',' || depth > 1)) continue;
    if (i > begin) out.push_back(line.substr(begin, i - begin));
    begin = i + 1;
    if (depth == 0) break;
  }
  return out;
}

/// The metadata of a kernel, numbered from `number` on, in the module and at the definition.
struct Metadata {
  std::string nodes, references;
  Metadata(std::string_view definition, int& number) {
    std::string spaces, none, types, empty;
    for (const std::string_view parameter : parameters_of(definition)) {
      const std::string comma = spaces.empty() ? "" : ", ";
      const auto at = parameter.find("addrspace(");
      const bool is_pointer = at != parameter.npos;
      spaces += cat(comma, "i32 ", is_pointer ? parameter.substr(at + 10, 1) : "0");
      none += comma + "!\"none\"";
      types += comma + (is_pointer ? "!\"uchar*\"" : "!\"ulong\"");
      empty += comma + "!\"\"";
    }
    for (const auto& [kind, values] : {std::pair{"addr_space", spaces},
                                       {"access_qual", none},
                                       {"type", types},
                                       {"base_type", types},
                                       {"type_qual", empty}}) {
      nodes += cat("!", number, " = !{", values, "}\n");
      references += cat(" !kernel_arg_", kind, " !", number++);
    }
  }
};

void replace(std::string& line, std::string_view from, std::string_view to) {
  const auto at = line.find(from);
  if (at != line.npos) line.replace(at, from.size(), to);
}

/// "%1 = freeze i32 %0" as "%1 = bitcast i32 %0 to i32".
void thaw(std::string& line) {
  constexpr std::string_view freeze = " = freeze ";
  const auto at = line.find(freeze);
  if (at == line.npos) return;
  const auto type = at + freeze.size(), value = line.find_last_of(' ');
  line += cat(" to ", line.substr(type, value - type));
  replace(line, freeze, " = bitcast ");
}

int first_free_number(std::string_view text) {
  int most = -1;
  for (std::size_t at = text.find("\n!"); at != text.npos; at = text.find("\n!", at + 1)) {
    int number = 0;
    std::size_t digit = at + 2;
    for (; digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0;
         ++digit)
      number = 10 * number + (text[digit] - '0');
    if (digit > at + 2 && number > most) most = number;
  }
  return most + 1;
}

}  // namespace

std::string entry_name(std::string_view pointer_type) {
  return name_of_class(pointer_type.substr(1));
}

EntryText with_entries(std::string_view llvm_text, bool is_spir) {
  EntryText out;
  int number = first_free_number(llvm_text);
  std::string nodes;
  while (!llvm_text.empty()) {
    const auto end = llvm_text.find('\n');
    std::string line = with_names(llvm_text.substr(0, end));
    llvm_text.remove_prefix(end == llvm_text.npos ? llvm_text.size() : end + 1);
    const bool is_entry =
        line.starts_with("define ") &&
        (line.find(" spir_kernel ") != line.npos || line.find(" amdgpu_kernel ") != line.npos);
    if (is_entry) {
      const auto name = line.find('@') + 1;
      out.entries += cat(symbol_at(std::string_view(line).substr(name)), "\n");
    }
    if (is_spir && is_entry) {
      const Metadata metadata(line, number);
      replace(line, " hidden ", " ");
      line.insert(line.rfind(" {"), metadata.references);
      nodes += metadata.nodes;
    } else if (is_spir) {
      replace(line, "target triple = \"spirv64\"", "target triple = \"spir64-unknown-unknown\"");
      thaw(line);
    }
    out.text += line + "\n";
  }
  out.text += nodes;
  return out;
}

}  // namespace tessera::gpu_code
