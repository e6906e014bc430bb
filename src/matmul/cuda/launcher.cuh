// Launches on a stream, for functions that take any engine's. Private to src/matmul.
#pragma once

#include "tessera/cuda/launch.cuh"

namespace tessera::detail {

/// launch(grid, kernel, arguments...) on a stream.
inline auto launcher(const cuda::Stream& stream) {
  return [&stream](Dim3 grid, const auto& kernel, const auto&... arguments) {
    cuda::launch(stream, grid, kernel, arguments...);
  };
}

}  // namespace tessera::detail
