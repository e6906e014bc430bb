// Blocks of a .npy file: see block_output.hpp.
#include "block_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "checksum.hpp"
#include "failure.hpp"
#include "npy.hpp"
#include "past_cache.hpp"
#include "tessera/core/text.hpp"
#include "uninterrupted.hpp"

namespace tessera {

namespace {

/// The least bytes of a part of a row whose writeback starts before the row is complete.
constexpr index_t kLongPart = 2 * io::kPage;

}  // namespace

BlockOutput::BlockOutput(AtomicFile file, DType dtype, index_t rows, index_t cols)
    : file_(std::move(file)), cols_(cols), size_(size_of(dtype)) {
  checked_count({rows, cols}, size_of(dtype), file_.path());
  offset_ = static_cast<index_t>(io::npy_header(dtype, {rows, cols}, Order::c).size());
}

BlockOutput::BlockOutput(std::string path, DType dtype, index_t rows, index_t cols,
                         Overwrite overwrite, Unfinished unfinished)
    : BlockOutput(AtomicFile(std::move(path), overwrite, unfinished), dtype, rows, cols) {
  if (!file_.is_regular())
    throw Error(Category::argument,
                cat("cannot write ", file_.path(), ": it is not a regular file"), {}, {},
                "name a file");
  const std::string header = io::npy_header(dtype, {rows, cols}, Order::c);
  file_.reserve(offset_ + rows * cols * size_of(dtype));
  file_.write_at(0, header.data(), header.size());
}

BlockOutput BlockOutput::joined(std::string path, std::string_view tag, DType dtype, index_t rows,
                                index_t cols) {
  return {AtomicFile::joined(std::move(path), tag), dtype, rows, cols};
}

index_t BlockOutput::place_in_page(index_t row, index_t col) const {
  return (offset_ + (row * cols_ + col) * size_) % io::kPage;
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
  // A hint: their writeback starts now, so that the final flush is short. The pages at the ends of
  // parts of rows are written twice, so these parts must be long.
  if (col + cols == cols_ || cols * size >= kLongPart)
    sync_file_range(file_.descriptor(), offset_ + row * cols_ * size, rows * cols_ * size,
                    SYNC_FILE_RANGE_WRITE);
}

std::uint64_t checksum_of(const Array& block, std::uint64_t before) {
  const index_t size = size_of(block.dtype());
  for (index_t i = 0; i < block.rows(); ++i)
    before =
        io::checksum(static_cast<const std::byte*>(block.data()) + i * block.row_stride() * size,
                     static_cast<std::size_t>(block.cols() * size), before);
  return before;
}

std::uint64_t BlockOutput::checksum_of(index_t row, index_t col, index_t rows, index_t cols,
                                       std::uint64_t sum) const {
  std::vector<std::byte> line(static_cast<std::size_t>(cols * size_));
  for (index_t i = row; i < row + rows; ++i) {
    std::size_t have = 0;
    while (have < line.size()) {
      const ssize_t got = io::uninterrupted([&] {
        return pread(file_.descriptor(), line.data() + have, line.size() - have,
                     offset_ + (i * cols_ + col) * size_ + static_cast<index_t>(have));
      });
      if (got < 0)
        throw Error(Category::resource, cat("cannot read ", io::shown_output(file_.path()),
                                            ".part: ", io::errno_text(errno)));
      if (got == 0) return io::kNoChecksum;  // the file is shorter than before
      have += static_cast<std::size_t>(got);
    }
    sum = io::checksum(line.data(), line.size(), sum);
  }
  return sum;
}

}  // namespace tessera
