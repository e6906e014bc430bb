// The properties that decide which kernels a device can run, queried from the driver once.
#pragma once

namespace tessera::cuda {

struct Abilities {
  int capability = 0;  ///< 90 for compute capability 9.0; 0: there is no such device
  int multiprocessors = 0;
};

/// Of device `number`. Never throws.
Abilities abilities(int number) noexcept;

}  // namespace tessera::cuda
