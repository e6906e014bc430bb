// The error for memory that would be written while it is read, or written twice: a type of its own,
// since Python has an exception of its own for it.
#pragma once

#include "tessera/core/error.hpp"

namespace tessera {

class OverlapError : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera
