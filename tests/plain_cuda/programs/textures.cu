// Textures of arrays, linear memory and memory with a pitch; surfaces.
#include <cstdio>
#include <vector>

#define REQUIRE(condition) \
  if (!(condition)) return std::printf("%d: %s\n", __LINE__, #condition), 1

constexpr int kWidth = 6, kHeight = 4, kDepth = 3;

__global__ void fetch(cudaTextureObject_t texture, float* out) {
  const int i = threadIdx.x;
  out[i] = tex1Dfetch<float>(texture, i - 1);
}
__global__ void line(cudaTextureObject_t texture, const float* at, float* out) {
  out[threadIdx.x] = tex1D<float>(texture, at[threadIdx.x]);
}
template <class T>
__global__ void plane(cudaTextureObject_t texture, const float2* at, T* out) {
  T value;
  tex2D(&value, texture, at[threadIdx.x].x, at[threadIdx.x].y);
  out[threadIdx.x] = value;
}
__global__ void space(cudaTextureObject_t texture, cudaTextureObject_t layers, float* out) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int i = (z * kHeight + y) * kWidth + x;
  out[i] = tex3D<float>(texture, x + 0.5f, y + 0.5f, z + 0.5f) +
           tex2DLayered<float>(layers, x + 0.5f, y + 0.5f, z);
}
__global__ void cube(cudaTextureObject_t texture, float* out) {
  const float x[] = {1, -1, 0, 0, 0, 0}, y[] = {0, 0, 1, -1, 0, 0}, z[] = {0, 0, 0, 0, 1, -1};
  const int face = threadIdx.x;
  out[face] = texCubemap<float>(texture, x[face], y[face], z[face]);
}
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y;
  const uchar4 value = surf2Dread<uchar4>(from, x * sizeof(uchar4), y);
  surf2Dwrite(value, to, y * sizeof(uchar4), x);
  surf2Dwrite(value, to, -8, x, cudaBoundaryModeZero);  // nowhere
}

struct Device {
  float* out;
  float2* at;
  Device() { cudaMalloc(&out, 512 * sizeof *out), cudaMalloc(&at, 64 * sizeof *at); }
  ~Device() { cudaFree(out), cudaFree(at); }
  std::vector<float> read(int count) {
    std::vector<float> values(count);
    cudaMemcpy(values.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost);
    return values;
  }
};

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureAddressMode mode,
                               cudaTextureFilterMode filter, bool is_normalized,
                               cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc how = {};
  for (auto& each : how.addressMode) each = mode;
  how.filterMode = filter, how.readMode = read, how.normalizedCoords = is_normalized;
  how.borderColor[0] = 100;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  return texture;
}
cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc out = {};
  out.resType = cudaResourceTypeArray;
  out.res.array.array = array;
  return out;
}

int lines(Device& device) {
  const float values[4] = {10, 20, 40, 80};
  float* memory = nullptr;
  cudaMalloc(&memory, sizeof values);
  cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory, cudaCreateChannelDesc<float>(), sizeof values};
  const auto linear = texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint, false);
  fetch<<<1, 6>>>(linear, device.out);
  REQUIRE((device.read(6) == std::vector<float>{0, 10, 20, 40, 80, 0}));
  cudaDestroyTextureObject(linear);
  cudaFree(memory);

  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 4);
  cudaMemcpyToArray(array, 0, 0, values, sizeof values, cudaMemcpyHostToDevice);
  const float positions[] = {-3, 0.5f, 1, 1.75f, 3.5f, 9};
  struct {
    cudaTextureAddressMode mode;
    cudaTextureFilterMode filter;
    float scale;
    std::vector<float> expected;
  } const cases[] = {
      {cudaAddressModeClamp, cudaFilterModePoint, 1, {10, 10, 20, 20, 80, 80}},
      {cudaAddressModeClamp, cudaFilterModeLinear, 1, {10, 10, 15, 25, 80, 80}},
      {cudaAddressModeBorder, cudaFilterModePoint, 1, {100, 10, 20, 20, 80, 100}},
      {cudaAddressModeBorder, cudaFilterModeLinear, 0.25f, {100, 10, 15, 25, 80, 100}},
      {cudaAddressModeWrap, cudaFilterModePoint, 0.25f, {20, 10, 20, 20, 80, 20}},
      {cudaAddressModeWrap, cudaFilterModeLinear, 0.25f, {15, 10, 15, 25, 80, 15}},
      {cudaAddressModeMirror, cudaFilterModePoint, 0.25f, {40, 10, 20, 20, 80, 20}},
      {cudaAddressModeWrap, cudaFilterModePoint, 1, {10, 10, 20, 20, 80, 80}}};  // clamps
  for (const auto& each : cases) {
    float at[6];
    for (int i = 0; i < 6; ++i) at[i] = positions[i] * each.scale;
    cudaMemcpy(device.at, at, sizeof at, cudaMemcpyHostToDevice);
    const auto texture = texture_of(of_array(array), each.mode, each.filter, each.scale != 1);
    line<<<1, 6>>>(texture, reinterpret_cast<float*>(device.at), device.out);
    REQUIRE(device.read(6) == each.expected);
    cudaDestroyTextureObject(texture);
  }
  cudaFreeArray(array);
  return 0;
}

int planes(Device& device) {
  std::vector<unsigned char> bytes(kHeight * 64);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i % 64 + i / 64 * 10);
  unsigned char* memory = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&memory, &pitch, kWidth, kHeight);
  cudaMemcpy2D(memory, pitch, bytes.data(), 64, kWidth, kHeight, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {memory, cudaCreateChannelDesc<unsigned char>(), kWidth, kHeight, pitch};
  const float2 at[] = {{0.5f, 0.5f}, {2.5f, 1.5f}, {-7, 9}, {3, 2}};
  cudaMemcpy(device.at, at, sizeof at, cudaMemcpyHostToDevice);
  auto texture = texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint, false);
  auto* const small = reinterpret_cast<unsigned char*>(device.out);
  plane<<<1, 4>>>(texture, device.at, small);
  unsigned char found[4];
  cudaMemcpy(found, small, sizeof found, cudaMemcpyDeviceToHost);
  REQUIRE(found[0] == 0 && found[1] == 12 && found[2] == 30 && found[3] == 23);
  cudaDestroyTextureObject(texture);
  texture = texture_of(resource, cudaAddressModeClamp, cudaFilterModeLinear, false,
                       cudaReadModeNormalizedFloat);
  plane<<<1, 4>>>(texture, device.at, device.out);
  const auto shares = device.read(4);
  REQUIRE(shares[1] == 12 / 255.0f && shares[2] == 30 / 255.0f);
  REQUIRE(shares[3] > 17.4f / 255 && shares[3] < 17.6f / 255);
  cudaDestroyTextureObject(texture);
  cudaFree(memory);
  return 0;
}

int spaces(Device& device) {
  constexpr int kCount = kWidth * kHeight * kDepth;
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t arrays[2] = {};
  cudaTextureObject_t textures[2] = {};
  for (int i = 0; i < 2; ++i) {
    cudaMalloc3DArray(&arrays[i], &format, make_cudaExtent(kWidth, kHeight, kDepth),
                      i == 0 ? cudaArrayDefault : cudaArrayLayered);
    cudaMemcpy3DParms how = {};
    how.srcPtr = make_cudaPitchedPtr(values.data(), kWidth * sizeof(float), kWidth, kHeight);
    how.dstArray = arrays[i];
    how.extent = make_cudaExtent(kWidth, kHeight, kDepth);
    how.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&how) == cudaSuccess);
    textures[i] =
        texture_of(of_array(arrays[i]), cudaAddressModeClamp, cudaFilterModeLinear, false);
  }
  space<<<1, dim3(kWidth, kHeight, kDepth)>>>(textures[0], textures[1], device.out);
  const auto sums = device.read(kCount);
  for (int i = 0; i < kCount; ++i) REQUIRE(sums[i] == 2.0f * i);
  for (int i = 0; i < 2; ++i) cudaDestroyTextureObject(textures[i]), cudaFreeArray(arrays[i]);

  cudaArray_t faces = nullptr;
  cudaMalloc3DArray(&faces, &format, make_cudaExtent(1, 1, 6), cudaArrayCubemap);
  cudaMemcpy3DParms how = {};
  how.srcPtr = make_cudaPitchedPtr(values.data(), sizeof(float), 1, 1);
  how.dstArray = faces;
  how.extent = make_cudaExtent(1, 1, 6);
  how.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&how);
  const auto texture = texture_of(of_array(faces), cudaAddressModeWrap, cudaFilterModeLinear, true);
  cube<<<1, 6>>>(texture, device.out);
  REQUIRE((device.read(6) == std::vector<float>{0, 1, 2, 3, 4, 5}));
  cudaDestroyTextureObject(texture);
  cudaFreeArray(faces);
  return 0;
}

int surfaces() {
  const auto format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t arrays[2] = {};
  cudaMallocArray(&arrays[0], &format, kWidth, kHeight, cudaArraySurfaceLoadStore);
  cudaMallocArray(&arrays[1], &format, kHeight, kWidth, cudaArraySurfaceLoadStore);
  uchar4 values[kHeight][kWidth], turned[kWidth][kHeight];
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) values[y][x] = make_uchar4(x, y, 1, 2);
  cudaMemcpy2DToArray(arrays[0], 0, 0, values, sizeof values[0], sizeof values[0], kHeight,
                      cudaMemcpyHostToDevice);
  cudaSurfaceObject_t objects[2] = {};
  for (int i = 0; i < 2; ++i) {
    const cudaResourceDesc resource = of_array(arrays[i]);
    cudaCreateSurfaceObject(&objects[i], &resource);
  }
  turn<<<1, dim3(kWidth, kHeight)>>>(objects[0], objects[1]);
  cudaMemcpy2DFromArray(turned, sizeof turned[0], arrays[1], 0, 0, sizeof turned[0], kWidth,
                        cudaMemcpyDeviceToHost);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) REQUIRE(turned[x][y].x == x && turned[x][y].y == y);
  for (int i = 0; i < 2; ++i) cudaDestroySurfaceObject(objects[i]), cudaFreeArray(arrays[i]);
  return 0;
}

int main() {
  const float* constants = nullptr;  // cudaMalloc takes its address as well
  REQUIRE(cudaMalloc(&constants, 4) == cudaSuccess);
  cudaFree(const_cast<float*>(constants));
  Device device;
  const int failed = lines(device) + planes(device) + spaces(device) + surfaces();
  REQUIRE(cudaGetLastError() == cudaSuccess);
  return failed;
}
