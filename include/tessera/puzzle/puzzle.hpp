// What a learner's file of the course includes: the vocabulary of kernels, and nothing that is
// not needed to write one. The file defines kernels; the puzzle's spec (puzzle/run.hpp) launches
// them.
#pragma once

#include "tessera/check/swap.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"
