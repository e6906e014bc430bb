// Asynchronous copies of one thread: CUDA C++ Programming Guide, "Pipeline Primitives Interface".
#pragma once

#include "cuda_pipeline_primitives.h"
