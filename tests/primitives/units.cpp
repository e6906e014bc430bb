// What P3, P4, P5 and P7 are expected to leave, and what mistakes would: see units.hpp.
#include "units.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "readings.hpp"
#include "tessera/core/text.hpp"
#include "tessera/ops/warpgroup.hpp"

namespace tessera::primitives {

using enum Major;
using enum SwizzleMode;

const std::vector<OperandCase> kRowCases = {{"k from 0", k, k, bytes_128, 0},
                                            {"k from 16", k, k, bytes_128, 16},
                                            {"k from 32", k, k, bytes_128, 32},
                                            {"k from 48", k, k, bytes_128, 48}};
const std::vector<OperandCase> kOtherCases = {
    {"K-major, 64 bytes", k, k, bytes_64, 0, 32},
    {"K-major, 64 bytes, k from 16", k, k, bytes_64, 16, 32},
    {"K-major, 32 bytes", k, k, bytes_32, 0, 16},
    {"K-major, no swizzle", k, k, none, 0},
    {"K-major, no swizzle, k from 32", k, k, none, 32},
    {"K-major, the second panel of 64", k, k, bytes_128, 80, 128},
    {"MN-major, 128 bytes", mn, mn, bytes_128, 0},
    {"MN-major, 128 bytes, k from 48", mn, mn, bytes_128, 48},
    {"MN-major, 64 bytes", mn, mn, bytes_64, 0},
    {"MN-major, 64 bytes, k from 16", mn, mn, bytes_64, 16},
    {"MN-major, 32 bytes", mn, mn, bytes_32, 0},
    {"A MN-major, B K-major", mn, k, bytes_128, 16},
    {"A K-major, B MN-major", k, mn, bytes_128, 16}};

namespace {

/// (mn,k) to elements, in rows as wide as the swizzle.
Layout layout_of(Major major, SwizzleMode mode, int rows, int depth) {
  if (mode == none)  // cores of 8 x 8 elements: along mn, then along k
    return {tuple(tuple(8, rows / 8), tuple(8, depth / 8)),
            tuple(tuple(8, 64), tuple(1, 8 * rows))};
  const int wide = row_bytes(mode) / 2;
  if (major == k && depth <= wide) return {tuple(rows, depth), tuple(wide, 1)};
  if (major == k)
    return {tuple(rows, tuple(wide, depth / wide)), tuple(wide, tuple(1, rows * wide))};
  if (rows <= wide) return {tuple(rows, depth), tuple(1, wide)};
  return {tuple(tuple(wide, rows / wide), depth), tuple(tuple(1, wide * depth), wide)};
}

std::uint64_t descriptor(const Layout& layout, SwizzleMode mode, int from, std::uint32_t at) {
  UnitDescriptor d = detail::describe(layout, mode, 2);
  d.start = at + static_cast<std::uint32_t>(layout(0, from) * 2);
  return bits_of(d);
}

/// How a unit finds an element: as unit_address() says, or with a mistake.
enum class Rule { right, exchanged, reversed, unswizzled, relative, majors_exchanged, other_major };

std::uint32_t address_by(Rule rule, UnitDescriptor d, Major major, int row, int depth) {
  if (rule == Rule::exchanged) std::swap(d.leading, d.stride);
  if (rule == Rule::reversed && d.mode != none)
    d.mode = static_cast<SwizzleMode>(4 - static_cast<int>(d.mode));
  const auto mixed = (std::uint32_t{1} << static_cast<int>(d.mode)) - 1;
  const auto mix = [&](std::uint32_t at) { return at ^ (at >> 7 & mixed) << 4; };
  const std::uint32_t address = unit_address(d, major, row, depth, 2);
  if (rule == Rule::unswizzled) return mix(address);  // its own inverse
  if (rule == Rule::relative) return d.start + mix(mix(address) - d.start);
  return address;
}

/// D (64,16) by the rule.
std::vector<float> multiplied(Rule rule, const UnitRun& run) {
  const auto read = [](const std::vector<bf16>& from, std::uint32_t at) {
    return at / 2 < from.size() ? static_cast<float>(from[at / 2]) : 0.f;
  };
  Major a = run.major_a, b = run.major_b;
  if (rule == Rule::majors_exchanged) std::swap(a, b);
  const auto other = [](Major major) { return major == k ? mn : k; };
  if (rule == Rule::other_major) a = other(a), b = other(b);
  const UnitDescriptor of_a = descriptor_of(run.descriptor_a),
                       of_b = descriptor_of(run.descriptor_b);
  std::vector<float> out;
  for (int row = 0; row < 64; ++row) {
    for (int col = 0; col < UnitRun::n; ++col) {
      float sum = 0;
      for (int i = 0; i < UnitRun::k; ++i)
        sum += read(run.a, address_by(rule, of_a, a, row, i)) *
               read(run.b, address_by(rule, of_b, b, col, i) - UnitRun::b_at);
      out.push_back(sum);
    }
  }
  return out;
}

void add_new(std::vector<Reading>& out, Reading reading) {
  const auto same = [&](const Reading& each) { return each.dump == reading.dump; };
  if (std::none_of(out.begin(), out.end(), same)) out.push_back(std::move(reading));
}

constexpr std::pair<Rule, const char*> kMistakes[] = {
    {Rule::exchanged, "the leading and the stride byte offset are exchanged"},
    {Rule::reversed, "the numbers of the modes are reversed: 1 is 32 bytes, 3 is 128"},
    {Rule::unswizzled, "the operand is not swizzled"},
    {Rule::relative, "the swizzle counts from the start address, not from 0"},
    {Rule::majors_exchanged, "the major bits of A and B are exchanged"},
    {Rule::other_major, "the major bits mean the opposite"}};

/// Each mistake in all cases, and in each case alone.
std::vector<Reading> readings_of(const std::vector<OperandCase>& cases) {
  const auto by = [](Rule rule) {
    return [rule](const UnitRun& run) { return multiplied(rule, run); };
  };
  const Dump right = record_reads(cases, by(Rule::right));
  std::vector<Reading> out = {{"as unit_address() reads", right}};
  const std::size_t each = right.size() / cases.size();
  for (const auto& [rule, name] : kMistakes) {
    const Dump wrong = record_reads(cases, by(rule));
    add_new(out, {name, wrong});
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Dump alone = right;
      const auto from = static_cast<std::ptrdiff_t>(i * each);
      std::copy_n(wrong.begin() + from, each, alone.begin() + from);
      add_new(out, {cat("of ", cases[i].name, ": ", name), alone});
    }
  }
  return out;
}

std::string read_place(const std::vector<OperandCase>& cases, std::size_t word) {
  constexpr std::size_t each = 64 * UnitRun::n;
  return cat("element (", word % each / UnitRun::n, ",", word % UnitRun::n, ") of ",
             cases[word / each].name);
}

/// Sums of 16 products by an order.
using Sum = double (*)(double c, const double* a, const double* b);

Dump summed(Sum sum) {
  const Chains all = chains();
  std::vector<double> out;
  for (std::size_t i = 0; i < all.c.size(); ++i)
    out.push_back(
        sum(all.c[i], all.a.data() + i / 8 * 16, all.b.data() + (i / 128 * 8 + i % 8) * 16));
  return bits_of_doubles(out);
}

}  // namespace

UnitRun unit_run(const OperandCase& now, int digit) {
  UnitRun run{std::vector<bf16>(UnitRun::halves_of_a), std::vector<bf16>(UnitRun::halves_of_b)};
  run.major_a = now.a, run.major_b = now.b;
  const Layout a = layout_of(now.a, now.mode, 64, now.depth),
               b = layout_of(now.b, now.mode, UnitRun::n, now.depth);
  for (std::size_t i = 0; i < run.a.size(); ++i)
    run.a[i] = bf16(static_cast<float>(i >> (7 * digit) & 127));
  const Swizzle swizzle = make_swizzle(now.mode, 2);
  for (int i = 0; i < UnitRun::n; ++i)
    run.b[static_cast<std::size_t>(swizzle(b(i, now.from + i)))] = bf16(1.f);
  run.descriptor_a = descriptor(a, now.mode, now.from, 0);
  run.descriptor_b = descriptor(b, now.mode, now.from, UnitRun::b_at);
  return run;
}

UnitRun numbered_run() {
  UnitRun run = unit_run(kRowCases[0], 0);
  const Swizzle swizzle = make_swizzle(bytes_128, 2);
  const auto put = [&](std::vector<bf16>& to, int row, float first, float second) {
    for (int i = 0; i < UnitRun::k; ++i)
      to[static_cast<std::size_t>(swizzle(row * 64 + i))] = bf16(i == 0   ? first
                                                                 : i == 1 ? second
                                                                          : 0);
  };
  for (int row = 0; row < 64; ++row) put(run.a, row, static_cast<float>(row), 1);
  for (int col = 0; col < UnitRun::n; ++col) put(run.b, col, 1000, static_cast<float>(col));
  return run;
}

Chains chains() {
  std::mt19937_64 random(7);
  const auto draw = [&](std::size_t count) {
    std::vector<double> out(count);
    for (double& each : out)
      each = std::ldexp(static_cast<double>(random() >> 11) * 0x1p-52 - 1,
                        static_cast<int>(random() % 9) - 4);
    return out;
  };
  return {draw(Chains::tiles * 256), draw(Chains::tiles * 128), draw(Chains::tiles * 128)};
}

std::vector<Reading> p3_readings() { return readings_of(kRowCases); }
std::string p3_place(std::size_t word) { return read_place(kRowCases, word); }
std::vector<Reading> p4_readings() { return readings_of(kOtherCases); }
std::string p4_place(std::size_t word) { return read_place(kOtherCases, word); }

std::vector<Reading> p5_readings() {
  using Unit = WarpgroupUnit<float, bf16, bf16, 64, UnitRun::n>;
  const std::vector<float> sums = multiplied(Rule::right, numbered_run());
  // Which (m, n) thread and value have, from their bits.
  const auto by = [&](auto place) {
    Dump out;
    for (int thread = 0; thread < 128; ++thread) {
      for (int v = 0; v < kValues; ++v) {
        const auto [row, col] = place(thread, v);
        out.push_back(
            static_cast<std::uint32_t>(sums[static_cast<std::size_t>(row * UnitRun::n + col)]));
      }
    }
    return out;
  };
  using At = std::pair<int, int>;
  return {{"as layout_c says", by([](int thread, int v) {
             const int at = Unit::position(thread, v);
             return At{at % 64, at / 64};
           })},
          {"values 1 and 2 are exchanged: eight rows on before one column on", by([](int t, int v) {
             return At{t / 32 * 16 + t % 32 / 4 + v % 2 * 8, t % 4 * 2 + v / 2 % 2 + v / 4 * 8};
           })},
          {"lane / 8 chooses the columns, lane % 8 the row", by([](int t, int v) {
             return At{t / 32 * 16 + t % 8 + v / 2 % 2 * 8, t % 32 / 8 * 2 + v % 2 + v / 4 * 8};
           })},
          {"warps take rows in turn, not sixteen together", by([](int t, int v) {
             return At{t % 32 / 4 * 4 + t / 32 + v / 2 % 2 * 32, t % 4 * 2 + v % 2 + v / 4 * 8};
           })},
          {"the upper eight rows come last, after all columns", by([](int t, int v) {
             return At{t / 32 * 16 + t % 32 / 4 + v / 4 * 8, t % 4 * 2 + v % 2 + v / 2 % 2 * 8};
           })}};
}
std::string p5_place(std::size_t word) {
  return cat("thread ", word / kValues, ", value ", word % kValues);
}

std::vector<Reading> p7_readings() {
  return {
      {"a chain in ascending k", summed([](double c, const double* a, const double* b) {
         for (int i = 0; i < 16; ++i) c = std::fma(a[i], b[i], c);
         return c;
       })},
      {"a chain in descending k", summed([](double c, const double* a, const double* b) {
         for (int i = 15; i >= 0; --i) c = std::fma(a[i], b[i], c);
         return c;
       })},
      {"products are rounded before they are added",
       summed([](double c, const double* a, const double* b) {
         for (int i = 0; i < 16; ++i) c += a[i] * b[i];
         return c;
       })},
      {"C is added last", summed([](double c, const double* a, const double* b) {
         double sum = 0;
         for (int i = 0; i < 16; ++i) sum = std::fma(a[i], b[i], sum);
         return sum + c;
       })},
      {"fours of k are summed, then added", summed([](double c, const double* a, const double* b) {
         for (int four = 0; four < 16; four += 4) {
           double sum = 0;
           for (int i = four; i < four + 4; ++i) sum = std::fma(a[i], b[i], sum);
           c += sum;
         }
         return c;
       })},
      {"even k, then odd k", summed([](double c, const double* a, const double* b) {
         for (int i = 0; i < 16; i += 2) c = std::fma(a[i], b[i], c);
         for (int i = 1; i < 16; i += 2) c = std::fma(a[i], b[i], c);
         return c;
       })},
      {"two halves of k, then their sum", summed([](double c, const double* a, const double* b) {
         double upper = 0;
         for (int i = 0; i < 8; ++i) c = std::fma(a[i], b[i], c);
         for (int i = 8; i < 16; ++i) upper = std::fma(a[i], b[i], upper);
         return c + upper;
       })}};
}
std::string p7_place(std::size_t word) {
  return cat(word % 2 == 0 ? "the lower" : "the upper", " half of element (", word / 2 % 128 / 8,
             ",", word / 2 % 8, ") of tile ", word / 256);
}

}  // namespace tessera::primitives
