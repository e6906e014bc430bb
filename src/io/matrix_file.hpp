// A matrix in a file, read block by block with explicit reads: for operands larger than memory. A
// .npy file or a tensor of a .safetensors file is never mapped or read as a whole; what has no
// place in its file for each element (.npz, .mtx, pipes) is read into memory when it is opened.
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
  /// Reads the header. Errors as of read_array; the shape may have any rank.
  explicit MatrixFile(const std::string& path, const ReadOptions& options = {});
  ~MatrixFile();
  MatrixFile(MatrixFile&&) noexcept;
  MatrixFile(const MatrixFile&) = delete;
  MatrixFile& operator=(const MatrixFile&) = delete;

  /// The element type in the file.
  DType dtype() const;
  const std::vector<index_t>& shape() const;
  /// From here on it is the (rows, cols) matrix of these elements, in the order of the file; their
  /// number stays the same.
  void reshape(index_t rows, index_t cols);
  /// Exchanges rows and columns.
  void transpose();
  /// Of two dimensions; others throw Error(shape) that names `what`.
  void require_matrix(std::string_view what) const;
  index_t rows() const;
  index_t cols() const;
  /// c: the elements of a row are side by side in the file.
  Order order() const;
  /// False where all of it is in memory.
  bool is_sliced() const;
  /// Bytes of memory that it holds for as long as it lives.
  index_t memory() const;

  /// Reads a block into `to`, an array of its shape, converted by core's convert. Threads may read
  /// at the same time. Error(file) where the file ends too early or cannot be read.
  void read(const MatrixBlock& block, const Array& to) const;
  /// The same without conversion, in pieces of a megabyte or so: calls took(piece, row, col) with
  /// arrays of the file's type, (row, col) being the place of their first element.
  void read_pieces(const MatrixBlock& block,
                   const std::function<void(const Array&, index_t, index_t)>& took) const;
  /// Bytes that all reads of blocks have asked for so far.
  index_t bytes_read() const;
  /// Tells this content from another: size, time of change, a checksum of its first, middle and
  /// last page.
  std::string identity() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
