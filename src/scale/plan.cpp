// The whole plan: boxes, the schedule of the largest of them, bytes, messages, memory and time.
#include "tessera/scale/plan.hpp"

#include <algorithm>
#include <cmath>

#include "boxes.hpp"
#include "real.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/scale/bounds.hpp"

namespace tessera::scale {

namespace {

constexpr int kMostRanks = 1 << 16;
constexpr index_t kMostExtent = index_t{1} << 38;

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

/// How often slices of A and of B are loaded into the buffers of one rank, and how often each
/// element is loaded.
struct Loads {
  index_t slices_a = 0, slices_b = 0;
  double times_a = 1, times_b = 1;
};

Loads loads_of(const Schedule& s, const Types& types) {
  Loads out;
  const double a = real(s.shape.M) * real(s.shape.K) * size_of(types.a);
  const double b = real(s.shape.K) * real(s.shape.N) * size_of(types.b);
  if (a > 0) out.times_a = s.read_a / a;
  if (b > 0) out.times_b = s.read_b / b;
  out.slices_a = s.slices() * std::llround(real(s.blocks_down()) * out.times_a);
  out.slices_b = s.slices() * std::llround(real(s.blocks_across()) * out.times_b);
  return out;
}

std::size_t largest(const std::vector<Box>& boxes) {
  const auto volume = [](const Box& b) { return real(b.m()) * real(b.n()) * real(b.k()); };
  const auto at = std::max_element(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) {
    return volume(a) < volume(b);
  });
  return static_cast<std::size_t>(at - boxes.begin());
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

ScalePlan::Time forecast(const ScalePlan& plan) {
  const Request& r = plan.request;
  const Speeds& speeds = r.speeds;
  ScalePlan::Time out;
  if (speeds.flops > 0) {
    for (const RankPart& rank : plan.ranks) {
      const Box& b = rank.box;
      out.arithmetic =
          std::max(out.arithmetic, 2 * real(b.m()) * real(b.n()) * real(b.k()) / speeds.flops);
    }
  }
  if (speeds.network > 0) {
    for (const RankPart& rank : plan.ranks)
      out.network = std::max(out.network, rank.received / speeds.network +
                                              real(rank.messages) * speeds.message_seconds);
  }
  // The first slice is loaded before any arithmetic, and the last block is written after it.
  double ends = 0;
  if (speeds.disk > 0) {
    out.disk = (plan.read + plan.written) / r.ranks / speeds.disk;
    const Schedule& s = plan.schedule;
    const double first = real(s.depth) * (real(s.block_m) * size_of(r.types.a) +
                                          real(s.block_n) * size_of(r.types.b));
    const double last = real(s.block_m) * real(s.block_n) * size_of(r.types.out);
    ends = std::min(first + last, (plan.read + plan.written) / r.ranks) / speeds.disk;
  }
  const double longest = std::max({out.arithmetic, out.network, out.disk});
  out.total = longest == out.disk ? std::max(longest, ends) : longest + ends;
  return out;
}

std::string limit_of(const ScalePlan& plan) {
  const ScalePlan::Time& t = plan.time;
  const double longest = std::max({t.arithmetic, t.network, t.disk});
  if (longest <= 0) return plan.schedule.moved() > 1.05 * plan.schedule.bound ? "memory" : "";
  if (longest == t.arithmetic) return "arithmetic";
  return longest == t.network ? "network" : "disk";
}

}  // namespace

Types types_of(DType in) {
  Types out;
  out.a = out.b = out.c0 = out.in_a = out.in_b = out.sum = out.out = in;
  if (in == DType::f16 || in == DType::bf16) out.sum = DType::f32;
  if (size_of(in) == 1) out.c0 = out.sum = out.out = DType::i32;
  return out;
}

double ScalePlan::flops() const {
  return 2 * real(request.shape.M) * real(request.shape.N) * real(request.shape.K);
}

double ScalePlan::ratio_to_bound() const { return sent_bound > 0 ? sent / sent_bound : 1; }

double ScalePlan::worst_ratio() const {
  return sent_bound > 0 ? worst_received * request.ranks / sent_bound : 1;
}

ScalePlan make_scale_plan(const Request& request) {
  check(request);
  const Types& types = request.types;
  ScalePlan plan;
  plan.request = request;
  const auto boxes = cut_into_boxes(request.shape, request.ranks);
  const auto received = received_by(boxes);
  // A rank keeps its share of its part of A and B and sends it to the others.
  std::vector<index_t> held(boxes.size(), 0);
  if (request.ranks > 1) {
    for (std::size_t n = 0; n < boxes.size(); ++n) {
      const Box& box = boxes[n];
      held[n] = static_cast<index_t>(
          (real(box.m()) * real(box.k()) - received[n].a) * size_of(types.in_a) +
          (real(box.k()) * real(box.n()) - received[n].b) * size_of(types.in_b));
    }
  }
  const Box& box = boxes[largest(boxes)];
  const index_t most_held = *std::max_element(held.begin(), held.end());
  if (most_held >= request.memory)
    throw Error(Category::resource, "the memory of a rank is too small for its share of A and B",
                cat("more than ", bytes_text(most_held)), bytes_text(request.memory),
                "allow more memory, or use more ranks");
  plan.schedule = plan_schedule({{box.m(), box.n(), box.k()},
                                 types,
                                 request.memory - most_held,
                                 request.reads_c0,
                                 request.chains});
  const Loads loads = loads_of(plan.schedule, types);
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    const Received& r = received[n];
    RankPart part{boxes[n], 0, 0, held[n] + plan.schedule.memory};
    part.received = r.a * size_of(types.in_a) * loads.times_a +
                    r.b * size_of(types.in_b) * loads.times_b + r.c * size_of(types.sum);
    part.messages = r.partners_a * loads.slices_a + r.partners_b * loads.slices_b + r.partners_c;
    plan.sent += part.received;
    plan.worst_received = std::max(plan.worst_received, part.received);
    plan.messages += part.messages;
    plan.memory = std::max(plan.memory, part.memory);
    plan.ranks.push_back(part);
  }
  plan.sent_bound = bound_of(request);
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

}  // namespace tessera::scale
