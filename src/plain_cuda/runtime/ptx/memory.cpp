// Inline PTX: loads, stores, atomics, asynchronous copies, prefetches.
#include <algorithm>

#include "plain_cuda/runtime/meeting.hpp"
#include "ptx.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/plain_cuda/parts/atomics.h"
#include "tessera/plain_cuda/parts/narrow.h"
#include "tessera/plain_cuda/parts/thread.h"

namespace tessera::plain_cuda::ptx_detail {

namespace {

/// A volatile access is a relaxed one.
bool is_atomic(const Instruction& in) {
  return in.has("relaxed") || in.has("acquire") || in.has("release") || in.has("volatile");
}
Fence scope_of(const Instruction& in) { return in.has("cta") ? Fence::block : Fence::device; }
std::size_t lanes_of(const Instruction& in) {
  return in.has("v2") ? 2 : in.has("v4") ? 4 : in.has("v8") ? 8 : 1;
}

/// The parts of the vector, or the only register.
const Operand& part(const Operand& whole, std::size_t i) {
  return whole.kind == Operand::Kind::vector ? whole.parts[i] : whole;
}

/// An atomic load or store: recorded as one, and refused only if the memory does not exist.
void touch_atomically(Machine& m, const Instruction& in, const void* at, std::size_t bytes,
                      bool writes) {
  using tessera::detail::Trait;
  auto* const recorder = tessera::detail::recorder;
  if (recorder == nullptr) return;
  settle();
  const Here here = here_of(m.place);
  ThreadContext* const mine = std::exchange(current, nullptr);  // as in a Watcher
  if (in.has("cta")) recorder->mark(here, Trait::of_block);
  if (in.has("volatile")) recorder->mark(here, Trait::is_volatile);
  const bool done = writes ? recorder->update(at, bytes, here) : recorder->poll(at, bytes, here);
  if (done && writes) recorder->before_atomic(at, here);
  if (done) recorder->after_atomic(at, here);
  current = mine;
  if (!done) throw Abandon{};
}

void load(Machine& m, const Instruction& in) {
  const Type type = in.type();
  const std::size_t lanes = lanes_of(in), bytes = static_cast<std::size_t>(type.bytes()) * lanes;
  const auto* const at =
      static_cast<const std::byte*>(m.address(in.operands[1], in, in.is_shared()));
  std::byte value[32] = {};
  if (is_atomic(in)) {
    touch_atomically(m, in, at, bytes, false);
    std::memcpy(value, at, bytes);
    if (in.has("acquire")) fence(scope_of(in), m.place);
    std::uint64_t bits = 0;
    std::memcpy(&bits, value, std::min<std::size_t>(bytes, 8));
    end_update(at, bits, false, m.place);
  } else {
    for (std::size_t done = 0; done < bytes; done += 16)
      load_told(value + done, at + done, std::min<std::size_t>(bytes - done, 16), here_of(m.place));
  }
  for (std::size_t i = 0; i < lanes; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, value + i * static_cast<std::size_t>(type.bytes()),
                static_cast<std::size_t>(type.bytes()));
    m.write(part(in.operands[0], i), bits, type);
  }
}

void store(Machine& m, const Instruction& in) {
  const Type type = in.type();
  const std::size_t lanes = lanes_of(in), each = static_cast<std::size_t>(type.bytes()),
                    bytes = each * lanes;
  auto* const at = static_cast<std::byte*>(m.address(in.operands[0], in, in.is_shared()));
  std::byte value[32] = {};
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::uint64_t bits = m.read(part(in.operands[1], i), type);
    std::memcpy(value + i * each, &bits, each);
  }
  if (is_atomic(in)) {
    if (in.has("release")) fence(scope_of(in), m.place);
    touch_atomically(m, in, at, bytes, true);
    std::memcpy(at, value, bytes);
    return;
  }
  for (std::size_t done = 0; done < bytes; done += 16)
    store_told(at + done, value + done, std::min<std::size_t>(bytes - done, 16), here_of(m.place));
}

// ---- atomic updates ----

template <class T>
T updated(const Instruction& in, T old, T b, T c, bool* known) {
  *known = true;
  if (in.has("exch")) return b;
  if (in.has("cas")) return old == b ? c : old;
  if (in.has("add")) return static_cast<T>(old + b);
  if (in.has("min")) return b < old ? b : old;
  if (in.has("max")) return old < b ? b : old;
  if constexpr (std::is_integral_v<T>) {
    if (in.has("and")) return static_cast<T>(old & b);
    if (in.has("or")) return static_cast<T>(old | b);
    if (in.has("xor")) return static_cast<T>(old ^ b);
    if (in.has("inc")) return old >= b ? T{} : static_cast<T>(old + 1);
    if (in.has("dec")) return old == T{} || old > b ? b : static_cast<T>(old - 1);
  }
  *known = false;
  return old;
}

template <class T>
void update_as(Machine& m, const Instruction& in, bool returns) {
  const std::size_t first = returns ? 1 : 0;
  if (in.has("cta")) of_block(m.place);
  auto* const at = static_cast<T*>(m.address(in.operands[first], in, in.is_shared()));
  const auto operand = [&](std::size_t i) {
    return i < in.operands.size() ? cast_bits<T>(m.read(in.operands[i], in.type())) : T{};
  };
  const T b = operand(first + 1), c = operand(first + 2);
  bool known = false;
  updated(in, T{}, b, c, &known);
  if (!known) m.refuse(in, "is not supported");
  if (in.has("release") || in.has("acq_rel")) fence(scope_of(in), m.place);
  const T old = update(at, m.place, [&](T was) { return updated(in, was, b, c, &known); });
  if (in.has("acquire") || in.has("acq_rel")) fence(scope_of(in), m.place);
  if (returns) m.write(in.operands[0], to_bits(old), in.type());
}

/// A pair of narrow numbers is added as one 32-bit value.
struct Pair {
  std::uint32_t bits;
};
void add_pair(Machine& m, const Instruction& in, bool returns) {
  const std::size_t first = returns ? 1 : 0;
  if (in.has("cta")) of_block(m.place);
  const NarrowFormat& format = in.type().kind == 'h' ? kBfloat16 : kHalf;
  auto* const at = static_cast<Pair*>(m.address(in.operands[first], in, in.is_shared()));
  const auto by = static_cast<std::uint32_t>(m.read(in.operands[first + 1], in.type()));
  const Pair old = update(at, m.place, [&](Pair was) {
    std::uint32_t out = 0;
    for (int shift : {0, 16})
      out |= narrow_bits(format,
                         static_cast<double>(narrow_value(format, was.bits >> shift & 0xffff)) +
                             static_cast<double>(narrow_value(format, by >> shift & 0xffff)))
             << shift;
    return Pair{out};
  });
  if (returns) m.write(in.operands[0], old.bits, in.type());
}

void change(Machine& m, const Instruction& in, bool returns) {
  const Type type = in.type();
  if (type.parts == 2 && in.has("add")) return add_pair(m, in, returns);
  if (type.kind == 'f' && type.bits == 32) return update_as<float>(m, in, returns);
  if (type.kind == 'f' && type.bits == 64) return update_as<double>(m, in, returns);
  if (type.kind == 's' && type.bits == 32) return update_as<std::int32_t>(m, in, returns);
  if (type.kind == 's' && type.bits == 64) return update_as<std::int64_t>(m, in, returns);
  if (std::strchr("ub", type.kind) == nullptr) m.refuse(in, "is not supported");
  if (type.bits == 32) return update_as<std::uint32_t>(m, in, returns);
  if (type.bits == 64) return update_as<std::uint64_t>(m, in, returns);
  if (type.bits == 16) return update_as<std::uint16_t>(m, in, returns);
  m.refuse(in, "is not supported");
}
void atomic(Machine& m, const Instruction& in) { change(m, in, true); }
void reduction(Machine& m, const Instruction& in) { change(m, in, false); }

// ---- asynchronous copies ----

/// cp.async.cg.shared.global [to], [from], 16{, source bytes}{, cache policy}
void copy_async_pieces(Machine& m, const Instruction& in) {
  if (in.operands.size() < 3) m.refuse(in, "has fewer operands than expected");
  const auto bytes = static_cast<std::size_t>(m.read(in.operands[2], {'u', 32}));
  if (bytes != 4 && bytes != 8 && bytes != 16) m.refuse(in, "copies neither 4, 8 nor 16 bytes");
  const bool has_policy = in.has("L2::cache_hint");
  std::size_t have = bytes;
  if (in.operands.size() > (has_policy ? 4u : 3u)) {
    const Operand& size = in.operands[3];
    have = std::min<std::size_t>(bytes, m.read(size, {'u', 32}));
  }
  copy_async(m.address(in.operands[0], in, true), m.address(in.operands[1], in, false), bytes, have,
             m.place);
}
void commit_group(Machine& m, const Instruction&) { commit_async(m.place); }
void wait_group(Machine& m, const Instruction& in) {
  wait_async(in.operands.empty() ? 0 : static_cast<int>(m.read(in.operands[0], {'u', 32})),
             m.place);
}
void wait_all(Machine& m, const Instruction&) {
  commit_async(m.place);
  wait_async(0, m.place);
}
void copy_or_wait(Machine& m, const Instruction& in) {
  if (in.has("commit_group")) return commit_group(m, in);
  if (in.has("wait_group")) return wait_group(m, in);
  if (in.has("wait_all")) return wait_all(m, in);
  if (in.has("mbarrier")) {  // the thread's copies are done when it arrives
    wait_all(m, in);
    auto* const gate = static_cast<std::uint64_t*>(m.address(in.operands[0], in, in.is_shared()));
    if (in.has("noinc")) gate_arrive(gate, 1, false, m.place);
    return;
  }
  if (in.has("bulk")) m.refuse(in, "is not supported: bulk copies are not interpreted");
  copy_async_pieces(m, in);
}

void no_access(Machine&, const Instruction&) {}
void make_policy(Machine& m, const Instruction& in) { m.write(in.operands[0], 0, {'u', 64}); }

}  // namespace

std::vector<Known> memory_instructions() {
  constexpr const char* touched =
      "volatile relaxed acquire release weak global shared local const param shared::cta "
      "shared::cluster cta gpu "
      "sys "
      "cluster ca cg cs lu cv wb wt nc v2 v4 v8 L1::no_allocate L1::evict_last L1::evict_first "
      "L1::evict_normal L1::evict_unchanged L2::64B L2::128B L2::256B L2::cache_hint";
  constexpr const char* updated_ =
      "global shared shared::cta shared::cluster relaxed acquire release acq_rel cta gpu sys "
      "cluster add min max "
      "and or xor "
      "exch cas inc dec noftz";
  constexpr const char* copied =
      "ca cg shared shared::cta global L2::64B L2::128B L2::256B L2::cache_hint commit_group "
      "wait_group "
      "wait_all mbarrier arrive noinc bulk";
  constexpr const char* hints =
      "global local L1 L2 L2::evict_last L2::evict_normal L2::evict_first tensormap prefetchu";
  return {
      {"ld", load, touched},
      {"st", store, touched},
      {"atom", atomic, updated_},
      {"red", reduction, updated_},
      {"cp.async", copy_or_wait, copied},
      {"prefetch", no_access, hints},
      {"prefetchu", no_access, hints},
      {"discard", no_access, hints},
      {"createpolicy", make_policy, "fractional L2::evict_last L2::evict_first L2::evict_normal"}};
}

}  // namespace tessera::plain_cuda::ptx_detail
