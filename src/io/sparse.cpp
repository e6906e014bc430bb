// The members of SciPy's sparse .npz: see sparse.hpp.
#include "sparse.hpp"

#include "formats.hpp"
#include "npy.hpp"

namespace tessera {

namespace {

io::NpzMember member(std::string name, const Array& array) {
  return {std::move(name), io::npy_header(array.dtype(), array.shape(), Order::c), array.data(),
          static_cast<std::size_t>(array.bytes())};
}

}  // namespace

void write_compressed_rows(const std::string& path, const CompressedRows& matrix,
                           Overwrite overwrite) {
  AtomicFile file(path, overwrite);
  const index_t shape[] = {matrix.rows, matrix.cols};
  const bool is_array = true;
  const io::NpzMember members[] = {
      member("indices", matrix.columns),
      member("indptr", matrix.starts),
      {"format", io::npy_header("|S3", {}, Order::c), "csr", 3},
      {"shape", io::npy_header(DType::i64, {2}, Order::c), shape, sizeof shape},
      member("data", matrix.values),
      {"_is_array", io::npy_header(DType::boolean, {}, Order::c), &is_array, 1}};
  io::write_npz(file, members, Compression::stored, nullptr);
  file.commit();
}

}  // namespace tessera
