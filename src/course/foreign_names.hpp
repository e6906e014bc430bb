// The words of CUDA, Mojo, OpenCL and Python, and what they are called here: the one list of them.
#pragma once

#include <string_view>

namespace tessera::course {

struct ForeignName {
  std::string_view name;      ///< "threadIdx", "np.exp"
  std::string_view language;  ///< "CUDA"
  std::string_view ours;      ///< "t.thread"; a member that follows is kept: "t.thread.x"
  std::string_view member;    ///< the default where none follows: ".x"
};

/// Null: the name is of none of them, or the same here.
const ForeignName* foreign_name(std::string_view name);

}  // namespace tessera::course
