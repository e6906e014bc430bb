// See primitive.hpp.
#include "primitive.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "readings.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::primitives {

namespace {

bool is_equal(const Primitive& primitive, const Dump& got, const Dump& expected, std::size_t i) {
  if (primitive.tolerance == 0) return got[i] == expected[i];
  const double tolerance = static_cast<int>(i) == primitive.of_host ? 1 : primitive.tolerance;
  return std::abs(double(got[i]) - double(expected[i])) <= tolerance * double(expected[i]);
}

std::size_t different(const Primitive& primitive, const Dump& got, const Dump& expected) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < got.size(); ++i) out += !is_equal(primitive, got, expected, i);
  return out;
}

/// Measured words in decimal, others by their bits.
std::string word(const Primitive& primitive, std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, primitive.tolerance > 0 ? "%u" : "0x%x", value);
  return text;
}

}  // namespace

const std::vector<Primitive>& all() {
  static const std::vector<Primitive> primitives = {
      {"p1", "bulk copies: where a box is in shared memory", p1_readings, copy_place},
      {"p2", "bulk copies: what is outside the matrix", p2_readings, copy_place},
      {"p3", "wgmma: what it reads from K-major tiles in rows of 128 bytes", p3_readings, p3_place},
      {"p4", "wgmma: the other layouts of operands", p4_readings, p4_place},
      {"p5", "wgmma: which sums a thread has", p5_readings, p5_place},
      {"p6", "bulk copies: how f32 is rounded to TF32", p6_readings, p6_place},
      {"p7", "DMMA: the order of its sum", p7_readings, p7_place},
      {"p8", "gates: phases, clusters, remote arrivals", p8_readings, p8_place},
      {"p9", "stores of sums through swizzled slices, clipped", p9_readings, p9_place},
      {"p10", "clocks of four orders of multiply-adds", p10_readings, p10_place, 0.03},
      {"p11", "rates of the model of time", p11_readings, p11_place, 0.15, 2},
  };
  return primitives;
}

const Primitive& find(std::string_view name) {
  std::string names;
  for (const auto& each : all()) {
    if (each.name == name) return each;
    names += cat(names.empty() ? "" : ", ", each.name);
  }
  throw Error(Category::argument, cat("unknown primitive '", name, "'"), cat("one of ", names));
}

Diagnosis diagnose(const Primitive& primitive, const Dump& dump) {
  const auto readings = primitive.readings();
  const Reading& right = readings.front();
  if (dump.size() != right.dump.size())
    throw Error(Category::argument, cat(primitive.name, ": the dump has another size"),
                cat(right.dump.size(), " words"), cat(dump.size()));
  const auto off = [&](const Reading& each) { return different(primitive, dump, each.dump); };
  const Reading* nearest = &right;
  for (const auto& each : readings)
    if (off(each) < off(*nearest)) nearest = &each;
  Diagnosis out{nearest == &right && off(right) == 0, nearest->name, off(*nearest) == 0, {}};
  if (out.good) {
    out.text = right.name;
    return out;
  }
  out.text = out.equal ? cat("it is: ", nearest->name)
                       : cat("none of the known mistakes; nearest: ", nearest->name, " (",
                             off(*nearest), " of ", dump.size(), " words differ)");
  const auto& against = out.equal ? right : *nearest;
  for (std::size_t i = 0; i < dump.size(); ++i) {
    if (is_equal(primitive, dump, against.dump, i)) continue;
    out.text += cat("; first at ", primitive.place(i), ": got ", word(primitive, dump[i]), ", ",
                    against.name, " gives ", word(primitive, against.dump[i]));
    break;
  }
  return out;
}

}  // namespace tessera::primitives
