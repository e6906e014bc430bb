// A { without its }, or the other way round: a compiler notices at the end of all files.
#pragma once

#include <string>

namespace tessera::cli {

struct Brace {
  int line = 0;  ///< 0: each has its other one
  std::string says;
};
/// Of several that may be meant, the one whose other one is indented differently.
Brace wrong_brace(const std::string& source);

}  // namespace tessera::cli
