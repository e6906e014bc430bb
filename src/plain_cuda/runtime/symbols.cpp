// Variables of the device, and cudaMemcpyToSymbol and cudaMemcpyFromSymbol.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "copies.hpp"
#include "debug_info.hpp"
#include "digest.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "streams.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

namespace tessera::plain_cuda {

namespace {

/// Variables of the device whose address the program has requested: their ends by first bytes.
std::map<std::uint64_t, std::uint64_t>& symbols() {
  static auto* const all = new std::map<std::uint64_t, std::uint64_t>;
  return *all;
}

}  // namespace

bool is_symbol(const void* at) {
  const auto after = symbols().upper_bound(number(at));
  return after != symbols().begin() && number(at) < std::prev(after)->second;
}

void note_symbol(const void* first, std::size_t bytes) {
  symbols()[number(first)] = number(first) + bytes;
}

cudaError_t copy_symbol(bool writes, char* symbol, std::size_t offset, const void* other,
                        std::size_t bytes, Place place) {
  const char* const call = writes ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol";
  if (section_of(number(symbol)) == Section::none)
    return refuse(cudaErrorInvalidSymbol, place, cat(call, ": no variable of the device"),
                  "name the __device__ or __constant__ variable itself, not a pointer");
  if (bytes == 0) return cudaSuccess;
  const auto& all = variables();
  const auto variable = std::find_if(all.begin(), all.end(), [&](const Variable& each) {
    return !each.is_shared && number(symbol) - each.address < each.bytes;
  });
  if (variable != all.end()) {
    const std::uint64_t begin = number(symbol) - variable->address;
    const std::uint64_t room = variable->bytes - begin;
    if (offset > room || bytes > room - offset)
      return refuse(cudaErrorInvalidValue, place,
                    cat(call, ": ", bytes, " bytes at byte ", begin + offset, " of ",
                        variable->name, ", which has ", variable->bytes),
                    "check the size and the offset: both are counted in bytes, not in elements");
  }
  if (const auto error =
          check_side(call, writes ? "source" : "target", other, bytes, false, false, place))
    return error;
  if (writes) judge_source(call, other, bytes, place);
  void* const to = writes ? symbol + offset : const_cast<void*>(other);
  const void* const from = writes ? other : symbol + offset;
  std::memmove(to, from, bytes);
  if (!writes) digest_copied(from, bytes);
  if (DeviceMemory::get().contains(to)) DeviceMemory::get().wrote(number(to), bytes);
  Streams& streams = Streams::get();
  streams.begin(nullptr, place, "a copy of a symbol");
  streams.touch(number(from), bytes, true, false, false);
  streams.touch(number(to), bytes, false, true, false);
  streams.end();
  return waited_for(cudaSuccess);
}

}  // namespace tessera::plain_cuda
