// Ranks that are threads of one process: a product on many ranks, without MPI. Messages are copied
// when both sides have posted them; one that nobody expects, or of another size, is an error.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "scale/transport.hpp"

namespace tessera::scale {

class ThreadRanks {
 public:
  explicit ThreadRanks(int ranks) : ranks_(ranks) {}

  /// Runs body(transport) on each rank; returns the errors by rank, empty where there was none.
  std::vector<std::string> run(const std::function<void(Transport&)>& body) {
    std::vector<std::string> errors(static_cast<std::size_t>(ranks_));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([&, rank] {
        Rank transport(*this, rank);
        try {
          body(transport);
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return errors;
  }

  std::size_t unmatched() const {
    std::size_t out = 0;
    for (const auto& [key, queue] : queues_) out += queue.sent.size() + queue.expected.size();
    return out;
  }

 private:
  struct Posted {
    Lines lines;
    std::shared_ptr<std::atomic<bool>> done;
  };
  struct Queue {
    std::deque<Posted> sent, expected;
  };

  class Rank final : public Transport {
   public:
    Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int ranks() const override { return all_.ranks_; }
    Ticket send(const Lines& from, int to, Kind kind) override {
      return post(from, {rank_, to, kind}, true);
    }
    Ticket receive(const Lines& to, int from, Kind kind) override {
      return post(to, {from, rank_, kind}, false);
    }
    Ticket barrier() override {
      const std::lock_guard lock(all_.mutex_);
      auto done = all_.barrier_;
      if (++all_.arrived_ == all_.ranks_) {
        *done = true;
        all_.arrived_ = 0, all_.barrier_ = std::make_shared<std::atomic<bool>>(false);
      }
      return ticket(done);
    }
    bool is_done(Ticket ticket) override { return *tickets_[static_cast<std::size_t>(ticket)]; }
    index_t least(index_t value) override {
      together(
          [&](bool is_first) { all_.least_ = is_first ? value : std::min(all_.least_, value); });
      return all_.least_;
    }
    void broadcast(void* bytes, index_t size) override {
      if (rank_ == 0) all_.broadcast_ = static_cast<std::byte*>(bytes);
      together([](bool) {});
      if (rank_ != 0) std::memcpy(bytes, all_.broadcast_, static_cast<std::size_t>(size));
      together([](bool) {});
    }
    void watch() override {
      if (all_.failed_) throw Error(Category::failed, "another rank has failed");
    }
    void fail(const Error&) override {
      const std::lock_guard lock(all_.mutex_);  // nobody copies into memory of a rank that ends
      all_.failed_ = true;
    }

   private:
    /// Calls add(is this the first rank) one after another, and returns when all have.
    template <class Add>
    void together(const Add& add) {
      std::unique_lock lock(all_.mutex_);
      all_.joined_.wait(lock, [&] { return !all_.leaving_; });
      add(all_.together_ == 0);
      if (++all_.together_ == all_.ranks_) all_.leaving_ = true, all_.joined_.notify_all();
      all_.joined_.wait(lock, [&] { return all_.leaving_; });
      if (--all_.together_ == 0) all_.leaving_ = false, all_.joined_.notify_all();
    }
    Ticket ticket(std::shared_ptr<std::atomic<bool>> done) {
      tickets_.push_back(std::move(done));
      return static_cast<Ticket>(tickets_.size()) - 1;
    }
    Ticket post(const Lines& lines, const std::tuple<int, int, Kind>& key, bool is_sent) {
      const std::lock_guard lock(all_.mutex_);
      watch();
      Queue& queue = all_.queues_[key];
      Posted mine{lines, std::make_shared<std::atomic<bool>>(false)};
      auto& others = is_sent ? queue.expected : queue.sent;
      if (others.empty()) {
        (is_sent ? queue.sent : queue.expected).push_back(mine);
        return ticket(mine.done);
      }
      const Posted other = others.front();
      others.pop_front();
      const Posted &from = is_sent ? mine : other, &to = is_sent ? other : mine;
      if (from.lines.size() != to.lines.size())
        throw Error(Category::failed, "a message of another size than expected");
      // Their lines may differ: what is sent is one sequence of bytes.
      index_t sent = 0;
      for (index_t n = 0; n < from.lines.lines; ++n) {
        for (index_t at = 0; at < from.lines.bytes; ++at, ++sent)
          to.lines.first[sent / to.lines.bytes * to.lines.stride + sent % to.lines.bytes] =
              from.lines.first[n * from.lines.stride + at];
      }
      *mine.done = *other.done = true;
      return ticket(mine.done);
    }
    ThreadRanks& all_;
    int rank_;
    std::vector<std::shared_ptr<std::atomic<bool>>> tickets_;
  };

  const int ranks_;
  std::mutex mutex_;
  std::condition_variable joined_;
  int together_ = 0;
  bool leaving_ = false;
  index_t least_ = 0;
  std::byte* broadcast_ = nullptr;
  std::map<std::tuple<int, int, Kind>, Queue> queues_;
  int arrived_ = 0;
  std::shared_ptr<std::atomic<bool>> barrier_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> failed_{false};
};

}  // namespace tessera::scale
