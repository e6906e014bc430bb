// The ranks of one `tessera multiply` under MPI: what can fail on each rank alone comes in phases,
// after each of which the ranks agree whether to go on; then the job ends with the line of the
// first rank that failed.
#pragma once

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "scale/mpi_transport.hpp"
#include "shell/context.hpp"

namespace tessera::product {

/// The job ends with this code; its line has been written.
struct JobEnded {
  int code;
};

class Job {
 public:
  explicit Job(const shell::Context& context)
      : context_(context),
        transport_([&context](const std::string& text) { context.error(text); }) {}
  scale::MpiTransport& transport() { return transport_; }
  int rank() const { return transport_.rank(); }
  bool is_first() const { return rank() == 0; }

  /// Runs a part of the work that calls no other rank. All ranks go on, or none.
  template <class Work>
  void together(const Work& work) {
    constexpr index_t kCodes = 256;
    index_t failed = std::numeric_limits<index_t>::max();
    std::string text;
    try {
      work();
    } catch (const Error& error) {
      failed = rank() * kCodes + exit_code(error.category()), text = error.what();
    } catch (const std::exception& error) {
      failed = rank() * kCodes + 1, text = error.what();
    }
    const index_t first = transport_.least(failed);
    if (first == std::numeric_limits<index_t>::max()) return;
    if (first == failed) context_.error(scale::of_rank(rank(), text));
    throw JobEnded{static_cast<int>(first % kCodes)};
  }

  /// The values of all ranks, at rank 0; `counts` are their numbers. Other ranks get their own.
  template <class T>
  std::vector<std::vector<T>> gathered(std::vector<T> own, const std::vector<std::size_t>& counts) {
    const auto lines = [](std::vector<T>& values) {
      const auto bytes = static_cast<index_t>(values.size() * sizeof(T));
      return scale::Lines{reinterpret_cast<std::byte*>(values.data()), 1, bytes, bytes};
    };
    std::vector<std::vector<T>> all(counts.size());
    all[static_cast<std::size_t>(rank())] = std::move(own);
    std::vector<scale::Transport::Ticket> tickets;
    for (std::size_t n = 0; n < all.size(); ++n) {
      const bool is_own = n == static_cast<std::size_t>(rank());
      if (counts[n] == 0 || is_own == is_first()) continue;
      if (is_own) {
        tickets.push_back(transport_.send(lines(all[n]), 0, scale::Kind::result));
      } else if (is_first()) {
        all[n].resize(counts[n]);
        tickets.push_back(
            transport_.receive(lines(all[n]), static_cast<int>(n), scale::Kind::result));
      }
    }
    for (const auto ticket : tickets) {
      while (!transport_.is_done(ticket)) transport_.watch(), std::this_thread::yield();
    }
    return all;
  }
  template <class T>
  std::vector<T> gathered_one(const T& own) {
    std::vector<T> out;
    const std::vector<std::size_t> ones(static_cast<std::size_t>(transport_.ranks()), 1);
    for (const auto& each : gathered<T>({own}, ones)) out.push_back(each.empty() ? T{} : each[0]);
    return out;
  }

 private:
  const shell::Context& context_;
  scale::MpiTransport transport_;
};

}  // namespace tessera::product
