// C = alpha * A * B + beta * C where each rank of MPI has parts of the matrices, in any
// distribution. A is (M,K), B is (K,N), C is (M,N). The result has the same bits as matmul() of the
// whole matrices, for any number of ranks. tessera/mpi/matmul.hpp takes an MPI_Comm; this header
// knows no MPI.
#pragma once

#include <vector>

#include "tessera/matmul/matrix.hpp"
#include "tessera/matmul/plan.hpp"

struct TesseraMpiCalls;  // the table of a plug-in: see mpi.hpp

namespace tessera::scale {

class Transport;

/// A part of a distributed matrix in the memory of this rank; its first element is at (row, col) of
/// the whole matrix.
template <class M>
struct LocalPart {
  index_t row = 0, col = 0;
  M data;
};

/// What one rank has of a matrix. The parts of all ranks together have each element once; a rank
/// may have none.
template <class M>
struct Distributed {
  index_t rows = 0, cols = 0;  ///< of the whole matrix
  DType dtype = DType::f32;
  std::vector<LocalPart<M>> parts;
};

/// All ranks call it together, with the same extents, types, alpha, beta and options.threads of
/// their own. Types as for matmul() on the packed path: f64, f32, f16, bf16, and bytes into i32.
/// The rank whose arguments are wrong throws Error(argument, shape, type); the others
/// Error(failed), which names it. beta = 0: C is not read.
void matmul(Transport& ranks, const Distributed<ConstMatrix>& A, const Distributed<ConstMatrix>& B,
            const Distributed<Matrix>& C, double alpha = 1, double beta = 0,
            const Options& options = {});

/// The same by the plug-in for an MPI, on the communicator with this number (MPI_Comm_c2f).
void matmul(const TesseraMpiCalls* mpi, int communicator, const Distributed<ConstMatrix>& A,
            const Distributed<ConstMatrix>& B, const Distributed<Matrix>& C, double alpha = 1,
            double beta = 0, const Options& options = {});

}  // namespace tessera::scale
