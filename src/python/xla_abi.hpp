// The part of XLA's C interface for foreign functions that a product needs, version 0.1, declared
// here: the arguments of a handler and its result. Every XLA since JAX 0.5 takes handlers of this
// version, so that one module serves all of them and needs no JAX to be built.
// tests/graphs/jax_abi_test.py compares each offset with the header in jaxlib.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::python::xla {

/// At the start of each structure that may grow: the size that the writer knows, and a list of
/// extensions.
struct Extension;
struct Head {
  std::size_t bytes;
  Extension* extensions;
};

enum class ExtensionKind : int { metadata = 1 };
struct Extension {
  std::size_t bytes;
  ExtensionKind kind;
  Extension* next;
};

/// A handler that is called with this extension only reports its metadata.
struct Version {
  Head head;
  int major, minor;
};
struct Metadata {
  std::size_t bytes;
  Version version;       // out
  std::uint32_t traits;  // out
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};
inline constexpr int kMajor = 0, kMinor = 1;
/// Its launches may be recorded in a CUDA graph and replayed.
inline constexpr std::uint32_t kCommandBufferCompatible = 1;

enum class Type : int {
  pred = 1,
  s8 = 2,
  s32 = 4,
  s64 = 5,
  u8 = 6,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  bf16 = 16,
};

/// An operand or a result: row-major, without gaps.
struct Buffer {
  Head head;
  Type type;
  void* data;
  std::int64_t rank;
  std::int64_t* extents;
};

struct Arguments {
  Head head;
  std::int64_t size;
  int* kinds;  // 1: a buffer
  Buffer** buffers;
};

struct Text {
  const char* data;
  std::size_t size;
};
struct Scalar {
  Type type;
  void* value;
};
enum class AttributeKind : int { array = 1, dictionary = 2, scalar = 3, text = 4 };
struct Attributes {
  Head head;
  std::int64_t size;
  AttributeKind* kinds;
  Text** names;
  void** values;  // a Text or a Scalar each
};

struct Error;
enum class Code : int {
  invalid_argument = 3,
  resource_exhausted = 8,
  internal = 13,
  unavailable = 14
};
struct CreateError {
  Head head;
  const char* message;
  Code code;
};

struct Context;
struct GetStream {
  Head head;
  Context* context;
  void* stream;  // out
};

/// The functions that XLA offers; those that a product does not need are only placeholders.
struct Functions {
  Head head;
  Version version;
  void* internal;
  Error* (*create_error)(CreateError*);
  void* message_of_error;
  void* destroy_error;
  void* register_handler;
  Error* (*get_stream)(GetStream*);
};

enum class Stage : int { instantiate, prepare, initialize, execute };

struct Call {
  Head head;
  const Functions* functions;
  Context* context;
  Stage stage;
  Arguments arguments;
  Arguments results;
  Attributes attributes;
};

}  // namespace tessera::python::xla
