// expect: race at 59
// A graph that is made node by node: a fill, kernels, a copy and a call of the host. The twin alone
// lets the second kernel wait for the first, which both touch x.
#include <cstdio>

__global__ void add(int* x, int value) { x[threadIdx.x] += value; }
template <class T>
__global__ void twice(T* x) {
  x[threadIdx.x] *= 2;
}
__global__ void other(float* y) { y[threadIdx.x] = 1; }

void count(void* data) { ++*static_cast<int*>(data); }

// Over 60 lines: one graph, and a node takes half a dozen of them.
int main() {
  int *x, host[32], called = 0;
  float* y;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, 32 * sizeof(float));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);

  cudaGraphNode_t filled, added, doubled, apart, copied, told;
  cudaMemsetParams fill = {0};
  fill.dst = x;
  fill.value = 1;
  fill.elementSize = 4;
  fill.width = 32;
  fill.height = 1;
  cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill);

  int value = 2;
  void* add_arguments[] = {&x, &value};
  cudaKernelNodeParams kernel = {0};
  kernel.func = (void*)add;
  kernel.gridDim = dim3(1, 1, 1);
  kernel.blockDim = dim3(32, 1, 1);
  kernel.sharedMemBytes = 0;
  kernel.kernelParams = add_arguments;
  kernel.extra = NULL;
  cudaGraphAddKernelNode(&added, graph, &filled, 1, &kernel);
  value = 100;  // the node has its own

  void* y_argument[] = {&y};
  cudaKernelNodeParams* const next = &kernel;
  next->func = (void*)other;
  next->kernelParams = y_argument;
  cudaGraphAddKernelNode(&apart, graph, nullptr, 0, next);

  void* x_argument[] = {&x};
  kernel.func = reinterpret_cast<void*>(twice<int>);
  kernel.kernelParams = x_argument;
#ifdef FIXED
  cudaGraphAddKernelNode(&doubled, graph, &added, 1, &kernel);
#else
  cudaGraphAddKernelNode(&doubled, graph, &filled, 1, &kernel);
#endif

  cudaMemcpy3DParms copy = {0};
  copy.srcArray = NULL;
  copy.srcPtr = make_cudaPitchedPtr(x, sizeof host, 32, 1);
  copy.dstPtr = make_cudaPitchedPtr(host, sizeof host, 32, 1);
  copy.extent = make_cudaExtent(sizeof host, 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  cudaGraphAddMemcpyNode(&copied, graph, &doubled, 1, &copy);
#ifndef FIXED
  cudaGraphAddDependencies(graph, &added, &copied, 1);
#endif
  cudaHostNodeParams tell = {0};
  tell.fn = count;
  tell.userData = &called;
  cudaGraphNode_t both[] = {copied, apart};
  cudaGraphAddHostNode(&told, graph, both, 2, &tell);

  std::size_t nodes = 0;
  cudaGraphNodeType type;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphNodeGetType(told, &type);
  int wrong = nodes != 6 || type != cudaGraphNodeTypeHost;

  cudaGraphExec_t made;
  cudaGraphInstantiate(&made, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(made, stream);
  cudaStreamSynchronize(stream);
  wrong += called != 2 || host[0] != 6 || host[31] != 6;
  cudaMemset(x, 0, sizeof host);  // no part of the graph is still running
  cudaGraphExecDestroy(made);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(x);
  cudaFree(y);
  std::printf("%d %d\n", wrong, host[0]);
  return wrong;
}
