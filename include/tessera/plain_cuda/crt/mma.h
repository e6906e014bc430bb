// Part of mma.h.
#pragma once

#include "../mma.h"
