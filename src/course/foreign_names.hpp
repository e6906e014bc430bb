// Names of CUDA, Mojo, OpenCL and Python, and their equivalents here: the one list of them.
#pragma once

#include <string_view>

namespace tessera::course {

struct ForeignName {
  std::string_view name;      ///< "threadIdx", "np.exp"
  std::string_view language;  ///< "CUDA"
  std::string_view ours;      ///< "t.thread"; a member that follows is kept: "t.thread.x"
  std::string_view member;    ///< the default if no member follows: ".x"
};

/// Null: the name belongs to none of them, or is the same here.
const ForeignName* foreign_name(std::string_view name);

/// The function here that an unknown name in small letters describes, "cp_async_commit"; "" if
/// uncertain.
std::string_view meant_by(std::string_view name);

}  // namespace tessera::course
