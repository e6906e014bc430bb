// The functions that an expression can call, by name. The reader looks a name up here, checks the
// count of arguments and calls; what a function refuses becomes an error at its name.
#pragma once

#include <string>
#include <string_view>

#include "arguments.hpp"

namespace tessera::expression {

struct Function {
  std::string_view usage, meaning;
  std::size_t least, most;
  LayoutValue (*call)(const Arguments&);

  std::string_view name() const { return usage.substr(0, usage.find('(')); }
};

/// Null where there is none.
const Function* find_function(std::string_view name);

/// The message for an unknown name: "there is no function 'row_majr'; did you mean ...?"
std::string unknown_function(std::string_view name);

}  // namespace tessera::expression
