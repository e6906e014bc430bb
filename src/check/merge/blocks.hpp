// Adds the results of blocks, in the order of the blocks, whatever order they finish in; finds
// collisions of two blocks at one element. Private to src/check.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "check/block/result.hpp"
#include "check/memory_map.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

inline bool writes(const OrderedTouch& touch) {
  return touch.past.how == tessera::detail::Access::store ||
         touch.past.how == tessera::detail::Access::atomic;
}

/// Until the report is made, a mistake names its element by region and offset.
inline void set_raw(Mistake& mistake, int region, std::uint64_t offset) {
  mistake.tensor = cat(region);
  mistake.element = {static_cast<index_t>(offset)};
  mistake.is_raw = true;
}

class MergedBlocks {
 public:
  explicit MergedBlocks(const std::vector<Region>& regions)
      : piece_(regions.size() + 1), boxes_(regions.size() + 1) {}

  /// The result of block number `index` of those that are checked. From any thread.
  void add(std::size_t index, BlockResult result);

  /// A mistake with its positions as texts; mistakes with the same texts are counted together.
  const std::vector<Mistake>& mistakes() const { return mistakes_; }
  const std::map<std::pair<std::string, int>, Counters>& lines() const { return lines_; }
  const std::vector<SuperstepCounters>& supersteps() const { return supersteps_; }
  const std::vector<AccessSample>& samples() const { return samples_; }
  /// From the first block that has any.
  const std::vector<GatePhase>& gate_phases() const { return gate_phases_; }
  const std::vector<GateLines>& gates() const { return gates_; }
  const std::vector<TileLine>& tiles() const { return tiles_; }
  void add_mistake(const Mistake& mistake);
  /// After all blocks: reads of data that no block had written.
  void judge_unwritten();

 private:
  /// The first accesses to a piece, among the blocks so far.
  struct First {
    std::int64_t writer_block = -1, reader_block = -1;
    std::uint64_t value = 0;
    std::uint32_t write = 0, read = 0;  ///< places_
    std::uint16_t writer = 0, reader = 0;
    bool plain_write = false, atomic_write = false, of_block = false, is_volatile = false;
  };
  static constexpr std::uint64_t kPageBytes = 1024;
  /// Of one piece in `ordered_`: of those that write, and of those that do not.
  static constexpr std::ptrdiff_t kMostOrdered = 256;

  void merge(const BlockResult& result);
  First& first_at(int region, std::uint64_t offset);
  std::uint32_t place_of(const Here& here);
  void split(int region);
  void meet(const Touched& whole, std::int64_t block, bool is_ordered);
  void meet_piece(const Touched& touched, std::int64_t block, bool is_ordered);
  /// A bulk copy from a matrix that is no output matters once a block has written to it.
  void keep_box(const BoxRead& read, bool is_ordered);
  void meet_box(const BoxRead& read, bool is_ordered);
  /// Accesses of a block with clocks, and of later blocks without.
  void meet_ordered(const BlockResult& result);
  /// An atomic load, and the first plain write of an earlier block without clocks.
  void meet_first(const OrderedTouch& load);
  void meet_others(const Touched& touched, std::int64_t block);
  void compare(const OrderedTouch& touch);
  void add_ordered(const OrderedTouch& touch);
  OrderedTouch write_of(const First& first, int region, std::uint64_t offset) const;

  // ---- unwritten.cpp ----
  /// An atomic or volatile read of memory that had no value before the launch, and what other
  /// blocks write there so: it finds a value only if one of these is ordered before it.
  void meet_early(const OrderedTouch& read);
  bool is_written_by_others(const UnwrittenOutput& read, std::int64_t block);
  void race(const OrderedTouch& mine, const OrderedTouch& theirs, Order order);
  Here atomic_between(std::int64_t a, std::int64_t b) const;
  /// Explains what might have ordered the two blocks of a race.
  void explain_order(Mistake& mistake) const;
  void collide(const Touched& touched, std::int64_t block, const First& first, bool mine_writes,
               bool first_wrote);

  std::mutex mutex_;
  std::map<std::size_t, BlockResult> waiting_;
  std::size_t next_ = 0;
  std::vector<Mistake> mistakes_;
  std::map<std::pair<std::string, int>, Counters> lines_;
  std::vector<SuperstepCounters> supersteps_;
  std::vector<AccessSample> samples_;
  std::vector<GatePhase> gate_phases_;
  std::vector<GateLines> gates_;
  std::vector<TileLine> tiles_;
  std::map<std::tuple<std::string, int, int, int, std::string>, std::size_t> sample_index_;
  std::vector<Here> places_;
  /// By region and page of the outputs: the first accesses of each piece; pieces have the size that
  /// all blocks have used, or one byte.
  std::map<std::pair<int, std::uint64_t>, std::vector<First>> pages_;
  std::pair<int, std::uint64_t> last_at_;
  std::vector<First>* last_page_ = nullptr;  ///< the one at last_at_, used last
  std::vector<std::uint64_t> piece_;         ///< bytes, by region; 0: not known yet
  struct Boxes {
    bool is_written = false;                      ///< the memory, by any block so far
    std::vector<std::pair<BoxRead, bool>> reads;  ///< until then; has the block clocks?
  };
  std::vector<Boxes> boxes_;  ///< by region
  /// For blocks with clocks, by region and offset: as many as needed to find a race.
  std::map<std::pair<int, std::uint64_t>, std::vector<OrderedTouch>> ordered_;
  std::map<std::int64_t, std::vector<AtomicElement>> atomics_;  ///< by block
  std::map<std::int64_t, Here> near_fences_;  ///< by block: one that reaches no other
  std::vector<UnwrittenOutput> unwritten_;
  std::vector<Mistake> unwritten_mistakes_;
};

}  // namespace tessera::check
