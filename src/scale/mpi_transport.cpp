// The plug-in, and the exchange of errors: see mpi_transport.hpp.
#include "mpi_transport.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "mpi/plugin.h"
#include "tessera/core/text.hpp"
#include "tessera/io/atomic_file.hpp"
#include "tessera/scale/distributed.hpp"

namespace tessera::scale {

namespace {

/// How long a rank waits for rank 0 to report its error.
constexpr int kPatienceMilliseconds = 2000;

/// A number in the environment; -1 without one.
int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text < '0' || *text > '9' ? -1 : std::atoi(text);
}

/// The variables by which a launcher gives a process its rank.
struct Launcher {
  const char *ranks, *rank, *mpi;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi"},
    {"PMI_SIZE", "PMI_RANK", "mpich"},
    {"SLURM_STEP_NUM_TASKS", "PMIX_RANK", "openmpi"},
};

const Launcher* launcher() {
  const char* const wanted = std::getenv("TESSERA_MPI");
  if (wanted != nullptr && std::string_view(wanted) == "off") return nullptr;
  for (const Launcher& each : kLaunchers)
    if (number_in(each.ranks) > 1 && number_in(each.rank) >= 0) return &each;
  return nullptr;
}

/// The plug-in in the folder of libraries that belongs to this program, or the file that
/// TESSERA_MPI names.
std::string plugin_file(std::string_view mpi) {
  const char* const wanted = std::getenv("TESSERA_MPI");
  if (wanted != nullptr && *wanted != '\0') return wanted;
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  return (program.parent_path().parent_path() / TESSERA_LIBDIR / "tessera" /
          cat("libtessera_", mpi, ".so"))
      .string();
}

const TesseraMpiCalls* loaded_plugin() {
  const Launcher* const by = launcher();
  const std::string_view mpi = by == nullptr ? "openmpi" : by->mpi;
  const std::string file = plugin_file(mpi);
  const auto refuse = [&](const std::string& why) {
    throw Error(Category::unavailable,
                cat("a product on several ranks needs the plug-in for ", mpi, ": ", why), {}, {},
                "build Tessera where this MPI is installed, or set TESSERA_MPI=off to let every "
                "process work for itself");
  };
  if (!std::filesystem::exists(file)) refuse(cat("there is no ", file));
  // Open MPI loads its own plug-ins, which need its symbols.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    refuse(why != nullptr ? why : "it cannot be loaded");
  }
  const auto table = reinterpret_cast<const TesseraMpiCalls* (*)()>(dlsym(library, "tessera_mpi"));
  if (table == nullptr || table()->version != TESSERA_MPI_VERSION)
    refuse(cat(file, " is of another version"));
  return table();
}

}  // namespace

bool is_launched() { return launcher() != nullptr; }

int launched_rank() {
  const Launcher* const by = launcher();
  return by == nullptr ? 0 : number_in(by->rank);
}

std::string of_rank(int rank, std::string_view text) {
  return rank == 0 ? std::string(text) : cat("rank ", rank, ": ", text);
}

struct MpiTransport::State {
  const TesseraMpiCalls* mpi;
  void* of = nullptr;
};

MpiTransport::MpiTransport(std::function<void(const std::string&)> say)
    : state_(new State{loaded_plugin()}), say_(std::move(say)) {
  state_->of = state_->mpi->begin(1, 0, &rank_, &ranks_);
  if (state_->of == nullptr)
    throw Error(Category::unavailable, "MPI does not begin", {}, {},
                "start the command by the mpirun of the MPI that the plug-in was built for");
}

MpiTransport::MpiTransport(const TesseraMpiCalls* mpi, int communicator,
                           std::function<void(const std::string&)> say)
    : state_(new State{mpi}), say_(std::move(say)) {
  state_->of = mpi->begin(0, communicator, &rank_, &ranks_);
  if (state_->of == nullptr)
    throw Error(Category::argument, "matmul: MPI does not take the communicator",
                "one that is valid, after MPI_Init");
}

MpiTransport::~MpiTransport() {
  if (state_->of != nullptr) state_->mpi->end(state_->of);
}

int MpiTransport::checked(int result) const {
  if (result < 0) throw Error(Category::failed, cat("MPI: ", state_->mpi->problem(state_->of)));
  return result;
}

MpiTransport::Ticket MpiTransport::send(const Lines& from, int to, Kind kind) {
  const TesseraMpiLines lines{from.first, from.lines, from.bytes, from.stride};
  return checked(state_->mpi->send(state_->of, &lines, to, static_cast<int>(kind)));
}

MpiTransport::Ticket MpiTransport::receive(const Lines& to, int from, Kind kind) {
  const TesseraMpiLines lines{to.first, to.lines, to.bytes, to.stride};
  return checked(state_->mpi->receive(state_->of, &lines, from, static_cast<int>(kind)));
}

MpiTransport::Ticket MpiTransport::barrier() { return checked(state_->mpi->barrier(state_->of)); }

bool MpiTransport::is_done(Ticket ticket) {
  return checked(state_->mpi->is_done(state_->of, ticket)) != 0;
}

index_t MpiTransport::least(index_t value) {
  std::int64_t out = value;
  checked(state_->mpi->least(state_->of, &out));
  return out;
}

void MpiTransport::broadcast(void* bytes, index_t size) {
  checked(state_->mpi->broadcast(state_->of, bytes, size));
}

void MpiTransport::end_job(const std::string& text, int code) {
  say_(text);
  remove_temporaries();
  state_->mpi->abort(state_->of, code);
  std::_Exit(code);
}

// A report of an error: its exit code in one byte, then its text.
void MpiTransport::watch() {
  if (rank_ != 0) return;
  int from = 0;
  const int size = state_->mpi->waiting(state_->of, static_cast<int>(Kind::control), &from);
  if (size < 1) return;
  std::vector<char> report(static_cast<std::size_t>(size));
  const Ticket ticket =
      receive({reinterpret_cast<std::byte*>(report.data()), 1, size, size}, from, Kind::control);
  while (!is_done(ticket)) {
  }
  end_job(of_rank(from, std::string(report.begin() + 1, report.end())), report[0]);
}

void MpiTransport::fail(const Error& error) {
  const int code = exit_code(error.category());
  if (rank_ == 0) end_job(error.what(), code);
  std::string report = cat(static_cast<char>(code), error.what());
  const auto size = static_cast<index_t>(report.size());
  const Ticket ticket =
      send({reinterpret_cast<std::byte*>(report.data()), 1, size, size}, 0, Kind::control);
  bool sent = false;
  for (int n = 0; n < kPatienceMilliseconds; ++n) {
    sent = sent || is_done(ticket);
    const timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
  }
  end_job(of_rank(rank_, error.what()), code);
}

int MpiTransport::neighbours() {
  // Ranks that are bound to the same processors share them.
  cpu_set_t set;
  CPU_ZERO(&set);
  std::uint64_t key = 1469598103934665603u;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) key = (key ^ cpu) * 1099511628211u;
  }
  return checked(state_->mpi->neighbours(state_->of, static_cast<std::int64_t>(key >> 8)));
}

void matmul(const TesseraMpiCalls* mpi, int communicator, const Distributed<ConstMatrix>& A,
            const Distributed<ConstMatrix>& B, const Distributed<Matrix>& C, double alpha,
            double beta, const Options& options) {
  MpiTransport transport(mpi, communicator, [](const std::string& text) {
    std::fprintf(stderr, "tessera: %s\n", text.c_str());
  });
  matmul(transport, A, B, C, alpha, beta, options);
}

}  // namespace tessera::scale
