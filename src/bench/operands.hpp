// The operands of a benchmark's case: those that every process sees, with the latest result, and a
// contestant's own copy. All products of a case are one after the other, A with A, B with B.
#pragma once

#include <cstdint>
#include <memory>

#include "case.hpp"
#include "tessera/matmul/matrix.hpp"

namespace tessera::bench {

/// Where all A, all B and all C of a case begin in one piece of memory, and how far it is from one
/// to the next, in bytes.
struct OperandPlaces {
  explicit OperandPlaces(const BenchCase& now);
  std::size_t a_step, b_step, c_step;
  std::size_t a, b, c, end;
};

/// A, B and the results of the latest products, in memory that this process and all contestants
/// made after it see.
class SharedOperands {
 public:
  SharedOperands();
  ~SharedOperands();
  SharedOperands(const SharedOperands&) = delete;
  SharedOperands& operator=(const SharedOperands&) = delete;

  /// Makes room for the case, fills A and B with random numbers and spoils C. Throws
  /// Error(resource) where memory is short.
  void prepare(const BenchCase& now, std::uint64_t seed);
  /// As another process sees what prepare() made.
  void attach(const BenchCase& now);
  /// Fills C with NaN (or the largest bit pattern), so that an element nobody writes is found; a C
  /// that is updated with what it is before.
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

/// A contestant's own operands, on huge pages where the system has some.
class OwnOperands {
 public:
  OwnOperands(const BenchCase& now, const SharedOperands& shared);

  /// Where the operands of a call begin: of the first product of its batch.
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
