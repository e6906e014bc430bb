// One party of a benchmark: an algorithm, a peer library or the chain of multiply-adds that gives
// the peak. Each runs in a process of its own on its own copy of the operands, and is stopped while
// others are measured. Contestants take turns; a turn gives one sample. Nothing is judged here.
#pragma once

#include <memory>
#include <string>

#include "bench_sizes.hpp"
#include "child.hpp"
#include "peers.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera::cli {

struct BenchCase {
  DType type = DType::f32;  ///< of A, B and C
  Extents extents;
  int threads = 1;

  double flops() const;
  /// Of the three matrices, each counted once.
  double bytes() const;
};

/// A, B and the result of the latest product, in memory that this process and all contestants made
/// after it see.
class SharedOperands {
 public:
  SharedOperands();
  ~SharedOperands();
  SharedOperands(const SharedOperands&) = delete;
  SharedOperands& operator=(const SharedOperands&) = delete;

  /// Makes room for the case and fills A and B with random numbers. Throws Error(resource) where
  /// memory is short.
  void prepare(const BenchCase& now, std::uint64_t seed);
  /// As another process sees what prepare() made.
  void attach(const BenchCase& now);
  /// Fills C with NaN (or the largest bit pattern), so that an element nobody writes is found.
  void spoil_result();

  ConstMatrix A() const;
  ConstMatrix B() const;
  Matrix C() const;

 private:
  void map(const BenchCase& now, bool reserve);
  void unmap();

  int file_ = -1;
  char* base_ = nullptr;
  std::size_t bytes_ = 0;
  BenchCase case_;
};

struct Sample {
  int turn = 0;
  index_t iterations = 0;
  double seconds = 0, cpu_seconds = 0;  ///< for each product; CPU time of all threads together
};

class Contestant {
 public:
  enum class Kind { algorithm, peer, peak };

  static std::unique_ptr<Contestant> algorithm(const std::string& name, int threads,
                                               SharedOperands& shared);
  static std::unique_ptr<Contestant> peer(const Peer& peer, int threads, SharedOperands& shared);
  static std::unique_ptr<Contestant> peak(int threads);

  const std::string& name() const { return name_; }
  Kind kind() const { return kind_; }
  int threads() const { return threads_; }

  /// Makes ready for the case and multiplies once into the shared result. Gives the seconds that
  /// one product takes now. Throws Error, also for a case that this contestant does not offer.
  double prepare(const BenchCase& now);
  /// Multiplies again and again for at least `seconds`, first once untimed where that is cheap.
  Sample turn(double seconds);
  /// Gives the operands' memory back.
  void release();

 private:
  Contestant(std::string name, Kind kind, int threads, std::function<Child::Answer()> start)
      : name_(std::move(name)),
        kind_(kind),
        threads_(threads),
        // Foreign libraries chatter; what this project's own code says in trouble is wanted.
        child_(std::move(start),
               kind == Kind::peer ? Child::Talk::silent : Child::Talk::to_stderr) {}

  std::string name_;
  Kind kind_;
  int threads_;
  Child child_;
};

}  // namespace tessera::cli
