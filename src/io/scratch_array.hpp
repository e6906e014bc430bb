// An array in a .npy file that exists only during a command. It is written in place and not
// flushed: for hundreds of small files the flush would dominate.
#pragma once

#include <fstream>
#include <string>

#include "npy.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/array.hpp"

namespace tessera::io {

/// `array` is contiguous in row-major order.
inline void write_scratch_array(const std::string& path, const Array& array) {
  std::ofstream out(path, std::ios::binary);
  out << npy_header(array.dtype(), array.shape(), Order::c);
  out.write(static_cast<const char*>(array.data()),
            static_cast<std::streamsize>(array.count() * size_of(array.dtype())));
  if (!out.flush()) throw Error(Category::file, cat(path, " cannot be written"));
}

}  // namespace tessera::io
