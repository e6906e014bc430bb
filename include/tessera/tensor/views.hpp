// Every view of a tensor in one include: tile, tile_range, split, slice, transpose, distribute,
// vectorize, reshape, coalesce, composition, casts and swizzles.
#pragma once

#include "tessera/tensor/cast.hpp"
#include "tessera/tensor/distribute.hpp"
#include "tessera/tensor/rearrange.hpp"
#include "tessera/tensor/slice.hpp"
#include "tessera/tensor/split.hpp"
#include "tessera/tensor/swizzled.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/tile_range.hpp"
#include "tessera/tensor/transpose.hpp"
#include "tessera/tensor/vectorize.hpp"
