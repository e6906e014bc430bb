// Memory for packing: aligned, separate, kept for the next call, freed, and
// bounded.
#include "cpu/workspace.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/child.hpp"

namespace tessera::cpu {
namespace {

/// Takes the whole block as bytes.
unsigned char* all_of(Workspace& workspace, std::size_t bytes) {
  return workspace.take<unsigned char>(Workspace::rounded(bytes));
}

TEST(Workspace, StartsAtAPageAndIsWritableToItsEnd) {
  for (const std::size_t bytes :
       {0ul, 1ul, 64ul, 4095ul, 4096ul, 4097ul, 2ul << 20, (2ul << 20) + 1, 70ul << 20}) {
    Workspace workspace(bytes);
    ASSERT_TRUE(workspace) << bytes;
    unsigned char* data = all_of(workspace, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 4096, 0u) << bytes;
    if (bytes > 0) data[0] = data[bytes - 1] = data[bytes / 2] = 1;
  }
}

TEST(Workspace, PartsAreAlignedToLinesAndDoNotOverlap) {
  Workspace workspace(64 + 448 + 64);
  ASSERT_TRUE(workspace);
  const auto a = reinterpret_cast<std::uintptr_t>(workspace.take<char>(64)),
             b = reinterpret_cast<std::uintptr_t>(workspace.take<float>(448)),
             c = reinterpret_cast<std::uintptr_t>(workspace.take<double>(64));
  EXPECT_EQ((a | b | c) % 64, 0u);
  EXPECT_GE(b, a + 64);
  EXPECT_GE(c, b + 448);
  EXPECT_EQ(Workspace::rounded(0), 0u);
  EXPECT_EQ(Workspace::rounded(1), 64u);
  EXPECT_EQ(Workspace::rounded(64), 64u);
}

TEST(Workspace, OneOfEachSizeWaitsForCallsThatTakeBoth) {
  // As gemm_split_k does, which takes its own block and then a product's. Nothing else waits.
  std::vector<std::unique_ptr<Workspace>> others;
  for (int i = 0; i < 8; ++i) others.push_back(std::make_unique<Workspace>(1));
  const auto taken = [] {
    Workspace large(3 << 20), small(40'000);
    return std::pair{all_of(large, 3 << 20), all_of(small, 40'000)};
  };
  taken();
  const auto before = taken();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(taken(), before);
}

TEST(Workspace, TwoAtATimeAreApart) {
  constexpr std::size_t bytes = 10'000;
  std::vector<std::unique_ptr<Workspace>> all;
  std::vector<unsigned char*> data;
  for (unsigned char i = 0; i < 20; ++i) {
    all.push_back(std::make_unique<Workspace>(bytes));
    ASSERT_TRUE(*all.back());
    data.push_back(all_of(*all.back(), bytes));
    std::memset(data.back(), i, bytes);
  }
  for (unsigned char i = 0; i < 20; ++i) {
    EXPECT_EQ(data[i][0], i);
    EXPECT_EQ(data[i][bytes - 1], i);
  }
}

TEST(Workspace, WhatNoSystemHasIsRefusedAndTheNextIsHad) {
  for (const std::size_t bytes : {std::size_t{1} << 60, ~std::size_t{0}, ~std::size_t{0} / 2,
                                  ~std::size_t{0} - 4096, ~std::size_t{0} - (2 << 20)}) {
    EXPECT_FALSE(Workspace(bytes)) << bytes;
    EXPECT_TRUE(Workspace(4096));
  }
}

TEST(Workspace, ManyThreadsNeverShareABlock) {
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 500; ++round) {
        const auto count = static_cast<std::size_t>(100 + 997 * ((thread + round) % 7));
        const std::size_t bytes = Workspace::rounded(count * sizeof(int));
        Workspace workspace(bytes);
        int* data = workspace.take<int>(bytes);
        for (std::size_t i = 0; i < count; ++i) data[i] = thread;
        std::this_thread::yield();
        for (std::size_t i = 0; i < count; ++i) shared += data[i] != thread;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(shared.load(), 0);
}

TEST(Workspace, AForkedChildHasItsOwn) {
  constexpr std::size_t bytes = 100'000;
  { Workspace kept(bytes); }
  EXPECT_EQ(testing::in_child(10,
                              []() -> std::string {
                                Workspace workspace(bytes);
                                if (!workspace) return "none";
                                std::memset(all_of(workspace, bytes), 1, bytes);
                                return "";
                              }),
            "");
  Workspace workspace(bytes);
  ASSERT_TRUE(workspace);
  std::memset(all_of(workspace, bytes), 2, bytes);
}

}  // namespace
}  // namespace tessera::cpu
