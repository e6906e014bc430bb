// Shared by the .npz reader and writer: which members of the archive are arrays.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "zip.hpp"

namespace tessera::io {

inline constexpr std::string_view kSuffix = ".npy";

struct Entry {
  std::string name;   ///< without .npy
  std::size_t index;  ///< of the member
  bool bare;          ///< the archive has the name without .npy as well
};

/// The arrays: members called .npy, and others that begin as an .npy file, as NumPy decides.
std::vector<Entry> entries_of(const Input& input, const ZipDirectory& directory);

/// The entry that np.load(...)[name] gives: the exact `name` in the archive, else without its .npy;
/// the last of several.
const Entry* find_entry(const std::vector<Entry>& entries, const std::string& name);

}  // namespace tessera::io
