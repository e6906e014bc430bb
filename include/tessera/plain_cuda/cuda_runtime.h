// Plain CUDA C++ for `tessera check` and `tessera cuda-run`: what nvcc includes by itself. These
// headers are the project's own text; docs/plain_cuda.md says what they have.
#pragma once

#define __CUDA_RUNTIME_H__  // as in driver_types.h

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <type_traits>
#include <utility>

#include "driver_types.h"
#include "parts/atomics.h"
#include "parts/device_api.h"
#include "parts/graphs.h"
#include "parts/launch.h"
#include "parts/math.h"
#include "parts/ptx.h"
#include "parts/qualifiers.h"
#include "parts/runtime_api.h"
#include "parts/scoped_atomics.h"
#include "parts/texture_reads.h"
#include "parts/thread.h"
#include "vector_functions.h"
