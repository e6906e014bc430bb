// Products of matrices that the ranks of an MPI communicator have in parts. Compile with MPI's
// options and link to libtessera and to the plug-in for that MPI, libtessera_openmpi or
// libtessera_mpich; the library itself needs no MPI.
//
//     tessera::mpi::Distributed<tessera::ConstMatrix> A{M, K, tessera::DType::f64, {{row, 0,
//     own}}}; tessera::mpi::matmul(MPI_COMM_WORLD, A, B, C);  // all ranks of the communicator
#pragma once

#if __has_include(<mpi.h>)
#include <mpi.h>

#include "tessera/scale/distributed.hpp"

extern "C" const struct TesseraMpiCalls* tessera_mpi(void);  // of the plug-in

namespace tessera::mpi {

using scale::Distributed;
using scale::LocalPart;

/// See scale::matmul(). MPI is initialized, and this thread may call it. A failure in the middle
/// (no memory, an error of MPI) ends the job by MPI_Abort with one line on stderr.
inline void matmul(MPI_Comm communicator, const Distributed<ConstMatrix>& A,
                   const Distributed<ConstMatrix>& B, const Distributed<Matrix>& C,
                   double alpha = 1, double beta = 0, const Options& options = {}) {
  scale::matmul(tessera_mpi(), MPI_Comm_c2f(communicator), A, B, C, alpha, beta, options);
}

}  // namespace tessera::mpi
#endif
