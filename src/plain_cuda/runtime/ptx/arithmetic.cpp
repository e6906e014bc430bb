// Inline PTX: arithmetic and conversions. Approximate instructions are as exact as the C library.
#include <algorithm>
#include <cmath>

#include "ptx.hpp"
#include "tessera/plain_cuda/parts/narrow.h"

namespace tessera::plain_cuda::ptx_detail {

namespace {

constexpr const char* kFloat = "rn ftz approx full";

const NarrowFormat& format_of(Type type) {
  static constexpr NarrowFormat tf32{8, 10};
  switch (type.kind) {
    case 'h': return kBfloat16;
    case '4': return kE4m3;
    case '5': return kE5m2;
    case 't': return tf32;
    default: return kHalf;
  }
}
bool is_real(Type type) { return std::strchr("fh45t", type.kind) != nullptr; }

/// One part as a double.
double real_of(std::uint64_t bits, Type type) {
  if (type.bits == 64) return cast_bits<double>(bits);
  if (type.bits == 32) return static_cast<double>(cast_bits<float>(bits));
  return static_cast<double>(narrow_value(format_of(type), static_cast<std::uint32_t>(bits)));
}
std::uint64_t bits_of_real(double value, Type type, Rounding rounding = Rounding::nearest,
                           bool saturates = false) {
  if (type.bits == 64) return to_bits(value);
  if (type.kind == 't') return narrow_bits(format_of(type), value, rounding) << 13;
  if (type.bits == 32) {
    static constexpr NarrowFormat single{8, 23};
    if (rounding == Rounding::nearest) return to_bits(static_cast<float>(value));
    return narrow_bits(single, value, rounding);
  }
  return narrow_bits(format_of(type), value, rounding, saturates);
}

/// Calls f for each part; f gets doubles, rounded after it.
template <class F>
void real_parts(Machine& m, const Instruction& in, int count, F&& f) {
  const Type type = in.type();
  std::uint64_t out = 0, from[3] = {};
  for (int i = 0; i < count; ++i)
    from[i] = m.read(in.operands[static_cast<std::size_t>(i) + 1], type);
  for (int part = 0; part < type.parts; ++part) {
    double v[3] = {};
    const int shift = part * type.bits;
    const std::uint64_t mask = type.bits >= 64 ? ~0ull : (1ull << type.bits) - 1;
    for (int i = 0; i < count; ++i) v[i] = real_of(from[i] >> shift & mask, type);
    double value = f(v);
    if (in.has("sat")) value = !(value > 0) ? 0 : value > 1 ? 1 : value;
    if (in.has("relu")) value = value < 0 ? 0 : value;
    out |= (bits_of_real(value, type) & mask) << shift;
  }
  m.write(in.operands[0], out, type);
}

__int128 whole_of(std::uint64_t bits, Type type) {
  if (type.kind != 's') return static_cast<__int128>(bits);
  const int up = 64 - type.bits;
  return static_cast<std::int64_t>(bits << up) >> up;
}
__int128 whole(Machine& m, const Instruction& in, std::size_t operand, Type type) {
  return whole_of(m.read(in.operands[operand], type), type);
}

void require_operands(Machine& m, const Instruction& in, std::size_t count) {
  if (in.operands.size() != count || in.types.empty())
    m.refuse(in, "has other operands than expected");
}

template <class Real, class Whole>
void binary(Machine& m, const Instruction& in, Real real, Whole integer) {
  require_operands(m, in, 3);
  const Type type = in.type();
  if (is_real(type)) return real_parts(m, in, 2, [&](const double* v) { return real(v[0], v[1]); });
  m.write(in.operands[0],
          static_cast<std::uint64_t>(integer(whole(m, in, 1, type), whole(m, in, 2, type))), type);
}

void add(Machine& m, const Instruction& in) {
  binary(
      m, in, [](double a, double b) { return a + b; },
      [](__int128 a, __int128 b) { return a + b; });
}
void sub(Machine& m, const Instruction& in) {
  binary(
      m, in, [](double a, double b) { return a - b; },
      [](__int128 a, __int128 b) { return a - b; });
}
void min(Machine& m, const Instruction& in) {
  binary(
      m, in, [](double a, double b) { return std::fmin(a, b); },
      [](__int128 a, __int128 b) { return b < a ? b : a; });
}
void max(Machine& m, const Instruction& in) {
  binary(
      m, in, [](double a, double b) { return std::fmax(a, b); },
      [](__int128 a, __int128 b) { return a < b ? b : a; });
}
void div(Machine& m, const Instruction& in) {
  binary(
      m, in, [](double a, double b) { return a / b; },
      [](__int128 a, __int128 b) { return b == 0 ? -1 : a / b; });
}
void rem(Machine& m, const Instruction& in) {
  binary(
      m, in, [](double a, double b) { return std::fmod(a, b); },
      [](__int128 a, __int128 b) { return b == 0 ? a : a % b; });
}

/// .lo, .hi and .wide of a product, plus a third operand.
void multiply(Machine& m, const Instruction& in, bool adds) {
  require_operands(m, in, adds ? 4 : 3);
  const Type type = in.type();
  if (is_real(type)) {
    return real_parts(m, in, adds ? 3 : 2, [&](const double* v) {
      if (!adds) return v[0] * v[1];
      return type.bits == 16 ? narrow_fma(v[0], v[1], v[2])
             : type.bits == 32
                 ? static_cast<double>(std::fma(static_cast<float>(v[0]), static_cast<float>(v[1]),
                                                static_cast<float>(v[2])))
                 : std::fma(v[0], v[1], v[2]);
    });
  }
  const bool is_wide = in.has("wide");
  if (!is_wide && !in.has("lo") && !in.has("hi")) m.refuse(in, "lacks .lo, .hi or .wide");
  auto product = static_cast<unsigned __int128>(whole(m, in, 1, type)) *
                 static_cast<unsigned __int128>(whole(m, in, 2, type));
  if (in.has("hi")) product = product >> type.bits;
  const Type out{type.kind, is_wide ? type.bits * 2 : type.bits};
  if (adds) product += static_cast<unsigned __int128>(whole(m, in, 3, out));
  m.write(in.operands[0], static_cast<std::uint64_t>(product), out);
}
void mul(Machine& m, const Instruction& in) { multiply(m, in, false); }
void mad(Machine& m, const Instruction& in) { multiply(m, in, true); }

template <class Real, class Whole>
void unary(Machine& m, const Instruction& in, Real real, Whole integer) {
  require_operands(m, in, 2);
  const Type type = in.type();
  if (is_real(type)) return real_parts(m, in, 1, [&](const double* v) { return real(v[0]); });
  m.write(in.operands[0], static_cast<std::uint64_t>(integer(whole(m, in, 1, type))), type);
}
void neg(Machine& m, const Instruction& in) {
  unary(
      m, in, [](double a) { return -a; }, [](__int128 a) { return -a; });
}
void abs(Machine& m, const Instruction& in) {
  unary(
      m, in, [](double a) { return std::fabs(a); }, [](__int128 a) { return a < 0 ? -a : a; });
}
template <double (*kFunction)(double)>
void function(Machine& m, const Instruction& in) {
  if (in.types.empty() || !is_real(in.type())) m.refuse(in, "is not supported");
  unary(m, in, kFunction, [](__int128 a) { return a; });
}
double reciprocal(double x) { return 1 / x; }
double root(double x) { return std::sqrt(x); }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double power_of_two(double x) { return std::exp2(x); }
double logarithm(double x) { return std::log2(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double tangent(double x) { return std::tanh(x); }

Rounding rounding_of(const Instruction& in) {
  if (in.has("rz") || in.has("rzi")) return Rounding::zero;
  if (in.has("rm") || in.has("rmi")) return Rounding::down;
  if (in.has("rp") || in.has("rpi")) return Rounding::up;
  return Rounding::nearest;
}

double rounded_whole(double value, Rounding rounding) {
  return rounding == Rounding::zero   ? std::trunc(value)
         : rounding == Rounding::up   ? std::ceil(value)
         : rounding == Rounding::down ? std::floor(value)
                                      : std::nearbyint(value);
}

std::uint64_t whole_bits(double value, Type type) {
  if (std::isnan(value)) return 0;
  const double top = std::ldexp(1.0, type.kind == 's' ? type.bits - 1 : type.bits);
  const double low = type.kind == 's' ? -top : 0;
  if (value <= low) return static_cast<std::uint64_t>(static_cast<__int128>(low));
  if (value >= top) return static_cast<std::uint64_t>(static_cast<__int128>(top) - 1);
  return static_cast<std::uint64_t>(static_cast<__int128>(value));
}

/// cvt.to.from d, a; with a pair as the result cvt.to.f32 d, a, b, of which b is the lower half.
void convert(Machine& m, const Instruction& in) {
  if (in.types.size() != 2) m.refuse(in, "has other types than expected");
  const Type to = in.types[0], from = in.types[1];
  const Rounding rounding = rounding_of(in);
  const bool saturates = in.has("satfinite");
  if (to.parts == 2 && from.parts == 1 && in.operands.size() == 3) {
    std::uint64_t out = 0;
    for (std::size_t i : {1u, 2u})
      out = out << to.bits |
            bits_of_real(real_of(m.read(in.operands[i], from), from), to, rounding, saturates);
    return m.write(in.operands[0], out, to);
  }
  require_operands(m, in, 2);
  const std::uint64_t bits = m.read(in.operands[1], from);
  if (from.parts == 2 && to.parts == 2) {
    std::uint64_t out = 0;
    for (int i = 1; i >= 0; --i) {
      const std::uint64_t part = bits >> i * from.bits & ((1ull << from.bits) - 1);
      out = out << to.bits | bits_of_real(real_of(part, from), to, rounding, saturates);
    }
    return m.write(in.operands[0], out, to);
  }
  if (is_real(from)) {
    double value = real_of(bits, from);
    const bool to_whole = in.has("rni") || in.has("rzi") || in.has("rmi") || in.has("rpi");
    if (to_whole) value = rounded_whole(value, rounding);
    if (in.has("sat")) value = !(value > 0) ? 0 : value > 1 ? 1 : value;
    return m.write(in.operands[0],
                   is_real(to)
                       ? bits_of_real(value, to, to_whole ? Rounding::nearest : rounding, saturates)
                       : whole_bits(value, to),
                   to);
  }
  const __int128 value = whole_of(bits, from);
  if (is_real(to)) {
    const double wide = static_cast<double>(value);
    return m.write(in.operands[0],
                   to.bits == 32 && rounding == Rounding::nearest
                       ? to_bits(static_cast<float>(value))
                       : bits_of_real(wide, to, rounding),
                   to);
  }
  if (in.has("sat")) {
    const __int128 top = (static_cast<__int128>(1) << (to.kind == 's' ? to.bits - 1 : to.bits)) - 1;
    const __int128 low = to.kind == 's' ? -top - 1 : 0;
    return m.write(in.operands[0], static_cast<std::uint64_t>(std::clamp(value, low, top)), to);
  }
  m.write(in.operands[0], static_cast<std::uint64_t>(value), to);
}

template <class T>
bool compare(std::string_view how, T a, T b) {
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt" || how == "lo") return a < b;
  if (how == "le" || how == "ls") return a <= b;
  if (how == "gt" || how == "hi") return a > b;
  return a >= b;
}

/// setp.lt.s32 p|q, a, b
void set_predicate(Machine& m, const Instruction& in) {
  require_operands(m, in, 3);
  const Type type = in.type();
  const std::string_view how = in.words[1];
  const bool holds = is_real(type) ? compare(how, real_of(m.read(in.operands[1], type), type),
                                             real_of(m.read(in.operands[2], type), type))
                                   : compare(how, whole(m, in, 1, type), whole(m, in, 2, type));
  const Operand& to = in.operands[0];
  const bool has_two = to.kind == Operand::Kind::vector;
  m.write(has_two ? to.parts[0] : to, holds, {'p', 8});
  if (has_two) m.write(to.parts[1], !holds, {'p', 8});
}
void select(Machine& m, const Instruction& in) {
  require_operands(m, in, 4);
  m.write(in.operands[0], m.read(in.operands[m.test(in.operands[3]) ? 1 : 2], in.type()),
          in.type());
}

}  // namespace

std::vector<Known> arithmetic_instructions() {
  constexpr const char* compared = "eq ne lt le gt ge lo ls hi hs ftz";
  constexpr const char* converted = "rn rz rm rp rni rzi rmi rpi rna sat satfinite ftz";
  return {{"add", add, "rn ftz sat"},
          {"sub", sub, "rn ftz sat"},
          {"mul", mul, "lo hi wide rn ftz sat"},
          {"mad", mad, "lo hi wide rn ftz"},
          {"fma", mad, "rn ftz sat relu"},
          {"min", min, "ftz"},
          {"max", max, "ftz"},
          {"div", div, kFloat},
          {"rem", rem, ""},
          {"neg", neg, "ftz"},
          {"abs", abs, "ftz"},
          {"cvt", convert, converted},
          {"rcp", function<reciprocal>, kFloat},
          {"sqrt", function<root>, kFloat},
          {"rsqrt", function<reciprocal_root>, kFloat},
          {"ex2", function<power_of_two>, kFloat},
          {"lg2", function<logarithm>, kFloat},
          {"sin", function<sine>, kFloat},
          {"cos", function<cosine>, kFloat},
          {"tanh", function<tangent>, kFloat},
          {"setp", set_predicate, compared},
          {"selp", select, ""}};
}

}  // namespace tessera::plain_cuda::ptx_detail
