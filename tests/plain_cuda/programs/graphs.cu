// Graphs that are captured: launches, copies and fills run when the graph is launched, also those
// of a stream that joins.
#include <cstdio>

__global__ void add(int* x, int value) { x[threadIdx.x] += value; }

int main() {
  int *x, host[32];
  cudaStream_t first, second;
  cudaEvent_t begun, done;
  cudaGraph_t graph;
  cudaGraphExec_t made;
  cudaMalloc(&x, sizeof host);
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEventCreate(&begun);
  cudaEventCreate(&done);
  cudaMemset(x, 0, sizeof host);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, first>>>(x, 1);
  cudaEventRecord(begun, first);
  cudaStreamWaitEvent(second, begun);
  add<<<1, 32, 0, second>>>(x, 2);
  cudaEventRecord(done, second);
  cudaStreamWaitEvent(first, done);
  cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, first);
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(second, &status);
  cudaStreamEndCapture(first, &graph);
  int wrong = status != cudaStreamCaptureStatusActive;
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphInstantiate(&made, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(made, first);
  cudaStreamSynchronize(first);
  wrong += nodes != 3 || host[0] != 9 || host[31] != 9;
  add<<<1, 32, 0, second>>>(x, 1);  // no longer captured
  cudaStreamSynchronize(second);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  wrong += host[0] != 10;
  cudaGraphExecDestroy(made);
  cudaGraphDestroy(graph);
  cudaEventDestroy(begun);
  cudaEventDestroy(done);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(x);
  printf("%d %d\n", wrong, host[0]);
  return wrong;
}
