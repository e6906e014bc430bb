// The arguments of a requested launch, and its results: see parts/requested_launch.h.
#include "tessera/plain_cuda/parts/requested_launch.h"

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

struct LaunchArray {
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
std::vector<LaunchArray>& all() {
  static auto* const arrays = new std::vector<LaunchArray>;
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
const char* file_of(const LaunchArray& argument) {
  return argument.start.starts_with("file:") ? argument.start.c_str() + 5 : nullptr;
}

void read_file(LaunchArray& argument) {
  const Array array = contiguous(read_array(file_of(argument), {.untyped = argument.type}));
  if (array.dtype() != argument.type || array.shape() != argument.shape)
    throw Error(Category::argument,
                cat("--launch: ", argument.name, " is another array than ", file_of(argument)),
                cat(name(array.dtype()), " of shape ", shape_text(array.shape())),
                cat(name(argument.type), " of shape ", shape_text(argument.shape)));
  if (argument.bytes() > 0) std::memcpy(argument.held.data(), array.data(), argument.bytes());
}

/// The magnitude of small numbers: products of several remain normal numbers of the type.
double small_number(DType type) {
  const bool is_wide = type == DType::f32 || type == DType::f64 || type == DType::bf16;
  return is_wide ? 0x1p-25 : 0x1p-10;
}

/// Element i of the array with this number.
double value(const LaunchArray& argument, std::size_t number, std::size_t i) {
  if (argument.start == "zeros") return 0;
  if (argument.start == "ones") return 1;
  if (argument.start == "count") return static_cast<double>(i);
  const std::uint64_t seed = Program::get().options.seed + 64 * (round_now + 1) + number;
  const double unit = random_unit(seed, i);
  if (!is_floating(argument.type)) return static_cast<double>(static_cast<int>(8 * unit));
  if (round_now == kSpecial) {
    if (i == random_bits(seed, argument.elements) % argument.elements) return NAN;
    if (i == random_bits(seed, argument.elements + 1) % argument.elements) return INFINITY;
  }
  return (2 * unit - 1) * (round_now == kSmall ? small_number(argument.type) : 1);
}

void fill(LaunchArray& argument, std::size_t number) {
  argument.held.resize(argument.bytes());
  if (file_of(argument) != nullptr) {
    read_file(argument);
  } else if (argument.start != "values") {
    visit_dtype(argument.type, [&]<class T>(TypeTag<T>) {
      for (std::size_t i = 0; i < argument.elements; ++i) {
        const double x = value(argument, number, i);
        T element;
        if constexpr (std::is_arithmetic_v<T>) element = static_cast<T>(x);
        else element = T(static_cast<float>(x));
        std::memcpy(argument.held.data() + i * sizeof(T), &element, sizeof(T));
      }
    });
  }
  if (argument.bytes() > 0)
    cudaMemcpy(argument.memory, argument.held.data(), argument.bytes(), cudaMemcpyHostToDevice,
               kPlace);
}

Array array_of(const LaunchArray& argument, const std::vector<std::byte>& bytes) {
  return Array::read_only(argument.type, argument.shape,
                          contiguous_strides(argument.shape, Order::c), bytes.data(), {});
}

/// As ROUND.NUMBER.in|out.NAME.npy.
void keep(const LaunchArray& argument, std::size_t number, const char* side,
          const std::vector<std::byte>& bytes) {
  if (arrays_folder() == nullptr) return;
  io::write_scratch_array(
      cat(arrays_folder(), "/", round_now, ".", number, ".", side, ".", argument.name, ".npy"),
      array_of(argument, bytes));
}

/// A note of the elements that no thread has read, if every block was watched to its end.
void judge_read(const LaunchArray& argument) {
  Program& program = Program::get();
  const check::Summary& summary = program.report.summary;
  const Allocation& input =
      *DeviceMemory::get().find(reinterpret_cast<std::uint64_t>(argument.memory));
  const std::size_t read = DeviceMemory::elements_read(input);
  if (!program.is_checked || summary.errors > 0 || summary.checked_blocks < summary.blocks ||
      summary.blocks == 0 || read == argument.elements)
    return;
  program.find(check::Kind::never_read, check::Severity::note, kPlace,
               cat(argument.name, ": ", read, " of ", argument.elements, " elements were read"),
               "a loop or a guard may leave out the tail");
}

void judge(const LaunchArray& argument, std::size_t number) {
  std::vector<std::byte> now(argument.bytes());
  if (argument.memory == nullptr) return;
  if (argument.is_input || !argument.held.empty()) keep(argument, number, "in", argument.held);
  if (!argument.is_input) {  // copying unwritten elements would be a finding
    if (argument.start == kUnwritten) std::memcpy(now.data(), argument.memory, now.size());
    else if (!now.empty())
      cudaMemcpy(now.data(), argument.memory, now.size(), cudaMemcpyDeviceToHost, kPlace);
    keep(argument, number, "out", now);
    if (results_folder() != nullptr)
      write_array(cat(results_folder(), "/", argument.name, ".npy"), array_of(argument, now),
                  {.overwrite = Overwrite::replace});
    return;
  }
  if (now.empty()) return;
  std::memcpy(now.data(), argument.memory, now.size());
  const auto size = static_cast<std::size_t>(size_of(argument.type));
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == argument.held[i]) continue;
    Program::get().find(
        check::Kind::program_failed, check::Severity::error, kPlace,
        cat("the kernel has changed element ", i / size, " of ", argument.name, ", an input"),
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

RequestedArray::RequestedArray(const char* name, const char* type,
                               std::initializer_list<long long> extents, const char* start,
                               bool is_const)
    : index_(static_cast<int>(all().size())), is_const_(is_const) {
  LaunchArray argument{.name = name, .type = parse_dtype(type), .elements = 1};
  for (const long long extent : extents) {
    if (extent < 0 || __builtin_mul_overflow(argument.elements, static_cast<std::size_t>(extent),
                                             &argument.elements))
      throw Error(Category::argument, cat("--launch: an extent of ", name, " cannot be"),
                  "extents of at least 0", cat(extent));
    argument.shape.push_back(extent);
  }
  if (start != nullptr) argument.start = start;
  all().push_back(std::move(argument));
}

std::size_t RequestedArray::elements() const {
  const LaunchArray& argument = all()[static_cast<std::size_t>(index_)];
  return argument.bytes() <= DeviceMemory::get().total_bytes() ? argument.elements
                                                               : 0;  // begin() refuses
}

void RequestedArray::set(std::size_t element, const void* value) {
  LaunchArray& argument = all()[static_cast<std::size_t>(index_)];
  const auto size = static_cast<std::size_t>(size_of(argument.type));
  argument.held.resize(argument.bytes());
  std::memcpy(argument.held.data() + element * size, value, size);
}

void* RequestedArray::begin(bool is_input) {
  is_input = is_input || is_const_;
  const auto number = static_cast<std::size_t>(index_);
  LaunchArray& argument = all()[number];
  DeviceMemory& memory = DeviceMemory::get();
  if (argument.memory != nullptr) {  // given to two arguments: it may be written through one
    argument.is_input = argument.is_input && is_input;
    memory.find(reinterpret_cast<std::uint64_t>(argument.memory))->is_input = argument.is_input;
    return argument.memory;
  }
  argument.is_input = is_input;
  argument.memory =
      memory.allocate(argument.bytes(), static_cast<std::size_t>(size_of(argument.type)),
                      MemoryKind::device, here_of(kPlace));
  if (argument.memory == nullptr)
    throw Error(Category::argument, cat("--launch: the device has no room for ", argument.name),
                cat("at most ", memory.total_bytes() - memory.used_bytes(), " bytes"),
                cat(argument.bytes(), " bytes"));
  Allocation& allocation = *memory.find(reinterpret_cast<std::uint64_t>(argument.memory));
  allocation.name = argument.name;
  allocation.gaps.emplace();  // numbers have none
  const bool is_unwritten = argument.start == kUnwritten;
  if (is_unwritten) std::memset(argument.memory, allocation.fill.emplace(0), argument.bytes());
  if (!is_unwritten && argument.start != "nothing" && (is_input || !argument.start.empty()))
    fill(argument, number);
  else argument.is_input = false;
  allocation.is_input = argument.is_input;
  return argument.memory;
}

bool begin_requested_launch(int round) {
  round_now = round;
  return round < (arrays_folder() != nullptr ? kRounds : 1);
}

void end_requested_launch() {
  for (std::size_t i = 0; i < all().size(); ++i) judge(all()[i], i);
  if (arrays_folder() == nullptr) {
    for (const LaunchArray& each : all())
      if (each.is_input && each.memory != nullptr) judge_read(each);
  }
  for (const LaunchArray& each : all())
    if (each.memory != nullptr) cudaFree(each.memory, kPlace);
  all().clear();
}

}  // namespace tessera::plain_cuda
