// The body of every exported function: check, report if requested, multiply. The exported names
// and their types are in gemm.cpp, batch.cpp and strided.cpp.
//
// Int is the integer of the interface: int, or std::int64_t in the functions whose names hold _64.
#pragma once

#include <cstdio>

#include "arguments.hpp"
#include "cpu/reported_route.hpp"
#include "errors.hpp"
#include "settings.hpp"

namespace tessera::blas {

/// group: the group of a batch, counted from 1.
inline void illegal(const char* fortran_name, int number, int, index_t group = 0) {
  std::size_t length = 0;
  while (fortran_name[length] != '\0') ++length;
  illegal_group = group;
  xerbla_(fortran_name, &number, length);
  illegal_group = 0;
}
inline void illegal(const char* fortran_name, int number, std::int64_t, index_t group = 0) {
  std::size_t length = 0;
  while (fortran_name[length] != '\0') ++length;
  const std::int64_t wide = number;
  illegal_group = group;
  xerbla_64_(fortran_name, &wide, length);
  illegal_group = 0;
}
inline void illegal_c(int number, const char* name, const char* text, int) {
  cblas_xerbla(number, name, "%s\n", text);
}
inline void illegal_c(int number, const char* name, const char* text, std::int64_t) {
  cblas_xerbla_64(number, name, "%s\n", text);
}

constexpr int kRowMajor = 101, kColumnMajor = 102;

/// A CBLAS call as the Fortran call that it is equivalent to.
inline Arguments fortran_roles(int order, const Arguments& a) {
  return order == kRowMajor ? a.exchanged() : a;
}
inline bool are_legal(int order, const Arguments& a) {
  return (order == kRowMajor || order == kColumnMajor) && are_legal(fortran_roles(order, a));
}

/// The position in the strided functions of argument `number` of a plain GEMM: a stride follows
/// each leading dimension.
constexpr int strided_position(int number) {
  return number + (number > 8 ? 1 : 0) + (number > 10 ? 1 : 0);
}
/// The same for gemmtr: uplo comes first, and n is both m and n.
constexpr int triangle_position(int number) {
  return number + (number >= 1 && number <= 3 ? 1 : 0);
}
/// The same for products with offsets: offsetc comes before the sizes, an offset after each leading
/// dimension.
constexpr int offsets_position(int number) {
  return number + (number > 2 ? 1 : 0) + (number > 8 ? 1 : 0) + (number > 10 ? 1 : 0);
}
enum class Form { plain, triangle, batch, strided, offsets };

/// Reports the first illegal argument of a CBLAS call. Of a plain one and of one with a triangle as
/// the reference CBLAS numbers them: order is 1 and all others come one later than in Fortran,
/// where storage by rows exchanges m with n and lda with ldb; its cblas_xerbla exchanges them back.
/// The text says which argument of the caller it is, as the numbers of batches do; `where`: "" or "
/// of group 3".
template <class Int>
[[gnu::noinline, gnu::cold]] void refuse(const char* name, int order, Arguments a,
                                         const char* where, Form form) {
  char text[160];
  if (order != kRowMajor && order != kColumnMajor) {
    std::snprintf(text, sizeof text, "argument 1 (order) is %d, expected 101 (row) or 102 (column)",
                  order);
    return illegal_c(1, name, text, Int{});
  }
  if (!is_legal(a.trans_a) || !is_legal(a.trans_b)) {
    const bool first = !is_legal(a.trans_a);
    const int position = (first ? 2 : 3) + (form == Form::triangle ? 1 : 0);
    std::snprintf(text, sizeof text, "argument %d (trans%c)%s is %d, expected 111, 112, 113 or 114",
                  position, first ? 'A' : 'B', where,
                  static_cast<int>(first ? a.trans_a : a.trans_b));
    return illegal_c(position, name, text, Int{});
  }
  const bool rows = order == kRowMajor;
  const Arguments roles = fortran_roles(order, a);
  const bool triangle = form == Form::triangle;
  const int plain = first_illegal(roles), number = triangle ? triangle_position(plain) : plain;
  int position = 0;
  const auto say = [&](int own, const char* argument, index_t got, index_t least) {
    position = 1 + (form == Form::strided   ? strided_position(own)
                    : form == Form::offsets ? offsets_position(own)
                                            : own);
    std::snprintf(text, sizeof text, "argument %d (%s)%s is %lld, expected at least %lld", position,
                  argument, where, static_cast<long long>(got), static_cast<long long>(least));
  };
  switch (plain) {
    case 3:
      triangle ? say(4, "N", a.n, 0) : rows ? say(4, "N", a.n, 0) : say(3, "M", a.m, 0);
      break;
    case 4: rows ? say(3, "M", a.m, 0) : say(4, "N", a.n, 0); break;
    case 5: say(5, "K", a.k, 0); break;
    case 8: say(rows ? 10 : 8, rows ? "ldb" : "lda", roles.lda, least_lda(roles)); break;
    case 10: say(rows ? 8 : 10, rows ? "lda" : "ldb", roles.ldb, least_ldb(roles)); break;
    default: say(13, "ldc", a.ldc, least_ldc(roles));
  }
  illegal_c(form == Form::plain || triangle ? 1 + number : position, name, text, Int{});
}

inline char letter(Transpose t) {
  return "NTCR"[static_cast<int>(t) - static_cast<int>(Transpose::none)];
}

/// Runs `body` and reports it as one product of these arguments.
template <class T, class Body>
[[gnu::noinline, gnu::cold]] void run_reported(const Routine& routine, Arguments a, T alpha, T beta,
                                               const cpu::GemmRoute& route, const Body& body) {
  const std::uint64_t refused = cpu::refused_workspaces();
  const auto start = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  const char trans[] = {letter(a.trans_a), letter(a.trans_b), '\0'};
  report(routine, a.m, a.n, a.k, trans, alpha, beta,
         cpu::refused_workspaces() == refused ? route : cpu::kWithoutMemory, spent.count());
}

}  // namespace tessera::blas
