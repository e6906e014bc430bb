// Messages between the ranks of one product. MPI carries them in a program that runs under a
// launcher (mpi_transport.hpp), threads of one process in tests. All calls come from one thread.
#pragma once

#include <cstddef>

#include "tessera/core/config.hpp"
#include "tessera/core/error.hpp"

namespace tessera::scale {

/// `lines` runs of `bytes` bytes, their beginnings `stride` bytes apart.
struct Lines {
  std::byte* first = nullptr;
  index_t lines = 0, bytes = 0, stride = 0;
  index_t size() const { return lines * bytes; }
};

/// What a message carries. Messages of one kind from one rank to another arrive in order.
enum class Kind { a, b, sums, result, control };

class Transport {
 public:
  using Ticket = int;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// The memory stays valid and unchanged (received: untouched) until is_done.
  virtual Ticket send(const Lines& from, int to, Kind kind) = 0;
  virtual Ticket receive(const Lines& to, int from, Kind kind) = 0;
  /// Done when all ranks have called it.
  virtual Ticket barrier() = 0;
  /// Makes progress. After true the ticket is used up.
  virtual bool is_done(Ticket ticket) = 0;

  /// Of all ranks; all call it together, as the next.
  virtual index_t least(index_t value) = 0;
  /// Rank 0's bytes to all.
  virtual void broadcast(void* bytes, index_t size) = 0;

  /// Throws Error, or ends the process, if another rank has failed.
  virtual void watch() = 0;
  /// This rank has failed while others may wait for it: ends the job, or returns where the others
  /// learn it from watch().
  virtual void fail(const Error& error) = 0;
};

}  // namespace tessera::scale
