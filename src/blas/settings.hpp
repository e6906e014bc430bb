// Settings of the process and of a thread: the number of threads of a product, and whether calls
// are reported. Every call reads them, without locks, environment look-ups or allocation.
#pragma once

#include <atomic>
#include <chrono>

#include "blas_product.hpp"

namespace tessera::blas {

/// tessera_set_num_threads; 0: the default.
inline std::atomic<int> process_threads{0};
/// tessera_set_num_threads_local; 0: the process's setting.
inline thread_local int own_threads [[gnu::tls_model("initial-exec")]] = 0;

/// For Product::threads; 0: the default.
inline int thread_limit() {
  return own_threads > 0 ? own_threads : process_threads.load(std::memory_order_relaxed);
}

/// Of TESSERA_VERBOSE and TESSERA_ARITHMETIC. verbosity: -1: they have not been read yet.
inline std::atomic<Arithmetic> known_arithmetic{Arithmetic::lanes};
inline std::atomic<int> verbosity{-1};
int read_environment();
inline bool verbose() {
  const int known = verbosity.load(std::memory_order_acquire);
  return (known < 0 ? read_environment() : known) > 0;
}
/// The order of summation of real products.
inline Arithmetic arithmetic() {
  if (verbosity.load(std::memory_order_acquire) < 0) read_environment();
  return known_arithmetic.load(std::memory_order_relaxed);
}

/// The description of a reported call.
struct Routine {
  const char* name;      ///< "cblas_sgemm"
  const char* order;     ///< "row" or "column"
  index_t products = 1;  ///< number of products of a batch; the shape is that of the first
  index_t groups = 1;    ///< groups of a batch; 0: there is no shape
};

/// One line on stderr: routine, shape, transpositions, alpha, beta, plan, reason and time.
void report(const Routine& routine, index_t M, index_t N, index_t K, const char* trans,
            std::complex<double> alpha, std::complex<double> beta, const cpu::GemmRoute& route,
            double time_us);

}  // namespace tessera::blas
