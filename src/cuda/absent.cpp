// The functions of runtime.hpp in a build without CUDA: there are no devices, and calls that need
// one throw.
#include "abilities.hpp"
#include "tessera/core/error.hpp"
#include "tessera/cuda/runtime.hpp"

#if defined(__clang__)  // their callers are not built
#pragma clang diagnostic ignored "-Wunused-private-field"
#endif

namespace tessera::cuda {

namespace {

constexpr const char* kWhy = "this program is built without CUDA";

[[noreturn]] void refuse() {
  throw Error(Category::unavailable, kWhy, {}, {},
              "build it with -DTESSERA_CUDA=ON where nvcc is installed, or use the CPU");
}

}  // namespace

bool is_built() { return false; }
Abilities abilities(int) noexcept { return {}; }
double Device::peak_f32_flops() const { return 0; }
std::vector<Device> devices() { return {}; }
std::string why_unavailable() { return kWhy; }
Device device(int) { refuse(); }
int current_device() { refuse(); }
std::string driver_version() { return ""; }
std::string runtime_version() { return ""; }
index_t free_memory(int) { refuse(); }

OnDevice::OnDevice(int) { refuse(); }
OnDevice::~OnDevice() = default;

Stream Stream::create(int) { refuse(); }
Stream Stream::borrow(CUstream_st*) { refuse(); }
Stream::~Stream() = default;
Stream::Stream(Stream&& other) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept = default;
void Stream::synchronize() const { refuse(); }

Event::Event(int device) : device_(device) { refuse(); }
Event::~Event() = default;
void Event::record(const Stream&) { refuse(); }
bool Event::reached() const { refuse(); }
void Event::synchronize() const { refuse(); }
double Event::seconds_between(const Event&, const Event&) { refuse(); }

DeviceBuffer::DeviceBuffer(std::size_t, int) { refuse(); }
DeviceBuffer::~DeviceBuffer() = default;
PinnedBuffer::PinnedBuffer(std::size_t, int) { refuse(); }
PinnedBuffer::~PinnedBuffer() = default;

void copy(void*, const void*, std::size_t, const Stream&) { refuse(); }
void fill(void*, unsigned char, std::size_t, const Stream&) { refuse(); }
Where where_is(const void*) { refuse(); }

}  // namespace tessera::cuda
