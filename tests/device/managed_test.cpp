#include <rapidcheck.h>

#include <numeric>

#include "device/byte_ranges.hpp"
#include "fake_device.hpp"
#include "kernels.hpp"
#include "support/refusal.hpp"

namespace tessera {
namespace {

using detail::ByteRange;
using detail::ByteRanges;
using detail::Elements;
using testing::AddTo;
using testing::Fill;
using testing::refusal;

TEST(ByteRanges, AreASetOfBytes) {
  EXPECT_TRUE(rc::check([] {
    ByteRanges ranges;
    std::vector<char> bytes(64);
    const auto steps = *rc::gen::inRange(1, 30);
    for (int step = 0; step < steps; ++step) {
      const index_t begin = *rc::gen::inRange<index_t>(0, 64);
      const index_t end = *rc::gen::inRange<index_t>(0, 65);
      const bool is_added = *rc::gen::arbitrary<bool>();
      is_added ? ranges.add({begin, end}) : ranges.remove({begin, end});
      for (index_t i = begin; i < end; ++i) bytes[static_cast<std::size_t>(i)] = is_added;
    }
    const index_t first = *rc::gen::inRange<index_t>(0, 64),
                  last = *rc::gen::inRange<index_t>(0, 65);
    std::vector<char> seen(64, 2);
    for (const auto& each : ranges.within({first, last}))
      for (index_t i = each.begin; i < each.end; ++i) seen[static_cast<std::size_t>(i)] = 1;
    for (const auto& each : ranges.missing_of({first, last}))
      for (index_t i = each.begin; i < each.end; ++i) seen[static_cast<std::size_t>(i)] = 0;
    for (index_t i = 0; i < 64; ++i) {
      const auto at = static_cast<std::size_t>(i);
      RC_ASSERT(seen[at] == (i >= first && i < last ? bytes[at] : 2));
    }
  }));
}

class Managed : public ::testing::Test {
 protected:
  Managed() : books_(testing::fake(kFirst)), other_(testing::fake(kSecond)) {
    using testing::add_fake_kernel;
    add_fake_kernel<AddTo, Elements<const float, 1>, Elements<float, 1>, float>(DeviceKind::cuda);
    add_fake_kernel<Fill, Elements<float, 1>>(DeviceKind::cuda);
  }
  static constexpr Device kFirst = Device::cuda(100), kSecond = Device::cuda(101);
  std::shared_ptr<testing::FakeBooks> books_, other_;
};

TEST_F(Managed, MovesWhatIsNeededOnceAndNothingElse) {
  const auto before = move_counts();
  const Vector<float> x({1, 2, 3});
  Vector<float> y(3);
  for (int i = 0; i < 3; ++i) run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 2.0f);
  EXPECT_EQ(books_->uploads, 1);  // x; y was zero
  EXPECT_EQ(books_->fills, 1);
  EXPECT_EQ(books_->downloads, 0);
  EXPECT_EQ(y(2), 18);
  EXPECT_EQ(y(0), 6);
  EXPECT_EQ(x(1), 2);
  EXPECT_EQ(books_->downloads, 1);  // y, for all of its elements
  run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  EXPECT_EQ(books_->uploads, 1);  // reading makes nothing old
  y.write()(0) = 100;
  run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  EXPECT_EQ(y(0), 101);
  EXPECT_EQ(y(1), 16);
  EXPECT_EQ(books_->uploads, 2);
  const auto now = move_counts();
  EXPECT_EQ(now.to_device - before.to_device, books_->uploads);
  EXPECT_EQ(now.to_host - before.to_host, books_->downloads);
  EXPECT_EQ(now.bytes_to_device - before.bytes_to_device, 24);
}

TEST_F(Managed, WhatIsOverwrittenIsNotMoved) {
  Vector<float> y({1, 2, 3, 4});
  run(kFirst, Dim3{1}, Dim3{32}, Fill{7}, overwritten(y));
  EXPECT_EQ(books_->uploads, 0);
  EXPECT_EQ(y(3), 7);
  const auto all = y.overwrite();
  for (int i = 0; i < 4; ++i) all(i) = 1;
  EXPECT_EQ(books_->downloads, 1);
  EXPECT_EQ(y(3), 1);
}

TEST_F(Managed, PartsMoveAlone) {
  const auto before = move_counts();
  Vector<float> y(1000);
  std::iota(y.overwrite().data(), y.write().data() + 1000, 0.0f);
  run(kFirst, Dim3{1}, Dim3{32}, Fill{-1}, y.part(10, 20));
  EXPECT_EQ(move_counts().bytes_to_device - before.bytes_to_device, 80);
  y.part(500, 1).write()(0) = -2;  // on the host, which has it still
  EXPECT_EQ(move_counts().bytes_to_host - before.bytes_to_host, 0);
  const auto all = y.read();
  EXPECT_EQ(move_counts().bytes_to_host - before.bytes_to_host, 80);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(all(i), i == 500 ? -2 : i >= 10 && i < 30 ? -1 : i);
}

TEST_F(Managed, GoesFromDeviceToDevice) {
  const Vector<float> x({1, 2, 3});
  Vector<float> y(3);
  run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  run(kSecond, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  run(Device::cpu(), Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  EXPECT_EQ(y(2), 12);
  EXPECT_EQ(other_->downloads, 1);
  EXPECT_EQ(other_->uploads, 2);
}

TEST_F(Managed, AnyOrderOfUsesGivesWhatTheHostAloneWouldGive) {
  EXPECT_TRUE(rc::check([] {
    constexpr int kSize = 40;
    Vector<float> mine(kSize);
    std::vector<float> expected(kSize);
    const Device places[] = {Device::cpu(), kFirst, kSecond};
    const auto steps = *rc::gen::inRange(1, 25);
    for (int step = 0; step < steps; ++step) {
      const index_t first = *rc::gen::inRange<index_t>(0, kSize + 1);
      const index_t count = *rc::gen::inRange<index_t>(0, kSize + 1 - first);
      const auto what = *rc::gen::inRange(0, 5);
      const float value = static_cast<float>(step + 1);
      const auto part = mine.part(first, count);
      const Device& device = places[*rc::gen::inRange(0, 3)];
      for (index_t i = first; i < first + count; ++i) {
        float& element = expected[static_cast<std::size_t>(i)];
        if (what == 0) RC_ASSERT(part.read()(i - first) == element);
        if (what == 1) part.write()(i - first) += value, element += value;
        if (what == 2 || what == 3) element = value;
        if (what == 4) element += 2 * element;
      }
      if (what == 2) run(device, Dim3{1}, Dim3{64}, Fill{value}, overwritten(part));
      if (what == 3) {
        const auto view = part.overwrite();
        for (index_t i = 0; i < count; ++i) view(i) = value;
      }
      if (what == 4) run(device, Dim3{2}, Dim3{32}, AddTo{}, part.constant(), part, 2.0f);
    }
    const auto all = mine.read();
    for (int i = 0; i < kSize; ++i) RC_ASSERT(all(i) == expected[static_cast<std::size_t>(i)]);
  }));
}

TEST_F(Managed, MemoryEndsWithTheTensorAndItsParts) {
  {
    Vector<float> y(8);
    run(kFirst, Dim3{1}, Dim3{32}, Fill{1}, y);
    EXPECT_EQ(books_->allocated, 1);
    const auto part = y.part(4, 4);
    y = Vector<float>(2);
    EXPECT_EQ(part.read()(3), 1);
    EXPECT_EQ(books_->allocated, 1);
    EXPECT_EQ(y(1), 0);
  }
  EXPECT_EQ(books_->allocated, 0);
}

TEST_F(Managed, NothingIsRightToo) {
  const Vector<float> x;
  Vector<float> y(0);
  run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  run(Device::cpu(), Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  run(kFirst, Dim3{0}, Dim3{32}, AddTo{}, x, y, 1.0f);
  EXPECT_EQ(y.read().size(), 0);
  EXPECT_EQ(books_->allocated + books_->uploads + books_->downloads, 0);
  ManagedMatrix<float> m(0, 5);
  EXPECT_EQ(m.part(0, 0).size(), 0);
  EXPECT_EQ(m.read().size(), 0);
}

TEST_F(Managed, ALostDeviceIsOneSentenceAndWhatTheHostHasStays) {
  const Vector<float> x({1, 2, 3});
  Vector<float> y(3);
  run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
  books_->is_lost = true;
  EXPECT_EQ(refusal([&] { y.read(); }, Category::unavailable),
            "cuda:100, running add_to: the device is lost");
  EXPECT_EQ(refusal([&] { kFirst.wait(); }, Category::unavailable),
            "cuda:100, running add_to: the device is lost");
  EXPECT_EQ(x(2), 3);
  refusal([&] { run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f); }, Category::unavailable);
  run(Device::cpu(), Dim3{1}, Dim3{32}, Fill{2}, overwritten(y));  // it can be used again
  EXPECT_EQ(y(1), 2);
}

TEST_F(Managed, ARefusedLaunchChangesNothing) {
  Vector<float> y({1, 2, 3});
  books_->is_full = true;
  refusal([&] { run(kFirst, Dim3{1}, Dim3{32}, Fill{7}, overwritten(y)); }, Category::resource);
  EXPECT_EQ(y(2), 3);
  refusal([&] { run(Device::cpu(), Dim3{1}, Dim3{2000}, Fill{7}, overwritten(y)); },
          Category::argument);
  EXPECT_EQ(y(2), 3);
}

struct WritesAndThrows {
  static constexpr Dim3 block{1};
  void operator()(auto, auto y) const {
    y(0) = 5;
    throw Error(Category::shape, "no");
  }
};

TEST_F(Managed, WhatAFailedKernelWroteIsTheNewest) {
  for (const bool is_overwritten : {false, true}) {
    Vector<float> y({1, 2, 3});
    run(kFirst, Dim3{1}, Dim3{32}, Fill{7}, y);
    y.read();  // newest in both places
    const auto fails = [&] {
      is_overwritten ? run(Device::cpu(), Dim3{1}, Dim3{1}, WritesAndThrows{}, overwritten(y))
                     : run(Device::cpu(), Dim3{1}, Dim3{1}, WritesAndThrows{}, y);
    };
    EXPECT_THROW(fails(), Error);
    const Vector<float> x(3);
    run(kFirst, Dim3{1}, Dim3{32}, AddTo{}, x, y, 1.0f);
    EXPECT_EQ(y(0), 5);
  }
}

TEST(ManagedTensor, WrongExtentsAreRefused) {
  EXPECT_EQ(refusal([] { Vector<float>(-1); }, Category::shape).empty(), false);
  refusal([] { ManagedMatrix<double>(index_t{1} << 40, index_t{1} << 40); }, Category::resource);
  refusal([] { ManagedMatrix<float>({{1, 2}, {3}}); }, Category::shape);
  Vector<float> y(5);
  for (const auto& [first, count] : {std::pair{-1, 2}, {0, 6}, {5, 1}, {6, 0}, {2, -1}})
    EXPECT_NE(refusal([&, f = first, c = count] { y.part(f, c); }, Category::shape)
                  .find("first and count within 5"),
              std::string::npos);
}

TEST(ManagedTensor, HoldsWhatItIsGiven) {
  const ManagedMatrix<int> m({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(m.extent(0), 2);
  EXPECT_EQ(m.size(), 6);
  EXPECT_EQ(m(1, 2), 6);
  EXPECT_EQ(m.part(1, 1).read()(0, 0), 4);
  const HostTensor<float> host({{1, 2}, {3, 4}});
  EXPECT_EQ(ManagedMatrix<float>(host)(1, 0), 3);
  EXPECT_EQ((ManagedTensor<float, 3>(2, 3, 4)(1, 2, 3)), 0);
}

}  // namespace
}  // namespace tessera
