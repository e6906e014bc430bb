// expect: shape_and_stride_must_nest_alike
#include "tessera/layout/layout.hpp"

using namespace tessera;

template <Layout L>
struct View {};
View<Layout(tuple(2, 3), tuple(1))> use_1;                       // refused
constexpr Layout use_2(tuple(2, tuple(3, 4)), tuple(12, 4, 1));  // refused
