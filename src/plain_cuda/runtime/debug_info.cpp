// Reads the program's own debug information by libdw: see debug_info.hpp.
#include "debug_info.hpp"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>

namespace tessera::plain_cuda {

namespace {

/// The type that a DIE has, less typedef, const and volatile.
bool type_of(Dwarf_Die* of, Dwarf_Die* out) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(of, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, out) == nullptr)
    return false;
  return dwarf_peel_type(out, out) == 0;
}

std::size_t size_of(Dwarf_Die* type) {
  Dwarf_Word bytes = 0;
  return dwarf_aggregate_size(type, &bytes) == 0 ? bytes : 0;
}

bool number_of(Dwarf_Die* die, unsigned name, Dwarf_Word* out) {
  Dwarf_Attribute attribute;
  return dwarf_attr_integrate(die, name, &attribute) != nullptr &&
         dwarf_formudata(&attribute, out) == 0;
}

/// Calls body(child) for each child.
template <class Body>
void for_each_child(Dwarf_Die* of, Body&& body) {
  Dwarf_Die child;
  if (dwarf_child(of, &child) != 0) return;
  do {
    body(&child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

/// Shape and element of a variable of this type.
void describe_type(Dwarf_Die type, Variable& out) {
  out.bytes = size_of(&type);
  while (dwarf_tag(&type) == DW_TAG_array_type) {
    for_each_child(&type, [&](Dwarf_Die* child) {
      if (dwarf_tag(child) != DW_TAG_subrange_type) return;
      Dwarf_Word extent = 0;
      if (number_of(child, DW_AT_count, &extent))
        out.extents.push_back(static_cast<index_t>(extent));
      else if (number_of(child, DW_AT_upper_bound, &extent))
        out.extents.push_back(static_cast<index_t>(extent) + 1);
    });
    Dwarf_Die element;
    if (!type_of(&type, &element)) break;
    type = element;
  }
  out.element_bytes = std::max<std::size_t>(size_of(&type), 1);
}

bool is_class(Dwarf_Die* type) {
  const int tag = dwarf_tag(type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

class DebugInfo {
 public:
  DebugInfo() {
    static const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                             nullptr, nullptr};
    dwfl_ = dwfl_begin(&callbacks);
    if (dwfl_ == nullptr) return;
    dwfl_linux_proc_report(dwfl_, getpid());
    dwfl_report_end(dwfl_, nullptr, nullptr);
    module_ = dwfl_addrmodule(dwfl_, reinterpret_cast<Dwarf_Addr>(&is_read_only));
    find_thread_storage();
    read_variables();
  }

  Place place_of(std::uintptr_t pc) {
    const std::lock_guard lock(mutex_);
    if (module_ == nullptr) return {};
    Dwfl_Line* const line = dwfl_module_getsrc(module_, pc);
    if (line == nullptr) return {};
    Place out;
    const char* const file = dwfl_lineinfo(line, nullptr, &out.line, &out.column, nullptr, nullptr);
    out.file = keep(file);
    if (is_ours(out.file)) call_site(pc, out);
    return out;
  }
  const std::vector<Variable>& variables() const { return variables_; }

 private:
  const char* keep(const char* text) {
    return texts_.insert(text == nullptr ? "" : text).first->c_str();
  }
  /// A header of the run-time or of the system: a user looks for the call.
  static bool is_ours(std::string_view file) {
    return file.find("/tessera/plain_cuda/") != file.npos || file.starts_with("/usr/");
  }
  /// The innermost call of an inlined function that stands in a file of the user's.
  void call_site(std::uintptr_t pc, Place& out) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = dwfl_module_addrdie(module_, pc, &bias);
    if (unit == nullptr) return;
    Dwarf_Files* files = nullptr;
    if (dwarf_getsrcfiles(unit, &files, nullptr) != 0) return;
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(unit, pc - bias, &scopes);
    for (int i = 0; i < count; ++i) {
      if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
      Dwarf_Word file = 0, line = 0, column = 0;
      if (!number_of(&scopes[i], DW_AT_call_file, &file) ||
          !number_of(&scopes[i], DW_AT_call_line, &line))
        continue;
      number_of(&scopes[i], DW_AT_call_column, &column);
      const char* const name = dwarf_filesrc(files, file, nullptr, nullptr);
      if (name == nullptr || is_ours(name)) continue;
      out = {keep(name), static_cast<int>(line), static_cast<int>(column)};
      break;
    }
    std::free(scopes);
  }

  /// Thread-local storage of a program ends at the thread pointer (ELF TLS, variant II).
  void find_thread_storage() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* self) {
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& part = info->dlpi_phdr[i];
            if (part.p_type != PT_TLS) continue;
            const auto align = std::max<std::uint64_t>(part.p_align, 1);
            static_cast<DebugInfo*>(self)->thread_bytes_ =
                (part.p_memsz + align - 1) / align * align;
          }
          return 1;  // the program itself comes first
        },
        this);
  }

  void read_variables() {
    if (module_ == nullptr) return;
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = nullptr;
    while ((unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr) {
      bias_ = bias;
      Enclosing top;
      for_each_child(unit, [&](Dwarf_Die* child) { visit(child, top); });
    }
    const auto key = [](const Variable& v) {
      return std::tuple(v.is_shared,
                        v.is_shared ? v.thread_offset : static_cast<std::int64_t>(v.address),
                        v.name);
    };
    std::sort(variables_.begin(), variables_.end(),
              [&](const Variable& a, const Variable& b) { return key(a) < key(b); });
    variables_.erase(
        std::unique(variables_.begin(), variables_.end(),
                    [&](const Variable& a, const Variable& b) { return key(a) == key(b); }),
        variables_.end());
  }

  struct Enclosing {
    std::string function;
    bool in_closure = false;  ///< a kernel's body is one
  };

  void visit(Dwarf_Die* die, const Enclosing& outer) {
    switch (dwarf_tag(die)) {
      case DW_TAG_variable: return add_variable(die, outer);
      case DW_TAG_subprogram: {
        Enclosing inner = enclosing_of(die, outer);
        return for_each_child(die, [&](Dwarf_Die* child) { visit(child, inner); });
      }
      case DW_TAG_namespace:
      case DW_TAG_lexical_block:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_inlined_subroutine:
        return for_each_child(die, [&](Dwarf_Die* child) { visit(child, outer); });
      default: return;
    }
  }

  Enclosing enclosing_of(Dwarf_Die* die, const Enclosing& outer) {
    Enclosing out = outer;
    const char* const name = dwarf_diename(die);
    if (name != nullptr && std::strcmp(name, "operator()") == 0) {
      out.in_closure = true;
      if (out.function.empty()) out.function = holder_of(die);
    } else if (name != nullptr && name[0] != '_') {
      out.function = name;
    }
    return out;
  }
  /// The function around a closure whose code stands by itself: that of its declaration.
  std::string holder_of(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    for (const unsigned name : {DW_AT_abstract_origin, DW_AT_specification}) {
      if (dwarf_attr_integrate(die, name, &attribute) == nullptr ||
          dwarf_formref_die(&attribute, &origin) == nullptr)
        continue;
      Dwarf_Die* scopes = nullptr;
      const int count = dwarf_getscopes_die(&origin, &scopes);
      std::string out;
      for (int i = 1; i < count && out.empty(); ++i) {
        const char* const found = dwarf_diename(&scopes[i]);
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram && found != nullptr) out = found;
      }
      std::free(scopes);
      if (!out.empty()) return out;
    }
    return {};
  }

  void add_variable(Dwarf_Die* die, const Enclosing& outer) {
    Dwarf_Attribute attribute;
    Dwarf_Op* expression = nullptr;
    std::size_t length = 0;
    if (dwarf_attr(die, DW_AT_location, &attribute) == nullptr ||
        dwarf_getlocation(&attribute, &expression, &length) != 0 || length == 0)
      return;
    Variable out;
    const auto last = expression[length - 1].atom;
    if (length == 1 && last == DW_OP_addr) out.address = expression[0].number + bias_;
    else if (length == 2 &&
             (last == DW_OP_GNU_push_tls_address || last == DW_OP_form_tls_address)) {
      out.is_shared = true;
      out.thread_offset = static_cast<std::int64_t>(expression[0].number) -
                          static_cast<std::int64_t>(thread_bytes_);
    } else {
      return;
    }
    const char* const name = dwarf_diename(die);
    Dwarf_Die type;
    if (name == nullptr || !type_of(die, &type)) return;
    out.name = name;
    out.function = outer.function;
    out.is_in_kernel = outer.in_closure;
    add(std::move(out), type);
  }
  /// A class is its members, as far as they are not classes themselves.
  void add(Variable variable, Dwarf_Die& type) {
    describe_type(type, variable);
    if (variable.bytes == 0) return;
    if (!is_class(&type)) return variables_.push_back(std::move(variable));
    const std::size_t before = variables_.size();
    for_each_child(&type, [&](Dwarf_Die* child) {
      Dwarf_Die member_type;
      Dwarf_Word offset = 0;
      const char* const name = dwarf_diename(child);
      if (dwarf_tag(child) != DW_TAG_member || name == nullptr || !type_of(child, &member_type) ||
          !number_of(child, DW_AT_data_member_location, &offset))
        return;
      Variable member = variable;
      member.name += "." + std::string(name);
      member.extents.clear();
      member.address += offset;
      member.thread_offset += static_cast<std::int64_t>(offset);
      describe_type(member_type, member);
      if (member.bytes > 0) variables_.push_back(std::move(member));
    });
    if (variables_.size() == before) variables_.push_back(std::move(variable));
  }

  std::mutex mutex_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  Dwarf_Addr bias_ = 0;
  std::uint64_t thread_bytes_ = 0;
  std::set<std::string> texts_;
  std::vector<Variable> variables_;
};

DebugInfo& debug_info() {
  static DebugInfo* const info = new DebugInfo;
  return *info;
}

}  // namespace

Place place_of(std::uintptr_t pc) { return debug_info().place_of(pc); }
const std::vector<Variable>& variables() { return debug_info().variables(); }

bool is_read_only(std::uint64_t address) {
  struct Search {
    std::uint64_t address;
    bool found;
  } search{address, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0 &&
              s.address - (info->dlpi_addr + part.p_vaddr) < part.p_memsz)
            s.found = true;
        }
        return s.found ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace tessera::plain_cuda
