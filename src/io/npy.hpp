// The .npy format (NumPy's NEP 1): magic, version, a header that is the text of a Python dict, then
// the elements. Works on bytes in memory; .npz members use it too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "tessera/io/array.hpp"

namespace tessera::io {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
/// NumPy itself refuses headers beyond 10,000 characters unless the caller trusts the file.
inline constexpr std::size_t kMaxNpyHeader = 65536;

struct NpyHeader {
  DType dtype = DType::f32;
  bool swapped = false;  ///< the elements' byte order differs from this machine's
  Order order = Order::c;
  std::vector<index_t> shape;
  std::size_t data_offset = 0;  ///< bytes before the first element
  index_t bytes = 0;            ///< of all elements; data_offset + bytes is the file size
};

/// Parses the start of a file of `total` bytes; `start` holds its first min(total, kMaxNpyHeader +
/// 12) bytes. Every number is checked against `total` before it is used.
NpyHeader parse_npy_header(std::string_view start, std::size_t total, const std::string& path,
                           std::optional<DType> untyped);

/// Magic, version 1.0 and header as NumPy writes them, padded to a multiple of 64 bytes.
std::string npy_header(DType dtype, const std::vector<index_t>& shape, Order order);
/// As above, for a type given by NumPy's code, such as "|S3".
std::string npy_header(std::string_view descr, const std::vector<index_t>& shape, Order order);

/// The array in `input`; it shares the input's memory if the elements need no conversion.
Array read_npy(const Input& input, std::optional<DType> untyped);

/// Reverses the bytes of each element.
void swap_bytes(void* data, index_t count, int element_bytes);

/// An array over file bytes at `data`; copied if they are misaligned or are not valid bools.
Array adopt(DType dtype, std::vector<index_t> shape, Order order, const std::byte* data,
            std::shared_ptr<void> owner);

/// The order in which `array` is written: without reordering if possible.
Order natural_order(const Array& array);

}  // namespace tessera::io
