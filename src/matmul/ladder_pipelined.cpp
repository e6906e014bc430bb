// `pipelined`, compiled for f32 in its tiles (kernels/pipelined.hpp).
#include "ladder.hpp"
#include "tessera/kernels/pipelined.hpp"

namespace tessera::detail {

namespace {

using CompiledPipelined = Ladder<Pipelined, PipelinedTiles>;

}  // namespace

const LadderEntry kPipelined{
    {"pipelined", "tiles arrive by asynchronous copies while others are multiplied",
     CompiledPipelined::tiles, true, is_f32_product, CompiledPipelined::typed},
    CompiledPipelined::run,
    "Pipelined",
    pipelined_tile};

}  // namespace tessera::detail
