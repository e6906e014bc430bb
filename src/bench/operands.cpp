// Memory for a benchmark's operands: see operands.hpp.
#include "operands.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include "tessera/core/error.hpp"

namespace tessera::bench {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t bytes_of(index_t rows, index_t cols, DType type) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) *
         static_cast<std::size_t>(size_of(type));
}

/// Nearly normal, with mean 0 and variance 1: the sum of four uniform numbers, each of 16 bits.
double normal(std::uint64_t bits) {
  double sum = 0;
  for (int i = 0; i < 64; i += 16) sum += static_cast<double>(bits >> i & 0xffff) * 0x1p-16;
  return (sum - 2 * 65535 * 0x1p-16) * 1.7320508075688772;
}

/// The view of a compact (rows, cols) matrix, row-major or transposed.
ConstMatrix view(const void* data, DType type, index_t rows, index_t cols, bool transposed) {
  return transposed ? ConstMatrix{data, type, rows, cols, 1, rows}
                    : ConstMatrix{data, type, rows, cols, cols, 1};
}

}  // namespace

OperandPlaces::OperandPlaces(const BenchCase& now) {
  const Shape& shape = now.shape;
  const auto count = static_cast<std::size_t>(now.products());
  const std::size_t page = 4096;
  a_step = bytes_of(shape.M, shape.K, now.types.in);
  b_step = bytes_of(shape.K, shape.N, now.types.in_b);
  c_step = bytes_of(shape.M, shape.N, now.types.out);
  a = 0;
  b = a + rounded_up(count * a_step, page);
  c = b + rounded_up(count * b_step, page);
  end = c + rounded_up(count * c_step, page);
}

SharedOperands::SharedOperands() : file_(memfd_create("tessera-bench", MFD_CLOEXEC)) {
  if (file_ < 0)
    throw Error(Category::resource, cat("cannot create shared memory: ", std::strerror(errno)));
}

SharedOperands::~SharedOperands() {
  unmap();
  close(file_);
}

void SharedOperands::unmap() {
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
}

void SharedOperands::map(const BenchCase& now, bool reserve) {
  unmap();
  case_ = now;
  bytes_ = std::max<std::size_t>(4096, OperandPlaces(now).end);
  int failed = 0;
  if (reserve) {
    // Reserved now: a page that is missing later would be a signal instead of an error.
    do {
      failed =
          ftruncate(file_, 0) != 0 ? errno : posix_fallocate(file_, 0, static_cast<off_t>(bytes_));
    } while (failed == EINTR);
  }
  void* base = failed != 0 ? MAP_FAILED
                           : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (base == MAP_FAILED)
    throw Error(Category::resource, cat("cannot get ", bytes_ >> 20, " MiB of shared memory: ",
                                        std::strerror(failed != 0 ? failed : errno)));
  base_ = static_cast<char*>(base);
}

void SharedOperands::prepare(const BenchCase& now, std::uint64_t seed) {
  map(now, true);
  std::mt19937_64 random(seed);
  const auto fill = [&random, &now](char* at, DType type, index_t count) {
    visit_dtype(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto* values = reinterpret_cast<T*>(at);
      for (index_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random();
        // Two of u8 stay below 128, so that libraries with a signed second factor compute the same.
        if constexpr (std::is_same_v<T, std::uint8_t>)
          values[i] = static_cast<T>(now.types.in == now.types.in_b ? bits & 127 : bits);
        else if constexpr (sizeof(T) == 1 && std::is_integral_v<T>)
          values[i] = static_cast<T>(bits);
        else if constexpr (std::is_integral_v<T>) values[i] = static_cast<T>(bits % 17);
        else values[i] = T(normal(bits));
      }
    });
  };
  const OperandPlaces places(now);
  fill(base_ + places.a, now.types.in, now.products() * now.shape.M * now.shape.K);
  fill(base_ + places.b, now.types.in_b, now.products() * now.shape.K * now.shape.N);
  spoil_results();
}

void SharedOperands::attach(const BenchCase& now) { map(now, false); }

void SharedOperands::spoil_results() {
  const OperandPlaces places(case_);
  char* const all = base_ + places.c;
  std::memset(all, 0xff, places.end - places.c);
  if (!case_.shape.updates) return;
  visit_dtype(case_.types.out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (index_t i = 0; i < case_.products() * case_.shape.M * case_.shape.N; ++i)
      reinterpret_cast<T*>(all)[i] = static_cast<T>(static_cast<float>(i % 5));
  });
}

ConstMatrix SharedOperands::A(index_t product) const {
  const OperandPlaces places(case_);
  return view(base_ + places.a + static_cast<std::size_t>(product) * places.a_step, case_.types.in,
              case_.shape.M, case_.shape.K, case_.shape.a_transposed);
}

ConstMatrix SharedOperands::B(index_t product) const {
  const OperandPlaces places(case_);
  return view(base_ + places.b + static_cast<std::size_t>(product) * places.b_step,
              case_.types.in_b, case_.shape.K, case_.shape.N, case_.shape.b_transposed);
}

Matrix SharedOperands::C(index_t product) const {
  const OperandPlaces places(case_);
  return {base_ + places.c + static_cast<std::size_t>(product) * places.c_step, case_.types.out,
          case_.shape.M, case_.shape.N, case_.shape.N};
}

OwnOperands::OwnOperands(const BenchCase& now, const SharedOperands& shared) : case_(now) {
  const OperandPlaces places(now);
  const std::size_t bytes = rounded_up(std::max<std::size_t>(places.end, 1), kHugePage);
  memory_.reset(static_cast<char*>(std::aligned_alloc(kHugePage, bytes)));
  if (!memory_) throw Error(Category::resource, "not enough memory for the operands");
  madvise(memory_.get(), bytes, MADV_HUGEPAGE);
  std::memcpy(memory_.get(), shared.A(0).data, places.end);  // all A, then all B, then all C
}

void OwnOperands::Free::operator()(char* p) const { std::free(p); }

OwnOperands::Place OwnOperands::place(index_t set) const {
  const OperandPlaces places(case_);
  const auto first = static_cast<std::size_t>(set * case_.shape.batch);
  char* const base = memory_.get();
  return {base + places.a + first * places.a_step, base + places.b + first * places.b_step,
          base + places.c + first * places.c_step};
}

void OwnOperands::copy_results_to(const SharedOperands& shared) const {
  const OperandPlaces places(case_);
  std::memcpy(shared.C(0).data, memory_.get() + places.c, places.end - places.c);
}

}  // namespace tessera::bench
