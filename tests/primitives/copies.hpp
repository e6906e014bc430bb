// P1, P2 and P6: bulk copies of boxes into shared memory, of which every byte is dumped.
#pragma once

#include <array>
#include <bit>

#include "machine.hpp"
#include "tessera/ops/bulk.hpp"

namespace tessera::primitives {

/// One copy: of a box of this map that begins at (x, y), to this byte of shared memory.
struct BoxCopy {
  int map, x, y, at;
};
struct BoxCopies {
  BulkMap maps[5];
  BoxCopy copy[5];
  int count = 0, bytes = 0;
};

struct CopyBoxes {
  static constexpr const char* name = "copy_boxes";
  static constexpr Dim3 block{128};
  static constexpr bool needs_sm_90a = true;
  static constexpr int words = 2560;
  struct alignas(1024) Shared {
    std::uint32_t data[words];
    Gate full;
  };

  TESSERA_KERNEL void operator()(auto t, const BoxCopies& copies, std::uint32_t* out) const {
    auto& s = shared<Shared>(t);
    for (int i = t.thread; i < words; i += 128) s.data[i] = kUntouched;
    if (t.thread == 0) {
      open_gate(t, s.full, 1);
      publish_gates(t);
    }
    fence_async(t);
    t.barrier();  // the gate is open, the words are set
    if (t.thread == 0) {
      expect(t, s.full, copies.bytes);
      for (int i = 0; i < copies.count; ++i) {
        const BoxCopy& each = copies.copy[i];
        t.async().copy(&copies.maps[each.map], each.x, each.y, s.data + each.at / 4, &s.full,
                       Here::current());
      }
    }
    const bool over = wait_briefly(t, s.full, 0);
    for (int i = t.thread; i < words; i += 128) out[i] = s.data[i];
    if (t.thread == 0) out[words] = over ? 1 : 0;
  }
};

template <class Machine>
Dump run_copies(Machine& machine, const BoxCopies& copies) {
  constexpr std::size_t count = CopyBoxes::words + 1;
  void* const out = machine.upload(Dump(count, kUntouched));
  machine.run(Dim3{1}, CopyBoxes{}, copies, static_cast<std::uint32_t*>(out));
  return machine.template download<std::uint32_t>(out, count);
}

/// What the copies of P1 say about their maps, and what a mistake changes.
struct BoxRules {
  std::array<SwizzleMode, 4> modes = {SwizzleMode::bytes_128, SwizzleMode::bytes_64,
                                      SwizzleMode::bytes_32, SwizzleMode::none};
  bool boxes_exchanged = false, coordinates_exchanged = false;
  int last_at = kLastAt;
  static constexpr int kLastAt = 9728;  ///< 512 bytes beyond a multiple of 1024
};

/// P1: boxes of a (256,256) matrix of different 16-bit numbers, one for each swizzle, and one that
/// begins in the middle of the pattern.
template <class Machine>
Dump record_p1(Machine& machine, const BoxRules& rules = {}) {
  std::vector<std::uint16_t> numbers(256 * 256);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i);
  const void* const data = machine.upload(numbers);
  constexpr int boxes[5][2] = {{64, 32}, {32, 32}, {16, 32}, {32, 32}, {64, 4}};
  BoxCopies copies{.maps = {},
                   .copy = {{0, 64, 32, 0},
                            {1, 32, 96, 4096},
                            {2, 16, 64, 6144},
                            {3, 128, 8, 7168},
                            {4, 192, 40, rules.last_at}},
                   .count = 5,
                   .bytes = 0};
  for (int i = 0; i < 5; ++i) {
    BulkFields f{.data = data,
                 .type = BulkType::bf16,
                 .element_bytes = 2,
                 .extent = {256, 256},
                 .stride_bytes = 512,
                 .box = {boxes[i][0], boxes[i][1]},
                 .swizzle = rules.modes[static_cast<std::size_t>(i % 4)]};
    if (rules.boxes_exchanged) std::swap(f.box[0], f.box[1]);
    if (rules.coordinates_exchanged) std::swap(copies.copy[i].x, copies.copy[i].y);
    copies.maps[i] = machine.map(f);
    copies.bytes += f.box[0] * f.box[1] * 2;
  }
  return run_copies(machine, copies);
}

/// P2: (32,16) boxes of a (24,40) matrix that are partly and wholly outside.
struct Outside {
  static constexpr int rows = 24, cols = 40, box_rows = 16, box_cols = 32;
  static constexpr int begin[4][2] = {{-8, -3}, {24, 16}, {40, 24}, {8, 4}};  // (x, y)
};
template <class Machine>
Dump record_p2(Machine& machine) {
  std::vector<std::uint16_t> numbers(Outside::rows * Outside::cols);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i + 1);
  BoxCopies copies{.maps = {}, .copy = {}, .count = 4, .bytes = 4 * 1024};
  copies.maps[0] = machine.map({.data = machine.upload(numbers),
                                .type = BulkType::bf16,
                                .element_bytes = 2,
                                .extent = {Outside::cols, Outside::rows},
                                .stride_bytes = Outside::cols * 2,
                                .box = {Outside::box_cols, Outside::box_rows}});
  for (int i = 0; i < 4; ++i)
    copies.copy[i] = {0, Outside::begin[i][0], Outside::begin[i][1], i * 1024};
  return run_copies(machine, copies);
}

/// P6: f32 through a map that rounds: ties and their neighbours, of both signs and parities.
inline constexpr int kRounded = 256;
inline std::vector<float> numbers_to_round() {
  std::vector<float> out(kRounded);
  for (std::uint32_t i = 0; i < kRounded; ++i) {
    constexpr std::uint32_t low[4] = {0x0fff, 0x1000, 0x1001, 0x1fff};  // of the 13 bits that go
    const std::uint32_t kept = (i * 2654435761u >> 16 & 0x3ff) << 13, sign = i / 4 % 2 << 31;
    out[i] = std::bit_cast<float>(sign | (100 + i % 50) << 23 | kept | low[i % 4]);
  }
  return out;
}
template <class Machine>
Dump record_p6(Machine& machine) {
  BoxCopies copies{.maps = {}, .copy = {{0, 0, 0, 0}}, .count = 1, .bytes = kRounded * 4};
  copies.maps[0] = machine.map({.data = machine.upload(numbers_to_round()),
                                .type = BulkType::tf32,
                                .element_bytes = 4,
                                .extent = {32, kRounded / 32},
                                .stride_bytes = 128,
                                .box = {32, kRounded / 32}});
  Dump out = run_copies(machine, copies);
  out.resize(kRounded);
  return out;
}

}  // namespace tessera::primitives
