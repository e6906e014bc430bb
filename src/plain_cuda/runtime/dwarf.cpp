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

namespace {

using Bytes = std::vector<bool>;  ///< does the byte hold a value?

void mark(std::size_t begin, std::size_t count, Bytes& out) {
  const std::size_t first = std::min(begin, out.size()), last = std::min(begin + count, out.size());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(first),
            out.begin() + static_cast<std::ptrdiff_t>(last), true);
}

void mark_type(Dwarf_Die type, std::size_t begin, Bytes& out);

/// A bit-field has all bytes that a store to it writes.
void mark_member(Dwarf_Die* member, std::size_t begin, Bytes& out) {
  const auto type = type_of(member);
  const auto offset = number_of(member, DW_AT_data_member_location);
  const auto first_bit = number_of(member, DW_AT_data_bit_offset),
             bits = number_of(member, DW_AT_bit_size);
  if (first_bit && bits) return mark(begin + *first_bit / 8, (*first_bit % 8 + *bits + 7) / 8, out);
  if (type && !bits) mark_type(*type, begin + offset.value_or(0), out);
}

template <class Body>
void for_each_member(Dwarf_Die* type, const Body& body) {
  for_each_child(type, [&](Dwarf_Die* child) {
    const int tag = dwarf_tag(child);
    const bool is_static = dwarf_hasattr_integrate(child, DW_AT_external) ||
                           dwarf_hasattr_integrate(child, DW_AT_declaration);
    if ((tag == DW_TAG_member && !is_static) || tag == DW_TAG_inheritance) body(child);
  });
}

/// What all members have: nobody knows which one is in use.
void mark_union(Dwarf_Die* type, std::size_t begin, Bytes& out) {
  Bytes of_all(out.size(), true);
  bool has_members = false;
  for_each_member(type, [&](Dwarf_Die* member) {
    Bytes one(out.size());
    mark_member(member, begin, one);
    for (std::size_t i = 0; i < one.size(); ++i) of_all[i] = of_all[i] && one[i];
    has_members = true;
  });
  for (std::size_t i = 0; i < out.size() && has_members; ++i) out[i] = out[i] || of_all[i];
}

void mark_array(Dwarf_Die* type, std::size_t begin, Bytes& out) {
  const auto element = type_of(type);
  if (!element) return;
  Dwarf_Die of = *element;
  const std::size_t step = std::max<std::size_t>(size_of(&of), 1), bytes = size_of(type);
  for (std::size_t at = 0; at + step <= bytes; at += step) mark_type(of, begin + at, out);
}

void mark_type(Dwarf_Die type, std::size_t begin, Bytes& out) {
  switch (dwarf_tag(&type)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
      return for_each_member(&type, [&](Dwarf_Die* member) { mark_member(member, begin, out); });
    case DW_TAG_union_type: return mark_union(&type, begin, out);
    case DW_TAG_array_type: return mark_array(&type, begin, out);
    default: break;
  }
  const char* const name = dwarf_diename(&type);
  constexpr std::size_t kExtended = 10;  // the bytes of a long double that it uses
  mark(begin,
       name != nullptr && std::string_view(name) == "long double" ? kExtended : size_of(&type),
       out);
}

}  // namespace

std::size_t size_of(Dwarf_Die* type) {
  Dwarf_Word bytes = 0;
  return dwarf_aggregate_size(type, &bytes) == 0 ? bytes : 0;
}

Gaps gaps_of(Dwarf_Die type) {
  const int tag = dwarf_tag(&type);
  const bool is_class =
      tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
  constexpr std::size_t kMost = std::size_t{1} << 20;  // larger ones take too long
  if (!is_class || size_of(&type) > kMost) return {};
  Bytes bytes(size_of(&type));
  mark_type(type, 0, bytes);
  Gaps out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i]) continue;
    const auto first = static_cast<std::uint32_t>(i);
    while (i < bytes.size() && !bytes[i]) ++i;
    out.emplace_back(first, static_cast<std::uint32_t>(i));
  }
  return out;
}

}  // namespace tessera::plain_cuda
