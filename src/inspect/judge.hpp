// Is a kernel correct? Compares every element of its outputs with a reference, on several data and
// shapes, and adds the findings of the checker. `tessera judge` prints the verdict.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "checked_kernel.hpp"
#include "reference.hpp"
#include "tessera/check/sweep.hpp"

namespace tessera::inspect {

struct JudgeRequest {
  CheckedKernel kernel;
  std::string launch, reference, flags, tile;
};

/// Why a kernel is rejected, or a remark.
struct Reason {
  std::string kind, text, data;  ///< data: of the launch; empty: of any
  check::SweepCase which;
};

struct Verdict {
  std::vector<Reason> reasons;  ///< of the first rejected case
  std::vector<Reason> remarks;  ///< warnings, each from the first case with it
  std::size_t cases = 0, judged = 0, compared = 0;
  std::string incomplete;  ///< empty: all cases were judged
  std::size_t not_compared = 0;
  std::string why_not;  ///< why the first uncompared case was not compared

  bool is_accepted() const { return reasons.empty() && incomplete.empty(); }
  int exit_code() const { return is_accepted() ? 0 : reasons.empty() ? 4 : 1; }
};

/// Runs the cases up to the first rejected one, or to the time limit.
Verdict judge(const JudgeRequest& request, const Reference& reference);

}  // namespace tessera::inspect
