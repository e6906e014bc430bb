#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto multiply = [&](const std::string& variant, const auto& kernel) {
    if (!run.wants(variant)) return;
    const auto A = puzzle::counting("A", 9, 9), B = puzzle::counting("B", 9, 9, 2);
    auto C = puzzle::product("C", A, B, 3);
    run.launch(variant + ": 9 x 9 in tiles of 3 x 3", Dim3{3, 3}, kernel, A, B, C);
    const auto P = puzzle::scattered("A", 9, 9, 1), Q = puzzle::scattered("B", 9, 9, 2);
    auto D = puzzle::product("C", P, Q, 3);
    run.launch_with({.is_brief = true}, variant + ": 9 x 9, other numbers", Dim3{3, 3}, kernel, P,
                    Q, D);
  };
  multiply("tiled", Tiled{});
  multiply("idiomatic-tiled", IdiomaticTiled{});
}
