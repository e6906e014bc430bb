// The threads that a process or a thread has set, and the line that TESSERA_VERBOSE=1 prints for
// each call. The environment is read once; the line is written in one piece.
#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/environment.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"

namespace tessera::blas {

namespace {

std::string text_of(std::complex<double> x) {
  std::string out = tessera::text_of(x.real());
  if (x.imag() != 0) out += cat(x.imag() < 0 ? "" : "+", x.imag(), "i");
  return out;
}

/// A requested number of threads as a setting: 0 is the default.
int sensible(int threads) { return std::clamp(threads, 0, kMostThreads); }

}  // namespace

int read_environment() {
  const char* requested = std::getenv("TESSERA_ARITHMETIC");
  const std::string_view text = requested == nullptr ? "" : requested;
  if (text == name(Arithmetic::chain)) known_arithmetic = Arithmetic::chain;
  else if (!text.empty() && text != name(Arithmetic::lanes))
    std::fprintf(stderr, "tessera: ignoring TESSERA_ARITHMETIC='%s': expected lanes or chain\n",
                 printable(text).c_str());
  const int on = is_switched_on("TESSERA_VERBOSE") ? 1 : 0;
  verbosity.store(on, std::memory_order_release);
  return on;
}

void report(const Routine& routine, index_t M, index_t N, index_t K, const char* trans,
            std::complex<double> alpha, std::complex<double> beta, const cpu::GemmRoute& route,
            double time_us) {
  std::string line = cat("tessera: ", routine.name, " order=", routine.order);
  if (routine.groups > 0)
    line += cat(" M=", M, " N=", N, " K=", K, " trans=", trans, " alpha=", text_of(alpha),
                " beta=", text_of(beta));
  if (routine.products != 1) line += cat(" products=", routine.products);
  if (routine.groups != 1) line += cat(" groups=", routine.groups);
  line += cat(" algorithm=packed route=", route.name, " isa=", name(vector_path()),
              " threads=", route.threads, " reason=\"", route.reason, "\" time_us=");
  char time[32];
  std::snprintf(time, sizeof time, "%.1f\n", time_us);
  line += time;
  // One write: lines of several threads do not mix.
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace tessera::blas

using tessera::blas::own_threads;
using tessera::blas::process_threads;
using tessera::blas::sensible;

extern "C" {

[[gnu::visibility("default")]] void tessera_set_num_threads(int threads) {
  process_threads.store(sensible(threads), std::memory_order_relaxed);
}

[[gnu::visibility("default")]] int tessera_set_num_threads_local(int threads) {
  const int before = own_threads;
  own_threads = sensible(threads);
  return before;
}

[[gnu::visibility("default")]] int tessera_get_num_threads() {
  const int limit = tessera::blas::thread_limit();
  return limit > 0 ? limit : tessera::default_threads();
}

[[gnu::visibility("default")]] const char* tessera_get_corename() {
  return name(tessera::vector_path()).data();
}

[[gnu::visibility("default")]] const char* tessera_get_config() {
  static const std::string text =
      tessera::cat("Tessera ", TESSERA_VERSION, " ", tessera::cpu_text(), ", LP64 and ILP64 names");
  return text.c_str();
}
}
