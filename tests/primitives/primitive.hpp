// Small experiments with single instructions of an sm_90, in which the library's models of the
// hardware are right or not. A GPU leaves a dump, words that mean something only to the primitive.
// The models give the dump that is expected, and one for each plausible mistake in them: where a
// GPU does not do what is expected, the diagnosis is the mistake that its dump equals.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::primitives {

using Dump = std::vector<std::uint32_t>;

/// What a GPU would leave if `name` were how it works.
struct Reading {
  std::string name;
  Dump dump;
};

struct Primitive {
  std::string_view name, question;
  /// The first is what the library takes for right.
  std::vector<Reading> (*readings)();
  /// The meaning of a word of the dump.
  std::string (*place)(std::size_t word);
  /// Words equal that differ by at most this share of the expected one: for measured times.
  double tolerance = 0;
  /// Of this word at most twice the expected number: it depends on the host.
  int of_host = -1;
};

/// All of them, in the order in which they run.
const std::vector<Primitive>& all();
/// By name; throws Error(argument).
const Primitive& find(std::string_view name);

struct Diagnosis {
  bool good = false;
  std::string reading;  ///< of an equal dump, else of the nearest
  bool equal = false;   ///< is it that reading, word for word?
  std::string text;     ///< one line
};
Diagnosis diagnose(const Primitive& primitive, const Dump& dump);

/// The word of a dump that no thread wrote.
inline constexpr std::uint32_t kUntouched = 0x7eed7eed;

}  // namespace tessera::primitives
