// Runs the blocks of a launch over the cores, in the order of their numbers. Blocks that wait for
// others by atomics do not prevent those from starting: as many blocks as stacks allow are resident
// at a time.
#pragma once

#include <functional>

#include "tessera/core/config.hpp"

namespace tessera::detail {

class Residents;

/// Calls body(block, residents) once for each block below `count`, on `os_threads` OS threads (0:
/// default_threads()), and on further ones where all blocks that run wait for others. The first
/// exception stops the hand-out of further blocks and is thrown again here.
void for_each_block(index_t count, int block_threads, int os_threads,
                    const std::function<void(index_t, Residents&)>& body);

}  // namespace tessera::detail
