#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto multiply = [&](const std::string& variant, const auto& kernel) {
    if (!run.wants(variant)) return;
    const auto A = puzzle::counting("A", 9, 9), B = puzzle::counting("B", 9, 9, 2);
    auto C = puzzle::product("C", A, B, 3);
    run.launch(variant + ": 9 x 9 in tiles of 3 x 3", Dim3{3, 3}, kernel, A, B, C);
    // Spoken of where they are missed only: the answer is that of the original.
    const auto& total = run.total();
    const double read = double(total.global_load_bytes + total.async_copy_bytes) / 4,
                 stored = double(total.shared_store_bytes) / 4;
    if (read > 486)
      run.goal(
          "elements that are read from global memory", read, 486,
          "a block reads each element of its strips once, into a tile, and multiplies from it");
    const double barriers = double(total.block_barriers) / 9;
    if (barriers > 9)
      run.goal("barriers of a block", barriers, 9,
               "SIZE / TPB rounds are enough, with two barriers each");
    if (variant == "tiled" && stored > 486)
      run.goal("elements that are stored in tiles", stored, 486,
               "SIZE / TPB rounds are enough: each thread stores one element of each tile in each");
    const auto P = puzzle::scattered("A", 9, 9, 1), Q = puzzle::scattered("B", 9, 9, 2);
    auto D = puzzle::product("C", P, Q, 3);
    run.launch_with({.is_brief = true}, variant + ": 9 x 9, other numbers", Dim3{3, 3}, kernel, P,
                    Q, D);
  };
  multiply("tiled", Tiled{});
  multiply("idiomatic-tiled", IdiomaticTiled{});
}
