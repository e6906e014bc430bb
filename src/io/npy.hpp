// The .npy format (NumPy's NEP 1): magic, version, a header that is the text of a Python dict, then
// the elements. Works on bytes in memory, also on members of .npz files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "tessera/io/array.hpp"

namespace tessera::io {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
/// NumPy itself refuses headers beyond 10,000 characters unless told that the file is trusted.
inline constexpr std::size_t kMaxNpyHeader = 65536;

struct NpyHeader {
  DType dtype = DType::f32;
  bool swapped = false;  ///< the byte order differs from this machine's
  Order order = Order::c;
  std::vector<index_t> shape;
  std::size_t data_offset = 0;  ///< bytes before the first element
  index_t bytes = 0;            ///< of all elements; data_offset + bytes == size of the file
};

/// Parses the start of a file of `total` bytes, of which `start` has the first min(total,
/// kMaxNpyHeader + 12). Checks everything in it against `total`.
NpyHeader parse_npy_header(std::string_view start, std::size_t total, const std::string& path,
                           std::optional<DType> untyped);

/// Magic, version 1.0 and header, as NumPy writes them; a multiple of 64 bytes.
std::string npy_header(DType dtype, const std::vector<index_t>& shape, Order order);
/// The same for a type by NumPy's code, such as "|S3".
std::string npy_header(std::string_view descr, const std::vector<index_t>& shape, Order order);

/// The array in `input`, sharing its memory if the elements can be used in place.
Array read_npy(const Input& input, std::optional<DType> untyped);

/// Reverses the bytes of each element.
void swap_bytes(void* data, index_t count, int element_bytes);

/// An array over file bytes at `data`; copied if they are not aligned to an element or not valid as
/// bool.
Array adopt(DType dtype, std::vector<index_t> shape, Order order, const std::byte* data,
            std::shared_ptr<void> owner);

/// The order to write `array` in, if possible without reordering it.
Order natural_order(const Array& array);

}  // namespace tessera::io
