// Our xerbla_ and cblas_xerbla, weak, so that a program's own win; and the search for a program's
// own among the loaded objects. Ours print one line and return: a library must not end its caller's
// process.
#include "errors.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "loaded_objects.hpp"

namespace {

/// A program's own xerbla_ may be in a library after this one in the search order, as in R, Octave
/// and Python modules. It takes precedence.
using Xerbla = void (*)(const char*, const int*, std::size_t);
Xerbla programs_own() {
  for (const auto& object : tessera::blas::loaded_objects()) {
    // The xerbla_ of a BLAS or a LAPACK does not count as a program's own; it may end the process.
    if (object.find("dgemm_") != nullptr || object.find("dgetrf_") != nullptr) continue;
    if (void* found = object.find("xerbla_")) return reinterpret_cast<Xerbla>(found);
  }
  return nullptr;
}

/// The length of a Fortran name without its blanks. C callers do not always pass a length.
int name_length(const char* name, std::size_t length) {
  int out = 0;
  const int most = static_cast<int>(std::min<std::size_t>(length, 32));
  const auto in_name = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  while (out < most && in_name(name[out])) ++out;
  return out;
}

void say(const char* name, std::size_t length, long long info) {
  char group[60] = "";
  if (const long long number = tessera::blas::illegal_group; number > 0)
    std::snprintf(group, sizeof group, " of group %lld (the first is 1)", number);
  std::fprintf(stderr, "tessera: On entry to %.*s parameter number %lld%s had an illegal value\n",
               name_length(name, length), name, info, group);
}

void say(long long info, const char* routine, const char* form, std::va_list values) {
  char text[200] = "";
  if (form != nullptr) std::vsnprintf(text, sizeof text, form, values);
  text[std::strcspn(text, "\n")] = '\0';
  if (*text != '\0') std::fprintf(stderr, "tessera: %s: %s\n", routine, text);
  else std::fprintf(stderr, "tessera: %s: parameter %lld is illegal\n", routine, info);
}

}  // namespace

extern "C" {

[[gnu::weak]] void xerbla_(const char* name, const int* info, std::size_t length) {
  if (const Xerbla other = programs_own()) return other(name, info, length);
  say(name, length, *info);
}

[[gnu::weak]] void xerbla_64_(const char* name, const std::int64_t* info, std::size_t length) {
  say(name, length, *info);
}

[[gnu::weak]] void cblas_xerbla(int info, const char* routine, const char* form, ...) {
  std::va_list values;
  va_start(values, form);
  say(info, routine, form, values);
  va_end(values);
}

[[gnu::weak]] void cblas_xerbla_64(std::int64_t info, const char* routine, const char* form, ...) {
  std::va_list values;
  va_start(values, form);
  say(info, routine, form, values);
  va_end(values);
}
}
