// Lower bounds of the words that a product moves. Pure formulas, with their sources. Private to
// src/scale.
#pragma once

#include "plan.hpp"

namespace tessera::scale {

/// Words that each of P ranks receives at least, with any memory, where one copy of A, B and C is
/// spread evenly: Al Daas, Ballard, Grigori, Kumar, Rouse, "Tight memory-independent parallel
/// matrix multiplication communication lower bounds", SPAA 2022 (arXiv 2205.13407). Extents M >= N
/// >= K in any order; P at most M N K.
double words_received_bound(const Shape& shape, int ranks);

/// Words between a memory of S words and what is outside, at least: Smith, Lowery, Langou, van de
/// Geijn, "A tight I/O lower bound for matrix multiplication" (arXiv 1702.02017), 2 M N K / sqrt(S)
/// - 2 S. Without what must be touched in any case.
double words_moved_bound(double multiply_adds, double words_of_memory);

}  // namespace tessera::scale
