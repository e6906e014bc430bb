// The programs and libraries that are loaded into this process, one by one: each without what it
// depends on, and none that is this library. Slow: for errors, and for the first call of a
// function.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tessera::blas {

/// A loaded file; it stays loaded for as long as this object exists.
class LoadedObject {
 public:
  /// Takes over a handle of dlopen.
  explicit LoadedObject(void* handle);

  /// The function that this file itself defines, or null.
  void* find(const char* name) const;
  /// The function that this file or one that it needs defines, or null; never one of this library.
  void* find_with_dependencies(const char* name) const;
  /// Is this file this library, or the same library under its other name?
  bool is_tessera() const;

 private:
  std::shared_ptr<void> handle_;
};

/// In the order of loading.
std::vector<LoadedObject> loaded_objects();

/// The folder that this library's file lies in, symbolic links resolved.
std::string own_folder();

}  // namespace tessera::blas
