// What the ranks of one product write: C, a file that rank 0 begins and commits and all write to,
// or the selected entries of its rows, which rank 0 collects. With --resume each rank has a journal
// of the blocks of C that it has finished.
#pragma once

#include <memory>
#include <optional>

#include "io/block_journal.hpp"
#include "io/checksum.hpp"
#include "large_operands.hpp"
#include "matmul/row_selector.hpp"
#include "rank_job.hpp"
#include "scale/rank_product.hpp"

namespace tessera::product {

class RankOutput {
 public:
  RankOutput(Job& job, const MultiplyRequest& request, const LargeOperands& in, const Plan& plan,
             const scale::ScalePlan& scale);

  /// Gives the product its callbacks, and the blocks that a journal has.
  void connect(scale::RankProduct& product);
  void commit();

  index_t blocks() const { return blocks_; }  ///< of C, on all ranks
  index_t already_finished() const { return already_finished_; }
  index_t entries() const { return entries_; }  ///< selected ones, at rank 0

 private:
  const scale::RankPart& own() const { return scale_.ranks[static_cast<std::size_t>(job_.rank())]; }
  Overwrite overwrite() const { return request_.force ? Overwrite::replace : Overwrite::refuse; }
  bool writes_c() const { return own().box.k1 == scale_.request.shape.K; }
  void begin_selection();
  void begin_file();
  std::vector<char> blocks_in_journal() const;
  void agree_on_finished();
  void write(const Array& part, index_t row, index_t col);
  void commit_selection();

  Job& job_;
  const MultiplyRequest& request_;
  const LargeOperands& in_;
  const Plan& plan_;
  const scale::ScalePlan& scale_;
  std::unique_ptr<detail::RowSelector> selector_;  ///< of the rows of this rank's box
  std::optional<BlockJournal> journal_;
  std::optional<BlockOutput> file_;
  std::uint64_t checksum_ = io::kNoChecksum;  ///< of the block that is being written
  scale::Finished finished_;
  index_t blocks_ = 0, already_finished_ = 0, entries_ = 0;
};

}  // namespace tessera::product
