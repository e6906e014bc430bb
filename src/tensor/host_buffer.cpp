// Aligned memory for tensors, on huge pages where it is large, and the only function that computes
// bytes from extents: negative extents and products beyond 63 bits are refused before memory is
// requested.
#include "tessera/tensor/host_buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

HostBuffer::HostBuffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const bool large = bytes >= kHugePage;
  const std::size_t alignment = large ? kHugePage : kAlignment;
  // More than the 2^47 bytes of a process's address space: fails without a system call.
  if (bytes < std::size_t{1} << 47) {
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (posix_memalign(&data_, alignment, rounded) != 0) data_ = nullptr;
  }
  if (data_ == nullptr) {
    bytes_ = 0;
    throw Error(Category::resource,
                cat("there is no memory for ", bytes_text(static_cast<index_t>(bytes)), " (", bytes,
                    " bytes)"),
                {}, {}, "use smaller matrices, or a machine with more memory");
  }
  if (large) madvise(data_, bytes, MADV_HUGEPAGE);  // advice: its failure changes nothing
}

HostBuffer::~HostBuffer() { std::free(data_); }

std::size_t checked_bytes(const index_t* extents, int count, std::size_t element_bytes) {
  const auto shape = [&] {
    std::string text;
    for (int i = 0; i < count; ++i) text += cat(i == 0 ? "(" : ",", extents[i]);
    return text + ")";
  };
  const bool empty = std::find(extents, extents + count, 0) != extents + count;
  index_t bytes = static_cast<index_t>(element_bytes);
  for (int i = 0; i < count; ++i) {
    if (extents[i] < 0) {
      throw Error(Category::shape, cat("a tensor of shape ", shape(), " has a negative extent"),
                  "0 or more", cat(extents[i]));
    }
    if (!empty && __builtin_mul_overflow(bytes, extents[i], &bytes)) {
      throw Error(Category::resource, cat("a tensor of shape ", shape(), " with ", element_bytes,
                                          " bytes for each element has more than 2^63 bytes"));
    }
  }
  return empty ? 0 : static_cast<std::size_t>(bytes);
}

}  // namespace tessera
