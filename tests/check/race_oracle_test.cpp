// Random programs of reads, writes and atomic updates between random barriers: the checker names
// exactly the words in which two of all accesses, compared pair by pair, meet unordered; and every
// word that is read where nothing can have been written before.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/sanitizers.hpp"
#include "tessera/check/check.hpp"
#include "tessera/check/format.hpp"
#include "tessera/core/random.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {
namespace {

enum class How { nothing, read, write, update };

struct Access {
  How how = How::nothing;
  int offset = 0, bytes = 1;
};

/// One access of each thread in each round, and the barriers that end the round.
struct Program {
  static constexpr int kThreads = 70, kWarps = 3, kRounds = 7, kBytes = 16;
  static constexpr int kActive[] = {0, 1, 2, 31, 33, 34, 64, 69};  ///< threads that do something

  int blocks;
  std::vector<Access> accesses;
  std::vector<bool> warp_barriers, block_barriers;

  Program(std::uint64_t seed, int blocks_) : blocks(blocks_) {
    std::uint64_t draws = 0;
    const auto below = [&](std::uint64_t n) {
      return static_cast<int>(random_bits(seed, draws++) % n);
    };
    accesses.resize(static_cast<std::size_t>(blocks * kThreads * kRounds));
    const int busy = 1 + below(3);  // this many of four accesses exist
    for (int block = 0; block < blocks; ++block) {
      for (const int thread : kActive) {
        for (int round = 0; round < kRounds; ++round) {
          if (below(4) >= busy) continue;
          Access& a = accesses[index(block, thread, round)];
          a.how = static_cast<How>(1 + below(3));
          a.bytes = 1 << below(3);
          a.offset = below(kBytes / static_cast<std::uint64_t>(a.bytes)) * a.bytes;
        }
      }
    }
    for (int i = 0; i < kRounds * kWarps; ++i) warp_barriers.push_back(below(3) == 0);
    for (int i = 0; i < kRounds; ++i) block_barriers.push_back(below(4) == 0);
  }
  static std::size_t index(int block, int thread, int round) {
    return static_cast<std::size_t>((block * kThreads + thread) * kRounds + round);
  }
  bool warp_barrier(int round, int warp) const {
    return warp_barriers[static_cast<std::size_t>(round * kWarps + warp)];
  }
  bool block_barrier(int round) const { return block_barriers[static_cast<std::size_t>(round)]; }
};

/// Line 1 + w of this file that is none: word w.
Here word_of(int offset) { return {"program", 1 + offset / 4, 1}; }

template <class T>
void carry_out(auto& t, unsigned char* bytes, const Access& a, int value) {
  const Tensor<T*, row_major(1, Program::kBytes / static_cast<int>(sizeof(T)))> memory(
      reinterpret_cast<T*>(bytes));
  const index_t at = a.offset / static_cast<int>(sizeof(T));
  const Here here = word_of(a.offset);
  if (a.how == How::read) [[maybe_unused]]
    const T read = memory(0, at, here);
  if (a.how == How::write) memory(0, at, here) = static_cast<T>(value);
  if (a.how == How::update) t.atomic_add(memory(0, at, here), T{1});
}

template <bool kShared>
struct Interpreter {
  static constexpr const char* name = "interpreter";
  static constexpr Dim3 block{Program::kThreads};
  struct Shared {
    Tile<unsigned char, 1, Program::kBytes> bytes;
  };
  const Program* program;

  void operator()(auto t, auto C) const {
    unsigned char* bytes = C.data();
    if constexpr (kShared) bytes = shared<Shared>(t).bytes.view().data();
    for (int round = 0; round < Program::kRounds; ++round) {
      const Access& a = program->accesses[Program::index(t.block, t.thread, round)];
      const int value = 1 + t.block * 1000 + round * 100 + t.thread;
      if (a.bytes == 1) carry_out<std::uint8_t>(t, bytes, a, value);
      else if (a.bytes == 2) carry_out<std::uint16_t>(t, bytes, a, value);
      else carry_out<std::uint32_t>(t, bytes, a, value);
      if (program->warp_barrier(round, t.warp)) t.warp_barrier();
      if (program->block_barrier(round)) t.barrier();
    }
  }
};

/// One access to one byte, with everything that orders it.
struct Touch {
  How how;
  int block, thread, epoch, warp_epoch, round;
  int warp() const { return thread / 32; }
};

std::vector<Touch> touches_of(const Program& program, int byte) {
  std::vector<Touch> out;
  for (int block = 0; block < program.blocks; ++block) {
    for (int thread = 0; thread < Program::kThreads; ++thread) {
      int epoch = 0, warp_epoch = 0;
      for (int round = 0; round < Program::kRounds; ++round) {
        const Access& a = program.accesses[Program::index(block, thread, round)];
        if (a.how != How::nothing && byte >= a.offset && byte < a.offset + a.bytes)
          out.push_back({a.how, block, thread, epoch, warp_epoch, round});
        warp_epoch += program.warp_barrier(round, thread / 32) ? 1 : 0;
        epoch += program.block_barrier(round) ? 1 : 0;
      }
    }
  }
  return out;
}

bool unordered(const Touch& a, const Touch& b) {
  if (a.block != b.block) return true;
  if (a.thread == b.thread || a.epoch != b.epoch) return false;
  return a.warp() != b.warp() || a.warp_epoch == b.warp_epoch;
}
bool race(const Touch& a, const Touch& b) {
  return a.how != b.how || a.how == How::write ? unordered(a, b) : false;
}

struct Words {
  std::set<int> racing, across_warps, unwritten;
};

Words expected_of(const Program& program) {
  Words out;
  for (int byte = 0; byte < Program::kBytes; ++byte) {
    const auto all = touches_of(program, byte);
    for (const Touch& a : all) {
      bool may_be_written = a.how != How::read;
      for (const Touch& b : all) {
        if (race(a, b)) {
          out.racing.insert(byte / 4);
          if (a.block != b.block || a.warp() != b.warp()) out.across_warps.insert(byte / 4);
        }
        const bool earlier = a.thread == b.thread ? b.round < a.round : b.round <= a.round;
        // What nothing orders, another block's writes among it, is a race and no more.
        if (b.how != How::read && (unordered(a, b) || earlier)) may_be_written = true;
      }
      if (!may_be_written) out.unwritten.insert(byte / 4);
    }
  }
  return out;
}

Words found_in(const check::Report& report) {
  Words out;
  for (const auto& f : report.findings) {
    const int word = f.location.line - 1;
    if (f.kind == check::Kind::uninitialized_read) out.unwritten.insert(word);
    if (f.kind != check::Kind::race) continue;
    out.racing.insert(word);
    if (f.severity == check::Severity::error) out.across_warps.insert(word);
  }
  return out;
}

template <bool kShared>
void expect_every_race(int blocks, ThreadOrder order) {
  const int programs = testing::repetitions(400);
  int racing = 0, clean = 0;
  for (int seed = 0; seed < programs; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    const Program program(static_cast<std::uint64_t>(seed), blocks);
    std::vector<unsigned char> memory(Program::kBytes);
    check::Options options{.threads = 1, .order = order, .seed = 5, .fresh_outputs = true};
    const check::Report report =
        check::check(options, Dim3{blocks}, Interpreter<kShared>{&program},
                     Tensor<unsigned char*, row_major(1, Program::kBytes)>(memory.data()));
    const Words expected = expected_of(program), found = found_in(report);
    const std::string text = check::to_text(report, check::device_model("h200"));
    EXPECT_EQ(expected.racing, found.racing) << text;
    for (const int word : expected.across_warps)
      EXPECT_TRUE(found.across_warps.contains(word)) << word << "\n" << text;
    for (const int word : expected.unwritten)
      EXPECT_TRUE(found.unwritten.contains(word)) << word << "\n" << text;
    (expected.racing.empty() ? clean : racing) += 1;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(racing, programs / 10);
  EXPECT_GE(clean, blocks == 1 ? 1 : 0);
}

TEST(RaceOracle, EveryRacingWordOfSharedMemoryIsFoundAndNoOther) {
  for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled})
    expect_every_race<true>(1, order);
}
TEST(RaceOracle, EveryRacingWordOfGlobalMemoryIsFoundAndNoOther) {
  expect_every_race<false>(1, ThreadOrder::forward);
}
TEST(RaceOracle, EveryRaceBetweenBlocksIsFoundAndNoOther) {
  expect_every_race<false>(3, ThreadOrder::forward);
}

}  // namespace
}  // namespace tessera
