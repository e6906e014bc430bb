// A matrix in a file, read block by block: for operands larger than memory. A .npy file or a tensor
// of a .safetensors file is never mapped or read as a whole. Inputs whose elements have no fixed
// position (.npz, .mtx, pipes) are read into memory when they are opened.
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
  /// Reshapes to a (rows, cols) matrix of the same elements, in the order of the file; their number
  /// must not change.
  void reshape(index_t rows, index_t cols);
  /// Exchanges rows and columns.
  void transpose();
  /// Checks that there are two dimensions; else throws Error(shape) that names `what`.
  void require_matrix(std::string_view what) const;
  index_t rows() const;
  index_t cols() const;
  /// c: the elements of a row are contiguous in the file.
  Order order() const;
  /// False if all of it is in memory.
  bool is_sliced() const;
  /// Bytes of memory that it holds until its destruction.
  index_t memory() const;

  /// Reads a block into `to`, an array of its shape, converted by core's convert. Several threads
  /// may read at the same time. Throws Error(file) if the file ends too early or cannot be read.
  void read(const MatrixBlock& block, const Array& to) const;
  /// The same without conversion, in pieces of about a megabyte: calls took(piece, row, col) with
  /// arrays of the file's type; (row, col) is the position of their first element.
  void read_pieces(const MatrixBlock& block,
                   const std::function<void(const Array&, index_t, index_t)>& took) const;
  /// Bytes that all reads of blocks have requested so far.
  index_t bytes_read() const;
  /// Identifies this content: size, time of change, a checksum of its first, middle and last page.
  std::string identity() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
