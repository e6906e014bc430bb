// Short names for the runtime's queries of libdw, and the program's own debug information.
#pragma once

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "debug_info.hpp"

namespace tessera::plain_cuda {

/// The attribute as a number, of the DIE or of its declaration.
std::optional<Dwarf_Word> number_of(Dwarf_Die* die, unsigned name);
/// The type, without typedef, const and volatile.
std::optional<Dwarf_Die> type_of(Dwarf_Die* die);
/// The bytes of the type; 0: unknown.
std::size_t size_of(Dwarf_Die* type);
/// The bytes of the type that hold no value: between members, and those that not all members of a
/// union have.
Gaps gaps_of(Dwarf_Die type);
/// The declaration of a concrete DIE; the DIE itself if it is one.
Dwarf_Die declaration_of(Dwarf_Die die);
/// The DIE and all DIEs that enclose it, innermost first.
std::vector<Dwarf_Die> scopes_of(Dwarf_Die* die);

/// Calls body(Dwarf_Die*) for each child.
template <class Body>
void for_each_child(Dwarf_Die* of, const Body& body) {
  Dwarf_Die child;
  if (dwarf_child(of, &child) != 0) return;
  do {
    body(&child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

/// Is it a header of the system or of the runtime? Users then need the position of the call.
bool is_of_system(std::string_view file);
/// Absolute, relative to the folder in which the unit was compiled, without dots.
std::string absolute(const char* file, Dwarf_Die* unit);

/// The units of this program, and the addresses of their code.
class Units {
 public:
  /// Of the process; never changes. Empty if the program has no debug information.
  static Units& of_program();

  struct Range {
    Dwarf_Addr begin, end;
    std::size_t unit;
  };
  Dwarf_Die* at(Dwarf_Addr address);  ///< nullptr: none has code there
  std::vector<Dwarf_Die>& all() { return units_; }
  /// The name, demangled, of the variable at this address of the file, or this offset in
  /// thread-local storage; empty: none.
  std::string variable_at(Dwarf_Addr value, bool is_thread_local) const;
  /// The same of the function at this address in memory.
  std::string function_at(Dwarf_Addr address) const;
  /// The positions of the guards of variables with constructors in thread-local storage.
  const std::vector<Dwarf_Addr>& guards() const { return guards_; }
  /// Offsets and sizes of all objects in thread-local storage.
  const std::map<Dwarf_Addr, std::size_t>& thread_objects() const { return thread_objects_; }
  Dwarf_Addr bias() const { return bias_; }  ///< address in memory minus address in the file

 private:
  Units();

  void read_symbols();

  Dwfl_Module* program_ = nullptr;
  std::map<std::pair<bool, Dwarf_Addr>, const char*> variables_;  ///< is it thread-local, where
  std::map<Dwarf_Addr, std::size_t> thread_objects_;
  std::vector<Dwarf_Addr> guards_;
  std::vector<Dwarf_Die> units_;
  std::vector<Range> ranges_;  ///< in order; Clang omits .debug_aranges
  Dwarf_Addr bias_ = 0;
};

}  // namespace tessera::plain_cuda
