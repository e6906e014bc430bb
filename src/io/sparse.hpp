// Sparse matrices as SciPy's load_npz() reads them: compressed rows.
#pragma once

#include <string>

#include "tessera/io/io.hpp"

namespace tessera {

/// Entries of a (rows, cols) matrix: the entries of row i are at starts[i] to starts[i + 1] of
/// `columns` and `values`. All three are vectors; `starts` and `columns` are i64.
struct CompressedRows {
  index_t rows = 0, cols = 0;
  Array starts, columns, values;
};

/// Writes an .npz that scipy.sparse.load_npz() reads as a csr_array. Errors as of write_array().
void write_compressed_rows(const std::string& path, const CompressedRows& matrix,
                           Overwrite overwrite);

}  // namespace tessera
