// Every BLAS function that is no matrix product is forwarded to the BLAS that the process would
// have used without this library. A caller jumps straight there (forward_stubs.cpp); only the first
// call of a name searches for it, in
//
//   1. the library that TESSERA_BLAS_FALLBACK names,
//   2. before.so.3 beside this library: the library that `tessera-blas on` replaced,
//   3. a BLAS that is loaded already: over which LD_PRELOAD has placed this library,
//   4. the BLAS libraries of the system, the fast ones first,
//   5. any loaded object that has it: a name that no BLAS has belongs to a library of the program.
//
// A name with _64 is looked for as the reference BLAS and as OpenBLAS spell it, and without _64 in
// a BLAS whose integers have 64 bits under the plain names: Debian's. A name without _64 is never
// taken from such a library.
#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "loaded_objects.hpp"
#include "tessera/core/text.hpp"

extern "C" {
/// Has this process reported that its fallback is of no use? Exported for other copies.
[[gnu::visibility("default")]] int tessera_fallback_complained = 0;
}

namespace {

constexpr int kForwarded = 0
#define TESSERA_FORWARD(name) +1
#include "forwarded.inc"
#undef TESSERA_FORWARD
    ;

/// One after the other, each ended by a zero: an array of pointers would cost every start of every
/// program.
constexpr char kNames[] =
#define TESSERA_FORWARD(name) #name "\0"
#include "forwarded.inc"
#undef TESSERA_FORWARD
    ;

const char* name_of(unsigned number) {
  const char* name = kNames;
  for (; number > 0; --number) name += std::strlen(name) + 1;
  return name;
}

using tessera::blas::LoadedObject;

/// Libraries of the system, in the order of Debian's priorities for alternatives.
constexpr const char* kSystem[] = {
    "libblas.so.3",  // this library itself where it is the alternative
    "libopenblas.so.0",
    "libblis.so.4",
    TESSERA_BLAS_SYSTEM_FOLDER "/atlas/libblas.so.3",
    TESSERA_BLAS_SYSTEM_FOLDER "/blas/libblas.so.3",
    "libflexiblas.so.3",
    "libcblas.so.3",
};

/// Libraries with 64-bit integers. The first ones of Debian and Fedora use plain names.
constexpr const char* kSystemWide[] = {
    "libblas64.so.3",      "libopenblas64.so.0",  "libblis64.so.4",
    "libopenblas64_.so.0", "libflexiblas64.so.3",
};

bool is_of_c(std::string_view name) { return name.starts_with("cblas_"); }

/// "ddot_" for "ddot_64_", "cblas_ddot" for "cblas_ddot_64" and "cblas_ddot64_"; empty for the name
/// of a function with 32-bit integers.
std::string plain_of_wide(std::string_view name) {
  const auto without = [&](std::size_t count) {
    return std::string(name.substr(0, name.size() - count));
  };
  if (!is_of_c(name)) return name.ends_with("_64_") ? without(3) : std::string();
  return name.ends_with("_64") || name.ends_with("64_") ? without(3) : std::string();
}

/// Looks for a function under each name that it may have in this library; `look` finds one name.
template <class Look>
void* look_for(const char* name, const LoadedObject& object, const Look& look) {
  const bool is_wide = tessera::blas::has_wide_integers(object.name());
  const std::string plain = plain_of_wide(name);
  if (plain.empty()) return is_wide ? nullptr : look(name);
  void* found = look((plain + (is_of_c(name) ? "_64" : "64_")).c_str());
  if (found == nullptr && is_of_c(name)) found = look((plain + "64_").c_str());
  return found == nullptr && is_wide ? look(plain.c_str()) : found;
}

/// Loads a library for a function and keeps it loaded. Null, with the reason in `why`,
/// where the library cannot be loaded or is this one.
void* load(const char* library, const char* name, std::string& why) {
  // Where plain names have 64-bit integers, calls among that library's own functions must not reach
  // ours.
  const bool apart = tessera::blas::has_wide_integers(library);
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL | (apart ? RTLD_DEEPBIND : 0));
  if (handle == nullptr) {
    const char* said = dlerror();
    why = said != nullptr ? said : "it cannot be loaded";
    return nullptr;
  }
  LoadedObject object(handle);
  if (object.is_tessera()) {
    why = "it is Tessera's";
    return nullptr;
  }
  if (tessera::blas::has_wide_integers(object.name()) && plain_of_wide(name).empty()) {
    why = "its integers have 64 bits";
    return nullptr;
  }
  void* found =
      look_for(name, object, [&](const char* as) { return object.find_with_dependencies(as); });
  if (found != nullptr) dlopen(library, RTLD_LAZY | RTLD_LOCAL);  // keeps it loaded
  return found;
}

void* load(const char* library, const char* name) {
  std::string unused;
  return load(library, name, unused);
}

/// Null, with the reason in `why`, where the variable is set but unusable.
void* from_environment(const char* name, std::string& why) {
  const char* library = secure_getenv("TESSERA_BLAS_FALLBACK");
  if (library == nullptr || *library == '\0') return nullptr;
  std::string reason;
  void* found = load(library, name, reason);
  if (found == nullptr) {
    why = "TESSERA_BLAS_FALLBACK='" + tessera::printable(library, 1000) + "' ";
    why += reason.empty() ? "has no '" + std::string(name) + "'"
                          : "is of no use: " + tessera::printable(reason, 1000);
  }
  return found;
}

/// Once per process, at the first name. The flag is that of the copy that was loaded first: the
/// other BLAS may call a function that another copy of this library forwards again.
void complain(const std::string& why, void* found) {
  void* shared = tessera::blas::find_in_first_copy("tessera_fallback_complained");
  int* flag = shared != nullptr ? static_cast<int*>(shared) : &tessera_fallback_complained;
  if (__atomic_exchange_n(flag, 1, __ATOMIC_RELAXED) != 0) return;
  Dl_info info;
  const char* other = dladdr(found, &info) != 0 ? info.dli_fname : "another BLAS";
  char path[PATH_MAX];  // of an alternative, the library that is chosen
  if (realpath(other, path) != nullptr) other = path;
  std::fprintf(stderr, "tessera: %s; going on with '%s'\n", why.c_str(), other);
}

/// Search only BLAS libraries, or any loaded object.
enum class From { blas, anything };
void* from_loaded(const char* name, From from) {
  const std::string mark =
      std::string(is_of_c(name) ? "cblas_dgemm" : "dgemm_") + (plain_of_wide(name).empty() ? ""
                                                               : is_of_c(name)             ? "_64"
                                                                                           : "64_");
  for (const LoadedObject& object : tessera::blas::loaded_objects()) {
    const auto look = [&](const char* as) { return object.find(as); };
    if (from == From::blas && look_for(mark.c_str(), object, look) == nullptr) continue;
    void* found = look_for(name, object, look);
    Dl_info info;
    if (found == nullptr || dladdr(found, &info) == 0) continue;
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);  // it stays
    return found;
  }
  return nullptr;
}

void* from_before(const char* name) {
  const std::string folder = tessera::blas::own_folder();
  const std::string before = folder + "/before.so.3";
  if (folder.empty() || access(before.c_str(), R_OK) != 0) return nullptr;
  return load(before.c_str(), name);
}

void* from_system(const char* name) {
  if (!plain_of_wide(name).empty()) {
    for (const char* library : kSystemWide)
      if (void* found = load(library, name)) return found;
  }
  for (const char* library : kSystem)
    if (void* found = load(library, name)) return found;
  return nullptr;
}

}  // namespace

extern "C" {

[[gnu::visibility("hidden")]] void* tessera_blas_slots[kForwarded] = {};

/// The target that the entry point of a name jumps to from now on. Concurrent calls find the same
/// one.
[[gnu::visibility("hidden"), gnu::used]] void* tessera_blas_find(unsigned number) {
  const char* name = name_of(number);
  std::string why;
  void* found = from_environment(name, why);
  if (found == nullptr) found = from_before(name);
  if (found == nullptr) found = from_loaded(name, From::blas);
  if (found == nullptr) found = from_system(name);
  if (found == nullptr) found = from_loaded(name, From::anything);
  if (found == nullptr) {
    const bool is_wide = !plain_of_wide(name).empty();
    std::fprintf(stderr,
                 "tessera: no BLAS for '%s': Tessera multiplies matrices, another BLAS does the "
                 "rest. Install one %s(Debian: %s) or name its file in "
                 "TESSERA_BLAS_FALLBACK%s%s\n",
                 name, is_wide ? "with 64-bit integers " : "",
                 is_wide ? "libopenblas64-0" : "libopenblas0", why.empty() ? "" : "; now ",
                 why.c_str());
    _exit(127);  // as the dynamic linker does for a missing symbol
  }
  if (!why.empty()) complain(why, found);
  __atomic_store_n(&tessera_blas_slots[number], found, __ATOMIC_RELEASE);
  return found;
}

/// Data of the reference CBLAS that the netlib testers refer to: nothing else reads them.
[[gnu::visibility("default")]] int RowMajorStrg = 0;
[[gnu::visibility("default")]] int CBLAS_CallFromC = 0;
}
