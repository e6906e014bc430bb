// Executes inline PTX: registers, addresses, special registers, the loop over instructions.
#include "ptx.hpp"

#include <chrono>
#include <unordered_map>

#include "plain_cuda/runtime/meeting.hpp"
#include "plain_cuda/runtime/program.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/clusters.h"
#include "tessera/plain_cuda/parts/narrow.h"
#include "tessera/plain_cuda/parts/thread.h"

namespace tessera::plain_cuda {

namespace ptx_detail {

void Machine::refuse(const Instruction& in, const std::string& why) const {
  cannot_run(place, cat("inline PTX '", in.text, "' ", why));
}

PtxOperand& Machine::asm_operand(const Operand& which) const {
  for (int i = 0; i < count_; ++i) {
    const bool is_it = which.kind == Operand::Kind::named
                           ? operands_[i].name != nullptr && which.name == operands_[i].name
                           : i == which.index;
    if (is_it) return operands_[i];
  }
  cannot_run(place, "inline PTX names an operand that it does not have");
}

std::uint64_t Machine::read(const Operand& from, Type type) const {
  std::uint64_t bits = 0;
  switch (from.kind) {
    case Operand::Kind::operand:
    case Operand::Kind::named: bits = asm_operand(from).bits; break;
    case Operand::Kind::local: bits = locals_[static_cast<std::size_t>(from.index)]; break;
    case Operand::Kind::special: bits = special(from.name); break;
    case Operand::Kind::number:
      bits = from.value;
      if (from.is_real && type.bits == 32)
        bits = to_bits(static_cast<float>(cast_bits<double>(bits)));
      break;
    case Operand::Kind::vector: {  // {a, b}: a is the lowest part
      int shift = 0;
      const int part = type.bits * type.parts / static_cast<int>(from.parts.size());
      for (const Operand& each : from.parts) {
        const std::uint64_t mask = part >= 64 ? ~0ull : (1ull << part) - 1;
        bits |= (read(each, {'b', part}) & mask) << shift;
        shift += part;
      }
      break;
    }
    default: break;
  }
  const int width = type.bits * type.parts;
  return width == 0 || width >= 64 ? bits : bits & ((1ull << width) - 1);
}

void Machine::write(const Operand& to, std::uint64_t bits, Type type) {
  const int width = type.bits * type.parts;
  if (to.kind == Operand::Kind::vector) {
    const int part = width / static_cast<int>(to.parts.size());
    for (const Operand& each : to.parts) {
      write(each, part >= 64 ? bits : bits & ((1ull << part) - 1), {'b', part});
      bits = part >= 64 ? 0 : bits >> part;
    }
    return;
  }
  if (width < 64 && width > 0) {
    bits &= (1ull << width) - 1;
    // A narrow number fills its register, as in ld and cvt.
    if (type.kind == 's' && (bits >> (width - 1) & 1) != 0) bits |= ~0ull << width;
  }
  if (to.kind == Operand::Kind::local) locals_[static_cast<std::size_t>(to.index)] = bits;
  else if (to.kind == Operand::Kind::operand || to.kind == Operand::Kind::named)
    asm_operand(to).bits = bits;
  else if (to.name != "_")
    cannot_run(place,
               cat("inline PTX writes to ", to.name, ", which is no register of the statement"));
}

void* Machine::address(const Operand& memory, const Instruction& in, bool is_shared) const {
  const Operand& base = memory.kind == Operand::Kind::memory ? memory.parts[0] : memory;
  std::uint64_t at = read(base, {'u', 64});
  if (memory.kind == Operand::Kind::memory && memory.parts.size() > 1)
    at += read(memory.parts[1], {'s', 64});
  if (!is_shared) return reinterpret_cast<void*>(at);
  void* const out = shared_pointer(static_cast<std::uint32_t>(at));
  if (out == nullptr)
    throw Error(Category::kernel,
                cat(place.file, ":", place.line, ": inline PTX '", in.text,
                    "' gets an address that is none of shared memory"),
                "what __cvta_generic_to_shared() returns");
  return out;
}

std::uint64_t Machine::special(const std::string& name) const {
  const uint3 thread = thread_index(), block = block_index();
  const dim3 threads = block_extents(), blocks = grid_extents(), cluster = cluster_extents();
  const dim3 of_cluster(block.x / cluster.x, block.y / cluster.y, block.z / cluster.z),
      in_cluster(block.x % cluster.x, block.y % cluster.y, block.z % cluster.z),
      clusters(blocks.x / cluster.x, blocks.y / cluster.y, blocks.z / cluster.z);
  const auto part = [&](std::string_view of, const auto& v) -> const unsigned* {
    if (!name.starts_with(of) || name.size() != of.size() + 2 || name[of.size()] != '.')
      return nullptr;
    return name.back() == 'x' ? &v.x : name.back() == 'y' ? &v.y : &v.z;
  };
  for (const unsigned* found :
       {part("tid", thread), part("ctaid", block), part("ntid", threads), part("nctaid", blocks),
        part("clusterid", of_cluster), part("nclusterid", clusters),
        part("cluster_ctaid", in_cluster), part("cluster_nctaid", cluster)})
    if (found != nullptr) return *found;
  const int lane = lane_index();
  const auto linear = static_cast<unsigned>(current->linear),
             lanes = static_cast<unsigned>(warpSize);
  const std::uint32_t one = 1u << (lane & 31);
  const auto ticks = static_cast<std::uint64_t>(clock_ticks());
  if (name == "laneid") return static_cast<std::uint64_t>(lane);
  if (name == "warpid") return linear / lanes;
  if (name == "nwarpid") return (threads.x * threads.y * threads.z + lanes - 1) / lanes;
  if (name == "smid") return ((block.z * blocks.y + block.y) * blocks.x + block.x) % 132;
  if (name == "nsmid") return 132;
  if (name == "gridid") return 0;
  if (name == "cluster_ctarank") return cluster_block_rank();
  if (name == "cluster_nctarank") return cluster.x * cluster.y * cluster.z;
  if (name == "lanemask_eq") return one;
  if (name == "lanemask_lt") return one - 1;
  if (name == "lanemask_le") return one | (one - 1);
  if (name == "lanemask_gt") return ~(one | (one - 1));
  if (name == "lanemask_ge") return ~(one - 1);
  if (name == "clock" || name == "globaltimer_lo") return static_cast<std::uint32_t>(ticks);
  if (name == "clock_hi" || name == "globaltimer_hi") return ticks >> 32;
  if (name == "clock64" || name == "globaltimer") return ticks;
  if (name == "WARP_SZ") return lanes;
  cannot_run(place, cat("inline PTX reads ", name, ", which is not supported"));
}

}  // namespace ptx_detail

void run_ptx(Place place, const char* text, PtxOperand* operands, int count) {
  using namespace ptx_detail;
  if (current == nullptr)
    throw Error(Category::kernel, cat(place.file, ":", place.line, ": inline PTX runs on the host"),
                "a call in a kernel");
  static thread_local std::unordered_map<const char*, Code> known;
  auto found = known.find(text);
  if (found == known.end()) found = known.emplace(text, parse(text, place)).first;
  const Code& code = found->second;
  Machine machine(place, operands, count, code.locals);
  while (machine.next < code.instructions.size()) {
    const Instruction& in = code.instructions[machine.next++];
    if (in.predicate.kind != Operand::Kind::number && !machine.test(in.predicate)) continue;
    if (in.run == nullptr) machine.refuse(in, "is not supported");
    in.run(machine, in);
  }
}

}  // namespace tessera::plain_cuda
