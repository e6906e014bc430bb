// Parsed inline PTX, and the machine that executes it. PTX ISA, "Instructions". Private to the
// runtime.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/plain_cuda/parts/ptx.h"

namespace tessera::plain_cuda::ptx_detail {

/// .u32, .f16x2, .pred, ...: class u s b f p, h for bf16, t for tf32.
struct Type {
  char kind = 0;  ///< 0: none
  int bits = 0;   ///< of a part
  int parts = 1;
  int bytes() const { return bits * parts / 8; }
};

constexpr Type kWord{'u', 32};

struct Operand {
  enum class Kind { operand, named, local, number, special, vector, memory, label } kind;
  int index = 0;               ///< of an asm operand or a local register
  std::uint64_t value = 0;     ///< of a number
  bool is_real = false;        ///< the number is a double
  bool is_negated = false;     ///< !p
  std::string name;            ///< of a special register, a label, a named operand
  std::vector<Operand> parts;  ///< of a vector; base and offset of memory; d and p of d|p
};

class Machine;
struct Instruction;
using Handler = void (*)(Machine&, const Instruction&);

struct Instruction {
  std::string text;                ///< its text in reports
  std::vector<std::string> words;  ///< cp, async, ca, ...
  std::vector<Type> types;
  std::vector<Operand> operands;
  Operand predicate{Operand::Kind::number};  ///< a number: none
  Handler run = nullptr;                     ///< null: unknown
  std::size_t target = 0;                    ///< of a branch

  /// Are its addresses those of shared memory, of the block or of its cluster?
  bool is_shared() const { return has("shared") || has("shared::cta") || has("shared::cluster"); }
  bool has(std::string_view word) const {
    for (const auto& each : words)
      if (each == word) return true;
    return false;
  }
  Type type() const { return types.empty() ? Type{} : types.back(); }
};

struct Code {
  std::vector<Instruction> instructions;
  int locals = 0;
};

/// Throws Error(unavailable) with the position if the text is not PTX.
Code parse(const char* text, const Place& place);
/// The class of a word such as u32; kind 0: none.
Type type_of(std::string_view word);

/// One thread's run through the instructions of one asm statement.
class Machine {
 public:
  Machine(Place where, PtxOperand* operands, int count, int locals)
      : place(where),
        operands_(operands),
        count_(count),
        locals_(static_cast<std::size_t>(locals)) {}

  std::uint64_t read(const Operand& from, Type type) const;
  void write(const Operand& to, std::uint64_t bits, Type type);
  bool test(const Operand& predicate) const {
    return (read(predicate, {'p', 8}) & 1) != static_cast<std::uint64_t>(predicate.is_negated);
  }
  /// The generic address of [a + 4], by the state space that the instruction names.
  void* address(const Operand& memory, const Instruction& in, bool is_shared) const;
  [[noreturn]] void refuse(const Instruction& in, const std::string& why) const;

  const Place place;
  std::size_t next = 0;  ///< instruction

 private:
  PtxOperand& asm_operand(const Operand& which) const;
  std::uint64_t special(const std::string& name) const;

  PtxOperand* const operands_;
  const int count_;
  std::vector<std::uint64_t> locals_;
};

// ---- the instructions, by file ----
struct Known {
  const char* name;
  Handler run;
  const char* modifiers;  ///< modifiers that it accepts besides types, as words between blanks
};
std::vector<Known> arithmetic_instructions();
std::vector<Known> logic_instructions();
std::vector<Known> memory_instructions();
std::vector<Known> meeting_instructions();
std::vector<Known> matrix_instructions();

template <class T>
T cast_bits(std::uint64_t bits) {
  T out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}
template <class T>
std::uint64_t to_bits(T value) {
  std::uint64_t out = 0;
  std::memcpy(&out, &value, sizeof value);
  return out;
}

}  // namespace tessera::plain_cuda::ptx_detail
