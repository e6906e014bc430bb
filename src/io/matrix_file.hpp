// A matrix in a file, read block by block with explicit reads: for operands larger than memory. A
// .npy file or a tensor of a .safetensors file is never mapped or read as a whole. Sources without
// random access (.npz, .mtx, pipes) are read into memory when they are opened.
//
//     const MatrixFile file("a.npy");              // its header is read, nothing else
//     file.read({0, 0, 512, 4096}, block);         // (512,4096), of any type and order
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tessera/io/array.hpp"
#include "tessera/io/io.hpp"

namespace tessera {

/// Rows [row, row + rows) and columns [col, col + cols).
struct MatrixBlock {
  index_t row = 0, col = 0, rows = 0, cols = 0;
};

class MatrixFile {
 public:
  /// Reads the header. Throws the errors of read_array; the shape may have any rank.
  explicit MatrixFile(const std::string& path, const ReadOptions& options = {});
  ~MatrixFile();
  MatrixFile(MatrixFile&&) noexcept;
  MatrixFile(const MatrixFile&) = delete;
  MatrixFile& operator=(const MatrixFile&) = delete;

  /// The element type in the file.
  DType dtype() const;
  const std::vector<index_t>& shape() const;
  /// Reinterprets the elements, in file order, as a (rows, cols) matrix. The number of elements
  /// must not change.
  void reshape(index_t rows, index_t cols);
  /// Exchanges rows and columns.
  void transpose();
  /// The shape, which must have two dimensions. Throws Error(shape) that names `what` otherwise.
  void require_matrix(std::string_view what) const;
  index_t rows() const;
  index_t cols() const;
  /// c: the elements of a row are contiguous in the file.
  Order order() const;
  /// False if the whole matrix is in memory.
  bool is_sliced() const;
  /// Bytes of memory that this object holds during its lifetime.
  index_t memory() const;

  /// Reads a block into `to`, an array of the block's shape, and converts it as core's convert
  /// does. Several threads may read at once. Throws Error(file) if the file is too short or
  /// unreadable.
  void read(const MatrixBlock& block, const Array& to) const;
  /// The byte in a page of 4096 at which a block begins in the file. Memory of the same type and
  /// order that begins at the same place in a page receives long blocks without a copy.
  index_t place_in_page(const MatrixBlock& block) const;
  /// Reads a block without conversion, in pieces: calls took(piece, row, col) with arrays of the
  /// file's type, where (row, col) is the position of their first element.
  void read_pieces(const MatrixBlock& block,
                   const std::function<void(const Array&, index_t, index_t)>& took) const;
  /// Bytes that all reads of blocks have requested so far.
  index_t bytes_read() const;
  /// Identifies the content: the size, the modification time, and a checksum of the first, middle
  /// and last page.
  std::string identity() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
