// The arguments of a requested launch, and its results: see parts/asked_launch.h.
#include "tessera/plain_cuda/parts/asked_launch.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "io/scratch_array.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "tessera/core/dtype.hpp"
#include "tessera/core/random.hpp"
#include "tessera/io/io.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

namespace tessera::plain_cuda {

namespace {

constexpr Place kPlace{"--launch", 1, 1};

struct Asked {
  std::string name;
  DType type = DType::f32;
  std::vector<index_t> shape = {};
  std::size_t elements = 0;
  std::string start;       ///< empty: an argument of the kernel; "values": those in `held`
  void* memory = nullptr;  ///< null: not yet given to the kernel
  bool is_input = false;
  std::vector<std::byte> held;  ///< of an input: its original content

  std::size_t bytes() const { return elements * static_cast<std::size_t>(size_of(type)); }
};
std::vector<Asked>& all() {
  static auto* const arrays = new std::vector<Asked>;
  return *arrays;
}

/// The contents of the inputs of a launch, besides numbers that a keyword of --launch requests.
enum Round { kRandom, kOther, kSmall, kSpecial, kRounds };
int round_now = 0;

/// An output of a puzzle: zeros where it is copied unchanged, unwritten memory for the checker.
constexpr const char* kUnwritten = "unwritten";

/// Where `tessera judge` reads the arrays; null: not used.
const char* arrays_folder() { return std::getenv("TESSERA_LAUNCH_ARRAYS"); }

/// Where `tessera check` stores the results of the kernel; null: not used.
const char* results_folder() { return std::getenv("TESSERA_LAUNCH_RESULTS"); }

/// The name of the file with its original content; null: none.
const char* file_of(const Asked& asked) {
  return asked.start.starts_with("file:") ? asked.start.c_str() + 5 : nullptr;
}

void read_file(Asked& asked) {
  const Array array = contiguous(read_array(file_of(asked), {.untyped = asked.type}));
  if (array.dtype() != asked.type || array.shape() != asked.shape)
    throw Error(Category::argument,
                cat("--launch: ", asked.name, " is another array than ", file_of(asked)),
                cat(name(array.dtype()), " of shape ", shape_text(array.shape())),
                cat(name(asked.type), " of shape ", shape_text(asked.shape)));
  if (asked.bytes() > 0) std::memcpy(asked.held.data(), array.data(), asked.bytes());
}

/// The magnitude of small numbers: products of several remain normal numbers of the type.
double small_number(DType type) {
  const bool is_wide = type == DType::f32 || type == DType::f64 || type == DType::bf16;
  return is_wide ? 0x1p-25 : 0x1p-10;
}

/// Element i of the array with this number.
double value(const Asked& asked, std::size_t number, std::size_t i) {
  if (asked.start == "zeros") return 0;
  if (asked.start == "ones") return 1;
  if (asked.start == "count") return static_cast<double>(i);
  const std::uint64_t seed = Program::get().options.seed + 64 * (round_now + 1) + number;
  const double unit = random_unit(seed, i);
  if (!is_floating(asked.type)) return static_cast<double>(static_cast<int>(8 * unit));
  if (round_now == kSpecial) {
    if (i == random_bits(seed, asked.elements) % asked.elements) return NAN;
    if (i == random_bits(seed, asked.elements + 1) % asked.elements) return INFINITY;
  }
  return (2 * unit - 1) * (round_now == kSmall ? small_number(asked.type) : 1);
}

void fill(Asked& asked, std::size_t number) {
  asked.held.resize(asked.bytes());
  if (file_of(asked) != nullptr) {
    read_file(asked);
  } else if (asked.start != "values") {
    visit_dtype(asked.type, [&]<class T>(TypeTag<T>) {
      for (std::size_t i = 0; i < asked.elements; ++i) {
        const double x = value(asked, number, i);
        T element;
        if constexpr (std::is_arithmetic_v<T>) element = static_cast<T>(x);
        else element = T(static_cast<float>(x));
        std::memcpy(asked.held.data() + i * sizeof(T), &element, sizeof(T));
      }
    });
  }
  if (asked.bytes() > 0)
    cudaMemcpy(asked.memory, asked.held.data(), asked.bytes(), cudaMemcpyHostToDevice, kPlace);
}

Array array_of(const Asked& asked, const std::vector<std::byte>& bytes) {
  return Array::read_only(asked.type, asked.shape, contiguous_strides(asked.shape, Order::c),
                          bytes.data(), {});
}

/// As ROUND.NUMBER.in|out.NAME.npy.
void keep(const Asked& asked, std::size_t number, const char* side,
          const std::vector<std::byte>& bytes) {
  if (arrays_folder() == nullptr) return;
  io::write_scratch_array(
      cat(arrays_folder(), "/", round_now, ".", number, ".", side, ".", asked.name, ".npy"),
      array_of(asked, bytes));
}

/// A note of the elements that no thread has read, if every block was watched to its end.
void judge_read(const Asked& asked) {
  Program& program = Program::get();
  const check::Summary& summary = program.report.summary;
  const Allocation& input =
      *DeviceMemory::get().find(reinterpret_cast<std::uint64_t>(asked.memory));
  const std::size_t read = DeviceMemory::elements_read(input);
  if (!program.is_checked || summary.errors > 0 || summary.checked_blocks < summary.blocks ||
      summary.blocks == 0 || read == asked.elements)
    return;
  program.find(check::Kind::never_read, check::Severity::note, kPlace,
               cat(asked.name, ": ", read, " of ", asked.elements, " elements were read"),
               "a loop or a guard may leave out the tail");
}

void judge(const Asked& asked, std::size_t number) {
  std::vector<std::byte> now(asked.bytes());
  if (asked.memory == nullptr) return;
  if (asked.is_input || !asked.held.empty()) keep(asked, number, "in", asked.held);
  if (!asked.is_input) {  // copying unwritten elements would be a finding
    if (asked.start == kUnwritten) std::memcpy(now.data(), asked.memory, now.size());
    else if (!now.empty())
      cudaMemcpy(now.data(), asked.memory, now.size(), cudaMemcpyDeviceToHost, kPlace);
    keep(asked, number, "out", now);
    if (results_folder() != nullptr)
      write_array(cat(results_folder(), "/", asked.name, ".npy"), array_of(asked, now),
                  {.overwrite = Overwrite::replace});
    return;
  }
  if (now.empty()) return;
  std::memcpy(now.data(), asked.memory, now.size());
  const auto size = static_cast<std::size_t>(size_of(asked.type));
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == asked.held[i]) continue;
    Program::get().find(
        check::Kind::program_failed, check::Severity::error, kPlace,
        cat("the kernel has changed element ", i / size, " of ", asked.name, ", an input"),
        "write to outputs only: an argument that is const, or a pointer to const, is an input");
    return;
  }
}

}  // namespace

int asked_extent(char which) {
  Program::get().is_sized = true;
  const check::ProductProblem& problem = Program::get().problem;
  return static_cast<int>(which == 'm' ? problem.m : which == 'n' ? problem.n : problem.k);
}

AskedArray::AskedArray(const char* name, const char* type, std::initializer_list<long long> extents,
                       const char* start, bool is_const)
    : index_(static_cast<int>(all().size())), is_const_(is_const) {
  Asked asked{.name = name, .type = parse_dtype(type), .elements = 1};
  for (const long long extent : extents) {
    if (extent < 0 ||
        __builtin_mul_overflow(asked.elements, static_cast<std::size_t>(extent), &asked.elements))
      throw Error(Category::argument, cat("--launch: an extent of ", name, " cannot be"),
                  "extents of at least 0", cat(extent));
    asked.shape.push_back(extent);
  }
  if (start != nullptr) asked.start = start;
  all().push_back(std::move(asked));
}

std::size_t AskedArray::elements() const {
  const Asked& asked = all()[static_cast<std::size_t>(index_)];
  return asked.bytes() <= DeviceMemory::get().total_bytes() ? asked.elements
                                                            : 0;  // begin() refuses
}

void AskedArray::set(std::size_t element, const void* value) {
  Asked& asked = all()[static_cast<std::size_t>(index_)];
  const auto size = static_cast<std::size_t>(size_of(asked.type));
  asked.held.resize(asked.bytes());
  std::memcpy(asked.held.data() + element * size, value, size);
}

void* AskedArray::begin(bool is_input) {
  is_input = is_input || is_const_;
  const auto number = static_cast<std::size_t>(index_);
  Asked& asked = all()[number];
  DeviceMemory& memory = DeviceMemory::get();
  if (asked.memory != nullptr) {  // given to two arguments: it may be written through one
    asked.is_input = asked.is_input && is_input;
    memory.find(reinterpret_cast<std::uint64_t>(asked.memory))->is_input = asked.is_input;
    return asked.memory;
  }
  asked.is_input = is_input;
  asked.memory = memory.allocate(asked.bytes(), static_cast<std::size_t>(size_of(asked.type)),
                                 MemoryKind::device, here_of(kPlace));
  if (asked.memory == nullptr)
    throw Error(Category::argument, cat("--launch: the device has no room for ", asked.name),
                cat("at most ", memory.total_bytes() - memory.used_bytes(), " bytes"),
                cat(asked.bytes(), " bytes"));
  Allocation& allocation = *memory.find(reinterpret_cast<std::uint64_t>(asked.memory));
  allocation.name = asked.name;
  allocation.gaps.emplace();  // numbers have none
  const bool is_unwritten = asked.start == kUnwritten;
  if (is_unwritten) std::memset(asked.memory, 0, asked.bytes());
  if (!is_unwritten && asked.start != "nothing" && (is_input || !asked.start.empty()))
    fill(asked, number);
  else asked.is_input = false;
  allocation.is_input = asked.is_input;
  return asked.memory;
}

bool begin_asked_launch(int round) {
  round_now = round;
  return round < (arrays_folder() != nullptr ? kRounds : 1);
}

void end_asked_launch() {
  for (std::size_t i = 0; i < all().size(); ++i) judge(all()[i], i);
  if (arrays_folder() == nullptr) {
    for (const Asked& each : all())
      if (each.is_input && each.memory != nullptr) judge_read(each);
  }
  for (const Asked& each : all())
    if (each.memory != nullptr) cudaFree(each.memory, kPlace);
  all().clear();
}

}  // namespace tessera::plain_cuda
