// Who continues which sums: see sums_exchange.hpp. Receives are posted at the beginning, in the
// order in which each sender finishes its blocks.
#include "sums_exchange.hpp"

#include "lines.hpp"

namespace tessera::scale {

Part block_in_c(const RankPart& rank, index_t i, index_t j) {
  const Part p = c_of(rank.schedule, i, j);
  return {p.i0 + rank.box.m0, p.i1 + rank.box.m0, p.j0 + rank.box.n0, p.j1 + rank.box.n0};
}

Finished with_predecessors(const ScalePlan& plan, Finished finished) {
  std::vector<Part> parts;
  const auto each_block = [&](std::size_t rank, const auto& found) {
    const RankPart& own = plan.ranks[rank];
    for (std::size_t block = 0; block < finished[rank].size(); ++block) {
      const BlockPlace at = place_of(own.schedule, static_cast<index_t>(block));
      found(block, block_in_c(own, at.i, at.j));
    }
  };
  const auto is_last = [&](std::size_t rank) {
    return plan.ranks[rank].box.k1 == plan.request.shape.K;
  };
  for (std::size_t rank = 0; rank < finished.size(); ++rank)
    if (is_last(rank))
      each_block(rank, [&](std::size_t block, const Part& part) {
        if (finished[rank][block]) parts.push_back(part);
      });
  for (std::size_t rank = 0; rank < finished.size(); ++rank) {
    if (is_last(rank)) continue;
    each_block(rank, [&](std::size_t block, const Part& part) {
      index_t elements = 0;
      for (const Part& other : parts) {
        const Part shared = common(part, other);
        if (!shared.is_empty()) elements += shared.rows() * shared.cols();
      }
      finished[rank][block] = elements == part.rows() * part.cols();
    });
  }
  return finished;
}

SumsExchange::SumsExchange(const ScalePlan& plan, const Finished& finished, const Array& sums,
                           const Gathered* c, Counted& messages)
    : plan_(plan),
      finished_(finished),
      own_(plan.ranks[static_cast<std::size_t>(messages.rank())]),
      sums_(sums),
      c_(c),
      messages_(messages),
      missing_(
          static_cast<std::size_t>(own_.schedule.blocks_down() * own_.schedule.blocks_across())) {
  if (own_.box.k0 > 0) expect_sums();
  if (c_ != nullptr) expect_results();
}

/// Calls found(part of C) for each block that a rank computes, in the order in which it finishes
/// them.
template <class Found>
void SumsExchange::each_finished(std::size_t rank, const Found& found) const {
  const Steps steps = steps_of(plan_, rank, finished_);
  for (index_t n = 0; n < steps.count(); ++n) {
    const Step t = steps.at(n);
    if (t.last) found(block_in_c(plan_.ranks[rank], t.i, t.j));
  }
}

/// Calls found(number) for the blocks of this rank that have elements of a part of C.
template <class Found>
void SumsExchange::each_block(const Part& part, const Found& found) const {
  for (index_t block = 0; block < static_cast<index_t>(missing_.size()); ++block) {
    const BlockPlace at = place_of(own_.schedule, block);
    if (!common(block_in_c(own_, at.i, at.j), part).is_empty()) found(block);
  }
}

/// Calls found(number, part) for the shares of C that have elements of a block.
template <class Found>
void SumsExchange::each_share(const Part& block, const Found& found) const {
  for (std::size_t n = 0; n < c_->shares.all.size(); ++n) {
    const Part part = common(block, c_->shares.all[n].part);
    if (!part.is_empty()) found(n, part);
  }
}

void SumsExchange::expect_sums() {
  for (std::size_t rank = 0; rank < plan_.ranks.size(); ++rank) {
    const RankPart& from = plan_.ranks[rank];
    if (from.box.k1 != own_.box.k0 || from.box.k() == 0) continue;
    each_finished(rank, [&](const Part& block) {
      const Part part = common(block, part_of_c(own_.box));
      if (part.is_empty()) return;
      each_block(part, [&](index_t n) { ++missing_[static_cast<std::size_t>(n)]; });
      in_.push_back({messages_.receive(lines_of(sums_, Order::c, part_of_c(own_.box), part),
                                       static_cast<int>(rank), Kind::sums),
                     part});
    });
  }
}

void SumsExchange::expect_results() {
  for (std::size_t rank = 0; rank < plan_.ranks.size(); ++rank) {
    const RankPart& from = plan_.ranks[rank];
    if (from.box.k1 != plan_.request.shape.K || &from == &own_) continue;
    each_finished(rank, [&](const Part& block) {
      each_share(block, [&](std::size_t share, const Part& part) {
        if (c_->shares.all[share].owner != messages_.rank()) return;
        const Array sums = make_array(sums_.dtype(), {part.rows(), part.cols()});
        results_.push_back({messages_.receive(lines_of(sums, Order::c, part, part),
                                              static_cast<int>(rank), Kind::result),
                            share, part, sums});
      });
    });
  }
}

bool SumsExchange::take(const std::function<void(index_t)>& arrived) {
  const auto sums = std::erase_if(in_, [&](const Arriving& each) {
    if (!messages_.is_done(each.ticket)) return false;
    each_block(each.part, arrived);
    return true;
  });
  const auto results = std::erase_if(results_, [&](const Result& each) {
    if (!messages_.is_done(each.ticket)) return false;
    c_->take(each.share, each.part, each.sums);
    return true;
  });
  return sums + results > 0;
}

void SumsExchange::send(const Part& part, int to, Kind kind) {
  out_.push_back(messages_.send(lines_of(sums_, Order::c, part_of_c(own_.box), part), to, kind));
}

void SumsExchange::pass_on(const BlockPlace& at) {
  const Part block = block_in_c(own_, at.i, at.j);
  if (own_.box.k1 == plan_.request.shape.K) {
    each_share(block, [&](std::size_t n, const Part& part) {
      const int owner = c_->shares.all[n].owner;
      if (owner != messages_.rank()) return send(part, owner, Kind::result);
      const Lines lines = lines_of(sums_, Order::c, part_of_c(own_.box), part);
      c_->take(n, part,
               {sums_.dtype(), {part.rows(), part.cols()}, sums_.strides(), lines.first, nullptr});
    });
    return;
  }
  for (std::size_t rank = 0; rank < plan_.ranks.size(); ++rank) {
    const RankPart& to = plan_.ranks[rank];
    if (to.box.k0 != own_.box.k1 || to.box.k() == 0) continue;
    const Part part = common(block, part_of_c(to.box));
    if (!part.is_empty()) send(part, static_cast<int>(rank), Kind::sums);
  }
}

bool SumsExchange::finish_sends() {
  return std::erase_if(out_, [&](auto ticket) { return messages_.is_done(ticket); }) > 0;
}

}  // namespace tessera::scale
