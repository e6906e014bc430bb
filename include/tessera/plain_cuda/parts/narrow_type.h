// A 16-bit floating-point type and its pair. Read once for each type, by cuda_fp16.h and
// cuda_bf16.h, which define TESSERA_T, TESSERA_T2, TESSERA_RAW and TESSERA_FORMAT; so it has no
// guard. Conversions are implicit in both directions, as CUDA has them.

struct TESSERA_RAW {
  unsigned short x;
};

struct alignas(2) TESSERA_T {
  TESSERA_T() = default;
  constexpr TESSERA_T(float value) : bits_(rounded(value)) {}
  constexpr TESSERA_T(double value) : bits_(rounded(value)) {}
  constexpr TESSERA_T(const TESSERA_RAW& raw) : bits_(raw.x) {}
  /// From the other 16-bit type.
  template <class Other>
  requires(!std::is_same_v<Other, TESSERA_T> &&
           requires(const Other& x) { Other::from_bits(x.bits()); })  //
      explicit constexpr TESSERA_T(const Other& other)
      : bits_(rounded(other.value())) {}
#define TESSERA_INTEGER(I)                                                     \
  constexpr TESSERA_T(I value) : bits_(rounded(static_cast<double>(value))) {} \
  constexpr TESSERA_T& operator=(I value) { return *this = TESSERA_T(value); } \
  TESSERA_AT_CALL constexpr operator I() const { return tessera::plain_cuda::whole<I>(value()); }
  TESSERA_INTEGER(short)
  TESSERA_INTEGER(unsigned short)
  TESSERA_INTEGER(int)
  TESSERA_INTEGER(unsigned int)
  TESSERA_INTEGER(long)
  TESSERA_INTEGER(unsigned long)
  TESSERA_INTEGER(long long)
  TESSERA_INTEGER(unsigned long long)
#undef TESSERA_INTEGER
  constexpr TESSERA_T& operator=(float value) { return *this = TESSERA_T(value); }
  constexpr TESSERA_T& operator=(double value) { return *this = TESSERA_T(value); }
  TESSERA_AT_CALL constexpr operator float() const {
    return tessera::plain_cuda::narrow_value(TESSERA_FORMAT, bits_);
  }
  TESSERA_AT_CALL constexpr operator bool() const { return (bits_ & 0x7fff) != 0; }
  TESSERA_AT_CALL constexpr operator char() const {
    return tessera::plain_cuda::whole<char>(value());
  }
  TESSERA_AT_CALL constexpr operator signed char() const {
    return tessera::plain_cuda::whole<signed char>(value());
  }
  TESSERA_AT_CALL constexpr operator unsigned char() const {
    return tessera::plain_cuda::whole<unsigned char>(value());
  }
  TESSERA_AT_CALL constexpr operator TESSERA_RAW() const { return {bits_}; }

  static constexpr TESSERA_T from_bits(unsigned short bits) { return TESSERA_T(TESSERA_RAW{bits}); }
  static constexpr TESSERA_T from_value(double value, tessera::plain_cuda::Rounding rounding =
                                                          tessera::plain_cuda::Rounding::nearest) {
    return from_bits(static_cast<unsigned short>(
        tessera::plain_cuda::narrow_bits(TESSERA_FORMAT, value, rounding)));
  }
  TESSERA_AT_CALL constexpr double value() const {
    return static_cast<double>(tessera::plain_cuda::narrow_value(TESSERA_FORMAT, bits_));
  }
  TESSERA_AT_CALL constexpr unsigned short bits() const { return bits_; }

 private:
  static constexpr unsigned short rounded(double value) {
    return static_cast<unsigned short>(tessera::plain_cuda::narrow_bits(TESSERA_FORMAT, value));
  }
  unsigned short bits_;
};

struct TESSERA_RAW2 {
  unsigned short x, y;
};

struct alignas(4) TESSERA_T2 {
  TESSERA_T x, y;
  TESSERA_T2() = default;
  TESSERA_AT_CALL constexpr TESSERA_T2(const TESSERA_T& first, const TESSERA_T& second)
      : x(first), y(second) {}
  TESSERA_AT_CALL constexpr TESSERA_T2(const TESSERA_RAW2& raw)
      : x(TESSERA_T::from_bits(raw.x)), y(TESSERA_T::from_bits(raw.y)) {}
  TESSERA_AT_CALL constexpr operator TESSERA_RAW2() const { return {x.bits(), y.bits()}; }
};

TESSERA_AT_CALL constexpr TESSERA_T operator-(const TESSERA_T& a) {
  return TESSERA_T::from_bits(static_cast<unsigned short>(a.bits() ^ 0x8000));
}
TESSERA_AT_CALL constexpr TESSERA_T operator+(const TESSERA_T& a) { return a; }
TESSERA_AT_CALL TESSERA_T& operator++(TESSERA_T& a) {
  return a = TESSERA_T::from_value(a.value() + 1.0);
}
TESSERA_AT_CALL TESSERA_T& operator--(TESSERA_T& a) {
  return a = TESSERA_T::from_value(a.value() - 1.0);
}
TESSERA_AT_CALL TESSERA_T operator++(TESSERA_T& a, int) {
  const TESSERA_T old = a;
  ++a;
  return old;
}
TESSERA_AT_CALL TESSERA_T operator--(TESSERA_T& a, int) {
  const TESSERA_T old = a;
  --a;
  return old;
}
