// See write_file.hpp.
#include "write_file.hpp"

#include "tessera/core/text.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::cli {

void write_file(const Context& context, const std::string& path, bool force,
                const std::string& text) {
  AtomicFile file(path, force ? Overwrite::replace : Overwrite::refuse);
  file.write(text);
  file.commit();
  context.note(cat("wrote ", path));
}

}  // namespace tessera::cli
