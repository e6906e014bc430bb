// Counts sectors and wavefronts. Most warps are contiguous, broadcast or strided: one pass over the
// lanes counts these; the others need a small hash table.
#include "tessera/check/memory_rules.hpp"

#include <algorithm>
#include <bit>

namespace tessera::check {

namespace {

/// Calls body(lane) for each set bit, in order.
template <class Body>
void for_each_lane(std::uint32_t lanes, Body&& body) {
  for (; lanes != 0; lanes &= lanes - 1) body(std::countr_zero(lanes));
}

/// Distinct numbers, at most 127: all words or sectors of a warp. Open addressing.
class Distinct {
 public:
  /// True if `key` is new.
  bool insert(std::uint64_t key) {
    std::size_t at = static_cast<std::size_t>(key * 0x9e3779b97f4a7c15u >> (64 - kBits));
    for (; (used_[at / 64] >> at % 64 & 1) != 0; at = (at + 1) % kSize)
      if (keys_[at] == key) return false;
    used_[at / 64] |= std::uint64_t{1} << at % 64;
    keys_[at] = key;
    return true;
  }

 private:
  static constexpr int kBits = 7;
  static constexpr std::size_t kSize = std::size_t{1} << kBits;
  std::uint64_t keys_[kSize];
  std::uint64_t used_[kSize / 64] = {};
};

int ideal_sectors(int distinct_addresses, int bytes, int sectors) {
  return std::min(sectors, (distinct_addresses * bytes + kSectorBytes - 1) / kSectorBytes);
}

/// A whole warp whose lanes are contiguous, or all on one address.
bool contiguous(const WarpAccess& access, GlobalCost& out) {
  if (access.active != kAllLanes) return false;
  const std::uint64_t base = access.address[0], step = access.address[1] - base;
  if (step != 0 && step != static_cast<std::uint64_t>(access.bytes)) return false;
  std::uint64_t elsewhere = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane)
    elsewhere |= access.address[lane] ^ (base + step * lane);
  if (elsewhere != 0) return false;
  const std::uint64_t last = access.address[kWarpLanes - 1] + access.bytes - 1;
  const int sectors = static_cast<int>(last / kSectorBytes - base / kSectorBytes) + 1;
  out = {sectors, ideal_sectors(step == 0 ? 1 : kWarpLanes, access.bytes, sectors)};
  return true;
}

/// Lanes with ascending addresses. Returns false at the first descent.
bool ascending(const WarpAccess& access, GlobalCost& out) {
  std::uint64_t before = 0, next = 0;  // the first untouched sector
  int sectors = 0, addresses = 0;
  for (std::uint32_t left = access.active; left != 0; left &= left - 1) {
    const std::uint64_t address = access.address[std::countr_zero(left)];
    if (address < before) return false;
    addresses += addresses == 0 || address != before;
    before = address;
    const std::uint64_t first = std::max(next, address / kSectorBytes),
                        end = (address + access.bytes - 1) / kSectorBytes + 1;
    if (first < end) {
      sectors += static_cast<int>(end - first);
      next = end;
    }
  }
  out = {sectors, ideal_sectors(addresses, access.bytes, sectors)};
  return true;
}

/// The largest number of distinct words of one bank that the active lanes touch; at least one lane.
int passes(const WarpAccess& access) {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for_each_lane(access.active, [&](int lane) {
    low = std::min(low, access.address[lane]);
    high = std::max(high, access.address[lane]);
  });
  // All in one row of banks: no bank has two words.
  if ((high + access.bytes - 1) / kBankBytes - low / kBankBytes < kBanks) return 1;
  Distinct words;
  std::uint8_t count[kBanks] = {};
  int most = 0;
  std::uint64_t before = ~low;  // no lane's address
  for_each_lane(access.active, [&](int lane) {
    const std::uint64_t address = access.address[lane];
    if (address == before) return;
    before = address;
    const std::uint64_t last = (address + access.bytes - 1) / kBankBytes;
    for (std::uint64_t word = address / kBankBytes; word <= last; ++word)
      if (words.insert(word)) most = std::max<int>(most, ++count[word % kBanks]);
  });
  return most;
}

int lanes_of_a_phase(int bytes) { return bytes <= 4 ? 32 : bytes == 8 ? 16 : 8; }

std::uint32_t phase_lanes(int phase, int lanes) {
  return (lanes == 32 ? kAllLanes : (1u << lanes) - 1) << (phase * lanes);
}

int active_phases(std::uint32_t active, int lanes) {
  int count = 0;
  for (int phase = 0; phase < kWarpLanes / lanes; ++phase)
    count += (active & phase_lanes(phase, lanes)) != 0;
  return count;
}

/// The sum over the phases of `lanes` lanes each.
SharedCost in_phases(const WarpAccess& access, int lanes) {
  SharedCost out{0, 0, 0};
  for (int phase = 0; phase < kWarpLanes / lanes; ++phase) {
    const std::uint32_t part = access.active & phase_lanes(phase, lanes);
    if (part == 0) continue;
    const int needed = passes({access.address, access.bytes, part});
    out.wavefronts += needed;
    out.ideal += 1;
    out.ways = std::max(out.ways, needed);
  }
  return out;
}

/// Every active lane has the address of its neighbour `lane xor distance`, if that is active.
bool paired(const WarpAccess& access, int distance) {
  for (std::uint32_t left = access.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left), other = lane ^ distance;
    if ((access.active >> other & 1) != 0 && access.address[lane] != access.address[other])
      return false;
  }
  return true;
}

}  // namespace

GlobalCost global_access(const WarpAccess& access) {
  GlobalCost out{0, 0};
  if (access.active == 0 || contiguous(access, out) || ascending(access, out)) return out;
  Distinct sectors, addresses;
  int sector_count = 0, address_count = 0;
  for_each_lane(access.active, [&](int lane) {
    const std::uint64_t address = access.address[lane];
    if (!addresses.insert(address)) return;
    ++address_count;
    sector_count += sectors.insert(address / kSectorBytes);
    sector_count += sectors.insert((address + access.bytes - 1) / kSectorBytes);
  });
  return {sector_count, ideal_sectors(address_count, access.bytes, sector_count)};
}

SharedCost shared_store(const WarpAccess& access) {
  return in_phases(access, lanes_of_a_phase(access.bytes));
}

SharedCost shared_load(const WarpAccess& access) {
  const int lanes = lanes_of_a_phase(access.bytes);
  if (lanes < kWarpLanes && (paired(access, 1) || paired(access, 2))) {
    // Without a conflict in a merged phase there is none in its parts.
    SharedCost merged = in_phases(access, 2 * lanes);
    if (merged.conflicts() == 0 && merged.wavefronts < active_phases(access.active, lanes)) {
      merged.basis = Basis::merging;
      return merged;
    }
  }
  return in_phases(access, lanes);
}

SharedCost shared_async_copy(const WarpAccess& access) {
  SharedCost out = shared_store(access);
  out.basis = Basis::estimate;
  return out;
}

SharedCost shared_matrix_load(const std::uint64_t* row, int matrices) {
  return shared_store({row, 16, matrices >= 4 ? kAllLanes : (1u << 8 * matrices) - 1});
}

}  // namespace tessera::check
