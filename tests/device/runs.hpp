// run() of kernels that runs.cpp has made for every device that the machine's compilers can build.
#pragma once

#include "tessera/device/device.hpp"

namespace tessera::testing {

using FloatMatrix = ManagedMatrix<float>;

void run_naive(const Device& device, const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& c);
void run_tiled(const Device& device, const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& c);
void run_fill(const Device& device, Dim3 grid, Dim3 block, float value, Vector<float>& y);
void run_add_to(const Device& device, Dim3 block, const Vector<float>& x, Vector<float>& y,
                Dim3 grid = Dim3{4});
/// y is said to hold nothing, though it is read.
void run_add_to_nothing(const Device& device, const Vector<float>& x, Vector<float>& y);
void run_racy(const Device& device, Vector<float>& y);

}  // namespace tessera::testing
