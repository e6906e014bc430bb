// Executes bulk copies and matrix instructions as the hardware does, byte by byte: the box of a
// map, zeros for what is outside, chunks of 16 bytes exchanged by the bits of their address (PTX
// ISA 5.5.7 "Swizzling Modes"). See async_machine.hpp.
#include "async_machine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "tessera/core/random.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

namespace {
constexpr int kWarpgroup = 128;                        // threads
constexpr std::uint64_t kOpened = 0x7e55e7aull << 32;  // and the number of the gate

/// f32 as a map of type TFLOAT32 rounds it: to the nearest with 10 bits, ties to even (measured on
/// an H200, tests/primitives P6). An infinity or NaN stays.
float rounded_by_map(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u);
}
}  // namespace

AsyncMachine::AsyncMachine(std::byte* shared, std::size_t shared_bytes, int threads,
                           ThreadOrder order, std::uint64_t seed)
    : shared_(shared),
      shared_bytes_(shared_bytes),
      order_(order),
      seed_(seed),
      of_(static_cast<std::size_t>(threads)) {
  if (order == ThreadOrder::late) seen_.assign(shared_bytes, std::byte{0xff});
}

void AsyncMachine::fence() {
  if (!seen_.empty()) std::memcpy(seen_.data(), shared_, shared_bytes_);
}

GateState& AsyncMachine::open(Gate* gate, int arrivals, Here here) {
  gate->word = kOpened | gates_.size();
  return gates_.emplace_back(GateState{offset_of(gate), arrivals, arrivals, here});
}

std::size_t AsyncMachine::offset_of(const Gate* gate) const {
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(gate) - shared_);
}

GateState* AsyncMachine::find(const Gate* gate) {
  const std::uint64_t number = gate->word & 0xffffffffu;
  if ((gate->word ^ number) != kOpened || number >= gates_.size()) return nullptr;
  return gates_[number].offset == offset_of(gate) ? &gates_[number] : nullptr;
}

bool AsyncMachine::settle(GateState& gate, int arrivals, std::int64_t bytes) {
  gate.missing -= arrivals;
  gate.bytes -= bytes;
  if (gate.missing != 0 || gate.bytes != 0) return false;
  gate.missing = gate.count;
  ++gate.phases;
  return true;
}

bool AsyncMachine::draws_late() {
  return order_ == ThreadOrder::late ||
         (order_ == ThreadOrder::shuffled && random_bits(seed_, draws_++) % 2 == 0);
}

bool AsyncMachine::start(Transfer transfer) {
  transfer.group = of_[static_cast<std::size_t>(transfer.thread)].store_groups;
  if (!draws_late()) return carry_out(transfer);
  if (transfer.gate != nullptr) {  // until they come, the bytes have no value
    std::ranges::fill(box_in(shared_, transfer), std::byte{0xff});
    if (!seen_.empty()) std::ranges::fill(box_in(seen_.data(), transfer), std::byte{0xff});
  }
  listed_.push_back(std::move(transfer));
  return false;
}

bool AsyncMachine::carry_out_one(std::span<const Gate* const> gates, Gate** ended) {
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    if (gates.empty() || std::ranges::find(gates, listed_[i].gate) != gates.end()) due.push_back(i);
  }
  if (due.empty()) return false;
  const auto at =
      listed_.begin() + static_cast<std::ptrdiff_t>(due[random_bits(seed_, draws_++) % due.size()]);
  const Transfer transfer = std::move(*at);
  listed_.erase(at);
  *ended = carry_out(transfer) ? transfer.gate : nullptr;
  return true;
}

std::span<std::byte> AsyncMachine::box_in(std::byte* storage, const Transfer& transfer) const {
  const BulkFields& f = transfer.fields;
  const auto first = static_cast<std::size_t>(transfer.shared - shared_),
             bytes = static_cast<std::size_t>(f.box[0]) * static_cast<std::size_t>(f.box[1]) *
                     static_cast<std::size_t>(f.element_bytes);
  return {storage + first, std::min(bytes, shared_bytes_ - std::min(first, shared_bytes_))};
}

bool AsyncMachine::carry_out(const Transfer& transfer) {
  if (order_ == ThreadOrder::late && transfer.gate != nullptr)
    multiply_before(box_in(shared_, transfer));
  move(transfer);
  if (transfer.gate == nullptr) return false;
  GateState* gate = find(transfer.gate);
  const BulkFields& f = transfer.fields;
  return gate != nullptr && settle(*gate, 0, std::int64_t{f.box[0]} * f.box[1] * f.element_bytes);
}

void AsyncMachine::move(const Transfer& transfer) {
  const BulkFields& f = transfer.fields;
  const auto size = static_cast<std::size_t>(f.element_bytes);
  const std::size_t mixed = (std::size_t{1} << static_cast<int>(f.swizzle)) - 1;
  const auto first = static_cast<std::size_t>(transfer.shared - shared_);
  auto* global = static_cast<std::byte*>(const_cast<void*>(f.data));
  for (int row = 0; row < f.box[1]; ++row) {
    const std::int64_t y = std::int64_t{transfer.y} + row;
    for (int col = 0; col < f.box[0]; ++col) {
      const std::int64_t x = std::int64_t{transfer.x} + col;
      const bool exists = x >= 0 && x < f.extent[0] && y >= 0 && y < f.extent[1];
      std::size_t at = first + (static_cast<std::size_t>(row) * static_cast<std::size_t>(f.box[0]) +
                                static_cast<std::size_t>(col)) *
                                   size;
      at ^= (at >> 7 & mixed) << 4;
      if (at + size > shared_bytes_) continue;  // of another block
      std::byte* here = shared_ + at;
      std::byte* there =
          exists ? global + y * f.stride_bytes + x * static_cast<std::int64_t>(size) : nullptr;
      if (transfer.gate == nullptr) {
        const std::byte* from = transfer.held.empty() ? seen() + at : &transfer.held[at - first];
        if (exists) std::memcpy(there, from, size);
        continue;
      }
      if (!exists) {
        std::memset(here, 0, size);
      } else if (f.type == BulkType::tf32) {
        float value = 0;
        std::memcpy(&value, there, sizeof value);
        value = rounded_by_map(value);
        std::memcpy(here, &value, sizeof value);
      } else {
        std::memcpy(here, there, size);
      }
      if (!seen_.empty()) std::memcpy(seen_.data() + at, here, size);
    }
  }
}

void AsyncMachine::commit_stores(int thread) {
  ++of_[static_cast<std::size_t>(thread)].store_groups;
}

void AsyncMachine::wait_stores(int thread, int pending, bool is_read) {
  const std::int64_t newest = of_[static_cast<std::size_t>(thread)].store_groups - pending;
  const auto is_due = [&](const Transfer& each) {
    return each.gate == nullptr && each.thread == thread && each.group < newest;
  };
  for (Transfer& each : listed_) {
    if (!is_due(each)) continue;
    if (!is_read) move(each);
    else if (const auto read = box_in(seen(), each); each.held.empty())
      each.held.assign(read.begin(), read.end());
  }
  if (!is_read) std::erase_if(listed_, is_due);
}

void AsyncMachine::start_unit(int thread, const UnitCall& call) {
  Mine& mine = of_[static_cast<std::size_t>(thread)];
  mine.units.push_back(call);
  ++mine.open_units;
}

void AsyncMachine::read_operand(int thread, std::span<const std::byte> bytes) {
  if (order_ != ThreadOrder::late || thread % kWarpgroup != 0) return;
  Mine& mine = of_[static_cast<std::size_t>(thread)];
  mine.operands.push_back({bytes, mine.committed});
}

void AsyncMachine::multiply_before(std::span<const std::byte> copied) {
  for (std::size_t first = 0; first + kWarpgroup <= of_.size(); first += kWarpgroup) {
    const bool is_read = std::ranges::any_of(of_[first].operands, [&](const Operand& each) {
      return each.bytes.data() < copied.data() + copied.size() &&
             copied.data() < each.bytes.data() + each.bytes.size();
    });
    if (!is_read) continue;
    const auto group = std::span(of_).subspan(first, kWarpgroup);
    const std::uint64_t whole = std::ranges::min(group, {}, &Mine::committed).committed;
    for (int i = 0; i < kWarpgroup; ++i) {
      Mine& mine = group[static_cast<std::size_t>(i)];
      const auto kept = static_cast<std::ptrdiff_t>(mine.committed - whole);
      finish_groups(static_cast<int>(first) + i, static_cast<int>(kept));
    }
  }
}

void AsyncMachine::finish_groups(int thread, int pending) {
  Mine& mine = of_[static_cast<std::size_t>(thread)];
  while (std::ssize(mine.unit_groups) > pending) {
    multiply(thread, mine.unit_groups.front());
    mine.unit_groups.pop_front();
  }
  const std::uint64_t done = mine.committed - mine.unit_groups.size();
  std::erase_if(mine.operands, [&](const Operand& each) { return each.group < done; });
}

void AsyncMachine::multiply(int thread, std::size_t calls) {
  Mine& mine = of_[static_cast<std::size_t>(thread)];
  for (std::size_t i = 0; i < calls; ++i)
    mine.units[i].multiply(mine.units[i], seen(), thread % kWarpgroup);
  mine.units.erase(mine.units.begin(), mine.units.begin() + static_cast<std::ptrdiff_t>(calls));
}

void AsyncMachine::commit_units(int thread) {
  Mine& mine = of_[static_cast<std::size_t>(thread)];
  mine.unit_groups.push_back(std::exchange(mine.open_units, 0));
  ++mine.committed;
  const auto first = of_.begin() + thread / kWarpgroup * kWarpgroup;
  const bool is_last = std::all_of(first, first + kWarpgroup, [&](const Mine& each) {
    return each.committed >= mine.committed;
  });
  if (is_last && !draws_late()) wait_units(thread / kWarpgroup, 0);
}

void AsyncMachine::wait_units(int warpgroup, int pending) {
  for (int i = 0; i < kWarpgroup; ++i) finish_groups(warpgroup * kWarpgroup + i, pending);
}

bool AsyncMachine::awaits_another_block() const {
  return std::any_of(listed_.begin(), listed_.end(),
                     [](const Transfer& each) { return each.is_of_another_block; });
}

void AsyncMachine::finish() {
  for (Transfer& each : std::exchange(listed_, {})) {
    if (order_ == ThreadOrder::late && each.gate == nullptr && each.held.empty())
      each.held.assign(box_in(seen(), each).size(), std::byte{0xff});
    carry_out(each);
  }
}

std::string AsyncMachine::text_of(const Gate* gate) const {
  const std::uint64_t number = gate->word & 0xffffffffu;
  if (number >= gates_.size()) return "a gate";
  const GateState& g = gates_[number];
  std::string state;
  const auto add = [&](const std::string& verb, const std::string& what) {
    state += cat(state.empty() ? " " : " and ", verb, what);
  };
  if (g.missing != 0) add("lacks ", cat(g.missing, " of ", g.count, " arrivals"));
  if (g.bytes > 0) add(state.empty() ? "lacks " : "", cat(g.bytes, " bytes"));
  if (g.bytes < 0) add("has ", cat(-g.bytes, " bytes too many"));
  const std::string_view file = g.opened.file;
  return cat("gate ", number, " (opened at ", file.substr(file.rfind('/') + 1), ":", g.opened.line,
             "), whose phase ", g.phases, state);
}

}  // namespace tessera::detail
