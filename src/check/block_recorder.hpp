// Watches the threads of one block: takes down what they do, aligns the lanes of each warp into
// instructions where they meet, and gives these to the counters and the rules. One for each OS
// thread that checks. Private to src/check.
//
// block_recorder.cpp takes events down, warp_instructions.cpp aligns and counts, race_rules.cpp
// orders.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>

#include "block_result.hpp"
#include "event_log.hpp"
#include "memory_map.hpp"
#include "shadow.hpp"
#include "tessera/check/memory_rules.hpp"
#include "tessera/core/recorder.hpp"

namespace tessera::check {

/// What all recorders of a run share.
struct RunContext {
  const Options& options;
  const detail::Launch& launch;
  std::vector<Region> regions;  ///< of the tensors
  std::atomic<bool> stop{false};
};

/// How often an element of a tensor was touched, in all blocks of one recorder.
struct Touches {
  static constexpr std::uint8_t kRead = 1, kWritten = 2, kWrittenAgain = 4,
                                kUpdated = 8;  ///< atomically, as often as you like
  std::vector<std::uint8_t> elements;          ///< by distance from the region's first byte
};

class BlockRecorder final : public tessera::detail::Recorder, public BlockObserver {
 public:
  explicit BlockRecorder(const RunContext& context);

  /// The next block is this one.
  void start(const Position& block);
  /// What was seen of it.
  BlockResult finish();
  const std::vector<Touches>& touches() const { return touches_; }
  /// Is the OS thread inside of a kernel, where it may be stopped anywhere?
  bool in_kernel() const { return in_kernel_.load(); }
  void add_mistake(Mistake mistake);
  /// Counts one more of a mistake that was met before, and at least as badly; false: it was not.
  bool is_repeated(const Mistake& mistake);

  bool touch(const void* address, std::size_t bytes, tessera::detail::Access access,
             std::uint64_t bits, const Here& here) override;
  void outside(const index_t* position, int count, const index_t* existing, int rank,
               const Here& here) override;
  void tile(const void* base, const tessera::detail::TileInfo& info) override;
  void multiply_add(std::uint64_t acc, std::size_t bytes, const Here& here) override;
  void matrix_flops(std::int64_t flops, const Here& here) override;
  void async_copies(bool begin) override { copies_async_ = begin; }
  void commit(const Here& here) override;
  void wait(int pending, const Here& here) override;
  void superstep(const char* name) override {
    superstep_of_[static_cast<std::size_t>(thread_)] = name;
  }

  void begins(std::byte* shared) override;
  void runs(int thread) override;
  void ends(int thread) override;
  void warp_met(int warp, const char* verb, const Here& here) override;
  bool block_met(const char* name, const Here& here, int ended) override;
  void fails(const BlockFault& fault) override;

 private:
  /// One place of the source.
  struct Site {
    Here here;
    Counters counters;
    bool used = false;
  };
  /// One access of the source.
  struct AccessPoint {
    const char* file = nullptr;
    std::uint64_t key = 0;
    std::uint16_t site = 0;
    AccessSample sample;
  };
  struct Pending {
    int group, region;
    std::uint64_t offset;
    int bytes;
    std::uint16_t site;
  };
  struct Async {
    int committed = 0;
    std::vector<Pending> copies;
  };
  struct TileAt {
    const tessera::detail::TileInfo* info = nullptr;
    std::uint64_t base = 0;
    std::uint32_t generation = 1, read_epoch = 0, load_epoch = 0;
  };
  /// An access by one lane, as the rules see it.
  struct LaneAccess {
    int region, bytes, thread;
    std::uint64_t offset, bits;
    std::uint16_t site;
    bool is_atomic;
  };

  // ---- block_recorder.cpp ----
  int warp_of(int thread) const { return thread / warp_size_; }
  const Region* find_region(std::uint64_t address, int* number);
  bool touch_elsewhere(std::uint64_t address, std::size_t bytes, tessera::detail::Access access,
                       const Here& here);
  void report_outside(const Region* region, int number, std::uint64_t address,
                      tessera::detail::Access access, const Here& here);
  Mistake mistake_at(Kind kind, Memory memory, const Here& here) const;
  /// Names tensor and element of a byte of a region.
  void locate(Mistake& mistake, int region, std::uint64_t offset);
  const Region& region(int number) const;
  std::uint16_t site_of(const Here& here);
  Counters& counters_at(const Here& here);
  TileAt* tile_at(std::uint64_t offset);
  void require_time() const;

  // ---- warp_instructions.cpp ----
  void drain_all();
  void drain(int warp);
  /// The lanes of `active` (bits) at addresses address_[lane] carry out the access `key`.
  void instruction(const char* file, std::uint64_t key, int warp, std::uint64_t active,
                   std::uint64_t all);
  AccessPoint& point_of(const char* file, std::uint64_t key);
  void count(AccessPoint& point, int warp, std::uint64_t active, std::uint64_t all);
  void cover(int region, EventKind kind, int bytes, std::uint64_t active);
  void close_superstep(const std::string& label);

  // ---- race_rules.cpp ----
  Shadow& shadow(int region);
  /// Adds a mistake of an access, with tensor and element.
  void report(Mistake mistake, const LaneAccess& access);
  void read_by(const LaneAccess& access);
  void write_by(const LaneAccess& access);
  void issue_async(const LaneAccess& access);
  void commit_async(int thread);
  void wait_async(int thread, int pending);
  void never_waited(int thread);
  void check_pair(const Mark& earlier, bool earlier_writes, const Mark& mine, bool mine_writes,
                  bool same_value, const LaneAccess& access);
  Mark mark_of(const LaneAccess& access) const;
  void resolve_uninitialized();
  void collect_touched(BlockResult& out);

  const RunContext& context_;
  const bool rules_;
  int threads_ = 0, warp_size_ = 32, warps_ = 0;
  Position block_;
  Region shared_;
  std::vector<Region> regions_;  ///< [0] shared storage, then the tensors
  std::size_t last_region_ = 0;

  int thread_ = 0;
  EventLog* log_ = nullptr;
  std::vector<EventLog> logs_;
  std::vector<const char*> superstep_of_;
  std::vector<Here> last_here_;  ///< of the last access of a thread
  std::vector<int> ended_lanes_;
  std::atomic<bool> in_kernel_{false};
  bool copies_async_ = false;

  bool outside_pending_ = false;
  Here outside_here_;
  std::vector<index_t> outside_position_, outside_existing_;

  std::vector<Site> sites_;
  std::unordered_map<std::uint64_t, std::vector<std::uint16_t>> site_index_;
  Here last_site_here_;
  std::uint16_t last_site_ = 0;
  std::vector<std::unique_ptr<AccessPoint>> points_;
  static constexpr std::size_t kPointCache = 256;
  std::vector<AccessPoint*> point_cache_;
  std::map<std::pair<const char*, std::uint64_t>, AccessPoint*> point_index_;

  std::uint64_t address_[64] = {}, bits_[64] = {};  ///< of the instruction at hand
  Counters epoch_counters_;                         ///< since the last block barrier
  std::vector<SuperstepCounters> supersteps_;
  std::vector<Touches> touches_;

  std::uint32_t epoch_ = 1;
  std::vector<std::uint32_t> warp_epoch_;
  std::vector<Shadow> shadows_;
  std::vector<Async> async_;
  std::vector<TileAt> tiles_;          ///< of shared storage
  std::vector<int> tile_at_;           ///< by 16 bytes of shared storage; -1: none begins here
  std::vector<LaneAccess> unwritten_;  ///< reads of shared storage before any write
  std::vector<Mistake> mistakes_;
  std::size_t unlabelled_ = 0;  ///< mistakes from here on have no superstep yet
};

}  // namespace tessera::check
