// The whole layout algebra in one include.
#pragma once

#include "tessera/layout/composed.hpp"
#include "tessera/layout/divide.hpp"
#include "tessera/layout/inverse.hpp"
#include "tessera/layout/modes.hpp"
#include "tessera/layout/product.hpp"
#include "tessera/layout/swizzle.hpp"
