// What signal handlers must know: the temporaries to remove and the mapped files. Fixed tables of
// atomics and characters make reading them async-signal-safe. If a table is full, handlers ignore
// further entries.
#pragma once

#include <cstddef>
#include <string>

namespace tessera::io {

/// Registers a temporary for remove_temporaries() during its lifetime. Register before creating it.
class RegisteredTemporary {
 public:
  explicit RegisteredTemporary(const std::string& path);
  ~RegisteredTemporary();
  RegisteredTemporary(const RegisteredTemporary&) = delete;
  RegisteredTemporary& operator=(const RegisteredTemporary&) = delete;

 private:
  int slot_ = -1;
};

enum class MappedFor { reading, writing };

/// Registers a mapping for the SIGBUS handler during its lifetime.
class RegisteredMapping {
 public:
  RegisteredMapping(const void* begin, std::size_t size, const std::string& path, MappedFor use);
  ~RegisteredMapping();
  RegisteredMapping(const RegisteredMapping&) = delete;
  RegisteredMapping& operator=(const RegisteredMapping&) = delete;

 private:
  int slot_ = -1;
};

}  // namespace tessera::io
