// The fake CUDA runtime inside a Python module, for python_test.py: what ctypes sets and reads.
#include "fake_cuda.hpp"

using tessera::testing::fake_cuda;

extern "C" {

/// All addresses are from now on in the memory of this device, or of the host where it is negative.
void fake_memory(int device) {
  auto& memory = fake_cuda().memory;
  memory = {};
  if (device < 0) return;
  memory.type = cudaMemoryTypeDevice;
  memory.device = device;
}
void fake_current(int device) { fake_cuda().current = device; }
void fake_capability(int major) { fake_cuda().major = major; }
void fake_fail(const char* call, int status) {
  fake_cuda().fails[call] = static_cast<cudaError_t>(status);
}
int fake_launches() { return static_cast<int>(fake_cuda().launched_on.size()); }
void* fake_last_stream() { return fake_cuda().launched_on.back(); }
int fake_calls_of(const char* name) { return fake_cuda().calls_of(name); }
}
