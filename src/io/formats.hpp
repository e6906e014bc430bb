// Readers and writers of the single formats. Readers work on the bytes of an Input; writers stream
// into an AtomicFile that the caller commits.
#pragma once

#include <string>
#include <vector>

#include "input.hpp"
#include "tessera/io/io.hpp"

namespace tessera::io {

void write_npy(AtomicFile& file, const Array& array);

std::vector<std::string> list_npz(const Input& input);
Array read_npz(const Input& input, const std::string& member, std::optional<DType> untyped);
void write_npz(AtomicFile& file, const Array& array, const std::string& member,
               Compression compression);

/// Bytes beyond the first line are looked at only when its banner is right.
Array read_matrix_market(const Input& input);
void write_matrix_market(AtomicFile& file, const Array& array);

std::vector<std::string> list_safetensors(const Input& input);
Array read_safetensors(const Input& input, const std::string& member);
void write_safetensors(AtomicFile& file, const Array& array, const std::string& member);

/// The member to read: the one asked for, or the only one. Throws Error(argument) that lists them.
std::string choose_member(const std::vector<std::string>& members, const std::string& asked,
                          const std::string& path);

}  // namespace tessera::io
