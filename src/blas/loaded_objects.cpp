// Walks the loaded objects with dl_iterate_phdr and queries each with dlsym, without its
// dependencies.
// Recognises this library, under whatever name it was loaded, by a function that nothing else
// defines.
#include "loaded_objects.hpp"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>

namespace tessera::blas {

namespace {

/// A symbol that only this library, under either of its names, defines.
constexpr const char* kOurMark = "tessera_get_corename";

/// The loaded file that holds an address, as dlopen's handles name it.
void* object_of(void* address) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return nullptr;
  return map;
}

/// Copies of this library included, in the order of loading.
std::vector<LoadedObject> every_object() {
  std::vector<std::string> names;
  const auto note = [](dl_phdr_info* info, std::size_t, void* list) {
    static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &names);
  std::vector<LoadedObject> out;
  for (const auto& name : names) {
    void* handle = dlopen(name.empty() ? nullptr : name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) out.emplace_back(handle);
  }
  return out;
}

}  // namespace

LoadedObject::LoadedObject(void* handle) : handle_(handle, dlclose) {}

void* LoadedObject::find(const char* name) const {
  void* found = dlsym(handle_.get(), name);
  link_map* self = nullptr;
  if (found == nullptr || dlinfo(handle_.get(), RTLD_DI_LINKMAP, &self) != 0) return nullptr;
  return object_of(found) == self ? found : nullptr;
}

void* LoadedObject::find_with_dependencies(const char* name) const {
  void* found = dlsym(handle_.get(), name);
  if (found == nullptr) return nullptr;
  Dl_info info;
  if (dladdr(found, &info) == 0) return nullptr;
  void* owner = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (owner == nullptr) return found;  // the program itself
  return LoadedObject(owner).is_tessera() ? nullptr : found;
}

bool LoadedObject::is_tessera() const {
  link_map* self = nullptr;
  if (dlinfo(handle_.get(), RTLD_DI_LINKMAP, &self) != 0) return false;
  return self == object_of(reinterpret_cast<void*>(&loaded_objects)) || find(kOurMark) != nullptr;
}

std::string LoadedObject::name() const {
  link_map* self = nullptr;
  if (dlinfo(handle_.get(), RTLD_DI_LINKMAP, &self) != 0) return {};
  ElfW(Addr) strings = 0;
  ElfW(Xword) own_name = 0;
  for (const ElfW(Dyn)* entry = self->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SONAME) own_name = entry->d_un.d_val;
  }
  if (strings == 0 || own_name == 0) return self->l_name;
  if (strings < self->l_addr) strings += self->l_addr;  // the kernel's own is not relocated
  return reinterpret_cast<const char*>(strings + own_name);
}

bool has_wide_integers(std::string_view file) {
  file.remove_prefix(file.rfind('/') + 1);  // of npos: nothing
  for (const char* begin :
       {"libblas64", "libopenblas64", "libblis64", "libcblas64", "libflexiblas64"})
    if (file.starts_with(begin)) return true;
  return false;
}

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> out = every_object();
  std::erase_if(out, [](const LoadedObject& object) { return object.is_tessera(); });
  return out;
}

void* find_in_first_copy(const char* name) {
  for (const LoadedObject& object : every_object())
    if (object.is_tessera()) return object.find(name);
  return nullptr;
}

std::string own_folder() {
  Dl_info info;
  char path[PATH_MAX];
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 ||
      realpath(info.dli_fname, path) == nullptr)
    return {};
  std::string out(path);
  return out.substr(0, out.rfind('/'));
}

}  // namespace tessera::blas
