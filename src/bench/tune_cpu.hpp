// `tessera tune --device cpu`: which values of cpu/tuning.hpp make products on this machine
// fastest.
#pragma once

#include <functional>
#include <string>

#include "cpu/tuning.hpp"
#include "shell/context.hpp"
#include "sizes.hpp"

namespace tessera::bench {

/// Whether `candidate` is faster than `base`: the mean of the ratios of their times, below 1 where
/// it is. May throw where the candidate's products have other bits.
using CompareTuning = std::function<double(const cpu::Tuning& candidate, const cpu::Tuning& base)>;

/// Tries a few other numbers for one value after the other and keeps what is faster twice, until
/// `goes_on` says no.
cpu::Tuning best_tuning(const cpu::Tuning& start, const CompareTuning& compare,
                        const std::function<bool()>& goes_on);

/// Writes the best values to `file`, which TESSERA_CPU_TUNING can name, and reports them. `sizes`:
/// "" for products of every form. Returns the exit code.
int tune_cpu(const shell::Context& context, const std::string& sizes, double seconds,
             const std::string& file);

}  // namespace tessera::bench
