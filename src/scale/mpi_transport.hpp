// MPI for a program that is not linked to it: a plug-in for the MPI of the launcher is loaded, only
// under a launcher. Called by `tessera multiply`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transport.hpp"

struct TesseraMpiCalls;

namespace tessera::scale {

/// Has a launcher (mpirun, srun) started this process as one of several? TESSERA_MPI=off says no.
bool is_launched();
/// This process's number as the launcher gives it, before MPI begins.
int launched_rank();

class MpiTransport final : public Transport {
 public:
  /// Loads the plug-in and begins MPI. `say` receives the one line of an error that ends the job.
  /// Throws Error(unavailable) if there is no plug-in for the launcher's MPI; then nothing has
  /// begun.
  explicit MpiTransport(std::function<void(const std::string&)> say);
  /// On a communicator of a program that has begun MPI, by its number (MPI_Comm_c2f).
  MpiTransport(const TesseraMpiCalls* mpi, int communicator,
               std::function<void(const std::string&)> say);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  Ticket send(const Lines& from, int to, Kind kind) override;
  Ticket receive(const Lines& to, int from, Kind kind) override;
  Ticket barrier() override;
  bool is_done(Ticket ticket) override;
  index_t least(index_t value) override;
  void broadcast(void* bytes, index_t size) override;
  /// Rank 0 reports the error of another rank and ends the job.
  void watch() override;
  /// Does not return: rank 0 reports the error, or after a time this rank itself.
  void fail(const Error& error) override;

  /// The ranks that share this rank's processors.
  int neighbours();

 private:
  struct State;
  /// A result of a call; throws Error(failed) with MPI's text if it is negative.
  int checked(int result) const;
  [[noreturn]] void end_job(const std::string& text, int code);

  std::unique_ptr<State> state_;
  std::function<void(const std::string&)> say_;
  int rank_ = 0, ranks_ = 1;
};

/// The text of an error with the rank that had it.
std::string of_rank(int rank, std::string_view text);

}  // namespace tessera::scale
