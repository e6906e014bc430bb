// Sums up the results of an unchecked program: see digest.hpp.
#include "digest.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory.hpp"

namespace tessera::plain_cuda {

namespace {

class Digest {
 public:
  void add(const void* from, std::size_t bytes) {
    const auto* const begin = static_cast<const unsigned char*>(from);
    for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, begin + i, bytes - i < sizeof word ? bytes - i : sizeof word);
      sum_ = (sum_ ^ word) * 0x9e3779b97f4a7c15U;
      sum_ ^= sum_ >> 32;
    }
    bytes_ += bytes;
  }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t sum_ = 0, bytes_ = 0;
};

struct Results {
  const char* file = std::getenv("TESSERA_CUDA_DIGEST");
  Digest copied, freed;

  Results() {
    if (file != nullptr) std::atexit(write);
  }
  static Results& get() {
    static Results* const results = new Results;
    return *results;
  }
  static void write() {
    Results& results = get();
    for (const Allocation* each : DeviceMemory::get().live())
      results.freed.add(reinterpret_cast<const void*>(each->begin), each->bytes);
    std::FILE* const out = std::fopen(results.file, "w");
    if (out == nullptr) return;
    const auto print = [&](const char* name, const Digest& digest) {
      std::fprintf(out, "%s %llu %016llx\n", name, static_cast<unsigned long long>(digest.bytes()),
                   static_cast<unsigned long long>(digest.sum()));
    };
    print("copied", results.copied);
    print("freed", results.freed);
    std::fclose(out);
  }
};

}  // namespace

void digest_copied(const void* from, std::size_t bytes) {
  if (Results& results = Results::get(); results.file != nullptr) results.copied.add(from, bytes);
}

void digest_freed(const void* from, std::size_t bytes) {
  if (Results& results = Results::get(); results.file != nullptr) results.freed.add(from, bytes);
}

}  // namespace tessera::plain_cuda
