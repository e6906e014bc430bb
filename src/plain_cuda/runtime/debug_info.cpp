// Source positions of instructions from the program's own debug information: see debug_info.hpp.
#include "debug_info.hpp"

#include <link.h>

#include <map>
#include <mutex>
#include <set>

#include "dwarf.hpp"

namespace tessera::plain_cuda {

namespace {

std::mutex mutex;  // libdw reads lazily

/// Texts that live as long as the process. Callers hold the lock.
const char* keep(std::string text) {
  static auto* const texts = new std::set<std::string>;
  return texts->insert(std::move(text)).first->c_str();
}

/// Compilers give merged or moved instructions no line: they get that of the code before them.
Place line_before(Dwarf_Die* unit, Dwarf_Addr address) {
  constexpr Dwarf_Addr kFarthest = 256;
  for (Dwarf_Addr back = 0; back < kFarthest && back <= address; ++back) {
    Dwarf_Line* const at = dwarf_getsrc_die(unit, address - back);
    int line = 0, column = 0;
    if (at == nullptr) break;
    if (dwarf_lineno(at, &line) != 0 || line == 0) continue;
    dwarf_linecol(at, &column);
    return {keep(absolute(dwarf_linesrc(at, nullptr, nullptr), unit)), line, column};
  }
  return {};
}

void collect_functions(Dwarf_Die* die, std::vector<Dwarf_Die>& out) {
  for_each_child(die, [&](Dwarf_Die* child) {
    const bool has_code =
        dwarf_hasattr(child, DW_AT_low_pc) != 0 || dwarf_hasattr(child, DW_AT_ranges) != 0;
    if (dwarf_tag(child) == DW_TAG_subprogram && has_code) out.push_back(*child);
    collect_functions(child, out);
  });
}

/// The functions of a unit that have code. dwarf_getscopes() misses a kernel's body, which is a
/// closure in a function without code.
std::vector<Dwarf_Die>& functions_of(Dwarf_Die* unit) {
  static auto* const known = new std::map<void*, std::vector<Dwarf_Die>>;
  const auto [found, is_new] = known->try_emplace(unit->addr);
  if (is_new) collect_functions(unit, found->second);
  return found->second;
}

/// Sets `out` to the innermost inlined call at the address that is in a file of the user.
void find_call(Dwarf_Die* unit, Dwarf_Files* files, Dwarf_Die* inside, Dwarf_Addr address,
               Place& out) {
  for_each_child(inside, [&](Dwarf_Die* child) {
    const int tag = dwarf_tag(child);
    if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
        dwarf_haspc(child, address) <= 0)
      return;
    const auto file = number_of(child, DW_AT_call_file);
    const auto line = number_of(child, DW_AT_call_line);
    if (tag == DW_TAG_inlined_subroutine && file && line) {
      const std::string name = absolute(dwarf_filesrc(files, *file, nullptr, nullptr), unit);
      if (!name.empty() && !is_of_system(name))
        out = {keep(name), static_cast<int>(*line),
               static_cast<int>(number_of(child, DW_AT_call_column).value_or(0))};
    }
    find_call(unit, files, child, address, out);
  });
}

/// The innermost call of an inlined function in a file of the user; line 0: none.
Place inlined_call(Dwarf_Die* unit, Dwarf_Addr address) {
  Dwarf_Files* files = nullptr;
  Place out;
  if (dwarf_getsrcfiles(unit, &files, nullptr) != 0) return out;
  for (Dwarf_Die& function : functions_of(unit))
    if (dwarf_haspc(&function, address) > 0) find_call(unit, files, &function, address, out);
  return out;
}

}  // namespace

Place place_of(std::uintptr_t pc) {
  const std::lock_guard lock(mutex);
  Units& units = Units::of_program();
  const Dwarf_Addr address = pc - units.bias();
  Dwarf_Die* const unit = units.at(address);
  if (unit == nullptr) return {};
  const Place place = line_before(unit, address);
  if (place.line != 0 && !is_of_system(place.file)) return place;
  const Place call = inlined_call(unit, address);
  return call.line != 0 ? call : place;
}

bool runs(std::uintptr_t code, const std::string& instance) {
  const std::lock_guard lock(mutex);
  // void tessera::plain_cuda::run_kernel<n::matmul<16>(float*)::{lambda()#1}>(...)
  return Units::of_program().function_at(code).find("<" + instance + "::") != std::string::npos;
}

Section section_of(std::uint64_t address) {
  struct Search {
    std::uint64_t address;
    Section found = Section::none;
    bool is_program = true;  // it comes first
  } search{address};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          // Tables of virtual functions are read-only once the program has started.
          if ((part.p_type != PT_LOAD && part.p_type != PT_GNU_RELRO) ||
              s.address - (info->dlpi_addr + part.p_vaddr) >= part.p_memsz)
            continue;
          s.found = (part.p_flags & PF_W) == 0 ? Section::read_only
                    : s.is_program             ? Section::of_program
                                               : Section::of_library;
        }
        s.is_program = false;
        return s.found != Section::none ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace tessera::plain_cuda
