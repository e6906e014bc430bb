// Products in difficult processes: many callers, calls inside parallel regions, forks,
// signals, small stacks, no memory, no threads. The bits never change and nothing hangs.
#include "support/process.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cpu/multiply.hpp"
#include "cpu/workspace.hpp"
#include "support/child.hpp"
#include "support/sanitizers.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/cpu/packed_matrix.hpp"
#include "tessera/cpu/split_k.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::in_child;
using testing::kAddressSanitizer;
using testing::kThreadSanitizer;
using testing::Order;
using testing::RandomData;
using testing::repetitions;
using testing::Shape;

constexpr const char* kNoForks = "the thread sanitizer allows no threads after a fork";

/// A product with its expected result; any number of threads may repeat it.
template <class T>
class Known {
 public:
  explicit Known(Shape s, Order<T> b = Order<T>::row_major, cpu::Gemm<T> call = {})
      : A_(s.M, s.K), B_(s.K, s.N, b), C0_(s.M, s.N), expected_(s.M, s.N), call_(call) {
    A_.fill(RandomData(1));
    B_.fill(RandomData(2));
    C0_.fill(RandomData(3));
    expected_ = C0_;
    testing::reference(call_, A_.view(), B_.view(), expected_.view());
  }
  Guarded<T> room() const { return C0_; }
  /// "" or what is wrong; C: from room().
  std::string repeat(int threads, Guarded<T>& C) {
    auto call = call_;
    call.threads = threads;
    if (call.beta != T{0}) C = C0_;
    testing::multiply(call, A_.view(), B_.view(), C.view());
    return testing::difference(C, expected_);
  }
  std::string repeat(int threads) {
    Guarded<T> C = room();
    return repeat(threads, C);
  }

 private:
  Guarded<T> A_, B_, C0_, expected_;
  cpu::Gemm<T> call_;
};

TEST(Process, TwoHundredCallersGetTheBitsOfOne) {
  Known<float> small({17, 19, 23}), packed({40, 70, 60}), deep({20, 110, 600});
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 200; ++caller) {
    callers.emplace_back([&, caller] {
      Guarded<float> a = small.room(), b = packed.room(), c = deep.room();
      for (int call = 0; call < repetitions(200); ++call) {
        wrong += !small.repeat(1 + caller % 4, a).empty();
        if (call % 4 == 0) wrong += !packed.repeat(1 + caller % 4, b).empty();
        if (call % 50 == 0) wrong += !deep.repeat(1 + caller % 4, c).empty();
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Process, CallsInsideParallelRegionsWork) {
  Known<double> product({100, 130, 300});
  std::atomic<int> wrong{0};
  parallel_for(20, 3, [&](index_t) { wrong += !product.repeat(3).empty(); });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Process, ForkedChildrenAndGrandchildrenMultiply) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  Known<float> product({150, 160, 600});
  std::atomic<bool> over{false};
  // Somebody always multiplies while this thread forks; without the heap, whose lock a sanitizer
  // does not give back in the child.
  Guarded<float> room = product.room();
  std::thread busy([&] {
    while (!over.load()) product.repeat(2, room);
  });
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    EXPECT_EQ(product.repeat(3), "");
    EXPECT_EQ(in_child(10,
                       [&] {
                         for (const int threads : {3, 1}) {
                           const std::string wrong = product.repeat(threads);
                           if (!wrong.empty()) return "child: " + wrong;
                         }
                         return in_child(10, [&] { return product.repeat(3); });
                       }),
              "")
        << "fork " << i;
  }
  over = true;
  busy.join();
  EXPECT_EQ(product.repeat(3), "") << "the parent, after its forks";
}

template <class T>
void expect_every_path_right(int threads) {
  for (const auto order : {Order<T>::row_major, Order<T>::col_major}) {
    for (const Shape s : {Shape{5, 6, 7},
                          {48, 48, 48},
                          {49, 50, 51},
                          {90, 300, 600},
                          {1, 700, 900},
                          {8, 700, 90}}) {
      Known<T> product(s, order), full(s, order, {.alpha = T(0.7), .beta = T(0.7)});
      EXPECT_EQ(product.repeat(threads), "") << s.M << "x" << s.N << "x" << s.K;
      EXPECT_EQ(full.repeat(threads), "") << s.M << "x" << s.N << "x" << s.K;
    }
  }
}

TEST(Process, ACallersStackMayBeSmall) {
  // A sanitizer's frames are larger.
  const std::size_t bytes = kAddressSanitizer || kThreadSanitizer ? 512 << 10 : 64 << 10;
  testing::on_stack_of(bytes, [] {
    expect_every_path_right<float>(1);
    expect_every_path_right<double>(1);
    expect_every_path_right<double>(3);
  });
}

TEST(Process, SignalsChangeNoBits) {
  Known<float> product({200, 210, 300});
  int products = 0;
  const testing::SignalStorm storm;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  for (; std::chrono::steady_clock::now() < until; ++products) ASSERT_EQ(product.repeat(2), "");
  EXPECT_GT(products, 0);
  EXPECT_GT(storm.handled(), 20);
}

TEST(Process, WorksWhereNoThreadCanBeStarted) {
  if (kThreadSanitizer) GTEST_SKIP() << kNoForks;
  Known<float> product({150, 160, 600});
  EXPECT_EQ(in_child(20,
                     [&]() -> std::string {
                       const testing::NoNewThreads none;
                       const std::string wrong = product.repeat(4);
                       if (!wrong.empty()) return wrong;
                       return testing::count_threads() == 1 ? "" : "a thread was started";
                     }),
            "");
}

/// Bytes of address space that this process uses.
std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Gives back all memory that waits for packing: no system has a block of this size, and each
/// request for one drops one of the idle blocks, of which many callers leave many.
bool forget_kept_memory() {
  constexpr int kMoreThanAreKept = 100;
  for (int i = 0; i < kMoreThanAreKept; ++i)
    if (cpu::Workspace(std::size_t{1} << 60)) return false;
  return true;
}

/// What `body` finds wrong in a process that gets no more memory, "" for nothing.
template <class Body>
std::string wrong_without_memory(const Body& body) {
  return in_child(20, [&]() -> std::string {
    if (!forget_kept_memory()) return "2^60 bytes were had";
    const rlimit tight{address_space(), address_space()};
    if (setrlimit(RLIMIT_AS, &tight) != 0) return "no limit could be set";
    if (cpu::Workspace(1 << 20)) return "the limit limits nothing";
    return body();
  });
}

template <class T>
void expect_right_without_memory() {
  struct Case {
    Known<T> product;
    Guarded<T> room;
  };
  std::vector<Case> cases;
  for (const auto order : {Order<T>::row_major, Order<T>::col_major, Order<T>::spread}) {
    for (const Shape s : {Shape{300, 310, 320},
                          {49, 50, 51},
                          {20, 110, 1100},
                          {1, 700, 900},
                          {700, 1, 900},
                          {1, 1, 5000},
                          {101, 103, 1}}) {
      for (const cpu::Gemm<T>& call :
           {cpu::Gemm<T>{}, cpu::Gemm<T>{.alpha = T(-0.7), .beta = T(0.7)},
            cpu::Gemm<T>{.beta = T{1}, .last = {Activation::silu}}}) {
        Known<T> product(s, order, call);
        Guarded<T> room = product.room();
        cases.push_back({std::move(product), std::move(room)});
      }
    }
  }
  // The difference of two matrices is text on the heap only where they differ.
  EXPECT_EQ(wrong_without_memory([&]() -> std::string {
              for (auto& each : cases) {
                for (const int threads : {1, 3}) {
                  const std::string wrong = each.product.repeat(threads, each.room);
                  if (!wrong.empty()) return wrong;
                }
              }
              return "";
            }),
            "");
}

/// B packed beforehand, and K in parts: whole numbers, whose sums no order of steps changes.
template <class In, class Out>
void expect_the_same_without_memory() {
  for (const Shape s : {Shape{300, 310, 320}, {9, 50, 4100}, {70, 3, 2500}, {1, 1, 1}}) {
    Guarded<In> A(s.M, s.K), B(s.K, s.N);
    Guarded<Out> expected(s.M, s.N), C(s.M, s.N), split(s.M, s.N);
    A.fill(RandomData(1, true)), B.fill(RandomData(2, true));
    const auto call = [&](Guarded<Out>& to) {
      return testing::call_on<In, Out>({}, A.view(), B.view(), to.view());
    };
    cpu::gemm(call(expected));
    const auto of = call(C);
    const cpu::PackedMatrix<In> packed(of.B, s.K, s.N, of.b_row, of.b_col);
    EXPECT_EQ(wrong_without_memory([&]() -> std::string {
                cpu::gemm(call(C), packed);
                cpu::gemm_split_k(call(split));
                return testing::difference(C, expected) + testing::difference(split, expected);
              }),
              "")
        << s.M << " x " << s.N << " x " << s.K;
  }
}

TEST(Process, WithoutMemoryForPackingTheResultIsTheSame) {
  if (kAddressSanitizer || kThreadSanitizer)
    GTEST_SKIP() << "sanitizers need more address space than a limit leaves";
  expect_right_without_memory<float>();
  expect_right_without_memory<double>();
}

TEST(Process, WithoutMemoryPackedMatricesAndPartsOfKGiveTheSame) {
  if (kAddressSanitizer || kThreadSanitizer)
    GTEST_SKIP() << "sanitizers need more address space than a limit leaves";
  expect_the_same_without_memory<float, float>();
  expect_the_same_without_memory<double, double>();
  expect_the_same_without_memory<f16, float>();
  expect_the_same_without_memory<bf16, float>();
  expect_the_same_without_memory<std::int8_t, std::int32_t>();
  expect_the_same_without_memory<std::int8_t, float>();
  expect_the_same_without_memory<std::uint8_t, std::int32_t>();
}

}  // namespace
}  // namespace tessera
