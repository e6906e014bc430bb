// Objects with virtual functions that kernels make and other kernels call.
struct Shape {
  virtual __device__ float area() const = 0;
  virtual __device__ ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};

__global__ void make(Shape** shapes) {
  const int t = threadIdx.x;
  if (t % 2 == 0) shapes[t] = new Square(t);
  else shapes[t] = new Circle(t);
}
__global__ void areas(Shape** shapes, float* out) {
  out[threadIdx.x] = shapes[threadIdx.x]->area();
}
__global__ void destroy(Shape** shapes) { delete shapes[threadIdx.x]; }

int main() {
  Shape** shapes;
  float *out, host[32];
  cudaMalloc(&shapes, 32 * sizeof *shapes);
  cudaMalloc(&out, sizeof host);
  make<<<1, 32>>>(shapes);
  areas<<<1, 32>>>(shapes, out);
  destroy<<<1, 32>>>(shapes);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(shapes), cudaFree(out);
  return host[4] == 16 && host[3] == 27 ? 0 : 1;
}
