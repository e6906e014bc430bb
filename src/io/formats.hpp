// Readers and writers of each format. Readers work on the bytes of an Input; writers stream into an
// AtomicFile that the caller commits.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "input.hpp"
#include "tessera/io/io.hpp"

namespace tessera::io {

/// The format of the file at `path`: the requested one, else by its extension, else by its first
/// bytes.
Format input_format(const std::string& path, const Input& input, Format requested);

void write_npy(AtomicFile& file, const Array& array);

std::vector<std::string> list_npz(const Input& input);
bool npz_holds(const Input& input, const std::string& member);
Array read_npz(const Input& input, const std::string& member, std::optional<DType> untyped);
/// An array for an archive: its name without .npy, and the bytes of its .npy file in two parts.
struct NpzMember {
  std::string name, header;
  const void* data;
  std::size_t bytes;
};
/// Writes a copy of the archive `old` (or a new one if there is none) with the member added or
/// replaced. All other members are kept byte for byte.
void write_npz(AtomicFile& file, const Array& array, const std::string& member,
               Compression compression, const Input* old);
void write_npz(AtomicFile& file, std::span<const NpzMember> members, Compression compression,
               const Input* old);

/// Looks beyond the first line only if its banner is valid.
Array read_matrix_market(const Input& input);
void write_matrix_market(AtomicFile& file, const Array& array);

std::vector<std::string> list_safetensors(const Input& input);
Array read_safetensors(const Input& input, const std::string& member);
/// The location of a tensor's elements, stored row by row.
struct TensorPlace {
  DType dtype;
  std::vector<index_t> shape;
  index_t offset;  ///< bytes before the first element
};
/// Reads the header of a file of `size` bytes; start(bytes) returns its beginning.
TensorPlace locate_safetensors(const std::function<Input(index_t)>& start, std::size_t size,
                               const std::string& member);
/// As write_npz; the metadata are kept as well.
void write_safetensors(AtomicFile& file, const Array& array, const std::string& member,
                       const Input* old);

/// The member to read: the requested one, or the only one. Throws Error(argument) that lists them.
std::string choose_member(const std::vector<std::string>& members, const std::string& requested,
                          const std::string& path);

}  // namespace tessera::io
