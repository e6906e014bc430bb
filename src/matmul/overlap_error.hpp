// The error for memory that would be written while it is read, or written twice: its own type,
// since Python has its own exception for it.
#pragma once

#include "tessera/core/error.hpp"

namespace tessera {

class OverlapError : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera
