// The order of work on streams, and what the host has waited for. Work runs in the order of the
// calls; vector clocks show what a device could do concurrently, and such work must access disjoint
// memory (CUDA C++ Programming Guide, "Streams" and "Default Stream"). Private to the runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tessera/plain_cuda/driver_types.h"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

/// By stream: how much of its work is done. Other streams have done nothing.
using StreamClock = std::vector<std::uint32_t>;

class Streams {
 public:
  static Streams& get();

  struct Range {
    std::uint64_t begin, end;
  };
  using Ranges = std::vector<Range>;
  struct Work {
    int stream;
    std::uint32_t number;  ///< in its stream
    Place place;
    std::string what;
    Ranges reads, writes, updates;
    bool met_host = false;
  };

  /// A stream is created: from now on work is watched. Returns its number.
  int create(bool waits_for_default);

  /// Work of the device begins: a launch, a copy, a fill. Its accesses are recorded before end().
  void begin(cudaStream_t stream, const Place& place, std::string what);
  void touch(std::uint64_t address, std::size_t bytes, bool reads, bool writes, bool updates);
  /// Compares it with all unordered work.
  void end();

  /// The host accesses memory that it shares with the device: returns the newest work that may be
  /// unfinished and accesses it as well, at least one of the two writing; null: there is none. The
  /// same work is returned once.
  const Work* meets_host(std::uint64_t address, std::size_t bytes, bool writes);
  /// A function of the host that runs on the stream, after all work before it.
  void run_on_host(cudaStream_t stream, const std::function<void()>& function);

  /// The host waits until all work of the stream, of an event, of the device is done.
  void wait_for(cudaStream_t stream);
  void wait_for(const StreamClock& event);
  void wait_for_all();
  /// The state that an event recorded now stands for.
  StreamClock record(cudaStream_t stream);
  /// Later work of the stream follows the event.
  void wait(cudaStream_t stream, const StreamClock& event);

 private:
  struct Stream {
    bool waits_for_default = true;
    StreamClock clock;
  };

  /// Work on one stream is ordered; what remains is memory shared with the host.
  bool is_one() const { return streams_.size() == 1; }
  static int number_of(cudaStream_t stream);
  static std::uint32_t at(const StreamClock& clock, int stream);
  static void join(StreamClock& mine, const StreamClock& other);
  /// The clock of the next work on the stream.
  StreamClock& next(int stream);
  void forget_what_the_host_has_waited_for();
  static void merge(Ranges& ranges);
  /// The first common byte; 0: none.
  static std::uint64_t meeting(const Ranges& a, const Ranges& b);
  void compare(const Work& earlier, const Work& later);

  std::vector<Stream> streams_{1};  ///< the first is the default stream
  StreamClock host_;
  std::vector<Work> pending_;  ///< work that the host has not waited for
  Work now_;
  bool is_working_ = false;
};

}  // namespace tessera::plain_cuda
