// refused: missing_header.cu:2 needs cute/no_such_header.hpp, which is not offered
#include <cute/no_such_header.hpp>
__global__ void k() {}
int main() { k<<<1, 1>>>(); }
