// `sarek_naive`, compiled for every type and its tiles (kernels/sarek_naive.hpp).
#include "ladder.hpp"
#include "tessera/kernels/sarek_naive.hpp"

namespace tessera::detail {

namespace {
using CompiledSarekNaive = Ladder<SarekNaive, SarekNaiveTiles>;
}

const LadderEntry kSarekNaive{
    {"sarek_naive", "a one-dimensional grid, one thread for each element (Sarek)",
     CompiledSarekNaive::tiles, true, has_native_product},
    CompiledSarekNaive::run,
    "SarekNaive",
    row_tile};

}  // namespace tessera::detail
