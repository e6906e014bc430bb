// Orders of work on streams: see streams.hpp.
#include "streams.hpp"

#include <algorithm>

#include "handles.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

Streams& Streams::get() {
  static Streams* const streams = new Streams;
  return *streams;
}

int Streams::create(bool waits_for_default) {
  streams_.push_back({waits_for_default, {}});
  return static_cast<int>(streams_.size()) - 1;
}

int Streams::number_of(cudaStream_t stream) {
  const bool is_default =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_default ? 0 : stream->number;
}

std::uint32_t Streams::at(const StreamClock& clock, int stream) {
  const auto i = static_cast<std::size_t>(stream);
  return i < clock.size() ? clock[i] : 0;
}

void Streams::join(StreamClock& mine, const StreamClock& other) {
  mine.resize(std::max(mine.size(), other.size()));
  for (std::size_t i = 0; i < other.size(); ++i) mine[i] = std::max(mine[i], other[i]);
}

StreamClock& Streams::next(int stream) {
  Stream& mine = streams_[static_cast<std::size_t>(stream)];
  join(mine.clock, host_);
  if (stream != 0) {
    if (mine.waits_for_default) join(mine.clock, streams_[0].clock);
    return mine.clock;
  }
  for (const Stream& each : streams_)
    if (each.waits_for_default) join(mine.clock, each.clock);
  return mine.clock;
}

void Streams::begin(cudaStream_t stream, const Place& place, std::string what) {
  if (is_one() && !DeviceMemory::get().is_shared_with_host()) return;
  if (!Program::get().is_checked) return;
  const int number = number_of(stream);
  StreamClock& clock = next(number);
  clock.resize(std::max(clock.size(), streams_.size()));
  now_ = {number, ++clock[static_cast<std::size_t>(number)], place, std::move(what), {}, {}, {},
          false};
  is_working_ = true;
}

void Streams::touch(std::uint64_t address, std::size_t bytes, bool reads, bool writes,
                    bool updates) {
  if (!is_working_ || bytes == 0) return;
  if (is_one()) {
    const Allocation* const found = DeviceMemory::get().find(address);
    if (found == nullptr || found->kind == MemoryKind::device) return;
  }
  const Range range{address, address + bytes};
  if (reads) now_.reads.push_back(range);
  if (writes) now_.writes.push_back(range);
  if (updates) now_.updates.push_back(range);
}

void Streams::merge(Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  Ranges out;
  for (const Range& each : ranges) {
    if (!out.empty() && each.begin <= out.back().end)
      out.back().end = std::max(out.back().end, each.end);
    else out.push_back(each);
  }
  ranges = std::move(out);
}

std::uint64_t Streams::meeting(const Ranges& a, const Ranges& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::uint64_t begin = std::max(a[i].begin, b[j].begin);
    if (begin < std::min(a[i].end, b[j].end)) return begin;
    if (a[i].end <= b[j].end) ++i;
    else ++j;
  }
  return 0;
}

void Streams::compare(const Work& earlier, const Work& later) {
  struct Pair {
    const Ranges &theirs, &mine;
    const char *they, *i;
  };
  const Pair pairs[] = {{earlier.writes, later.writes, "writes", "writes"},
                        {earlier.writes, later.reads, "writes", "reads"},
                        {earlier.reads, later.writes, "reads", "writes"},
                        {earlier.writes, later.updates, "writes", "updates"},
                        {earlier.updates, later.writes, "updates", "writes"},
                        {earlier.updates, later.reads, "updates", "reads"},
                        {earlier.reads, later.updates, "reads", "updates"}};
  for (const Pair& each : pairs) {
    const std::uint64_t address = meeting(each.theirs, each.mine);
    if (address == 0) continue;
    const Allocation* const found = DeviceMemory::get().find(address);
    const std::string where = found == nullptr
                                  ? std::string("memory")
                                  : cat("element ", (address - found->begin) / found->element_bytes,
                                        " of ", DeviceMemory::name_of(*found));
    Program::get().find(check::Kind::race, check::Severity::error, later.place,
                        cat(later.what, " ", each.i, " ", where, ", which ", earlier.what,
                            " on another stream ", each.they, ": nothing orders the two"),
                        "use one stream, or let this one wait: cudaEventRecord and "
                        "cudaStreamWaitEvent, or cudaStreamSynchronize",
                        earlier.place);
    return;
  }
}

void Streams::end() {
  if (!is_working_) return;
  is_working_ = false;
  for (Ranges* each : {&now_.reads, &now_.writes, &now_.updates}) merge(*each);
  const StreamClock& clock = streams_[static_cast<std::size_t>(now_.stream)].clock;
  for (const Work& each : pending_)
    if (at(clock, each.stream) < each.number) compare(each, now_);
  constexpr std::size_t kMost = 4096;  // for a host that never waits, the newest are enough
  if (is_one() && pending_.size() >= kMost)
    pending_.erase(pending_.begin(), pending_.begin() + kMost / 2);
  pending_.push_back(std::move(now_));
}

const Streams::Work* Streams::meets_host(std::uint64_t address, std::size_t bytes, bool writes) {
  const Ranges mine{{address, address + bytes}};
  const Work* newest = nullptr;
  for (Work& each : pending_) {
    if (each.met_host || each.number <= at(host_, each.stream)) continue;
    const bool meets = meeting(each.writes, mine) != 0 || meeting(each.updates, mine) != 0 ||
                       (writes && meeting(each.reads, mine) != 0);
    if (!meets) continue;
    each.met_host = true;
    newest = &each;
  }
  return newest;
}

void Streams::run_on_host(cudaStream_t stream, const std::function<void()>& function) {
  StreamClock elsewhere = host_;
  join(host_, next(number_of(stream)));
  function();
  host_ = std::move(elsewhere);
}

void Streams::forget_what_the_host_has_waited_for() {
  std::erase_if(pending_,
                [this](const Work& each) { return each.number <= at(host_, each.stream); });
}

void Streams::wait_for(cudaStream_t stream) {
  join(host_, next(number_of(stream)));
  forget_what_the_host_has_waited_for();
}

void Streams::wait_for(const StreamClock& event) {
  join(host_, event);
  forget_what_the_host_has_waited_for();
}

void Streams::wait_for_all() {
  for (const Stream& each : streams_) join(host_, each.clock);
  pending_.clear();
}

StreamClock Streams::record(cudaStream_t stream) { return next(number_of(stream)); }

void Streams::wait(cudaStream_t stream, const StreamClock& event) {
  join(streams_[static_cast<std::size_t>(number_of(stream))].clock, event);
}

}  // namespace tessera::plain_cuda
