// The functions that a kernel may call, and their usage: for an error in a learner's call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::course {

struct KernelWord {
  enum class Of { library, thread, matrix_unit, cuda };
  Of of;
  std::string_view name, usage;
};

/// Null: there is none of that name.
const KernelWord* kernel_word(std::string_view name);
/// All names of one kind.
std::vector<std::string> kernel_words(KernelWord::Of of);

}  // namespace tessera::course
