// Every BLAS function that is no matrix product is passed on to the BLAS that the process would
// have used without this library. A caller jumps straight there (forward_stubs.cpp); only the first
// call of a name looks for it, in
//
//   1. the library that TESSERA_BLAS_FALLBACK names,
//   2. before.so.3 beside this library: what `tessera-blas on` put this library in the place of,
//   3. a BLAS that is loaded already: what LD_PRELOAD put this library in front of,
//   4. the BLAS libraries of the system, the fast ones first.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "loaded_objects.hpp"
#include "tessera/core/text.hpp"

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

/// A function of a library that is loaded for it, and then stays. Null, with the reason in `why`,
/// where the library cannot be loaded or is this one.
void* load(const char* library, const char* name, std::string& why) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
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
  void* found = object.find_with_dependencies(name);
  if (found != nullptr) dlopen(library, RTLD_LAZY | RTLD_LOCAL);  // once more: it stays
  return found;
}

void* load(const char* library, const char* name) {
  std::string unused;
  return load(library, name, unused);
}

/// Null, with `why` saying so in half a sentence, where the variable is set and of no use.
void* from_environment(const char* name, std::string& why) {
  const char* library = secure_getenv("TESSERA_BLAS_FALLBACK");
  if (library == nullptr || *library == '\0') return nullptr;
  std::string reason;
  void* found = load(library, name, reason);
  if (found == nullptr) {
    why = "TESSERA_BLAS_FALLBACK='" + tessera::printable(library) + "' ";
    why += reason.empty() ? "has no '" + std::string(name) + "'"
                          : "is of no use: " + tessera::printable(reason);
  }
  return found;
}

/// Once for a process: the first name tells.
void complain(const std::string& why, void* found) {
  static std::atomic<bool> complained = false;
  if (complained.exchange(true)) return;
  Dl_info info;
  const char* other = dladdr(found, &info) != 0 ? info.dli_fname : "another BLAS";
  char path[PATH_MAX];  // of an alternative, the library that is chosen
  if (realpath(other, path) != nullptr) other = path;
  std::fprintf(stderr, "tessera: %s; going on with '%s'\n", why.c_str(), other);
}

/// Only from what is a BLAS: others may define a ddot_ for themselves.
void* from_loaded(const char* name) {
  const char* mark = std::strncmp(name, "cblas_", 6) == 0 ? "cblas_dgemm" : "dgemm_";
  for (const LoadedObject& object : tessera::blas::loaded_objects()) {
    if (object.find(mark) == nullptr) continue;
    void* found = object.find(name);
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
  for (const char* library : kSystem)
    if (void* found = load(library, name)) return found;
  return nullptr;
}

}  // namespace

extern "C" {

[[gnu::visibility("hidden")]] void* tessera_blas_slots[kForwarded] = {};

/// What the entry point of a name jumps to from now on. Any number of threads may ask at once: they
/// find the same.
[[gnu::visibility("hidden"), gnu::used]] void* tessera_blas_find(unsigned number) {
  const char* name = name_of(number);
  std::string why;
  void* found = from_environment(name, why);
  if (found == nullptr) found = from_before(name);
  if (found == nullptr) found = from_loaded(name);
  if (found == nullptr) found = from_system(name);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "tessera: no BLAS for '%s': Tessera multiplies matrices, another BLAS does the "
                 "rest. Install one (Debian: libopenblas0) or name its file in "
                 "TESSERA_BLAS_FALLBACK%s%s\n",
                 name, why.empty() ? "" : "; now ", why.c_str());
    _exit(127);  // as the dynamic linker does for a symbol that is not there
  }
  if (!why.empty()) complain(why, found);
  __atomic_store_n(&tessera_blas_slots[number], found, __ATOMIC_RELEASE);
  return found;
}

/// Data of the reference CBLAS that the netlib testers refer to: nobody else reads them.
[[gnu::visibility("default")]] int RowMajorStrg = 0;
[[gnu::visibility("default")]] int CBLAS_CallFromC = 0;
}
