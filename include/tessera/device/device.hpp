// One kernel, any device, one call:
//
//     const Device device = Device::get_default();
//     Vector<float> a({1, 2, 3}), b({4, 5, 6}), c(3);
//     run(device, Dim3{1}, Dim3{3}, Add{}, a, b, c);
//     std::printf("%g\n", c(0));
//
// This header has all of it: devices, vectors and matrices that move by themselves, run().
#pragma once

#include "tessera/device/devices.hpp"
#include "tessera/device/managed_tensor.hpp"
#include "tessera/device/run.hpp"
