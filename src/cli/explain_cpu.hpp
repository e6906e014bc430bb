// `tessera explain --cpu M N K`: the route of a product through the packed CPU path.
#pragma once

#include <string>
#include <vector>

#include "commands.hpp"

namespace tessera::cli {

struct CpuRequest {
  std::vector<std::string> size;  ///< M N K, or one of 'tessera bench --sizes': 1000x8x64-NT
  std::string dtype;              ///< as shell::parse_types reads them
  std::string arithmetic;         ///< chain or lanes
  double beta = 0;
  int threads = 0;  ///< 0: default_threads()
};

int explain_cpu(const shell::Context& context, const CpuRequest& request);

}  // namespace tessera::cli
