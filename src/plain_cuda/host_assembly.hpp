// Inline assembly of a host's function, such as rdtsc, stays as it is; in kernels it is PTX.
#pragma once

#include "lexer.hpp"

namespace tessera::plain_cuda {

/// Are the words in the parentheses at `open`, after `asm`, those of the host's assembler? Its
/// constraints have letters that PTX lacks, such as "=a" and "m", or it has neither operands nor a
/// semicolon, which ends each instruction of PTX.
bool is_host_assembly(const Tokens& tokens, std::size_t open);

}  // namespace tessera::plain_cuda
