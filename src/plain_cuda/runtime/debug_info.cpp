// Places of instructions by the program's own debug information: see debug_info.hpp.
#include "debug_info.hpp"

#include <link.h>

#include <cstdlib>
#include <mutex>
#include <set>

#include "dwarf.hpp"

namespace tessera::plain_cuda {

namespace {

std::mutex mutex;  // libdw reads as it is asked

/// Texts that live as long as the process. Callers hold the lock.
const char* keep(std::string text) {
  static auto* const texts = new std::set<std::string>;
  return texts->insert(std::move(text)).first->c_str();
}

/// Compilers give instructions that they merged or moved no line: that of the code before them.
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

/// The innermost call of an inlined function that a file of the user's has; line 0: none.
Place inlined_call(Dwarf_Die* unit, Dwarf_Addr address) {
  Dwarf_Files* files = nullptr;
  Dwarf_Die* innermost = nullptr;
  if (dwarf_getsrcfiles(unit, &files, nullptr) != 0 ||
      dwarf_getscopes(unit, address, &innermost) <= 0)
    return {};
  // The scopes of an address leave inlined code for its declaration; those of a DIE do not.
  std::vector<Dwarf_Die> scopes = scopes_of(&innermost[0]);
  std::free(innermost);
  for (Dwarf_Die& scope : scopes) {
    if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) continue;
    const auto file = number_of(&scope, DW_AT_call_file);
    const auto line = number_of(&scope, DW_AT_call_line);
    if (!file || !line) continue;
    const std::string name = absolute(dwarf_filesrc(files, *file, nullptr, nullptr), unit);
    if (name.empty() || is_of_system(name)) continue;
    return {keep(name), static_cast<int>(*line),
            static_cast<int>(number_of(&scope, DW_AT_call_column).value_or(0))};
  }
  return {};
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
          if (part.p_type != PT_LOAD ||
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
