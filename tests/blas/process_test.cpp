// A BLAS in other people's processes: forked children, many callers, small stacks, signals, no
// memory, and nothing of the process changed.
#include <fenv.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "blas_calls.hpp"
#include "support/sanitizers.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tessera::testing {
namespace {

/// A product whose result is known: the same every time, whichever threads compute it.
template <class T>
class Known {
 public:
  explicit Known(index_t size, int seed = 1)
      : size_(size), A_(size, size, 1), B_(size, size, 0), expected_(size, size, 0) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    A_.fill(random), B_.fill(random);
    tessera_set_num_threads_local(1);
    compute(expected_);
    tessera_set_num_threads_local(0);
  }
  bool again() const {
    Stored<T> C(size_, size_, 0);
    compute(C);
    return std::memcmp(C.data(), expected_.data(),
                       static_cast<std::size_t>(size_ * size_) * sizeof(T)) == 0;
  }

 private:
  void compute(Stored<T>& C) const {
    call<T>(Name::fortran, {kColumn, kNone, kTrans, size_, size_, size_}, T{1}, A_, B_, T{0}, C);
  }
  index_t size_;
  Stored<T> A_, B_, expected_;
};

constexpr const char* kNoForks =
    "forks are NOT tested: the thread sanitizer allows no threads in a forked child";

/// Runs `body` in a forked child with an alarm after 10 s; true where it returned true.
bool in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(BlasProcess, FiftyForksEachMultiply) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  const Known<float> product(400);  // the threads of this process are at work by now
  ASSERT_TRUE(product.again());
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(in_child([&] { return product.again(); })) << "child " << i;
  EXPECT_TRUE(product.again());
}

TEST(BlasProcess, AGrandchildMultipliesToo) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  const Known<double> product(300);
  EXPECT_TRUE(in_child([&] {
    return product.again() && in_child([&] { return product.again(); }) && product.again();
  }));
}

TEST(BlasProcess, AForkWhileOtherThreadsMultiply) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  const Known<c64> product(150);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) EXPECT_TRUE(product.again());
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(in_child([&] { return product.again(); })) << "child " << i;
  stop = true;
  other.join();
}

TEST(BlasProcess, TwoHundredCallersGetTheBitsOfOne) {
  std::vector<Known<float>> reals;
  std::vector<Known<c32>> complexes;
  for (int i = 0; i < 8; ++i)
    reals.emplace_back(5 + 7 * i, i), complexes.emplace_back(3 + 5 * i, i);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 200; ++t)
    callers.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        if (!reals[static_cast<std::size_t>((i + t) % 8)].again()) ++wrong;
        if (!complexes[static_cast<std::size_t>((i * t) % 8)].again()) ++wrong;
      }
    });
  for (auto& each : callers) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST(BlasProcess, LargeProductsOfSeveralCallersAtOnce) {
  const Known<double> product(350);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 5; ++i) wrong += !product.again();
    });
  for (auto& each : callers) each.join();
  EXPECT_EQ(wrong, 0);
}

/// Runs `body` on a thread with a stack of this many bytes.
void on_small_stack(std::size_t bytes, void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, body, argument), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(BlasProcess, StacksOf64KiBSuffice) {
  if (kSanitized) GTEST_SKIP() << "small stacks are NOT tested: the sanitizers need larger ones";
  struct Products {
    Known<float> small{9}, large{300};
    Known<c64> small_complex{9}, large_complex{200};
    bool right = false;
  } products;
  on_small_stack(
      64 << 10,
      [](void* at) -> void* {
        auto& p = *static_cast<Products*>(at);
        p.right = p.small.again() && p.large.again() && p.small_complex.again() &&
                  p.large_complex.again();
        return nullptr;
      },
      &products);
  EXPECT_TRUE(products.right);
}

TEST(BlasProcess, AStormOfSignalsChangesNothing) {
  static std::atomic<int> signals;
  signals = 0;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { ++signals; };
  sigaction(SIGALRM, &action, &before);  // without SA_RESTART
  const Known<float> product(250);
  const Known<c32> complex_product(100);
  const itimerval every_ms{{0, 1000}, {0, 1000}}, never{};
  setitimer(ITIMER_REAL, &every_ms, nullptr);
  bool right = true;
  for (int i = 0; i < 5000 && signals < 100; ++i)
    right = right && product.again() && complex_product.again();
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(right);
  EXPECT_GE(signals, 100);
}

/// A program that sees which pages of C are written, as a garbage collector does.
TEST(BlasProcess, AWriteBarrierWorksInEveryThread) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  EXPECT_TRUE(in_child([] {
    constexpr index_t n = 700;
    constexpr std::size_t page = 4096, bytes = (n * n * sizeof(double) + page - 1) / page * page;
    static char* pages;
    static std::atomic<int> faults;
    pages = static_cast<char*>(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      const std::size_t at = static_cast<std::size_t>(static_cast<char*>(info->si_addr) - pages);
      if (at >= bytes || mprotect(pages + at / page * page, page, PROT_READ | PROT_WRITE) != 0)
        _exit(2);
      ++faults;
    };
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    const std::vector<double> A(n * n, 0.5), B(n * n, 2);
    auto* const C = reinterpret_cast<double*>(pages);
    tessera_set_num_threads(2);
    for (int call = 0; call < 10; ++call) {
      mprotect(pages, bytes, PROT_READ);
      cblas_dgemm(kRow, kNone, kNone, n, n, n, 1, A.data(), n, B.data(), n, 0, C, n);
    }
    return faults > 0 && std::count(C, C + n * n, double{n}) == n * n;
  }));
}

#if defined(__x86_64__)
/// The handler of a program that traps ends it, whichever thread divides infinities.
TEST(BlasProcess, TrapsOfTheCallerAreThoseOfEveryThread) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  for (int time = 0; time < 5; ++time) {
    EXPECT_TRUE(in_child([] {
      constexpr index_t n = 500;
      std::vector<double> A(n * n, 0.5), B(n * n, 2), C(n * n);
      tessera_set_num_threads(2);
      const auto multiply = [&] {
        cblas_dgemm(kRow, kNone, kNone, n, n, n, 1, A.data(), n, B.data(), n, 0, C.data(), n);
      };
      for (int call = 0; call < 5; ++call) multiply();
      // inf - inf in every element of C, half way
      for (index_t i = 0; i < n; ++i)
        A[i * n + n / 2] = std::numeric_limits<double>::infinity(),
                      A[i * n + n / 2 + 1] = -A[i * n + n / 2];
      signal(SIGFPE, [](int) { _exit(0); });
      feenableexcept(FE_INVALID);
      multiply();
      return false;
    }));
  }
}

TEST(BlasProcess, TheFloatingPointEnvironmentStaysAndIsRespected) {
  const unsigned before = _mm_getcsr();
  const unsigned modes[] = {before, before | 0x8040u,
                            before | 0x4000u};  // as it is, no subnormals, rounding up
  for (const unsigned mode : modes) {
    _mm_setcsr(mode);
    for (const int n : {4, 200}) {
      std::vector<float> A(static_cast<std::size_t>(n * n), 0.1f), B = A, C = A;
      cblas_sgemm(kRow, kNone, kNone, n, n, n, 1, A.data(), n, B.data(), n, 0, C.data(), n);
      std::vector<c64> x(static_cast<std::size_t>(n * n), c64(0.1, 0.3)), y = x, z = x;
      const c64 one{1}, zero{0};
      cblas_zgemm(kRow, kNone, kConj, n, n, n, &one, x.data(), n, y.data(), n, &zero, z.data(), n);
      EXPECT_EQ(_mm_getcsr() & ~0x3Fu, mode & ~0x3Fu);  // but for the exception flags
    }
    _mm_setcsr(before);
  }
  // Subnormal numbers count as long as the caller lets them.
  const float tiny = std::numeric_limits<float>::denorm_min(), one = 1;
  float c = 0;
  cblas_sgemm(kRow, kNone, kNone, 1, 1, 1, 1, &tiny, 1, &one, 1, 0, &c, 1);
  EXPECT_EQ(c, tiny);
}
#endif

TEST(BlasProcess, WithoutMemoryItIsOnlySlower) {
  if (kSanitized) GTEST_SKIP() << "running out of memory is NOT tested: the sanitizers need it";
  const Known<c64> product(160);
  const Known<float> real(300);
  EXPECT_TRUE(in_child([&] {
    const index_t n = 160;
    Stored<c64> A(n, n, 1), B(n, n, 0), C(n, n, 0);
    std::mt19937_64 random(1);
    A.fill(random), B.fill(random);
    const rlimit none{1, 1};  // nothing can be mapped from here on
    if (setrlimit(RLIMIT_AS, &none) != 0) return false;
    std::vector<void*> taken;
    taken.reserve(64);
    while (taken.size() < 64) {  // nor is anything large left in the heap
      void* p = std::malloc(100'000);
      if (p == nullptr) break;
      taken.push_back(p);
    }
    for (const int order : {kRow, kColumn}) {
      call<c64>(Name::cblas, {order, kTrans, kConj, n, n, n}, c64{1}, A, B, c64{0}, C);
      for (const index_t at : {0, 77, 159}) {
        const c64 expected = defined<c64>(
            n, c64{1}, [&](index_t k) { return element(A, order, kTrans, at, k); },
            [&](index_t k) { return element(B, order, kConj, k, 159 - at); }, c64{0}, c64{});
        if (!same(element(C, order, kNone, at, 159 - at), expected)) return false;
      }
    }
    return product.again() && real.again();
  }));
  EXPECT_TRUE(product.again() && real.again());
}

TEST(BlasProcess, TheNumberOfThreadsIsSetForAllOrForOne) {
  const int usual = tessera_get_num_threads();
  EXPECT_GE(usual, 1);
  tessera_set_num_threads(3);
  EXPECT_EQ(tessera_get_num_threads(), 3);
  EXPECT_EQ(tessera_set_num_threads_local(1), 0);
  EXPECT_EQ(tessera_get_num_threads(), 1);
  std::thread([] { EXPECT_EQ(tessera_get_num_threads(), 3); }).join();
  EXPECT_EQ(tessera_set_num_threads_local(0), 1);
  tessera_set_num_threads(-5);
  EXPECT_EQ(tessera_get_num_threads(), usual);
}

TEST(BlasProcess, ItSaysWhatItIs) {
  EXPECT_NE(std::string(tessera_get_config()).find(TESSERA_VERSION), std::string::npos);
  EXPECT_FALSE(std::string(tessera_get_corename()).empty());
}

}  // namespace
}  // namespace tessera::testing
