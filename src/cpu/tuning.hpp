// The values by which the packed path fits a microarchitecture: what differs from one processor to
// another and cannot be read from its caches. One file for each of them in src/cpu/tuning. They
// decide how fast a product is, never its bits.
#pragma once

#include <string>
#include <string_view>

#include "tessera/core/config.hpp"

namespace tessera::cpu {

struct Caches;

/// Each value: name, least, most, and what it is. In this order in files and reports.
#define TESSERA_EACH_TUNING_VALUE(VALUE)                                                          \
  VALUE(far_l3, 0, 1, "B's part stays in L2 and each thread packs its own, because L3 is slow")   \
  VALUE(near_eighths, 1, 4096, "a B is near up to so many eighths of L2, and up to L3")           \
  VALUE(near_one_row, 0, 4096, "the same for one row of A, in L2; 0: no other limit")             \
  VALUE(near_few_rows, 0, 4096, "for up to six rows on one thread")                               \
  VALUE(near_many_rows, 0, 4096, "for more than twelve rows")                                     \
  VALUE(axpy_rows, 1, 256, "rows of A for which a far B is read in axpy form")                    \
  VALUE(b_part_eighths, 1, 256, "a task's part of B, in eighths of L2")                           \
  VALUE(panel_twelfths, 1, 48, "a panel of A, in twelfths of L1")                                 \
  VALUE(in_place_alone, 0, 256, "a B up to so many eighths of L2 is read in place by one thread") \
  VALUE(in_place_shared, 0, 256, "the same for several threads")                                  \
  VALUE(dot_ahead_alone, 0, 8192, "bytes to prefetch ahead in dot form, on one thread")           \
  VALUE(dot_ahead, 0, 8192, "the same for several threads")                                       \
  VALUE(prefetches_in_order, 0, 1, "the rows of B that follow are prefetched in order of memory") \
  VALUE(rows_together, 1, 4, "rows of a B in L2 that one row of A reads together")                \
  VALUE(alone_extent, 0, 512, "products up to the cube of this run on one thread")

struct Tuning {
  std::string_view name = "unnamed";
#define TESSERA_FIELD(name, least, most, text) index_t name = 0;
  TESSERA_EACH_TUNING_VALUE(TESSERA_FIELD)
#undef TESSERA_FIELD

  bool operator==(const Tuning&) const = default;
};

/// One of the values, for those who go through all of them.
struct TuningValue {
  std::string_view name, text;
  index_t least, most;
  index_t Tuning::*member;
};
inline constexpr TuningValue kTuningValues[] = {
#define TESSERA_VALUE(name, least, most, text) {#name, text, least, most, &Tuning::name},
    TESSERA_EACH_TUNING_VALUE(TESSERA_VALUE)
#undef TESSERA_VALUE
};

/// The values in use: those of the file that TESSERA_CPU_TUNING names, else of this processor, else
/// those of tuning_like().
const Tuning& tuning();
/// While nothing else runs: uses others. Returns the previous ones.
Tuning assume_tuning(const Tuning& tuning);

/// The values of the microarchitecture with this name; null where there is none.
const Tuning* tuning_named(std::string_view name);
/// The name of this processor's microarchitecture; empty where none of ours is known.
std::string_view microarchitecture();
/// For an unknown processor: the values of the one whose caches are most like these.
const Tuning& tuning_like(const Caches& caches);

/// A line `name = value` for each value.
std::string to_text(const Tuning& tuning);
/// Reads that: values that are not there stay as in `base`. Lines may be empty or begin with #.
/// Throws Error with the line's number for an unknown name and a value out of range.
Tuning tuning_from(std::string_view text, const Tuning& base);

}  // namespace tessera::cpu
