// refused: missing_library.cu:2 needs cusparse.h, which is not offered
#include <cusparse.h>
__global__ void k() {}
int main() { k<<<1, 1>>>(); }
