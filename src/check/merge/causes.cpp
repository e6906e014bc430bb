// Merges findings with one cause: see causes.hpp.
#include "causes.hpp"

#include <algorithm>
#include <utility>

namespace tessera::check {

namespace {

bool is_same_line(const Location& a, const Location& b) {
  return a.line == b.line && a.file == b.file;
}

/// The same two source positions; of races, the same two lines.
bool is_same_pair(const Finding& a, const Finding& b) {
  if (a.kind != Kind::race) return a.location == b.location && a.other == b.other;
  return is_same_line(a.location, b.location) && is_same_line(a.other, b.other);
}

/// An access to a copy before the wait for it also races with that access.
bool follows(const Finding& race, const Location& access, const Location& copy) {
  return (is_same_line(race.location, access) && is_same_line(race.other, copy)) ||
         (is_same_line(race.location, copy) && is_same_line(race.other, access));
}

/// Something is in flight when the block ends; if an access meets it before, that is the finding.
bool is_left_at_the_end(const Finding& f) {
  return f.kind == Kind::async_never_waited ||
         ((f.kind == Kind::mma_not_awaited || f.kind == Kind::store_never_awaited) &&
          f.other.line == 0);
}
/// An access that meets it before; or a warp leaves the loop before the wait of the others.
bool is_unawaited(const Finding& f) {
  return f.kind == Kind::async_not_waited || f.kind == Kind::bulk_not_awaited ||
         f.kind == Kind::gate_phase || f.kind == Kind::mma_not_awaited ||
         f.kind == Kind::store_never_awaited || f.kind == Kind::mma_unordered;
}

/// One wait or fence would do for both: for a product, for all copies into a stage, before a
/// product or store.
bool is_one_wait(const Finding& first, const Finding& other) {
  const auto is_own = [](const Finding& f) { return is_same_line(f.location, f.other); };
  const bool is_of_one = is_same_line(first.other, other.other);
  if (first.kind != other.kind) return false;
  if (first.kind == Kind::mma_not_awaited) return is_of_one && first.other.line > 0;
  if (first.kind == Kind::stage_reused)
    return is_own(first) ? is_own(other) : is_of_one && !is_own(other);
  return first.kind == Kind::missing_async_fence && is_same_line(first.location, other.location);
}

bool is_one_cause(const Finding& first, const Finding& other) {
  if (is_one_wait(first, other)) return true;
  if (first.kind == other.kind && is_same_line(first.location, other.location) &&
      (first.kind == Kind::cluster_exit ||
       (first.kind == Kind::gate_bytes && is_same_line(first.other, other.other))))
    return true;
  if (first.memory != Memory::shared || other.memory != Memory::shared) return false;
  if (first.kind == Kind::async_not_waited && other.kind == Kind::race)
    return follows(other, first.location, first.other) ||
           std::any_of(first.also.begin(), first.also.end(),
                       [&](const Also& also) { return follows(other, also.location, also.other); });
  if (first.kind != other.kind) return false;
  if (is_same_pair(first, other)) return true;
  // One wait covers the copies of all tiles.
  return (first.kind == Kind::async_not_waited || first.kind == Kind::bulk_not_awaited ||
          first.kind == Kind::gate_phase) &&
         is_same_line(first.location, other.location);
}

// ---- rings of stages ----------------------------------------------------------------------------

/// An access to a stage, or a copy into it, at the wrong time.
bool is_of_stage(Kind kind) {
  return kind == Kind::bulk_not_awaited || kind == Kind::gate_phase || kind == Kind::stage_reused;
}
bool is_of_ring(Kind kind) {
  return is_of_stage(kind) || kind == Kind::gate_arrivals || kind == Kind::gate_bytes ||
         kind == Kind::stuck;
}
/// It ended the block, rather than one access.
bool is_fault(const Mistake& m) { return m.memory == Memory::none; }
bool is_of_ring(const Mistake& m) {
  return is_of_ring(m.kind) || (m.kind == Kind::cluster_exit && m.by_copy) ||
         (m.kind == Kind::missing_barrier && is_fault(m) && m.at_gates);
}

const Here& copy_of(const Mistake& m) {
  return m.kind == Kind::stage_reused ? m.here : m.other_here;
}

bool share_copy(const Mistake& a, const Mistake& b) {
  return is_of_stage(a.kind) && is_of_stage(b.kind) && is_same_place(copy_of(a), copy_of(b));
}

/// No wait, or one for a phase that was over: an access came before its copy.
bool is_no_wait(const Mistake& m) {
  return (m.kind == Kind::gate_phase && !is_fault(m)) ||
         (m.kind == Kind::bulk_not_awaited && m.at_start);
}
bool is_not_open(const Mistake& m) { return m.kind == Kind::gate_arrivals && m.at_start; }

/// `causes`: those before it, in their order.
bool follows(const Mistake& m, const std::vector<Mistake*>& causes) {
  if (causes.empty() || m.is_certain || is_not_open(m) || is_no_wait(m)) return false;
  if (is_fault(m) || m.kind == Kind::gate_bytes) return true;
  if (m.kind == Kind::cluster_exit)
    return std::any_of(causes.begin(), causes.end(), [](const Mistake* each) {
      return each->is_certain || is_of_stage(each->kind);
    });
  if (m.kind == Kind::gate_arrivals)
    return causes.front()->is_certain || causes.front()->kind == Kind::bulk_not_awaited;
  return std::any_of(causes.begin(), causes.end(), [&](const Mistake* each) {
    return share_copy(*each, m) && (each->kind != m.kind || !is_same_place(each->here, m.here));
  });
}

/// Does it explain the other one, whichever came first?
bool explains(const Mistake& cause, const Mistake& m) {
  if (is_not_open(cause)) return is_not_open(m) && cause.here.line < m.here.line;
  if (is_no_wait(cause))
    return !is_no_wait(m) && (share_copy(cause, m) || m.kind == Kind::gate_arrivals);
  // A gate with a wrong count ends its phases too early, which shows at the stages first.
  return (cause.kind == Kind::gate_arrivals || cause.is_certain) &&
         (is_of_stage(m.kind) || m.kind == Kind::stuck ||
          (m.kind == Kind::cluster_exit && cause.is_certain));
}

/// A product that no thread ever waits for still reads the stage when it is filled again: says so
/// at the product.
bool follows_product(const Mistake& m, std::vector<Mistake>& mistakes) {
  if (m.kind != Kind::stage_reused || m.product < 0) return false;
  bool found = false;
  for (Mistake& each : mistakes) {
    if (each.kind != Kind::mma_not_awaited || each.product < 0 || each.product > m.product)
      continue;
    found = true;
    each.advice =
        "wait_mma<0>(t) belongs between the product and the arrive(t, gate) that frees its stage";
  }
  return found;
}

bool is_consequence(const Finding& f, const std::vector<Mistake>& mistakes) {
  const auto is_at = [](const Location& place, const Here& here) {
    return place.line == here.line && place.column == here.column && place.file == here.file;
  };
  bool found = false;
  for (const Mistake& m : mistakes) {
    if (m.kind != f.kind || m.memory != f.memory || !is_at(f.location, m.here) ||
        !is_at(f.other, m.other_here))
      continue;
    if (!m.is_consequence) return false;
    found = true;
  }
  return found;
}

}  // namespace

void find_consequences(std::vector<BlockResult>& cluster) {
  std::vector<Mistake*> of_ring, causes;
  for (BlockResult& block : cluster) {
    for (Mistake& each : block.mistakes) {
      each.is_consequence = follows_product(each, block.mistakes);
      if (is_of_ring(each) && !each.is_consequence) of_ring.push_back(&each);
    }
  }
  std::sort(of_ring.begin(), of_ring.end(),
            [](const Mistake* a, const Mistake* b) { return a->number < b->number; });
  for (Mistake* each : of_ring) {
    each->is_consequence = follows(*each, causes);
    if (!each->is_consequence) causes.push_back(each);
  }
  const auto drop = [&](const auto& is_cause) {
    for (Mistake* each : causes) {
      each->is_consequence = std::any_of(causes.begin(), causes.end(), [&](const Mistake* cause) {
        return is_cause(*cause) && explains(*cause, *each);
      });
    }
    std::erase_if(causes, [](const Mistake* each) { return each->is_consequence; });
  };
  drop(is_no_wait);  // first: it also explains arrivals
  drop([](const Mistake&) { return true; });
}

void merge_causes(Report& report, const std::vector<Mistake>& mistakes) {
  std::vector<Finding> kept;
  const std::vector<Finding> all = report.findings;
  const auto is_met_before = [&](const Finding& end) {
    return is_left_at_the_end(end) && std::any_of(all.begin(), all.end(), [&](const Finding& each) {
             // A store without its commit is neither read in time nor complete.
             const bool is_uncommitted =
                 each.kind == Kind::source_overwritten && each.hint == end.hint;
             return (is_unawaited(each) || is_uncommitted) &&
                    is_same_line(each.other, end.location);
           });
  };
  const auto is_met_elsewhere = [&](const Finding& end) {  // where other blocks can go on
    return end.kind == Kind::gate_phase && end.memory == Memory::none &&
           std::any_of(all.begin(), all.end(), [&](const Finding& each) {
             return each.kind == end.kind && each.memory != end.memory && is_same_pair(each, end);
           });
  };
  report.summary.errors -= static_cast<std::int64_t>(std::erase_if(report.findings, is_met_before));
  const auto follows_one = [&](const Finding& each) {
    return is_met_elsewhere(each) || is_consequence(each, mistakes);
  };
  const auto is_cause = [&](const Finding& f) {
    return (is_of_ring(f.kind) || f.kind == Kind::cluster_exit ||
            f.kind == Kind::mma_not_awaited) &&
           !follows_one(f);
  };
  if (std::any_of(report.findings.begin(), report.findings.end(), is_cause))
    report.summary.errors -= static_cast<std::int64_t>(std::erase_if(report.findings, follows_one));
  for (Finding& finding : report.findings) {
    const auto cause = std::find_if(kept.begin(), kept.end(), [&](const Finding& first) {
      return is_one_cause(first, finding);
    });
    if (cause == kept.end()) {
      kept.push_back(std::move(finding));
      continue;
    }
    --(finding.severity == Severity::error     ? report.summary.errors
       : finding.severity == Severity::warning ? report.summary.warnings
                                               : report.summary.notes);
    if (finding.kind != cause->kind) continue;
    cause->count += finding.count;
    const Also also{finding.tensor, finding.location, finding.other};
    const bool is_known =
        (finding.tensor == cause->tensor && is_same_pair(finding, *cause)) ||
        std::any_of(cause->also.begin(), cause->also.end(), [&](const Also& each) {
          return each.tensor == also.tensor && each.location == also.location &&
                 each.other == also.other;
        });
    if (!is_known) cause->also.push_back(also);
  }
  report.findings = std::move(kept);
}

}  // namespace tessera::check
