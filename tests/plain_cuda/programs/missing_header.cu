// refused: missing_header.cu needs cudnn.h, which is not offered
#include <cudnn.h>
__global__ void k() {}
int main() { k<<<1, 1>>>(); }
