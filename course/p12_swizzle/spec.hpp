#include "tessera/check/explain.hpp"
#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 32, 32, 0.25);
  auto out = puzzle::output("out", 32, 32, [](index_t i, index_t j) { return (i + 32.0 * j) / 4; });
  puzzle::expect_mistakes(
      out, {{"other-product", [](index_t i, index_t j) { return double(32 * j + (i ^ j)) / 4; },
             "written through the swizzle and read without it, or the other way",
             "the same view, `tile`, in both loops"}});
  run.launch("32 x 32 in one block", Dim3{1}, TransposeSwizzled{}, a, out);
  run.goal("passes through the banks for a request, on average",
           check::conflict_factor(run.total()), 1);
}
