// Calls libdw: see dwarf.hpp.
#include "dwarf.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace tessera::plain_cuda {

std::optional<Dwarf_Word> number_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word out = 0;
  if (dwarf_attr_integrate(die, name, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &out) != 0)
    return {};
  return out;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Die out;
  if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &out) == nullptr || dwarf_peel_type(&out, &out) != 0)
    return {};
  return out;
}

Dwarf_Die declaration_of(Dwarf_Die die) {
  constexpr int kMost = 8;  // an inlined instance, its abstract one, the member of a class
  for (int i = 0; i < kMost; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
         dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr) ||
        dwarf_formref_die(&attribute, &origin) == nullptr)
      break;
    die = origin;
  }
  return die;
}

std::vector<Dwarf_Die> scopes_of(Dwarf_Die* die) {
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(die, &scopes);
  if (count <= 0) return {};
  std::vector<Dwarf_Die> out(scopes, scopes + count);
  std::free(scopes);
  return out;
}

bool is_of_system(std::string_view file) {
  return file.find("/tessera/plain_cuda/") != file.npos || file.starts_with("/usr/include/") ||
         file.starts_with("/usr/lib/");
}

std::string absolute(const char* file, Dwarf_Die* unit) {
  if (file == nullptr) return {};
  Dwarf_Attribute attribute;
  const char* const folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  // Clang writes /usr/bin/../lib/gcc/... for the system's headers.
  return (std::filesystem::path(folder == nullptr ? "" : folder) / file).lexically_normal();
}

namespace {

std::string demangled(const char* symbol) {
  char* const text = abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr);
  std::string out = text == nullptr ? symbol : text;
  std::free(text);
  return out;
}

}  // namespace

Units& Units::of_program() {
  static Units* const units = new Units;  // outlives objects that are destroyed at exit
  return *units;
}

Units::Units() {
  static const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                           nullptr, nullptr};
  Dwfl* const dwfl = dwfl_begin(&callbacks);
  if (dwfl == nullptr) return;
  dwfl_linux_proc_report(dwfl, getpid());
  dwfl_report_end(dwfl, nullptr, nullptr);
  program_ = dwfl_addrmodule(dwfl, reinterpret_cast<Dwarf_Addr>(&is_of_system));
  if (program_ == nullptr) return;
  for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(program_, unit, &bias_)) != nullptr;) {
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (std::ptrdiff_t next = 0; (next = dwarf_ranges(unit, next, &base, &begin, &end)) > 0;)
      ranges_.push_back({begin, end, units_.size()});
    units_.push_back(*unit);
  }
  read_symbols();
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

Dwarf_Die* Units::at(Dwarf_Addr address) {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](Dwarf_Addr wanted, const Range& range) { return wanted < range.begin; });
  if (after == ranges_.begin() || address >= std::prev(after)->end) return nullptr;
  return &units_[std::prev(after)->unit];
}

void Units::read_symbols() {
  const int count = dwfl_module_getsymtab(program_);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    const char* const name = dwfl_module_getsym(program_, i, &symbol, nullptr);
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (name != nullptr && (type == STT_TLS || type == STT_OBJECT))
      variables_.try_emplace({type == STT_TLS, symbol.st_value - bias_}, name);
    if (name != nullptr && type == STT_TLS) {
      std::size_t& bytes = thread_objects_[symbol.st_value - bias_];
      bytes = std::max<std::size_t>(bytes, symbol.st_size);
      // A mark of the command may have the same address.
      if (std::string_view(name).starts_with("_ZGV")) guards_.push_back(symbol.st_value - bias_);
    }
  }
}

std::string Units::variable_at(Dwarf_Addr value, bool is_thread_local) const {
  const auto found = variables_.find({is_thread_local, value});
  return found == variables_.end() ? std::string() : demangled(found->second);
}

std::string Units::function_at(Dwarf_Addr address) const {
  const char* const name = program_ == nullptr ? nullptr : dwfl_module_addrname(program_, address);
  return name == nullptr ? std::string() : demangled(name);
}

}  // namespace tessera::plain_cuda
