// Makes the report of a run: texts, coverage, order. Private to src/check.
#pragma once

#include "block_recorder.hpp"
#include "merge_blocks.hpp"

namespace tessera::check {

Report finish_report(const RunContext& context, MergedBlocks& merged,
                     const std::vector<const BlockRecorder*>& recorders, std::int64_t checked);

/// What happened, and the likely cause with what to try, in sentences.
std::string problem_of(const Mistake& mistake, const RunContext& context);
std::string hint_of(const Mistake& mistake);

}  // namespace tessera::check
