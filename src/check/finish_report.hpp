// Makes the report of a run: texts, coverage, order. Private to src/check.
#pragma once

#include "block/recorder.hpp"
#include "merge/blocks.hpp"

namespace tessera::check {

/// The number of blocks to check, and of those that completed.
struct Progress {
  std::int64_t wanted = 0, checked = 0;
};
/// The findings are merged by their causes, and suppressed as the options ask.
Report finish_report(const RunContext& context, MergedBlocks& merged,
                     const std::vector<const BlockRecorder*>& recorders, Progress progress);

/// Reports elements of outputs that changed although no recorder saw a write.
void judge_unseen(const RunContext& context, const std::vector<const BlockRecorder*>& recorders,
                  MergedBlocks& merged);

/// What happened, the likely cause and what to try, in sentences.
std::string problem_of(const Mistake& mistake, const RunContext& context);
std::string hint_of(const Mistake& mistake);

}  // namespace tessera::check
