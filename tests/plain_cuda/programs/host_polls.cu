// What the host may touch without a wait: a flag by volatile accesses, a guess, what an event or a
// callback of the stream comes after, and what no work touches.
#include <cstdio>

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void raise(volatile int* flag) { *flag = 1; }
__global__ void count(int* total) { atomicAdd_system(total, 1); }

struct Sum {
  const int* values;
  int sum;
};
void add(void* data) {
  Sum& mine = *static_cast<Sum*>(data);
  for (int i = 0; i < 32; ++i) mine.sum += mine.values[i];
}

int main() {
  int *values, *flag;
  cudaStream_t first, second;
  cudaEvent_t filled;
  cudaStreamCreate(&first);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreate(&filled);
  cudaMallocManaged(&values, 64 * sizeof(int));
  cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
  *flag = 0;
  raise<<<1, 1, 0, second>>>(flag);
  while (*(volatile int*)flag == 0) std::puts("it is not there");

  fill<<<1, 32, 0, first>>>(values, 2);
  values[32] = 1;  // another one
  cudaEventRecord(filled, first);
  fill<<<1, 32, 0, first>>>(values + 33 - 1, 3);
  cudaEventSynchronize(filled);
  int wrong = values[31] != 2;
  Sum sum{values, 0};
  cudaLaunchHostFunc(first, add, &sum);
  cudaStreamSynchronize(first);
  wrong += sum.sum != 64 || values[32] != 3;
  count<<<1, 32, 0, second>>>(&values[40]);
  int guess;
  do guess = values[40];  // tested before it is used
  while (__sync_val_compare_and_swap(&values[40], guess, guess + 5) != guess);
  cudaStreamSynchronize(second);
  wrong += values[40] != 40;
  cudaMemset(values, 0, 64 * sizeof(int));  // which waits, of managed memory
  wrong += values[32] != 0;

  cudaDeviceSynchronize();
  cudaEventDestroy(filled);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(values);
  cudaFreeHost(flag);
  return wrong;
}
