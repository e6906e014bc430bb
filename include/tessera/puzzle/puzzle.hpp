// The header that a learner's file of the course includes: what is needed to write a kernel, and no
// more. The file defines kernels; the puzzle's spec (puzzle/run.hpp) launches
// them.
#pragma once

#include "tessera/check/swap.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"
