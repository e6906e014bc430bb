// Shared by the .npz reader and writer: libzip's handles and errors, and which members are arrays.
#pragma once

#include <zip.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::io {

inline constexpr std::string_view kSuffix = ".npy";

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;
using Member = std::unique_ptr<zip_file_t, CloseMember>;

/// Reports that libzip ran out of memory, for which libzip often gives no reason.
inline void throw_if_memory(zip_error_t& error) {
  const int code = zip_error_code_zip(&error);
  if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK) {
    zip_error_fini(&error);
    throw std::bad_alloc();
  }
}

inline std::string text_of(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

struct Entry {
  std::string name;  ///< without .npy
  zip_uint64_t index;
  bool bare;  ///< the archive has the name without .npy as well
};

/// The arrays: members called .npy, and others that begin as an .npy file, as NumPy decides.
std::vector<Entry> entries_of(const Archive& archive);

/// The entry that np.load(...)[name] gives: the exact `name` in the archive, else without its .npy;
/// the last of several.
const Entry* find_entry(const std::vector<Entry>& entries, const std::string& name);

}  // namespace tessera::io
