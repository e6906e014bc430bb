// Evidence for the choice of threads: how long the work of a product of f32 takes, of 128 x 128 x
// 128 on a slow core and of 512 x 512 x 512, when it is shared out by run_team, OpenMP and oneTBB:
// back to back, 50 ms after the last call, and beside a process that keeps a core busy. The work is
// the same for all: 16 pieces, taken one by one.
//
//   g++ -O2 -std=c++20 -fopenmp -Iinclude bench/threads.cpp build/release/libtessera.a -ltbb
//   -lpthread -o threads && ./threads > bench/results/threads-MACHINE.txt
//
// Each row: mean, median and 90th percentile of single calls, in microseconds; `alone` is one
// thread.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tessera/core/cpu.hpp"
#include "tessera/core/team.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPieces = 16;
volatile double sink = 0;

/// Steps of a piece; 2300 are 3.4 us.
int steps = 0;

void piece(int i) {
  double x = i;
  for (int k = 0; k < steps; ++k) x = x * 0.999999 + 1.0;
  if (x == -1) sink = x;
}

double microseconds(const std::function<void()>& call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Contestant {
  std::string name;
  std::function<void()> call;
};

void row(const Contestant& who, int calls, std::chrono::microseconds pause) {
  for (int i = 0; i < 20; ++i) who.call();
  std::vector<double> us;
  for (int i = 0; i < calls; ++i) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    us.push_back(microseconds(who.call));
  }
  const double mean = std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size());
  std::sort(us.begin(), us.end());
  std::printf("  %-10s %9.1f %9.1f %9.1f\n", who.name.c_str(), mean, us[us.size() / 2],
              us[us.size() * 9 / 10]);
}

}  // namespace

int main() {
  const std::vector<Contestant> all = {
      {"alone",
       [] {
         for (int i = 0; i < kPieces; ++i) piece(i);
       }},
      {"run_team",
       [] {
         std::atomic<int> next{0};
         tessera::run_team(2, std::int64_t{24} * steps, [&](int) {
           for (int i; (i = next.fetch_add(1)) < kPieces;) piece(i);
         });
       }},
      {"OpenMP",
       [] {
#pragma omp parallel for schedule(dynamic) num_threads(2)
         for (int i = 0; i < kPieces; ++i) piece(i);
       }},
      {"oneTBB", [] { tbb::parallel_for(0, kPieces, piece); }},
  };
  const auto rows = [&](const char* title, int calls, std::chrono::microseconds pause) {
    std::printf("%s\n", title);
    for (const auto& each : all) row(each, calls, pause);
  };
  std::printf("%s\n", tessera::cpu_text().c_str());
  for (const int size : {1, 20}) {
    steps = size * 2300;
    std::printf("%-12s %9s %9s %9s   (2 threads, %d pieces of %d steps; us)\n", "", "mean",
                "median", "90 %", kPieces, steps);
    rows("back to back", 20000 / size, std::chrono::microseconds(0));
    rows("50 ms after the last call", 40, std::chrono::milliseconds(50));
    const pid_t busy = fork();
    if (busy == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      cpu_set_t first;
      CPU_ZERO(&first);
      CPU_SET(0, &first);
      sched_setaffinity(0, sizeof first, &first);
      for (;;) piece(1);
    }
    rows("beside a busy process on core 0", 20000 / size, std::chrono::microseconds(0));
    kill(busy, SIGKILL);
    waitpid(busy, nullptr, 0);
  }
}
