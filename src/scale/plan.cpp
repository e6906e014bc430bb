// The whole plan: boxes, the schedule of the largest of them, bytes, messages, memory and time.
#include "plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "bounds.hpp"
#include "boxes.hpp"
#include "depth_unit.hpp"
#include "real.hpp"
#include "steps.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::scale {

namespace {

constexpr int kMostRanks = 1 << 16;
constexpr index_t kMostExtent = index_t{1} << 38;
/// A split in which the busiest rank moves less may send this many times as much in all.
constexpr double kLittleMore = 1.01;

void check(const Request& request) {
  const Shape& s = request.shape;
  if (std::min({s.M, s.N, s.K}) < 0 || std::max({s.M, s.N, s.K}) > kMostExtent)
    throw Error(Category::argument, "plan: an extent is out of range", cat("0 to ", kMostExtent),
                cat(s.M, ", ", s.N, ", ", s.K));
  if (request.ranks < 1 || request.ranks > kMostRanks)
    throw Error(Category::argument, "plan: the number of ranks is out of range",
                cat("1 to ", kMostRanks), cat(request.ranks));
  if (request.memory <= 0)
    throw Error(Category::argument, "plan: the memory limit is below 1 byte", "1 byte or more",
                cat(request.memory));
}

const RankPart& largest(const std::vector<RankPart>& ranks) {
  const auto volume = [](const RankPart& r) {
    return real(r.box.m()) * real(r.box.n()) * real(r.box.k());
  };
  return *std::max_element(ranks.begin(), ranks.end(), [&](const RankPart& a, const RankPart& b) {
    return volume(a) < volume(b);
  });
}

/// Lower bound of the bytes that all ranks receive: what any split must send, and what a small
/// memory makes each rank load, minus what it may hold at the beginning.
double bound_of(const Request& request) {
  if (request.ranks == 1) return 0;
  const Types& t = request.types;
  const double word = std::min({size_of(t.in_a), size_of(t.in_b), size_of(t.sum)});
  const double S = real(request.memory) / word;
  const Shape& s = request.shape;
  const double each = real(s.M) * real(s.N) * real(s.K) / request.ranks;
  const double words =
      std::max(words_received_bound(s, request.ranks), words_moved_bound(each, S) - S);
  return word * words * request.ranks;
}

/// Where K may be cut. Instructions of bf16 sum pairs of products, and those of a tile unit more.
index_t unit_of(const Request& request) {
  if (request.chains == Chains::whole) return std::max<index_t>(1, request.shape.K);
  const bool paired = request.types.in_a == DType::bf16 || request.types.in_b == DType::bf16;
  return paired ? kDepthUnit : 1;
}

void add_held(const Shares& shares, index_t element, ScalePlan& plan) {
  for (const Share& share : shares.all)
    plan.ranks[static_cast<std::size_t>(share.owner)].held +=
        share.part.rows() * share.part.cols() * element;
}

/// The schedule of each box, with the same memory for all; many boxes are alike.
void add_schedules(ScalePlan& plan) {
  const Request& request = plan.request;
  index_t most = 0;
  for (const RankPart& part : plan.ranks) most = std::max(most, part.held);
  if (most >= request.memory)
    throw Error(Category::resource, "the memory of a rank is too small for its share of A and B",
                cat("more than ", bytes_text(most)), bytes_text(request.memory),
                "allow more memory, or use more ranks");
  std::map<std::tuple<index_t, index_t, index_t, bool>, Schedule> known;
  for (RankPart& part : plan.ranks) {
    const Box& box = part.box;
    const bool reads_c0 = request.reads_c0 && box.k1 == request.shape.K;
    const auto key = std::tuple(box.m(), box.n(), box.k(), reads_c0);
    auto at = known.find(key);
    if (at == known.end()) {
      const Shape shape{box.m(), box.n(), box.k()};
      at = known
               .emplace(key,
                        plan_schedule({shape, request.types, request.memory - most, reads_c0,
                                       request.chains, request.symmetric && request.ranks == 1}))
               .first;
    }
    part.schedule = at->second;
    part.memory = part.held + part.schedule.memory;
  }
}

enum class Operand { a, b };

/// How many slices of a box have elements of [from, to) along one extent.
index_t slices_in(index_t from, index_t to, index_t begin, index_t slice) {
  if (from >= to || slice <= 0) return 0;
  return (to - 1 - begin) / slice - (from - begin) / slice + 1;
}

/// Bytes and messages of A or B: each share goes to the other users of its cell.
void add_operand(const Shares& shares, Operand operand, ScalePlan& plan) {
  const bool is_a = operand == Operand::a;
  const index_t element = size_of(is_a ? plan.request.types.in_a : plan.request.types.in_b);
  for (const Share& share : shares.all) {
    RankPart& owner = plan.ranks[static_cast<std::size_t>(share.owner)];
    for (const int user : shares.users[static_cast<std::size_t>(share.cell)]) {
      if (user == share.owner) continue;
      RankPart& to = plan.ranks[static_cast<std::size_t>(user)];
      const Part p = common(share.part, is_a ? part_of_a(to.box) : part_of_b(to.box));
      const double bytes = real(p.rows()) * real(p.cols()) * real(element);
      const Schedule& s = to.schedule;
      const index_t loads = is_a ? s.loads_of_a() : s.loads_of_b();
      owner.sent += bytes * real(loads);
      to.received += bytes * real(loads);
      to.messages +=
          loads * slices_in(p.i0, p.i1, is_a ? to.box.m0 : to.box.k0, is_a ? s.block_m : s.depth) *
          slices_in(p.j0, p.j1, is_a ? to.box.k0 : to.box.n0, is_a ? s.depth : s.block_n);
    }
  }
}

/// Bytes and messages of sums.
void add_sums(ScalePlan& plan) {
  const double element = size_of(plan.request.types.sum);
  std::map<index_t, std::vector<RankPart*>> beginning;  // ranks by the beginning of their K
  for (RankPart& part : plan.ranks)
    if (part.box.k0 > 0) beginning[part.box.k0].push_back(&part);
  for (RankPart& from : plan.ranks) {
    const auto next = beginning.find(from.box.k1);
    if (next == beginning.end()) continue;
    for (RankPart* const to : next->second) {
      const Part shared = common(part_of_c(from.box), part_of_c(to->box));
      if (shared.is_empty()) continue;
      const double bytes = real(shared.rows()) * real(shared.cols()) * element;
      from.sent += bytes, to->received += bytes;
      to->messages += slices_in(shared.i0, shared.i1, from.box.m0, from.schedule.block_m) *
                      slices_in(shared.j0, shared.j1, from.box.n0, from.schedule.block_n);
    }
  }
}

/// Bytes and messages of finished sums that other ranks own.
void add_results(const Shares& c, ScalePlan& plan) {
  const double element = size_of(plan.request.types.sum);
  for (RankPart& from : plan.ranks) {
    if (from.box.k1 != plan.request.shape.K) continue;
    for (const Share& share : c.all) {
      RankPart& to = plan.ranks[static_cast<std::size_t>(share.owner)];
      const Part p = common(part_of_c(from.box), share.part);
      if (&to == &from || p.is_empty()) continue;
      const double bytes = real(p.rows()) * real(p.cols()) * element;
      from.sent += bytes, to.received += bytes;
      to.messages += slices_in(p.i0, p.i1, from.box.m0, from.schedule.block_m) *
                     slices_in(p.j0, p.j1, from.box.n0, from.schedule.block_n);
    }
  }
}

void hold_sums(const ScalePlan& plan, RankPart& part) {
  part.held += part.box.m() * part.box.n() * size_of(plan.request.types.sum);
}

/// Schedules, and what the ranks exchange.
void complete(const Shares& a, const Shares& b, const Shares& c, ScalePlan& plan) {
  add_schedules(plan);
  plan.schedule = largest(plan.ranks).schedule;
  add_operand(a, Operand::a, plan);
  add_operand(b, Operand::b, plan);
  add_sums(plan);
  add_results(c, plan);
  for (const RankPart& part : plan.ranks) {
    plan.sent += part.received;
    plan.worst_received = std::max(plan.worst_received, part.received);
    plan.worst_moved = std::max(plan.worst_moved, (part.sent + part.received) / 2);
    plan.messages += part.messages;
    plan.memory = std::max(plan.memory, part.memory);
  }
  plan.sent_bound = bound_of(plan.request);
}

ScalePlan::Time forecast(const ScalePlan& plan) {
  const Request& r = plan.request;
  const Speeds& speeds = r.speeds;
  ScalePlan::Time out;
  if (speeds.flops > 0) {
    for (const RankPart& rank : plan.ranks) {
      const Box& b = rank.box;
      out.arithmetic = std::max(out.arithmetic, 2 * real(b.m()) * real(b.n()) * real(b.k()) *
                                                    rank.schedule.work() / speeds.flops);
    }
  }
  if (speeds.network > 0) {
    for (const RankPart& rank : plan.ranks)
      out.network = std::max(out.network, rank.received / speeds.network +
                                              real(rank.messages) * speeds.message_seconds);
  }
  // The system clears memory when it is first used.
  out.total = speeds.memory > 0 ? real(plan.memory) / speeds.memory : 0;
  const double computing = std::max(out.arithmetic, out.network);
  if (speeds.disk <= 0) {
    out.total += computing;
    return out;
  }
  const double reading = plan.read / r.ranks / speeds.disk;
  const double writing =
      plan.written / r.ranks / (speeds.writing > 0 ? speeds.writing : speeds.disk);
  out.disk = reading + writing;
  const Schedule& s = plan.schedule;
  const double slice =
      real(s.depth) * (real(s.block_m) * size_of(r.types.a) + real(s.block_n) * size_of(r.types.b));
  const double first = std::min(slice / speeds.disk, reading);
  // The first slice is read before any arithmetic, and the last block is written after it. Other
  // blocks are written during the arithmetic if there are two buffers for their sums.
  const bool overlaps = r.ranks == 1 && s.buffers_of_sums() > 1;
  const double last =
      overlaps ? writing / real(std::max<index_t>(1, s.blocks_down() * s.blocks_across()))
               : writing;
  out.total += std::max({computing + first + last, reading + last, overlaps ? out.disk : 0});
  return out;
}

std::string limit_of(const ScalePlan& plan) {
  const ScalePlan::Time& t = plan.time;
  const double longest = std::max({t.arithmetic, t.network, t.disk});
  if (longest <= 0) return plan.schedule.moved() > 1.05 * plan.schedule.bound ? "memory" : "";
  if (longest == t.arithmetic) return "arithmetic";
  return longest == t.network ? "network" : "disk";
}

/// Is there a rank that continues sums and passes them on?
bool cuts_k_twice(const ScalePlan& plan) {
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const RankPart& part) {
    return part.box.k0 > 0 && part.box.k1 < plan.request.shape.K;
  });
}

ScalePlan plan_with(const Request& request, CutsOfK k) {
  ScalePlan plan;
  plan.request = request;
  for (const Box& box : cut_into_boxes(request.shape, request.ranks, unit_of(request), k))
    plan.ranks.push_back({box});
  const Shares a = shares_of_a(plan), b = shares_of_b(plan);
  if (request.ranks > 1) {
    add_held(a, size_of(request.types.in_a), plan);
    add_held(b, size_of(request.types.in_b), plan);
    for (RankPart& part : plan.ranks) {
      if (passes_sums_on(part.box, request.shape)) hold_sums(plan, part);
    }
  }
  complete(a, b, {}, plan);
  return plan;
}

}  // namespace

bool passes_sums_on(const Box& box, const Shape& shape) { return box.k() > 0 && box.k() < shape.K; }

Shares shares_of_a(const ScalePlan& plan) {
  std::vector<Part> parts;
  for (const RankPart& each : plan.ranks) parts.push_back(part_of_a(each.box));
  return equal_shares(parts, Divided::by_rows);
}

Shares shares_of_b(const ScalePlan& plan) {
  std::vector<Part> parts;
  for (const RankPart& each : plan.ranks) parts.push_back(part_of_b(each.box));
  return equal_shares(parts, Divided::by_columns);
}

Types types_of(DType in) {
  Types out;
  out.a = out.b = out.c0 = out.in_a = out.in_b = out.sum = out.out = in;
  if (in == DType::f16 || in == DType::bf16) out.sum = DType::f32;
  if (size_of(in) == 1) out.c0 = out.sum = out.out = DType::i32;
  return out;
}

double ScalePlan::flops() const {
  return 2 * real(request.shape.M) * real(request.shape.N) * real(request.shape.K) *
         schedule.work();
}

double ScalePlan::ratio_to_bound() const { return sent_bound > 0 ? sent / sent_bound : 1; }

double ScalePlan::worst_ratio() const {
  return sent_bound > 0 ? worst_moved * request.ranks / sent_bound : 1;
}

ScalePlan make_scale_plan(const Request& request) {
  check(request);
  ScalePlan plan = plan_with(request, CutsOfK::any);
  if (cuts_k_twice(plan)) {
    ScalePlan other = plan_with(request, CutsOfK::one);
    if (other.worst_moved < plan.worst_moved && other.sent <= kLittleMore * plan.sent)
      plan = std::move(other);
  }
  const Types& types = request.types;
  const Shape& s = request.shape;
  if (request.ranks == 1) {
    plan.read = plan.schedule.read(), plan.written = plan.schedule.written;
  } else {  // one rank reads each element once and sends it
    plan.read = real(s.M) * real(s.K) * size_of(types.a) +
                real(s.K) * real(s.N) * size_of(types.b) +
                (request.reads_c0 ? real(s.M) * real(s.N) * size_of(types.c0) : 0);
    plan.written = real(s.M) * real(s.N) * size_of(types.out);
  }
  plan.time = forecast(plan);
  plan.limit = limit_of(plan);
  return plan;
}

ScalePlan plan_of_boxes(const Request& request, const std::vector<Box>& boxes, const Shares& a,
                        const Shares& b, const Shares& c) {
  check(request);
  ScalePlan plan;
  plan.request = request;
  for (const Box& box : boxes) plan.ranks.push_back({box});
  for (RankPart& part : plan.ranks) hold_sums(plan, part);
  complete(a, b, c, plan);
  return plan;
}

}  // namespace tessera::scale
