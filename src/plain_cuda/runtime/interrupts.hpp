// Lets other threads run while one of a program that is not checked waits for them by plain reads:
// a timer interrupts the code of kernels. Private to the runtime.
#pragma once

namespace tessera::plain_cuda {

/// Starts the timer of this OS thread, once. It may interrupt only the program's own code, which
/// holds no lock.
void interrupt_kernels();

}  // namespace tessera::plain_cuda
