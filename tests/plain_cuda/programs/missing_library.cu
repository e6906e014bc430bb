// refused: missing_library.cu needs cublas_v2.h, which is not offered
#include <cublas_v2.h>
__global__ void k() {}
int main() { k<<<1, 1>>>(); }
