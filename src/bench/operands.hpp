// The operands of a benchmark's case: those that every process sees, with the latest result, and a
// contestant's own copy. All A of a case follow each other in memory, then all B, then all C.
#pragma once

#include <cstdint>
#include <memory>

#include "case.hpp"
#include "tessera/matmul/matrix.hpp"

namespace tessera::bench {

/// The offsets in bytes of the first A, B and C of a case in one piece of memory, and the distance
/// from each to the next.
struct OperandPlaces {
  explicit OperandPlaces(const BenchCase& now);
  std::size_t a_step, b_step, c_step;
  std::size_t a, b, c, end;
};

/// A, B and the results of the latest products, in memory shared with all contestants created after
/// it.
class SharedOperands {
 public:
  SharedOperands();
  ~SharedOperands();
  SharedOperands(const SharedOperands&) = delete;
  SharedOperands& operator=(const SharedOperands&) = delete;

  /// Allocates memory for the case, fills A and B with random numbers and invalidates C. Throws
  /// Error(resource) if memory is short.
  void prepare(const BenchCase& now, std::uint64_t seed);
  /// The other process's view of what prepare() created.
  void attach(const BenchCase& now);
  /// Fills C with NaN (or the largest bit pattern), so that an unwritten element is found; sets a C
  /// that is updated to its original values.
  void spoil_results();

  const BenchCase& now() const { return case_; }
  ConstMatrix A(index_t product) const;  ///< (M,K)
  ConstMatrix B(index_t product) const;  ///< (K,N)
  Matrix C(index_t product) const;       ///< (M,N)

 private:
  void map(const BenchCase& now, bool reserve);
  void unmap();

  int file_ = -1;
  char* base_ = nullptr;
  std::size_t bytes_ = 0;
  BenchCase case_;
};

/// A contestant's own operands, on huge pages if the system has them.
class OwnOperands {
 public:
  OwnOperands(const BenchCase& now, const SharedOperands& shared);

  /// The operands of a call: of the first product of its batch.
  struct Place {
    const void *A, *B;
    void* C;
  };
  /// 0 <= set < sets() of the case.
  Place place(index_t set) const;
  void copy_results_to(const SharedOperands& shared) const;

 private:
  struct Free {
    void operator()(char* p) const;
  };
  BenchCase case_;
  std::unique_ptr<char, Free> memory_;
};

}  // namespace tessera::bench
