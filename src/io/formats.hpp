// Readers and writers of the single formats. Readers work on the bytes of an Input; writers stream
// into an AtomicFile that the caller commits.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "input.hpp"
#include "tessera/io/io.hpp"

namespace tessera::io {

/// The format of the file at `path`, by what is asked, its ending or its first bytes.
Format input_format(const std::string& path, const Input& input, Format asked);

void write_npy(AtomicFile& file, const Array& array);

std::vector<std::string> list_npz(const Input& input);
bool npz_holds(const Input& input, const std::string& member);
Array read_npz(const Input& input, const std::string& member, std::optional<DType> untyped);
/// An array of an archive: its name without .npy, and the bytes of its .npy file in two parts.
struct NpzMember {
  std::string name, header;
  const void* data;
  std::size_t bytes;
};
/// Writes the archive `old`, or an empty one where there is none, with the member added or
/// replaced. What else it holds is kept, byte for byte.
void write_npz(AtomicFile& file, const Array& array, const std::string& member,
               Compression compression, const Input* old);
void write_npz(AtomicFile& file, std::span<const NpzMember> members, Compression compression,
               const Input* old);

/// Bytes beyond the first line are looked at only when its banner is right.
Array read_matrix_market(const Input& input);
void write_matrix_market(AtomicFile& file, const Array& array);

std::vector<std::string> list_safetensors(const Input& input);
Array read_safetensors(const Input& input, const std::string& member);
/// Where the elements of a tensor are, row by row.
struct TensorPlace {
  DType dtype;
  std::vector<index_t> shape;
  index_t offset;  ///< bytes before the first of them
};
/// Of a file of `size` bytes, whose beginning is read by start(bytes).
TensorPlace locate_safetensors(const std::function<Input(index_t)>& start, std::size_t size,
                               const std::string& member);
/// As write_npz; the metadata are kept too.
void write_safetensors(AtomicFile& file, const Array& array, const std::string& member,
                       const Input* old);

/// The member to read: the one asked for, or the only one. Throws Error(argument) that lists them.
std::string choose_member(const std::vector<std::string>& members, const std::string& asked,
                          const std::string& path);

}  // namespace tessera::io
