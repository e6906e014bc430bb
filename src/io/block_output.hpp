// A new .npy file in C order that is written block by block, in any order: results of any size with
// little memory. As with AtomicFile, the file appears complete or not at all.
#pragma once

#include "tessera/io/atomic_file.hpp"

namespace tessera {

class BlockOutput {
 public:
  /// Reserves the disk space, so that a full disk is an Error(resource) before any arithmetic.
  BlockOutput(std::string path, DType dtype, index_t rows, index_t cols, Overwrite overwrite,
              Unfinished unfinished = Unfinished::remove);
  /// Writes a block whose first element is at (row, col); the elements of its rows are contiguous.
  void write(const Array& block, index_t row, index_t col);
  /// The checksum of a block as the file has it: of its rows, one after the other, by checksum().
  std::uint64_t checksum_of(index_t row, index_t col, index_t rows, index_t cols) const;
  /// Gives the file its name; the caller must have written every element.
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  index_t cols_, size_, offset_ = 0;
};

}  // namespace tessera
