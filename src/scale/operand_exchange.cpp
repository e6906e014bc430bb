// Loads and sends of one operand: see operand_exchange.hpp.
#include "operand_exchange.hpp"

namespace tessera::scale {

namespace {

/// Messages that are under way to one rank at a time.
constexpr std::size_t kMostUnderWay = 4;

}  // namespace

Part wanted(Kind kind, const RankPart& rank, const Step& step) {
  const Box& box = rank.box;
  if (kind == Kind::a) {
    if (!step.loads_a) return {};
    const Part p = a_of(rank.schedule, step);
    return {p.i0 + box.m0, p.i1 + box.m0, p.j0 + box.k0, p.j1 + box.k0};
  }
  if (!step.loads_b) return {};
  const Part p = b_of(rank.schedule, step);
  return {p.i0 + box.k0, p.i1 + box.k0, p.j0 + box.n0, p.j1 + box.n0};
}

Outgoing::Outgoing(Kind kind, const Shares& shares, const RankPart& receiver, Steps steps,
                   std::vector<std::size_t> own)
    : kind_(kind),
      shares_(shares),
      receiver_(receiver),
      steps_(std::move(steps)),
      own_(std::move(own)) {
  find();
}

void Outgoing::advance() {
  ++next_;
  find();
}

void Outgoing::find() {
  for (; step_ < steps_.count(); ++step_, next_ = 0) {
    const Part all = wanted(kind_, receiver_, steps_.at(step_));
    for (; next_ < own_.size() && !all.is_empty(); ++next_) {
      part_ = common(all, shares_.all[own_[next_]].part);
      if (!part_.is_empty()) return;
    }
  }
}

OperandExchange::OperandExchange(Kind kind, Shares shares, Order order, const ScalePlan& plan,
                                 const Finished& finished, Counted& messages, Slots& slots,
                                 std::mutex& mutex)
    : kind_(kind),
      shares_(std::move(shares)),
      order_(order),
      own_(plan.ranks[static_cast<std::size_t>(messages.rank())]),
      messages_(messages),
      slots_(slots),
      mutex_(mutex),
      data_(shares_.all.size()),
      kept_(shares_.all.size()) {
  std::vector<std::vector<std::size_t>> to(plan.ranks.size());
  for (std::size_t n = 0; n < shares_.all.size(); ++n) {
    for (const int user : shares_.users[static_cast<std::size_t>(shares_.all[n].cell)]) {
      if (user == messages_.rank()) used_.push_back(n);
      else if (is_mine(n)) to[static_cast<std::size_t>(user)].push_back(n);
    }
  }
  for (std::size_t rank = 0; rank < to.size(); ++rank) {
    if (to[rank].empty()) continue;
    Outgoing next(kind_, shares_, plan.ranks[rank], steps_of(plan, rank, finished),
                  std::move(to[rank]));
    receivers_.push_back({static_cast<int>(rank), std::move(next), {}});
  }
}

void OperandExchange::keep(std::size_t share, const Array& data) {
  const std::lock_guard lock(mutex_);
  data_[share] = data, kept_[share] = true;
}

bool OperandExchange::is_kept(std::size_t share) {
  const std::lock_guard lock(mutex_);
  return kept_[share];
}

bool OperandExchange::begin_load(const Step& step) {
  index_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = slots_.filled + static_cast<index_t>(loads_.size());
    if (number - slots_.released >= slots_.count()) return false;
  }
  Load load;
  load.whole = wanted(kind_, own_, step);
  load.to = matrix_in(slots_.slot(number), order_, load.whole.rows(), load.whole.cols());
  for (const std::size_t n : used_) {
    const Share& share = shares_.all[n];
    const Part part = common(load.whole, share.part);
    if (part.is_empty()) continue;
    if (is_mine(n)) load.own.push_back({n, part});
    else
      load.tickets.push_back(
          messages_.receive(lines_of(load.to, order_, load.whole, part), share.owner, kind_));
  }
  loads_.push_back(std::move(load));
  return true;
}

bool OperandExchange::finish_loads() {
  std::size_t moved = 0;
  for (Load& load : loads_) {
    moved += std::erase_if(load.tickets, [&](auto ticket) { return messages_.is_done(ticket); });
    moved += std::erase_if(load.own, [&](const Own& own) {
      if (!is_kept(own.share)) return false;
      copy_lines(lines_of(data_[own.share], order_, shares_.all[own.share].part, own.part),
                 lines_of(load.to, order_, load.whole, own.part));
      return true;
    });
  }
  while (!loads_.empty() && loads_.front().tickets.empty() && loads_.front().own.empty()) {
    loads_.pop_front();
    ++moved;
    const std::lock_guard lock(mutex_);
    ++slots_.filled;
  }
  return moved > 0;
}

bool OperandExchange::send() {
  bool moved = false;
  for (Receiver& to : receivers_) {
    while (!to.under_way.empty() && messages_.is_done(to.under_way.front()))
      to.under_way.pop_front(), moved = true;
    while (!to.next.is_at_end() && to.under_way.size() < kMostUnderWay &&
           is_kept(to.next.share())) {
      const std::size_t n = to.next.share();
      to.under_way.push_back(messages_.send(
          lines_of(data_[n], order_, shares_.all[n].part, to.next.part()), to.rank, kind_));
      to.next.advance();
      moved = true;
    }
  }
  return moved;
}

bool OperandExchange::has_sent_all() const {
  return std::all_of(receivers_.begin(), receivers_.end(), [](const Receiver& to) {
    return to.next.is_at_end() && to.under_way.empty();
  });
}

}  // namespace tessera::scale
