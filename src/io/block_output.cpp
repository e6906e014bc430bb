// Blocks of a .npy file: see block_output.hpp.
#include "block_output.hpp"

#include "npy.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

BlockOutput::BlockOutput(std::string path, DType dtype, index_t rows, index_t cols,
                         Overwrite overwrite)
    : file_(std::move(path), overwrite), cols_(cols) {
  if (!file_.is_regular())
    throw Error(Category::argument, cat("cannot write ", file_.path(), ": it is no file on a disk"),
                {}, {}, "name a file");
  const index_t count = checked_count({rows, cols}, size_of(dtype), file_.path());
  const std::string header = io::npy_header(dtype, {rows, cols}, Order::c);
  offset_ = static_cast<index_t>(header.size());
  file_.reserve(offset_ + count * size_of(dtype));
  file_.write(header);
}

void BlockOutput::write(const Array& block, index_t row, index_t col) {
  const index_t size = size_of(block.dtype()), rows = block.rows(), cols = block.cols();
  const auto* data = static_cast<const std::byte*>(block.data());
  const bool together = cols == cols_ && block.row_stride() == cols;
  const index_t lines = together ? std::min<index_t>(rows, 1) : rows;
  const auto bytes = static_cast<std::size_t>((together ? rows : 1) * cols * size);
  for (index_t i = 0; i < lines; ++i)
    file_.write_at(offset_ + ((row + i) * cols_ + col) * size, data + i * block.row_stride() * size,
                   bytes);
}

}  // namespace tessera
