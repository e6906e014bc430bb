// See write_file.hpp.
#include "write_file.hpp"

#include "tessera/core/text.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::shell {

void note_other_names(const Context& context, const std::string& path) {
  const index_t others = other_names(path);
  if (others == 0) return;
  context.note(cat(path, " has ", others,
                   others == 1 ? " other name (a hard link)" : " other names (hard links)",
                   ", which will keep the old content"));
}

void write_file(const Context& context, const std::string& path, bool force,
                const std::string& text) {
  if (force) note_other_names(context, path);
  AtomicFile file(path, force ? Overwrite::replace : Overwrite::refuse);
  file.write(text);
  file.commit();
  context.note(cat("wrote ", path));
}

}  // namespace tessera::shell
