#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto multiply = [&](const std::string& variant, const auto& kernel) {
    if (!run.wants(variant)) return;
    const auto A = puzzle::counting("A", 2, 2), B = puzzle::counting("B", 2, 2, 2);
    auto C = puzzle::product("C", A, B);
    run.launch(variant + ": 2 x 2", Dim3{1}, kernel, A, B, C);
    // Spoken of where it is missed only: the answer is that of the original.
    const double read = double(run.total().global_load_bytes) / 4;
    if (variant == "single-block" && read > 8)
      run.goal("elements that are read from global memory", read, 8,
               "compute from s.a and s.b: A and B are read for the load only");
    const auto P = puzzle::scattered("A", 2, 2, 1), Q = puzzle::scattered("B", 2, 2, 2);
    auto D = puzzle::product("C", P, Q);
    run.launch_with({.is_brief = true}, variant + ": 2 x 2, other numbers", Dim3{1}, kernel, P, Q,
                    D);
  };
  multiply("naive", Naive{});
  multiply("single-block", SingleBlock{});
}
