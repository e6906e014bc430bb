// What syrk, herk, trsm and trmm share beside call.hpp: the letters of a triangular matrix and the
// report of an illegal argument.
#pragma once

#include "call.hpp"
#include "triangle.hpp"

namespace tessera::blas {

/// CBLAS's numbers; a value that is none of them is illegal.
enum class Side : int { left = 141, right = 142 };
enum class Diagonal : int { stored = 131, unit = 132 };

/// A letter of the Fortran interface as a number of CBLAS, in either case; 0: illegal.
inline int number_of(const char* letter, char first, int first_number, char second,
                     int second_number) {
  const int lower = *letter | 0x20;
  return lower == first ? first_number : lower == second ? second_number : 0;
}
inline int uplo_of(const char* letter) { return number_of(letter, 'u', kUpper, 'l', kLower); }
inline bool is_uplo(int uplo) { return uplo == kUpper || uplo == kLower; }

/// The first illegal argument of a call; number 0: all are legal.
struct Illegal {
  int number = 0;  ///< as the Fortran function counts
  const char* argument = "";
  long long got = 0;
  const char* expected = "at least 0";
  long long least = -1;  ///< for leading dimensions: expected is "at least" this
};

inline constexpr const char *kUploExpected = "121 (upper) or 122 (lower)",
                            *kTransExpected = "111, 112, 113 or 114";

/// Tells cblas_xerbla. `number`: what it gets, as in the reference CBLAS.
template <class Int>
[[gnu::noinline, gnu::cold]] void refuse(const char* name, int number, const Illegal& what) {
  char text[160], least[40];
  std::snprintf(least, sizeof least, "at least %lld", what.least);
  std::snprintf(text, sizeof text, "argument %d (%s) is %lld, expected %s", what.number + 1,
                what.argument, what.got, what.least >= 0 ? least : what.expected);
  illegal_c(number, name, text, Int{});
}

/// Refuses an order that is none.
template <class Int>
[[gnu::noinline, gnu::cold]] void refuse_order(const char* name, int order) {
  refuse<Int>(name, 1, {0, "order", order, "101 (row) or 102 (column)"});
}

inline bool is_order(int order) { return order == kRowMajor || order == kColumnMajor; }

}  // namespace tessera::blas
