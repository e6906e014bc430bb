// Files and selections of many ranks: see rank_output.hpp.
#include "rank_output.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "scale/steps.hpp"
#include "scale/sums_exchange.hpp"
#include "selected.hpp"

namespace tessera::product {

namespace {

std::size_t blocks_of(const scale::RankPart& part) {
  return static_cast<std::size_t>(part.schedule.blocks_down() * part.schedule.blocks_across());
}

}  // namespace

RankOutput::RankOutput(Job& job, const MultiplyRequest& request, const LargeOperands& in,
                       const Plan& plan, const scale::ScalePlan& scale)
    : job_(job), request_(request), in_(in), plan_(plan), scale_(scale) {
  if (request.selects()) begin_selection();
  else begin_file();
}

void RankOutput::begin_selection() {
  job_.together([&] {
    if (job_.is_first()) check_output(request_.output, overwrite());
    selector_ = detail::make_row_selector(selection_of(request_), in_.types.sum, own().box.m(),
                                          in_.b.cols());
  });
}

void RankOutput::begin_file() {
  const index_t rows = in_.a.rows(), cols = in_.b.cols();
  const std::string path = path_in_blocks(request_);
  std::array<char, 32> tag{};
  const auto open_journal = [&] {
    if (request_.resume)
      journal_.emplace(
          path,
          question_of(request_, in_, plan_, own().schedule, static_cast<int>(scale_.ranks.size())),
          job_.rank());
  };
  job_.together([&] {
    if (!job_.is_first()) return;
    check_output(path, overwrite());
    open_journal();
    file_.emplace(path, in_.types.out, rows, cols, overwrite(),
                  journal_ ? journal_->unfinished() : Unfinished::remove);
    const std::string text = file_->tag();
    std::memcpy(tag.data(), text.data(), std::min(text.size(), tag.size() - 1));
  });
  job_.transport().broadcast(tag.data(), tag.size());
  job_.together([&] {
    if (job_.is_first()) return;
    open_journal();
    file_.emplace(BlockOutput::joined(path, tag.data(), in_.types.out, rows, cols));
  });
  if (request_.resume) agree_on_finished();
}

std::vector<char> RankOutput::blocks_in_journal() const {
  std::vector<char> out(blocks_of(own()));
  for (std::size_t n = 0; writes_c() && n < out.size(); ++n) {
    const std::uint64_t* const sum = journal_->find(static_cast<index_t>(n));
    if (sum == nullptr) continue;
    const scale::BlockPlace at = scale::place_of(own().schedule, static_cast<index_t>(n));
    const scale::Part part = scale::block_in_c(own(), at.i, at.j);
    const std::uint64_t found =
        file_->checksum_of(part.i0, part.j0, part.rows(), part.cols(), io::kNoChecksum);
    out[n] = found == *sum ? 1 : 0;
  }
  return out;
}

/// All ranks learn which blocks are finished, so that nobody sends for them.
void RankOutput::agree_on_finished() {
  std::vector<char> mine;
  job_.together([&] { mine = blocks_in_journal(); });
  std::vector<std::size_t> counts;
  for (const scale::RankPart& part : scale_.ranks) counts.push_back(blocks_of(part));
  std::vector<char> all;
  auto flags = job_.gathered(std::move(mine), counts);
  for (std::size_t n = 0; n < counts.size(); ++n) {
    flags[n].resize(counts[n]);
    all.insert(all.end(), flags[n].begin(), flags[n].end());
  }
  if (!all.empty()) job_.transport().broadcast(all.data(), static_cast<index_t>(all.size()));
  auto next = all.begin();
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const auto end = next + static_cast<std::ptrdiff_t>(counts[n]);
    if (scale_.ranks[n].box.k1 == scale_.request.shape.K)
      blocks_ += static_cast<index_t>(counts[n]), already_finished_ += std::count(next, end, 1);
    finished_.emplace_back(next, end);
    next = end;
  }
  finished_ = with_predecessors(scale_, std::move(finished_));
}

void RankOutput::connect(scale::RankProduct& product) {
  product.write = [this](const Array& part, index_t row, index_t col) { write(part, row, col); };
  product.is_finished = finished_;
  if (journal_)
    product.finished = [this](index_t block) {
      journal_->add(block, std::exchange(checksum_, io::kNoChecksum));
    };
}

void RankOutput::write(const Array& part, index_t row, index_t col) {
  if (selector_)
    return selector_->take(
        {part.data(), part.dtype(), part.rows(), part.cols(), part.row_stride(), part.col_stride()},
        row - own().box.m0, col, plan_.threads);
  file_->write(part, row, col);
  if (journal_) checksum_ = checksum_of(part, checksum_);
}

void RankOutput::commit() {
  if (selector_) return commit_selection();
  job_.together([&] { file_->flush(); });
  job_.together([&] {
    if (job_.is_first()) file_->commit();
  });
  if (journal_) journal_->remove();
}

/// Ranks with other columns of the same rows have selected from those.
void RankOutput::commit_selection() {
  std::unique_ptr<detail::RowSelector> all;
  SelectedEntries mine;
  job_.together([&] {
    mine = selector_->finish(plan_.threads);
    if (!writes_c()) mine = {};
    if (job_.is_first())
      all = detail::make_row_selector(selection_of(request_), in_.types.sum, in_.a.rows(),
                                      in_.b.cols());
  });
  const auto starts = job_.gathered_one(mine.starts.size());
  const auto columns = job_.gathered_one(mine.columns.size());
  std::vector<std::size_t> bytes = columns;
  for (std::size_t& count : bytes) count *= static_cast<std::size_t>(size_of(in_.types.sum));
  const auto all_starts = job_.gathered(std::move(mine.starts), starts);
  const auto all_columns = job_.gathered(std::move(mine.columns), columns);
  const auto all_values = job_.gathered(std::move(mine.values), bytes);
  job_.together([&] {
    if (!job_.is_first()) return;
    for (std::size_t n = 0; n < starts.size(); ++n) {
      if (starts[n] == 0) continue;
      const scale::Box& box = scale_.ranks[n].box;
      all->take(SelectedEntries{box.m(), in_.b.cols(), in_.types.sum, all_starts[n], all_columns[n],
                                all_values[n]},
                box.m0);
    }
    const SelectedEntries found = all->finish(plan_.threads);
    entries_ = found.count();
    write_selected(request_, found);
  });
}

}  // namespace tessera::product
