// What reading and writing .npz share: libzip's handles and errors, and which members are arrays.
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

/// Throws if libzip ran out of memory; libzip often gives no reason then.
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
  bool bare;  ///< without .npy in the archive too
};

/// The arrays: members called .npy, and others that NumPy accepts as arrays by their first bytes.
std::vector<Entry> entries_of(const Archive& archive);

/// The entry that np.load(...)[name] returns: `name` exactly, else `name` with .npy; the last one
/// of several.
const Entry* find_entry(const std::vector<Entry>& entries, const std::string& name);

}  // namespace tessera::io
