// Reports an illegal argument through the program's xerbla_ (Fortran interface) or cblas_xerbla (C
// interface). Ours (errors.cpp) are weak: they print one line and return.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::blas {

/// While an illegal argument of a batch is reported: its group, counted from 1. xerbla_ has no
/// parameter for it.
inline thread_local std::int64_t illegal_group [[gnu::tls_model("initial-exec")]] = 0;

}  // namespace tessera::blas

extern "C" {
#pragma GCC visibility push(default)
/// `name` is not ended by a zero; it has `length` characters, blank padded to at least six.
void xerbla_(const char* name, const int* info, std::size_t length);
void xerbla_64_(const char* name, const std::int64_t* info, std::size_t length);
/// `form` and what follows are those of printf.
void cblas_xerbla(int info, const char* routine, const char* form, ...);
void cblas_xerbla_64(std::int64_t info, const char* routine, const char* form, ...);
#pragma GCC visibility pop
}
