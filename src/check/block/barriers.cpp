// Describes barriers that not all threads of a block reach alike. See recorder.hpp.
#include <algorithm>
#include <bit>

#include "recorder.hpp"

namespace tessera::check {

bool BlockRecorder::has_met(Here barrier) const {
  return std::any_of(barriers_.begin(), barriers_.end(),
                     [&](const Here& each) { return is_same_place(each, barrier); });
}

bool BlockRecorder::is_passed_by(Here barrier) const {
  const auto known =
      barriers_.begin() + static_cast<std::ptrdiff_t>(std::min(barriers_before_, barriers_.size()));
  return ran_through_ >= 0 && std::none_of(barriers_.begin(), known, [&](const Here& each) {
           return is_same_place(each, barrier);
         });
}

void BlockRecorder::report_early_return(Here barrier, int ended) {
  int waiting = 0;
  while (waiting < threads_ &&
         (alive_[static_cast<std::size_t>(warp_of(waiting))] >> (waiting & (warp_size_ - 1)) & 1) ==
             0)
    ++waiting;
  const bool is_diverged = is_passed_by(barrier);
  Mistake mistake = mistake_at(is_diverged ? Kind::diverged_barrier : Kind::early_return,
                               Memory::none, barrier, waiting);
  mistake.severity = is_diverged ? Severity::error : Severity::warning;
  mistake.other_thread = is_diverged ? ran_through_ : first_ended_;
  mistake.other_here = last_here_[static_cast<std::size_t>(mistake.other_thread)];
  mistake.repeats = !is_diverged && has_met(barrier);
  mistake.detail = cat(ended, " of ", threads_, " threads");
  mistake.passes_by = is_diverged;
  mistake.barrier = epoch_;
  add_mistake(std::move(mistake));
}

bool BlockRecorder::warps_part(int thread, const Here& here, int other, const Here& other_here) {
  if (!context_.launch.is_cuda) return false;
  Mistake mistake = mistake_at(Kind::diverged_barrier, Memory::none, here, thread);
  mistake.severity = Severity::warning;
  mistake.other_thread = other;
  mistake.other_here = other_here;
  mistake.barrier = epoch_;
  add_mistake(std::move(mistake));
  return true;
}

}  // namespace tessera::check
