// Reading and writing arrays as files: .npy, .npz, Matrix Market (.mtx) and .safetensors. What each
// format holds and refuses is in docs/files.md. Sizes in a file are validated against the file's
// size before they are used, and nothing is allocated that memory cannot hold.
//
//     Array a = read_array("model.safetensors:layer0.weight");
//     write_array("c.npy", c, {.overwrite = Overwrite::replace});
//
// Errors: file for unreadable or malformed files, resource for memory and disk,
// argument for an unknown extension, an output that exists, or a choice that is missing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/io/array.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera {

/// `automatic`: by extension (.npy, .npz, .mtx or .mm, .safetensors); when reading a file with
/// another name, by its first bytes.
enum class Format { automatic, npy, npz, matrix_market, safetensors };

std::string to_string(Format format);
/// "npy", "npz", "mtx", "safetensors" -> Format. Throws Error(argument) listing them.
Format parse_format(std::string_view text);

enum class Compression { stored, deflated };

struct ReadOptions {
  Format format = Format::automatic;
  /// The array of an .npz or .safetensors; empty: the path's ":name", else the only one.
  std::string member = {};
  /// The type of elements with an opaque NumPy code: bf16 and f8 have none of their own and are
  /// stored as <V2 and |V1. A file that names its type is read as that type.
  std::optional<DType> untyped = {};
};

struct WriteOptions {
  Format format = Format::automatic;
  std::string member = {};  ///< empty: the path's ":name", else "arr_0" as NumPy does
  Overwrite overwrite = Overwrite::refuse;
  Compression compression = Compression::stored;  ///< .npz only
};

/// A path and the name of a member: "m.npz:weights" -> {"m.npz", "weights"}. Only .npz and
/// .safetensors are split, and only when no file has the whole text as its name.
struct Location {
  std::string path;
  std::string member;
};
Location parse_location(const std::string& text);

/// Reads one array; "-" is stdin. Native .npy and safetensors files are mapped, not copied.
Array read_array(const std::string& path, const ReadOptions& options = {});

/// The names of the arrays in an .npz or .safetensors; empty for formats that hold one.
std::vector<std::string> list_members(const std::string& path, Format format = Format::automatic);

/// Throws the errors that write_array would throw for this path and these options: an early check
/// before long work. Leaves no file.
void check_output(const std::string& path, const WriteOptions& options);

/// Writes one array atomically; "-" is stdout (.npy unless a format is named). A named member of an
/// .npz or .safetensors that exists is added to it: its other members are kept, and Overwrite
/// applies to the member. Without a name the whole file is replaced.
void write_array(const std::string& path, const Array& array, const WriteOptions& options = {});

/// The format a path would be written in. Throws Error(argument) for an unknown extension.
Format output_format(const std::string& path, Format format = Format::automatic);

/// An output to compute into. Its path is checked, its temporary made and, for .npy, its disk space
/// reserved now, so that errors show before hours of arithmetic, not after. The
/// array is in memory and commit() writes it; a .npy that memory cannot hold is a mapping of the
/// file instead (slower to fill, since every page passes the file system on its first write).
class OutputArray {
 public:
  /// Throws Error(argument) for a path that cannot be written or a file that must not be replaced,
  /// Error(shape) for a shape that the format does not hold, Error(resource) where disk or memory
  /// does not suffice.
  OutputArray(const std::string& path, DType dtype, std::vector<index_t> shape,
              WriteOptions options = {});
  /// Zeros at first. Valid until commit().
  const Array& array() const { return mapped_ ? mapped_->array() : array_; }
  bool is_mapped() const { return mapped_ != nullptr; }
  /// Writes the array and gives the file its name; call it once. Throws Error(resource) or
  /// Error(argument) where the disk is full or the folder not writable; an old file is then
  /// unchanged.
  void commit();

 private:
  WriteOptions options_;
  bool keeps_others_ = false;
  std::unique_ptr<AtomicFile> file_;
  std::unique_ptr<MappedOutput> mapped_;
  Array array_;
};

}  // namespace tessera
