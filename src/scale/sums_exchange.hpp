// Sums of one rank of a product on many: those that it continues, those that others continue, and
// finished ones that others own. Only the thread that exchanges messages calls it.
#pragma once

#include "counted.hpp"
#include "rank_product.hpp"
#include "steps.hpp"

namespace tessera::scale {

/// The part of C of a block of a rank's box, in the whole product.
Part block_in_c(const RankPart& rank, index_t i, index_t j);

class SumsExchange {
 public:
  /// `sums`: of the whole box of this rank. `c`: where finished sums go, if not to a file.
  SumsExchange(const ScalePlan& plan, const Finished& finished, const Array& sums,
               const Gathered* c, Counted& messages);

  /// By block of this rank: messages with sums of it that have not arrived.
  const std::vector<index_t>& missing() const { return missing_; }
  /// Takes what has arrived; calls arrived(block) for each block with one message less to wait for.
  bool take(const std::function<void(index_t)>& arrived);
  /// Sends the sums of a finished block to where they go.
  void pass_on(const BlockPlace& block);
  /// True if anything sent has left.
  bool finish_sends();
  bool has_ended() const { return in_.empty() && out_.empty() && results_.empty(); }

 private:
  struct Arriving {
    Transport::Ticket ticket;
    Part part;
  };
  struct Result {
    Transport::Ticket ticket;
    std::size_t share;
    Part part;
    Array sums;
  };
  template <class Found>
  void each_finished(std::size_t rank, const Found& found) const;
  void expect_sums();
  void expect_results();
  void send(const Part& part, int to, Kind kind);
  template <class Found>
  void each_block(const Part& part, const Found& found) const;
  template <class Found>
  void each_share(const Part& block, const Found& found) const;

  const ScalePlan& plan_;
  const Finished& finished_;
  const RankPart& own_;
  const Array sums_;
  const Gathered* c_;
  Counted& messages_;
  std::vector<index_t> missing_;
  std::vector<Arriving> in_;
  std::vector<Transport::Ticket> out_;
  std::vector<Result> results_;
};

}  // namespace tessera::scale
