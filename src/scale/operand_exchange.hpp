// A or B of one rank of a product on many: its shares, what it sends of them to which rank in which
// order, and the slices that it receives. Only the thread that exchanges messages calls it, but for
// is_mine() and keep().
#pragma once

#include <deque>
#include <mutex>

#include "counted.hpp"
#include "lines.hpp"
#include "slots.hpp"
#include "steps.hpp"

namespace tessera::scale {

/// What a step of a rank's box loads of A (Kind::a) or B, in the whole matrix; empty if nothing.
Part wanted(Kind kind, const RankPart& rank, const Step& step);

/// Goes over all that one rank sends to another of one operand, message by message, in the order in
/// which the receiver loads.
class Outgoing {
 public:
  /// `steps`: the receiver's; `own`: the sender's shares that it uses, by their numbers.
  Outgoing(Kind kind, const Shares& shares, const RankPart& receiver, Steps steps,
           std::vector<std::size_t> own);
  bool is_at_end() const { return step_ >= steps_.count(); }
  std::size_t share() const { return own_[next_]; }
  const Part& part() const { return part_; }
  void advance();

 private:
  void find();

  Kind kind_;
  const Shares& shares_;
  const RankPart& receiver_;
  Steps steps_;
  std::vector<std::size_t> own_;
  index_t step_ = 0;
  std::size_t next_ = 0;
  Part part_;
};

class OperandExchange {
 public:
  /// `mutex` guards the counters of `slots`.
  OperandExchange(Kind kind, Shares shares, Order order, const ScalePlan& plan,
                  const Finished& finished, Counted& messages, Slots& slots, std::mutex& mutex);

  Order order() const { return order_; }
  const Shares& shares() const { return shares_; }
  bool is_mine(std::size_t share) const { return shares_.all[share].owner == messages_.rank(); }
  /// The elements of a share of this rank; from now on they can be sent.
  void keep(std::size_t share, const Array& data);

  /// Requests the slice of a step; false if no buffer is free.
  bool begin_load(const Step& step);
  /// Completes loads whose messages have arrived, in order; true if anything moved.
  bool finish_loads();
  /// Sends what can be sent; true if anything moved.
  bool send();
  bool has_sent_all() const;

 private:
  /// Part of a load that this rank owns.
  struct Own {
    std::size_t share;
    Part part;
  };
  /// A slice that is being loaded into a buffer.
  struct Load {
    Array to;
    Part whole;
    std::vector<Transport::Ticket> tickets;
    std::vector<Own> own;
  };
  struct Receiver {
    int rank;
    Outgoing next;
    std::deque<Transport::Ticket> under_way;
  };
  bool is_kept(std::size_t share);

  const Kind kind_;
  const Shares shares_;
  const Order order_;
  const RankPart& own_;
  Counted& messages_;
  Slots& slots_;
  std::mutex& mutex_;
  std::vector<std::size_t> used_;  ///< shares with this rank among their users
  std::vector<Array> data_;        ///< of shares that this rank owns
  std::vector<bool> kept_;         ///< by share
  std::deque<Load> loads_;
  std::deque<Receiver> receivers_;
};

}  // namespace tessera::scale
