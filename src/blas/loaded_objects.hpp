// The programs and libraries that are loaded into this process, one by one: each without what it
// depends on, and none that is this library. Slow: for errors, and for the first call of a
// function.
#pragma once

#include <memory>
#include <string>
#include <string_view>
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
  /// Its soname ("libblas.so.3"), or else its file; empty for the program.
  std::string name() const;

 private:
  std::shared_ptr<void> handle_;
};

/// Is this file, with or without its folder, a BLAS with 64-bit integers under the plain names, as
/// distributions build them? It may have names with _64 beside these.
bool has_wide_integers(std::string_view file);

/// In the order of loading.
std::vector<LoadedObject> loaded_objects();

/// A symbol of the copy of this library that was loaded first: the same address for all copies. A
/// process has two where one is preloaded and a program opens the other. Null if that copy is of an
/// older version without the symbol.
void* find_in_first_copy(const char* name);

/// The folder of this library's file, symbolic links resolved.
std::string own_folder();

}  // namespace tessera::blas
