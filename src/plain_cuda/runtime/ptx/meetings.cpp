// Inline PTX: barriers, fences, votes, shuffles, mbarriers.
#include <bit>

#include "plain_cuda/runtime/context.hpp"
#include "ptx.hpp"
#include "tessera/plain_cuda/parts/clusters.h"
#include "tessera/plain_cuda/parts/thread.h"

namespace tessera::plain_cuda::ptx_detail {

namespace {

constexpr Type kPredicate{'p', 8}, kLong{'u', 64};

std::uint64_t word(Machine& m, const Instruction& in, std::size_t operand) {
  if (operand >= in.operands.size()) m.refuse(in, "has fewer operands than expected");
  return m.read(in.operands[operand], kWord);
}

/// barrier.cluster.arrive, .wait
void cluster_barrier(Machine& m, const Instruction& in) {
  if (in.has("arrive")) return cluster_arrive(m.place);
  cluster_wait(m.place);
}

/// mapa{.shared::cluster} d, a, rank
void map_address(Machine& m, const Instruction& in) {
  const auto rank = static_cast<unsigned>(word(m, in, 2));
  const void* const at = m.address(in.operands[1], in, in.is_shared());
  void* const there = map_shared(at, rank, m.place);
  m.write(in.operands[0],
          in.is_shared() ? shared_address(there) : reinterpret_cast<std::uint64_t>(there),
          in.type());
}
/// getctarank{.shared::cluster} d, a: the type is that of a
void rank_of_address(Machine& m, const Instruction& in) {
  m.write(in.operands[0], shared_rank(m.address(in.operands[1], in, in.is_shared()), m.place),
          kWord);
}

/// bar.sync a{, b}, bar.arrive a, b, barrier.cta.sync and .arrive, bar.warp.sync mask
void barrier(Machine& m, const Instruction& in) {
  if (in.has("warp")) return warp_barrier(word(m, in, 0), m.place);
  if (!in.has("sync") && !in.has("arrive"))
    m.refuse(in, "is not supported: of barriers .sync and .arrive are");
  const auto id = static_cast<int>(word(m, in, 0));
  const dim3 d = block_extents();
  const auto all = static_cast<int>(d.x * d.y * d.z);
  const int warp = current->block.warp_size, whole = (all + warp - 1) / warp * warp;
  const int count = in.operands.size() > 1 ? static_cast<int>(word(m, in, 1)) : whole;
  if (in.has("arrive") && id == 0) m.refuse(in, "is not supported at barrier 0");
  if (in.has("arrive")) return arrive_at_barrier(id, count, m.place);
  if (id == 0 && (count == all || count == whole)) return block_barrier(m.place);
  named_barrier(id, count, m.place);
}

void order(Machine& m, const Instruction& in) {
  if (in.has("proxy") || in.has("mbarrier_init")) return;  // one memory here
  fence(in.has("cta") ? Fence::block : in.has("sys") ? Fence::system : Fence::device, m.place);
}

/// shfl.sync.bfly.b32 d|p, a, b, c, mask: c packs the segment's mask and the bound.
void shuffle_lanes(Machine& m, const Instruction& in) {
  const auto b = static_cast<int>(word(m, in, 2)), c = static_cast<int>(word(m, in, 3));
  const int lane = lane_index() & 31, clamp = c & 31, segment = c >> 8 & 31;
  const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  int source = first | (b & ~segment);
  bool inside = source <= last;
  if (in.has("up")) source = lane - (b & 31), inside = source >= last;
  else if (in.has("down")) source = lane + (b & 31), inside = source <= last;
  else if (in.has("bfly")) source = lane ^ (b & 31), inside = source <= last;
  if (!inside) source = lane;
  auto value = static_cast<std::uint32_t>(word(m, in, 1));
  shuffle(word(m, in, 4), &value, sizeof value, (lane_index() & ~31) + source, m.place);
  const Operand& to = in.operands[0];
  const bool has_two = to.kind == Operand::Kind::vector;
  m.write(has_two ? to.parts[0] : to, value, kWord);
  if (has_two) m.write(to.parts[1], inside, kPredicate);
}

void vote(Machine& m, const Instruction& in) {
  const std::uint64_t mask = word(m, in, 2);
  const bool mine = m.test(in.operands[1]);
  const std::uint64_t votes = ballot(mask, mine, m.place) & 0xffffffffu;
  if (in.has("ballot")) return m.write(in.operands[0], votes, kWord);
  const bool out = in.has("any")   ? votes != 0
                   : in.has("all") ? votes == mask
                                   : votes == 0 || votes == mask;
  m.write(in.operands[0], out, kPredicate);
}
void match_lanes(Machine& m, const Instruction& in) {
  const std::uint64_t mask = word(m, in, 2);
  const std::uint64_t alike = match(mask, m.read(in.operands[1], in.type()), m.place) & 0xffffffffu;
  const Operand& to = in.operands[0];
  const bool has_two = to.kind == Operand::Kind::vector;
  const bool all = alike == mask;
  m.write(has_two ? to.parts[0] : to, in.has("all") && !all ? 0 : alike, kWord);
  if (has_two) m.write(to.parts[1], all, kPredicate);
}
void reduce_lanes(Machine& m, const Instruction& in) {
  std::uint64_t all[64];
  const int count = gather(word(m, in, 2), word(m, in, 1), all, m.place);
  const bool is_signed = in.type().kind == 's';
  std::uint64_t out = all[0];
  for (int i = 1; i < count; ++i) {
    const std::uint64_t next = all[i];
    const bool is_less =
        is_signed ? static_cast<std::int32_t>(next) < static_cast<std::int32_t>(out) : next < out;
    if (in.has("add")) out += next;
    else if (in.has("min")) out = is_less ? next : out;
    else if (in.has("max")) out = is_less ? out : next;
    else if (in.has("and")) out &= next;
    else if (in.has("or")) out |= next;
    else out ^= next;
  }
  m.write(in.operands[0], out, kWord);
}
void active(Machine& m, const Instruction& in) {
  m.write(in.operands[0], active_mask(m.place) & 0xffffffffu, kWord);
}
void elect(Machine& m, const Instruction& in) {
  const std::uint64_t mask = word(m, in, 1);
  ballot(mask, true, m.place);
  const int leader = std::countr_zero(static_cast<std::uint32_t>(mask));
  const Operand& to = in.operands[0];
  if (to.kind != Operand::Kind::vector) m.refuse(in, "lacks its predicate");
  m.write(to.parts[0], static_cast<std::uint64_t>(leader), kWord);
  m.write(to.parts[1], (lane_index() & 31) == leader, kPredicate);
}

std::uint64_t* gate_at(Machine& m, const Instruction& in, std::size_t operand) {
  return static_cast<std::uint64_t*>(m.address(in.operands[operand], in, in.is_shared()));
}
/// mbarrier.init, .inval, .arrive, .arrive_drop, .test_wait, .try_wait
void gate(Machine& m, const Instruction& in) {
  if (in.has("expect_tx") || in.has("complete_tx"))
    m.refuse(in, "is not supported: bulk copies are not interpreted");
  if (in.has("shared::cluster"))
    m.refuse(in, "is not supported: barriers in the shared memory of another block");
  if (in.has("init"))
    return gate_init(gate_at(m, in, 0), static_cast<unsigned>(word(m, in, 1)), m.place);
  if (in.has("inval")) return;
  if (in.has("arrive") || in.has("arrive_drop")) {
    const bool returns = in.operands[0].kind != Operand::Kind::memory;
    const std::size_t at = returns ? 1 : 0;
    const unsigned count =
        in.operands.size() > at + 1 ? static_cast<unsigned>(word(m, in, at + 1)) : 1;
    const std::uint64_t phase =
        gate_arrive(gate_at(m, in, at), count, in.has("arrive_drop"), m.place);
    if (returns) m.write(in.operands[0], phase, kLong);
    return;
  }
  if (!in.has("test_wait") && !in.has("try_wait")) m.refuse(in, "is not supported");
  const bool has_ended =
      gate_test(gate_at(m, in, 1), m.read(in.operands[2], kLong), in.has("parity"), m.place);
  m.write(in.operands[0], has_ended, kPredicate);
}

void pause(Machine& m, const Instruction&) { give_way(m.place); }
void no_meeting(Machine&, const Instruction&) {}
void stop(Machine& m, const Instruction&) { trap("executes trap", m.place); }

}  // namespace

std::vector<Known> meeting_instructions() {
  constexpr const char* fences =
      "cta gl gpu sys cluster sc acq_rel acquire release proxy alias async async::generic global "
      "shared::cta mbarrier_init sync_restrict::shared::cta generic";
  constexpr const char* gates =
      "init inval arrive arrive_drop test_wait try_wait parity shared shared::cta shared::cluster "
      "noComplete expect_tx complete_tx release acquire relaxed cta cluster";
  return {{"bar", barrier, "sync warp cta arrive red popc"},
          {"barrier", barrier, "sync cta aligned arrive red popc"},
          {"barrier.cluster", cluster_barrier, "arrive wait release acquire relaxed aligned"},
          {"mapa", map_address, "shared::cluster"},
          {"getctarank", rank_of_address, "shared::cluster"},
          {"membar", order, fences},
          {"fence", order, fences},
          {"shfl", shuffle_lanes, "sync up down bfly idx"},
          {"vote", vote, "sync all any uni ballot"},
          {"match", match_lanes, "any all sync"},
          {"redux", reduce_lanes, "sync add min max and or xor"},
          {"activemask", active, ""},
          {"elect", elect, "sync"},
          {"mbarrier", gate, gates},
          {"nanosleep", pause, ""},
          {"griddepcontrol", no_meeting, "wait launch_dependents"},
          {"setmaxnreg", no_meeting, "inc dec sync aligned"},
          {"brkpt", no_meeting, ""},
          {"trap", stop, ""}};
}

}  // namespace tessera::plain_cuda::ptx_detail
