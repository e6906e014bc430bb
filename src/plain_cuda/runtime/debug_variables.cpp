// Static variables from the program's own debug information: see debug_info.hpp.
#include <link.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "debug_info.hpp"
#include "dwarf.hpp"

namespace tessera::plain_cuda {

namespace {

void read_shape(Dwarf_Die type, Shape& out) {
  out.bytes = size_of(&type);
  while (dwarf_tag(&type) == DW_TAG_array_type) {
    for_each_child(&type, [&](Dwarf_Die* child) {
      if (dwarf_tag(child) != DW_TAG_subrange_type) return;
      if (const auto count = number_of(child, DW_AT_count))
        out.extents.push_back(static_cast<index_t>(*count));
      else if (const auto last = number_of(child, DW_AT_upper_bound))
        out.extents.push_back(static_cast<index_t>(*last) + 1);
    });
    const auto element = type_of(&type);
    if (!element) break;
    type = *element;
  }
  const char* const name = dwarf_diename(&type);
  out.element = name == nullptr ? "" : name;
  out.element_bytes = std::max<std::size_t>(size_of(&type), 1);
  const int tag = dwarf_tag(&type);
  out.is_scalar =
      tag == DW_TAG_base_type || tag == DW_TAG_pointer_type || tag == DW_TAG_enumeration_type;
  if (out.element_bytes > 1) out.gaps = gaps_of(type);
}

bool is_class(Dwarf_Die* type) {
  const int tag = dwarf_tag(type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/// The members of a class and of the classes in it. A member without bytes of its own, of a union
/// or a bit-field, has no entry.
void read_members(Dwarf_Die* type, const std::string& prefix, std::size_t begin, int depth,
                  std::vector<Member>& out) {
  constexpr int kDeepest = 16;
  if (depth == kDeepest) return;
  for_each_child(type, [&](Dwarf_Die* child) {
    const int tag = dwarf_tag(child);
    const char* const name = dwarf_diename(child);
    const auto offset = number_of(child, DW_AT_data_member_location);
    auto member_type = type_of(child);
    const bool is_base = tag == DW_TAG_inheritance;
    if ((tag != DW_TAG_member && !is_base) || !offset || !member_type ||
        number_of(child, DW_AT_bit_size))
      return;
    const bool is_nameless = is_base || name == nullptr;
    const std::string full = is_nameless ? prefix : prefix + "." + name;
    if (is_class(&*member_type)) {
      const std::size_t before = out.size();
      read_members(&*member_type, full, begin + *offset, depth + 1, out);
      if (out.size() > before || is_base) return;
    }
    if (is_nameless) return;
    Member member;
    member.name = full;
    member.offset = begin + *offset;
    read_shape(*member_type, member);
    if (member.bytes > 0) out.push_back(std::move(member));
  });
}

/// How far below the thread pointer the program's thread-local storage begins (ELF TLS, variant
/// II).
std::int64_t thread_storage() {
  std::int64_t bytes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_TLS) continue;
          const auto align = std::max<std::uint64_t>(part.p_align, 1);
          *static_cast<std::int64_t*>(out) =
              static_cast<std::int64_t>((part.p_memsz + align - 1) / align * align);
        }
        return 1;  // the program itself comes first
      },
      &bytes);
  return bytes;
}

/// The types of the variables element_tag, by their addresses.
std::map<std::uint64_t, Dwarf_Die>& tags() {
  static auto* const all = new std::map<std::uint64_t, Dwarf_Die>;
  return *all;
}

class Reader {
 public:
  std::vector<Variable> run() {
    for (Dwarf_Die& unit : units_.all()) visit_children(&unit);
    return without_doubles();
  }

 private:
  void visit_children(Dwarf_Die* die) {
    outer_.push_back(*die);
    for_each_child(die, [&](Dwarf_Die* child) { visit(child); });
    outer_.pop_back();
  }
  void visit(Dwarf_Die* die) {
    switch (dwarf_tag(die)) {
      case DW_TAG_variable: return add(die);
      case DW_TAG_subprogram:
      case DW_TAG_namespace:
      case DW_TAG_lexical_block:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_inlined_subroutine: return visit_children(die);
      default: return;
    }
  }

  void add(Dwarf_Die* die) {
    Variable out;
    if (!locate(die, out)) return;
    const char* const name = dwarf_diename(die);
    auto type = type_of(die);
    if (name == nullptr || !type) return;
    if (std::string_view(name) == "element_tag") tags()[out.address] = *type;
    if (is_others(die)) return;
    out.name = name;
    read_shape(*type, out);
    if (out.bytes == 0) return;
    find_function(*die, outer_, out);
    if (out.is_shared || out.function.empty()) read_symbol(out);
    if (is_class(&*type)) read_members(&*type, out.name, 0, 0, out.members);
    found_.push_back(std::move(out));
  }
  /// Made by the compiler, or declared in a header of the system.
  bool is_others(Dwarf_Die* die) {
    if (dwarf_hasattr_integrate(die, DW_AT_artificial)) return true;
    const char* const file = dwarf_decl_file(die);
    return file != nullptr && is_of_system(absolute(file, &outer_.front()));
  }
  bool locate(Dwarf_Die* die, Variable& out) const {
    Dwarf_Attribute attribute;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_attr(die, DW_AT_location, &attribute) == nullptr ||
        dwarf_getlocation(&attribute, &operations, &count) != 0 || count == 0)
      return false;
    const auto value = value_of(&attribute, operations[0]);
    if (!value) return false;
    const auto last = operations[count - 1].atom;
    out.is_shared =
        count == 2 && (last == DW_OP_GNU_push_tls_address || last == DW_OP_form_tls_address);
    if (out.is_shared) out.thread_offset = static_cast<std::int64_t>(*value) - thread_bytes_;
    else out.address = *value + units_.bias();
    return out.is_shared || (count == 1 && (last == DW_OP_addr || last == DW_OP_addrx));
  }
  /// An address or a constant, which DWARF 5 may keep in a table.
  static std::optional<Dwarf_Word> value_of(Dwarf_Attribute* location, const Dwarf_Op& operation) {
    switch (operation.atom) {
      case DW_OP_addr:
      case DW_OP_const4u:
      case DW_OP_const8u: return operation.number;
      case DW_OP_addrx:
      case DW_OP_constx:
      case DW_OP_GNU_const_index: {
        Dwarf_Attribute entry;
        Dwarf_Word out = 0;
        if (dwarf_getlocation_attr(location, &operation, &entry) != 0) return {};
        if (operation.atom == DW_OP_addrx ? dwarf_formaddr(&entry, &out) == 0
                                          : dwarf_formudata(&entry, &out) == 0)
          return out;
        return {};
      }
      default: return {};
    }
  }

  /// The function around a variable: the outermost, since a kernel's body is a closure in it.
  /// `outer` encloses the DIE, if that is known.
  static void find_function(const Dwarf_Die& die, std::vector<Dwarf_Die> outer, Variable& out) {
    Dwarf_Die declared = declaration_of(die);
    if (declared.addr != die.addr) {
      outer = scopes_of(&declared);
      std::reverse(outer.begin(), outer.end());
      if (!outer.empty()) outer.pop_back();
    }
    for (auto at = outer.rbegin(); at != outer.rend(); ++at) {
      const int tag = dwarf_tag(&*at);
      if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
      const char* const name = dwarf_diename(&*at);
      const std::string inner = name == nullptr ? "" : name;
      find_function(*at, {outer.begin(), at.base() - 1}, out);
      if (out.function.empty()) out.function = without_arguments(inner);
      else if (inner == "operator()") out.is_in_kernel = true;
      return;
    }
  }
  /// The symbol distinguishes instances of a template, and names the function if Clang 14 puts its
  /// variables into a nameless one.
  void read_symbol(Variable& out) const {
    const auto value = out.is_shared ? static_cast<Dwarf_Addr>(out.thread_offset + thread_bytes_)
                                     : out.address - units_.bias();
    const std::string text = units_.variable_at(value, out.is_shared);
    // void n::matmul<float, 16>(float const*)::{lambda()#1}::operator()()::As
    std::size_t begin = 0, name = 0, arguments = 0, end = 0;
    for (int depth = 0; end < text.size(); ++end) {
      constexpr std::string_view kNameless = "(anonymous namespace)";
      if (text.compare(end, kNameless.size(), kNameless) == 0) end += kNameless.size();
      const char c = text[end];
      if (depth == 0 && arguments > 0 && c == ':') break;
      if (depth == 0 && arguments == 0 && c == ' ') begin = name = end + 1;
      if (depth == 0 && arguments == 0 && c == ':') name = end + 1;
      if (depth == 0 && c == '(') arguments = end;
      depth += c == '(' || c == '<' || c == '{' ? 1 : c == ')' || c == '>' || c == '}' ? -1 : 0;
    }
    if (arguments == 0 || end == text.size()) return;
    out.instance = text.substr(begin, end - begin);
    if (!out.function.empty()) return;
    out.function = without_arguments(text.substr(name, arguments - name));
    out.is_in_kernel = text.find("operator()", end) != text.npos;
  }
  /// "matmul" of "matmul<float, 16>", as in __func__.
  static std::string without_arguments(const std::string& name) {
    if (name.empty() || name.back() != '>' || name.starts_with("operator")) return name;
    return name.substr(0, name.find('<'));
  }

  /// Inlined functions list their variables more than once.
  std::vector<Variable> without_doubles() {
    const auto key = [](const Variable& v) {
      return std::tuple(v.is_shared, v.thread_offset, v.address, std::string_view(v.name));
    };
    std::stable_sort(found_.begin(), found_.end(), [&](const Variable& a, const Variable& b) {
      return key(a) != key(b) ? key(a) < key(b) : a.function.size() > b.function.size();
    });
    const auto is_same = [&](const Variable& a, const Variable& b) { return key(a) == key(b); };
    found_.erase(std::unique(found_.begin(), found_.end(), is_same), found_.end());
    return std::move(found_);
  }

  Units& units_ = Units::of_program();
  const std::int64_t thread_bytes_ = thread_storage();
  std::vector<Dwarf_Die> outer_;
  std::vector<Variable> found_;
};

}  // namespace

const std::vector<Variable>& variables() {
  static const auto* const all = new std::vector<Variable>(Reader().run());
  return *all;
}

std::optional<Gaps> gaps_of_pointee(const void* variable) {
  variables();  // reads the tags as well
  const auto found = tags().find(reinterpret_cast<std::uint64_t>(variable));
  if (found == tags().end()) return {};
  Dwarf_Die pointer = found->second;
  const auto type = type_of(&pointer);
  return type ? std::optional(gaps_of(*type)) : std::nullopt;
}

const std::vector<std::int64_t>& guards() {
  static const auto* const all = [] {
    auto* const out = new std::vector<std::int64_t>;
    for (const Dwarf_Addr at : Units::of_program().guards())
      out->push_back(static_cast<std::int64_t>(at) - thread_storage());
    return out;
  }();
  return *all;
}

const std::vector<std::pair<std::int64_t, std::size_t>>& thread_objects() {
  static const auto* const all = [] {
    auto* const out = new std::vector<std::pair<std::int64_t, std::size_t>>;
    for (const auto& [at, bytes] : Units::of_program().thread_objects())
      out->emplace_back(static_cast<std::int64_t>(at) - thread_storage(), bytes);
    return out;
  }();
  return *all;
}

}  // namespace tessera::plain_cuda
