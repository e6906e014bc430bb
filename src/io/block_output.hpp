// Writes a new .npy file in C order block by block, in any order of the blocks: a result of any
// size needs little memory. As with AtomicFile, the file appears complete or not at all.
#pragma once

#include "tessera/io/atomic_file.hpp"

namespace tessera {

/// The checksum of a block whose rows are contiguous, continued from that of the parts before.
std::uint64_t checksum_of(const Array& block, std::uint64_t before);

class BlockOutput {
 public:
  /// Reserves the disk space, so that a full disk is an Error(resource) before any arithmetic.
  BlockOutput(std::string path, DType dtype, index_t rows, index_t cols, Overwrite overwrite,
              Unfinished unfinished = Unfinished::remove);
  /// The same file, begun by another process, which commits it: see AtomicFile::joined.
  static BlockOutput joined(std::string path, std::string_view tag, DType dtype, index_t rows,
                            index_t cols);
  std::string tag() const { return file_.tag(); }
  /// The byte in a page of 4096 at which an element begins in the file. Whole rows in memory that
  /// begin at the same place in a page are written without a copy.
  index_t place_in_page(index_t row, index_t col) const;
  /// Writes a block whose first element is at (row, col); the elements of each of its rows are
  /// contiguous.
  void write(const Array& block, index_t row, index_t col);
  /// checksum() of a block as stored in the file, row after row, continued from those before.
  std::uint64_t checksum_of(index_t row, index_t col, index_t rows, index_t cols,
                            std::uint64_t before) const;
  void flush() { file_.flush(); }
  /// Renames the file to its final name; the caller has written every element.
  void commit() { file_.commit(); }

 private:
  BlockOutput(AtomicFile file, DType dtype, index_t rows, index_t cols);

  AtomicFile file_;
  index_t cols_, size_, offset_ = 0;
};

}  // namespace tessera
