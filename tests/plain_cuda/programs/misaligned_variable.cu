// expect: misaligned at 17
// The compiler knows the address and that it is odd. What is declared as bytes may lie anywhere.
struct __attribute__((packed)) Packed {
  char tag;
  int value;
};
struct Bytes {
  char byte[4];
};
__device__ int x[4];
__device__ Packed packed;
__device__ char bytes[8];
__global__ void k() {
#ifdef FIXED
  x[1] = 42;
#else
  *(int*)((char*)x + 5) = 42;
#endif
  packed.value = 3;
  *(Bytes*)(bytes + 1) = Bytes{{1, 2, 3, 4}};
}
int main() { k<<<1, 1>>>(); }
