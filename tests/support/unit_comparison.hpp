// Results of a matrix instruction on random bits beside the arithmetic of ops/unit_arithmetic.hpp,
// and beside what other rules would give: a report names the rule that the results follow.
#pragma once

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "support/unit_operands.hpp"
#include "tessera/ops/unit_arithmetic.hpp"

namespace tessera::testing {

/// One instruction with operands of one kind.
struct UnitReport {
  std::string instruction, operands;
  int compared = 0, different = 0;
  std::string text;  ///< the rule that all results follow, or how many follow each; examples
};

template <class T>
unsigned long long bits_of_value(T value) {
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
bool same_bits(T a, T b) {  // the bits of a NaN of f64 are not known
  return bits_of_value(a) == bits_of_value(b) || (sizeof(T) == 8 && a != a && b != b);
}

/// A number of fraction bits, of products at once, products with a zero that take part in the
/// alignment.
template <MatrixUnit U, class In, int K, int Fraction, int Depth>
float other_sum(float c, const In* a, const In* b, bool aligns_zeros = false) {
  std::int16_t parts[4][K]{};
  for (int k = 0; k < K; ++k) {
    auto x = detail::unit_operand<U>(a[k]), y = detail::unit_operand<U>(b[k]);
    if (aligns_zeros && x.significand == 0) x.exponent = -126;
    if (aligns_zeros && y.significand == 0) y.exponent = -126;
    parts[0][k] = x.significand, parts[1][k] = x.exponent;
    parts[2][k] = y.significand, parts[3][k] = y.exponent;
  }
  constexpr int mantissa = detail::unit_mantissa<detail::UnitInput<U, In>>();
  for (int k = 0; k < K; k += Depth)
    c = detail::fused_sum<Fraction, detail::unit_rules<U, In>().result_bits, mantissa, Depth>(
        c, {parts[0] + k, parts[1] + k}, {parts[2] + k, parts[3] + k});
  return c;
}

inline constexpr std::array<const char*, 7> kOtherRules = {
    "one fraction bit less",
    "one fraction bit more",
    "half of the products at once",
    "one fraction bit less, half of the products at once",
    "products with a zero are aligned",
    "a chain of multiply-adds, rounded to nearest",
    "rounded to nearest, not toward zero"};

/// The sum by one of them.
template <MatrixUnit U, class In, int K>
float sum_by_rule(std::size_t rule, float c, const In* a, const In* b) {
  constexpr int F = detail::unit_rules<U, In>().fraction_bits;
  switch (rule) {
    case 0: return other_sum<U, In, K, F - 1, K>(c, a, b);
    case 1: return other_sum<U, In, K, F + 1, K>(c, a, b);
    case 2: return other_sum<U, In, K, F, K / 2>(c, a, b);
    case 3: return other_sum<U, In, K, F - 1, K / 2>(c, a, b);
    case 4: return other_sum<U, In, K, F, K>(c, a, b, true);
    case 5: {
      for (int k = 0; k < K; ++k)
        c = __builtin_fmaf(static_cast<float>(a[k]), static_cast<float>(b[k]), c);
      return c;
    }
    default: {
      double sum = c;
      for (int k = 0; k < K; ++k)
        sum += static_cast<double>(static_cast<float>(a[k])) *
               static_cast<double>(static_cast<float>(b[k]));
      return static_cast<float>(sum);
    }
  }
}

/// One instruction on tiles of `rows` x 8: random A (rows,K), B (8,K) and C, and D as it was found.
template <MatrixUnit U, class In, class Out, int K>
struct UnitComparison {
  std::vector<In> a, b;
  std::vector<Out> c, d;
  int rows;

  UnitComparison(Operands kind, int rows_, int tiles) : rows(rows_) {
    const auto count = static_cast<std::size_t>(tiles);
    a.resize(count * static_cast<std::size_t>(rows * K)), b.resize(count * 8 * K);
    c.resize(count * static_cast<std::size_t>(rows * 8)), d.resize(c.size());
    DrawOperands draw(kind, 1 + static_cast<std::uint64_t>(kind));
    draw.fill(a, false), draw.fill(b, true);
    for (auto& each : c) each = draw.template addend<In, Out>();
  }
  const In* row(std::size_t i) const { return a.data() + i / 8 * K; }
  const In* column(std::size_t i) const {
    return b.data() + (i / static_cast<std::size_t>(rows * 8) * 8 + i % 8) * K;
  }

  UnitReport report() const {
    UnitReport out;
    std::array<int, kOtherRules.size()> follow{};
    for (std::size_t i = 0; i < d.size(); ++i, ++out.compared) {
      const Out expected = sum_of_products<U, K>(c[i], row(i), column(i));
      if (!same_bits(d[i], expected) && ++out.different <= 3) out.text += example(i, expected);
      if constexpr (detail::kIsFusedInput<In>) {
        for (std::size_t j = 0; j < follow.size(); ++j)
          follow[j] += same_bits(d[i], sum_by_rule<U, In, K>(j, c[i], row(i), column(i)));
      }
    }
    if (out.different == 0) return out;
    if constexpr (detail::kIsFusedInput<In>) {
      std::string counts = "    none of the known rules; as many follow:";
      for (std::size_t j = 0; j < follow.size(); ++j) {
        if (follow[j] == out.compared) {
          out.text = std::string("    it is: ") + kOtherRules[j] + "\n" + out.text;
          return out;
        }
        counts +=
            std::string(j == 0 ? " " : "; ") + kOtherRules[j] + " " + std::to_string(follow[j]);
      }
      out.text = counts + "\n" + out.text;
    }
    return out;
  }

 private:
  std::string example(std::size_t i, Out expected) const {
    char text[160];
    std::snprintf(text, sizeof text, "    element %zu: got %llx, expected %llx, c %llx\n      a", i,
                  bits_of_value(d[i]), bits_of_value(expected), bits_of_value(c[i]));
    std::string out = text;
    const auto add = [&](const In* values, const char* end) {
      for (int k = 0; k < K; ++k) {
        std::snprintf(text, sizeof text, " %llx", bits_of_value(values[k]));
        out += text;
      }
      out += end;
    };
    add(row(i), "\n      b"), add(column(i), "\n");
    return out;
  }
};

}  // namespace tessera::testing
