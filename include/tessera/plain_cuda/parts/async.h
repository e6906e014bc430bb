// Asynchronous copies of one thread, barriers that count arrivals, and what the lanes of a warp
// exchange for matrix instructions. Implemented in src/plain_cuda/runtime/async.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "place.h"

namespace tessera::plain_cuda {

/// Copies `from_bytes` from global to shared memory, and zeros up to `bytes`: complete when the
/// thread has waited for its group.
void copy_async(void* to, const void* from, std::size_t bytes, std::size_t from_bytes, Place place);
void commit_async(Place place);
/// At most `pending` of the newest groups are still under way.
void wait_async(int pending, Place place);

/// A barrier in shared memory that counts arrivals (PTX mbarrier): 64 bits.
void gate_init(std::uint64_t* gate, unsigned count, Place place);
/// Returns the phase in which the thread has arrived. `drops`: one fewer is expected from then on.
std::uint64_t gate_arrive(std::uint64_t* gate, unsigned count, bool drops, Place place);
/// Has the phase ended? With `by_parity`, the one that is odd or even. If not, others run first.
bool gate_test(std::uint64_t* gate, std::uint64_t phase, bool by_parity, Place place);
void gate_wait(std::uint64_t* gate, std::uint64_t phase, bool by_parity, Place place);

/// All blocks of the launch meet (cooperative groups' grid.sync()).
void grid_barrier(Place place);

/// Where something is in the block's shared memory, as PTX counts it, and back.
std::uint32_t shared_address(const void* generic) noexcept;
void* shared_pointer(std::uint32_t address) noexcept;
enum class Space { shared, local, global, constant };
bool is_in_space(const void* generic, Space space) noexcept;

/// All lanes of the warp bring `bytes` (kSlot at most) and meet. Returns those of its 32 lanes,
/// kSlot bytes apart, until the lane's next exchange but one.
inline constexpr std::size_t kSlot = 128;
const std::byte* exchange(const void* mine, std::size_t bytes, const char* verb, Place place);
/// The `bytes` (16 at most) at `value` become those of the thread of this rank in the tile, which
/// has `threads` threads, whole warps.
void exchange_in_tile(void* value, std::size_t bytes, int threads, int rank, Place place);
/// Accesses that a call of the program makes, recorded with the call's place.
void load_operand(Place place, void* to, const void* at, std::size_t bytes);
void store_result(Place place, void* to, const void* value, std::size_t bytes);
/// The lane's share of a matrix instruction's operations.
void tell_matrix_flops(std::int64_t flops, Place place);
/// A matrix function uses a fragment that has an element without a value.
void tell_empty_fragment(Place place);

}  // namespace tessera::plain_cuda
