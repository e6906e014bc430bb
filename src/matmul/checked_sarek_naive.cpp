// `sarek_naive` under the checker, in its tiles (kernels/sarek_naive.hpp).
#include "checked.hpp"
#include "tessera/kernels/sarek_naive.hpp"

namespace tessera::detail {

const CheckedEntry kCheckedSarekNaive =
    CheckedLadder<SarekNaive, SarekNaiveTiles, f16>::entry("sarek_naive");

}  // namespace tessera::detail
