// A HIP runtime with one device, which keeps books on stderr and computes nothing: FAKE=full has no memory, FAKE=other takes no code,
// FAKE=lost fails when it is waited for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *name) {
  const char *fake = getenv("FAKE");
  return fake != NULL && strcmp(fake, name) == 0;
}
static int object;

int hipGetDeviceCount(int *count) { return *count = 1, 0; }
int hipSetDevice(int device) { return device == 0 ? 0 : 101; }
int hipDeviceGetName(char *out, int bytes, int device) { return (void)device, snprintf(out, (size_t)bytes, "Fake AMD GPU"), 0; }
int hipDeviceTotalMem(size_t *out, int device) { return (void)device, *out = 1 << 30, 0; }
int hipDeviceGetAttribute(int *out, int what, int device) { return (void)device, *out = what == 56 ? 1024 : what == 74 ? 65536 : -1, 0; }
const char *hipGetErrorString(int code) { return code == 2 ? "out of memory" : "some error"; }
int hipMalloc(void **out, size_t bytes) { return *out = calloc(1, bytes), is("full") ? 2 : 0; }
int hipFree(void *memory) { return free(memory), 0; }
int hipMemcpyHtoDAsync(void *to, void *from, size_t bytes, void *stream) { return (void)stream, memcpy(to, from, bytes), 0; }
int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream) { return (void)stream, memcpy(to, from, bytes), 0; }
int hipMemsetAsync(void *to, int value, size_t bytes, void *stream) { return (void)stream, memset(to, value, bytes), 0; }
int hipStreamCreate(void **out) { return *out = &object, 0; }
int hipStreamSynchronize(void *stream) { return (void)stream, is("lost") ? 719 : 0; }
int hipEventCreate(void **out) { return *out = &object, 0; }
int hipEventRecord(void *event, void *stream) { return (void)event, (void)stream, 0; }
int hipEventElapsedTime(float *out, void *begin, void *end) { return (void)begin, (void)end, *out = 1, 0; }
int hipModuleLoadData(void **out, const void *code) {
  fprintf(stderr, "code is ELF: %d\n", memcmp(code, "\177ELF", 4) == 0);
  return *out = &object, is("other") ? 209 : 0;
}
int hipModuleGetFunction(void **out, void *module, const char *name) { return (void)module, fprintf(stderr, "function %s\n", name), *out = &object, 0; }
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                          void **arguments, void **extra) {
  (void)function, (void)stream, (void)extra;
  // Of any_device: shared storage, then a, b, c, then the words of grid, kernel, and offset and extent of each.
  const float *a = *(float **)arguments[1], *b = *(float **)arguments[2];
  float *c = *(float **)arguments[3];
  const unsigned long *extent = arguments[4 + 2 + 1 + 1];
  fprintf(stderr, "grid %u,%u,%u block %u,%u,%u shared %u extent %lu\n", gx, gy, gz, bx, by, bz, shared, *extent);
  for (unsigned long i = 0; i < *extent; ++i) c[i] = a[i] + b[i];
  return 0;
}
