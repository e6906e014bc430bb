// A thread of the worker pool, as a library may start one in a process of others. Private to
// src/core.
#pragma once

namespace tessera {

/// Starts a detached thread that runs run(argument); false where the system refuses. It runs on the
/// cores of this process, but begins on another one than the caller's. It blocks all signals but
/// those that its own instructions raise, and the shared object with this code stays loaded.
bool start_thread(void (*run)(void* argument), void* argument);

}  // namespace tessera
