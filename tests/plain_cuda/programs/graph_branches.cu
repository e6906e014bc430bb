// expect: race at 23, runtime-misuse at 45
// Two streams of one capture touch x: the event that orders them is waited for in the twin alone,
// and so is what the second one does.
#include <cstdio>

__global__ void add(int* x, int value) { x[threadIdx.x] += value; }

int main() {
  int *x, host[32];
  cudaStream_t first, second;
  cudaEvent_t begun, added, done;
  cudaGraph_t graph;
  cudaGraphExec_t made;
  cudaMalloc(&x, sizeof host);
  cudaStreamCreate(&first), cudaStreamCreate(&second);
  cudaEventCreate(&begun), cudaEventCreate(&added), cudaEventCreate(&done);
  cudaMemset(x, 0, sizeof host);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaEventRecord(begun, first);
  add<<<1, 32, 0, first>>>(x, 1);
  cudaEventRecord(added, first);
#ifndef FIXED
  cudaStreamWaitEvent(second, begun), add<<<1, 32, 0, second>>>(x, 2);
#else
  cudaStreamWaitEvent(second, added), add<<<1, 32, 0, second>>>(x, 2);
#endif
  cudaEventRecord(done, second);
  cudaStreamWaitEvent(first, done);
  cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, first);
  cudaStreamEndCapture(first, &graph);
  cudaGraphInstantiate(&made, graph);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(made, second);
  cudaStreamSynchronize(second);
  int wrong = host[0] != 9 || host[31] != 9;
  cudaGraphExecDestroy(made), cudaGraphDestroy(graph);

  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaEventRecord(begun, first);
  cudaStreamWaitEvent(second, begun);
  add<<<1, 32, 0, second>>>(x, 2);
  cudaEventRecord(done, second);
#ifdef FIXED
  cudaStreamWaitEvent(first, done);
#endif
  if (cudaStreamEndCapture(first, &graph) == cudaSuccess) cudaGraphDestroy(graph);
  cudaEventDestroy(begun), cudaEventDestroy(added), cudaEventDestroy(done);
  cudaStreamDestroy(first), cudaStreamDestroy(second);
  cudaFree(x);
  std::printf("%d %d\n", wrong, host[0]);
  return wrong;
}
