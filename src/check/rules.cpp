// The text of the rules: see rules.hpp.
#include "rules.hpp"

#include <algorithm>

namespace tessera::check {

namespace {

using enum Severity;

/// In the order of Kind.
/// Over 60 lines: a table, one case or field a line.
constexpr std::array<Rule, kKindNames.size()> kRules = {{
    {error, "Two accesses to one byte, at least one of them a write, that nothing orders.",
     "Which of the two comes first differs from run to run and from GPU to GPU. Put a barrier "
     "between them, give each thread or block its own elements, or use atomic updates on both "
     "sides. Between threads of one warp it is a warning: they do not run in step either."},
    {error, "An access outside all tensors and shared storage.",
     "On a GPU it reads or overwrites other memory, or ends the kernel. Guard the "
     "access with the extents of the tensor."},
    {error, "An element outside the view, inside its allocation.",
     "The guard is missing, or compares with the wrong extent: rows with columns, <= with <."},
    {error, "A wide access at an address that is not a multiple of its width.",
     "A GPU ends the kernel. Vectorize only where the address and the leading dimension are "
     "multiples of the width."},
    {error, "A read of memory that was never written.",
     "The value is whatever was there before. Write every element of a tile, zero past the edge, "
     "and begin sums with zero."},
    {error, "An element of a tile that was not written when the tile was loaded again.",
     "It holds the value of an earlier round. Write every element of the tile each time, zero past "
     "the edge."},
    {error, "Threads of one block, or lanes of one warp, at different barriers.",
     "What a GPU does then is not defined. Let all threads pass the same barrier: move it out of "
     "the branch."},
    {error, "A barrier that some threads never reach.",
     "The others wait forever. Move the barrier out of the branch or loop that some threads leave "
     "early."},
    {warning, "Threads that end, or leave a loop, while others wait at a barrier.",
     "CUDA allows it, other platforms do not. Let all threads reach each barrier, and guard the "
     "accesses instead of the whole kernel."},
    {error, "An access to elements that an asynchronous copy may still be writing.",
     "Commit the copy, wait for it, and put a barrier between the wait and the access."},
    {error, "A kernel that ends before its asynchronous copies.",
     "Commit the copies and wait for them before the thread ends."},
    {error, "A matrix instruction in a warp that is not whole.",
     "All lanes of the warp must take part: make the block a multiple of the warp, and keep matrix "
     "instructions out of branches that lanes take alone."},
    {error, "A kernel that throws.",
     "A GPU has no exceptions. Let the kernel check before it computes."},
    {error, "A thread that needs more than its stack.",
     "Use shared memory, smaller local arrays and no deep recursion."},
    {error, "A thread that does not come to an end within the time limit.",
     "Find the loop whose condition never becomes false, or raise --time-limit."},
    {note, "An input with elements that were never read.",
     "Is the last tile along k dropped? Does a guard compare with the wrong extent?"},
    {note, "An output with elements that were never written.",
     "Check the grid and the guard of the store."},
    {note, "An output with elements that were written more than once.",
     "Once would be enough: keep the value in a register and store it at the end."},
    {error, "More threads or shared storage than the device gives to a block.",
     "The launch fails on the GPU. Use smaller tiles or blocks."},
    {error, "A thread that dies of a signal, or a program that ends without a report.",
     "A null or invalid pointer, a division by zero, or a call of exit() or abort(). Pass memory "
     "to the kernel as tensors, whose accesses are checked."},
    {warning, "Memory that changed without an access that the checker sees.",
     "Nothing is known of its races. Use tiles and tensors instead of plain members of shared "
     "storage and raw pointers."},
    {error, "Threads that wait for a value that no thread will change.",
     "Let the thread that sets the value do so before it waits or ends, and release each lock."},
    {error, "An impossible named barrier or mask of lanes.",
     "Ids are 0 to 15, counts are multiples of the warp, and masks name lanes that arrive."},
    {error, "An access to elements that a bulk copy may still be writing.",
     "Wait for the copy's gate before the access, or at a barrier after a thread that has waited."},
    {error, "A wait for a phase that ended before the copy it is for was expected.",
     "It waits for nothing, or forever. Keep stage and phase together in a Turn."},
    {error, "A bulk copy into bytes whose reads nothing orders before it.",
     "It overwrites what others still read. Let the readers arrive at a gate after their last "
     "read, and wait for it before the copy."},
    {error, "Ordinary stores that a bulk store or a matrix unit reads without a fence.",
     "It may read what was there before. Each thread that has stored calls fence_async() after "
     "its stores and before the barrier."},
    {error, "Sums or operands that are touched while a matrix unit works on them.",
     "Wait for the product first: wait_mma<0>(t)."},
    {error, "Matrix instructions without a fence, or not alike in all four warps.",
     "All warps of a warpgroup start the same products in the same order."},
    {error, "A phase of a gate that expects more or fewer bytes than arrive.",
     "It never ends, or ends too late. Expect whole boxes, of every copy to the gate."},
    {error, "More or fewer arrivals than a gate counts, or use before it is open.",
     "Its phases then end too early or never. Let as many threads arrive as open_gate() says."},
    {error, "Shared bytes that a bulk store may still be reading are written.",
     "Wait with wait_bulk_read() before they are written again."},
    {error, "A block that ends, or a reader that starts, before its bulk stores.",
     "Wait with wait_bulk<0>() first."},
    {error, "A block that another of its cluster reaches before its start or after its end.",
     "Its shared storage is not there then. Let all threads of the cluster meet at "
     "cluster_barrier() before the first access to another block, and before a block ends."},
    {error, "Threads that wait at gates forever.",
     "Let as many threads arrive as each gate counts, and expect the bytes of the copies."},
    {error, "A kernel that follows a pointer of the host, or the host one of the device.",
     "Give kernels memory of cudaMalloc, and copy between it and the host by cudaMemcpy."},
    {error, "An access to freed memory.",
     "Free memory when the last kernel and the last copy that use it have ended."},
    {error, "A call of the CUDA runtime with wrong arguments, or whose error was not checked.",
     "Check what each call returns, and cudaGetLastError() after each launch."},
    {error, "A program whose own checks failed.",
     "It ended with an exit code other than 0: look at what it printed."},
}};
static_assert(std::all_of(kRules.begin(), kRules.end(),
                          [](const Rule& rule) { return !rule.summary.empty(); }),
              "each Kind has a rule");

}  // namespace

const Rule& rule_of(Kind kind) { return kRules[static_cast<std::size_t>(kind)]; }

}  // namespace tessera::check
