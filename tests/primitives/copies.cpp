// What P1, P2 and P6 are expected to leave, by the CPU engine, and what mistakes would.
#include "copies.hpp"

#include "readings.hpp"
#include "tessera/core/text.hpp"

namespace tessera::primitives {

namespace {

Dump p1(const BoxRules& rules) {
  CpuMachine machine;
  return record_p1(machine, rules);
}

/// Each half word of the boxes of P2: body(its value, x, y, whether it is inside).
template <class Body>
Dump each_half(Dump dump, const Body& body) {
  for (int box = 0; box < 4; ++box) {
    for (int i = 0; i < Outside::box_rows * Outside::box_cols; ++i) {
      const int x = Outside::begin[box][0] + i % Outside::box_cols;
      const int y = Outside::begin[box][1] + i / Outside::box_cols;
      const bool inside = x >= 0 && x < Outside::cols && y >= 0 && y < Outside::rows;
      std::uint32_t& word = dump[static_cast<std::size_t>(box * 256 + i / 2)];
      const int shift = i % 2 * 16;
      std::uint32_t half = word >> shift & 0xffff;
      body(half, x, y, inside, shift);
      word = (word & ~(0xffffu << shift)) | half << shift;
    }
  }
  return dump;
}

std::vector<Reading> of_rounding(
    const std::vector<std::pair<std::string, std::uint32_t (*)(std::uint32_t)>>& rules) {
  std::vector<Reading> out;
  for (const auto& [name, rule] : rules) {
    Dump dump;
    for (const float each : numbers_to_round())
      dump.push_back(rule(std::bit_cast<std::uint32_t>(each)));
    out.push_back({name, dump});
  }
  return out;
}

}  // namespace

std::string copy_place(std::size_t word) {
  return word == CopyBoxes::words ? "the end of the gate's phase"
                                  : cat("byte ", word * 4, " of shared memory");
}

std::vector<Reading> p1_readings() {
  using enum SwizzleMode;
  std::vector<Reading> out = {
      {"as the engine copies", p1({})},
      {"no swizzle is applied", p1({.modes = {none, none, none, none}})},
      {"the numbers of the modes are reversed: 128-byte rows are swizzled as 32-byte rows",
       p1({.modes = {bytes_32, bytes_64, bytes_128, none}})},
      {"every mode swizzles as 128-byte rows",
       p1({.modes = {bytes_128, bytes_128, bytes_128, bytes_128}})},
      {"a box's extents begin with the outermost", p1({.boxes_exchanged = true})},
      {"coordinates begin with the outermost", p1({.coordinates_exchanged = true})}};
  // The pattern of the last box, as if it began at a multiple of 1024.
  Dump relative = p1({.last_at = 9216});
  for (std::size_t i = 9216 / 4; i < 9728 / 4; ++i)
    relative[i + 128] = std::exchange(relative[i], kUntouched);
  out.push_back({"the swizzle counts from the box's first byte, not from the address", relative});
  return out;
}

std::vector<Reading> p2_readings() {
  CpuMachine machine;
  const Dump right = record_p2(machine);
  std::vector<Reading> out = {{"zeros outside, and the gate counts the whole box", right}};
  Dump stuck = right;
  stuck.back() = 0;
  out.push_back({"the gate counts only the bytes inside: expect() must too", stuck});
  const auto outside = [&](const char* name, std::uint32_t (*value)(int x, int y, int shift)) {
    out.push_back(
        {name, each_half(right, [&](std::uint32_t& half, int x, int y, bool inside, int shift) {
           if (!inside) half = value(x, y, shift);
         })});
  };
  outside("outside is filled with NaN", [](int, int, int) { return 0xffffu; });
  outside("outside is not written",
          [](int, int, int shift) { return kUntouched >> shift & 0xffff; });
  outside("outside repeats the elements at the edge", [](int x, int y, int) {
    const int col = std::clamp(x, 0, Outside::cols - 1), row = std::clamp(y, 0, Outside::rows - 1);
    return static_cast<std::uint32_t>(row * Outside::cols + col + 1);
  });
  outside("rows run on into the next row", [](int x, int y, int) {
    const int at = y * Outside::cols + x;
    return at < 0 || at >= Outside::rows * Outside::cols ? 0 : static_cast<std::uint32_t>(at + 1);
  });
  return out;
}

std::vector<Reading> p6_readings() {
  CpuMachine machine;
  std::vector<Reading> out = {{"rounded as the engine rounds", record_p6(machine)}};
  const std::vector<Reading> rules = of_rounding(
      {{"rounded to nearest, ties to even",
        [](std::uint32_t x) { return (x + 0xfff + (x >> 13 & 1)) & ~0x1fffu; }},
       {"rounded to nearest, ties away from zero",
        [](std::uint32_t x) { return (x + 0x1000) & ~0x1fffu; }},
       {"truncated: rounded by neither", [](std::uint32_t x) { return x & ~0x1fffu; }},
       {"not rounded: the unit truncates what it reads", [](std::uint32_t x) { return x; }}});
  for (const auto& each : rules)
    if (each.dump != out[0].dump) out.push_back(each);
  return out;
}

std::string p6_place(std::size_t word) {
  return cat("number ", std::bit_cast<std::uint32_t>(numbers_to_round()[word]));
}

}  // namespace tessera::primitives
