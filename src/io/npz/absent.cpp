// Replaces read.cpp in a packed program (cmake/packed.cmake), which needs no library but the C
// library: distributions ship libzip only as a shared library. Each function throws one clear
// error.
#include "io/failure.hpp"
#include "io/formats.hpp"

namespace tessera::io {

namespace {

[[noreturn]] void refuse(const std::string& action) {
  throw Error(Category::unavailable, cat("cannot ", action, ": this program has no libzip"),
              ".npy, .mtx or .safetensors", ".npz", "use 'tessera' built by scripts/build");
}

}  // namespace

std::vector<std::string> list_npz(const Input& input) { refuse("read " + input.path); }
bool npz_holds(const Input& input, const std::string&) { refuse("read " + input.path); }
Array read_npz(const Input& input, const std::string&, std::optional<DType>) {
  refuse("read " + input.path);
}
void write_npz(AtomicFile& file, const Array&, const std::string&, Compression, const Input*) {
  refuse("write " + shown_output(file.path()));
}
void write_npz(AtomicFile& file, std::span<const NpzMember>, Compression, const Input*) {
  refuse("write " + shown_output(file.path()));
}

}  // namespace tessera::io
