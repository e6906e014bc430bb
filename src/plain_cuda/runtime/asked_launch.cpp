// The arguments of a launch that was asked for, and what became of them: see parts/asked_launch.h.
#include "tessera/plain_cuda/parts/asked_launch.h"

#include <cstring>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "tessera/core/dtype.hpp"
#include "tessera/core/random.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

namespace tessera::plain_cuda {

namespace {

constexpr Place kPlace{"--launch", 1, 1};

struct Asked {
  std::string name;
  DType type = DType::f32;
  std::size_t elements = 0;
  std::string start;       ///< empty: as the kernel takes it
  void* memory = nullptr;  ///< null: not yet given to the kernel
  bool is_input = false;
  std::vector<std::byte> held;  ///< of an input: what it was filled with

  std::size_t bytes() const { return elements * static_cast<std::size_t>(size_of(type)); }
};
std::vector<Asked>& all() {
  static auto* const arrays = new std::vector<Asked>;
  return *arrays;
}

/// Element i, of the array that has this number.
double value(const std::string& start, DType type, std::size_t number, std::size_t i) {
  if (start == "zeros") return 0;
  if (start == "ones") return 1;
  if (start == "count") return static_cast<double>(i);
  const double unit = random_unit(Program::get().options.seed + number, i);
  return is_floating(type) ? 2 * unit - 1 : static_cast<double>(static_cast<int>(8 * unit));
}

void fill(Asked& asked, std::size_t number) {
  asked.held.resize(asked.bytes());
  visit_dtype(asked.type, [&]<class T>(TypeTag<T>) {
    for (std::size_t i = 0; i < asked.elements; ++i) {
      const double x = value(asked.start, asked.type, number, i);
      T element;
      if constexpr (std::is_arithmetic_v<T>) element = static_cast<T>(x);
      else element = T(static_cast<float>(x));
      std::memcpy(asked.held.data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  if (asked.bytes() > 0)
    cudaMemcpy(asked.memory, asked.held.data(), asked.bytes(), cudaMemcpyHostToDevice, kPlace);
}

void judge(const Asked& asked) {
  std::vector<std::byte> now(asked.bytes());
  if (asked.memory == nullptr || now.empty()) return;
  if (!asked.is_input) {  // what nobody has written is a finding of the copy
    cudaMemcpy(now.data(), asked.memory, now.size(), cudaMemcpyDeviceToHost, kPlace);
    return;
  }
  std::memcpy(now.data(), asked.memory, now.size());
  const auto size = static_cast<std::size_t>(size_of(asked.type));
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == asked.held[i]) continue;
    Program::get().find(check::Kind::program_failed, check::Severity::error, kPlace,
                        cat("the kernel has changed element ", i / size, " of ", asked.name,
                            ", which it takes as a pointer to const"),
                        "write to outputs only, or take it as a pointer to what is not const");
    return;
  }
}

}  // namespace

int asked_extent(char which) {
  const check::ProductProblem& problem = Program::get().problem;
  return static_cast<int>(which == 'm' ? problem.m : which == 'n' ? problem.n : problem.k);
}

AskedArray::AskedArray(const char* name, const char* type, std::initializer_list<long long> extents,
                       const char* start)
    : index_(static_cast<int>(all().size())) {
  Asked asked{.name = name, .type = parse_dtype(type), .elements = 1};
  for (const long long extent : extents) {
    if (extent < 0 ||
        __builtin_mul_overflow(asked.elements, static_cast<std::size_t>(extent), &asked.elements))
      throw Error(Category::argument, cat("--launch: an extent of ", name, " cannot be"),
                  "extents of at least 0", cat(extent));
  }
  if (start != nullptr) asked.start = start;
  all().push_back(std::move(asked));
}

void* AskedArray::begin(bool is_input) {
  const auto number = static_cast<std::size_t>(index_);
  Asked& asked = all()[number];
  if (asked.memory != nullptr) return asked.memory;
  asked.is_input = is_input;
  DeviceMemory& memory = DeviceMemory::get();
  asked.memory = memory.allocate(asked.bytes(), static_cast<std::size_t>(size_of(asked.type)),
                                 MemoryKind::device, here_of(kPlace));
  if (asked.memory == nullptr)
    throw Error(Category::argument, cat("--launch: the device has no room for ", asked.name),
                cat("at most ", memory.total_bytes() - memory.used_bytes(), " bytes"),
                cat(asked.bytes(), " bytes"));
  memory.find(reinterpret_cast<std::uint64_t>(asked.memory))->name = asked.name;
  if (asked.start != "nothing" && (is_input || !asked.start.empty())) fill(asked, number);
  else asked.is_input = false;
  return asked.memory;
}

int end_asked_launch() {
  for (const Asked& each : all()) judge(each);
  for (const Asked& each : all())
    if (each.memory != nullptr) cudaFree(each.memory, kPlace);
  return 0;
}

}  // namespace tessera::plain_cuda
