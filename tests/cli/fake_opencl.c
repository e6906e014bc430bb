// An OpenCL loader with one device that is as FAKE says: crash, hang, exit, liar, none, small (no f64, 16 KiB of shared storage, blocks of
// 256 threads), broken (builds nothing), full (no memory), lost (waiting fails), mute (reads no SPIR). It computes nothing.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *name) {
  const char *fake = getenv("FAKE");
  return fake != NULL && strcmp(fake, name) == 0;
}
static int object;

int clGetPlatformIDs(unsigned most, void **out, unsigned *count) {
  if (is("crash")) abort();
  if (is("hang")) pause();
  if (is("exit")) _exit(0);
  (void)most;
  *count = is("liar") ? 4000000000u : is("none") ? 0 : 1;
  if (*count > 0) out[0] = &object;
  return is("none") ? -1001 : 0;
}
int clGetDeviceIDs(void *platform, uint64_t type, unsigned most, void **out, unsigned *count) {
  (void)platform, (void)type, (void)most;
  *count = is("liar") ? 4000000000u : 1;
  out[0] = is("liar") ? NULL : &object;
  return 0;
}
static int give(const void *value, size_t size, size_t bytes, void *out, size_t *needed) {
  if (needed != NULL) *needed = size;
  if (out != NULL) memcpy(out, value, size < bytes ? size : bytes);
  return 0;
}
int clGetDeviceInfo(void *device, unsigned what, size_t bytes, void *out, size_t *needed) {
  (void)device;
  const uint64_t memory = 1 << 30, local = 16 << 10;
  const size_t threads = 256;
  const char *extensions = is("mute") ? "cl_khr_icd" : is("small") ? "cl_khr_spir" : "cl_khr_spir cl_khr_fp64";
  switch (what) {
    case 0x102B: return give("Fake device", 12, bytes, out, needed);
    case 0x102F: return give("OpenCL 1.2", 11, bytes, out, needed);
    case 0x1030: return give(extensions, strlen(extensions) + 1, bytes, out, needed);
    case 0x1004: return give(&threads, sizeof threads, bytes, out, needed);
    case 0x1010:
    case 0x101F: return give(&memory, sizeof memory, bytes, out, needed);
    case 0x1023: return give(&local, sizeof local, bytes, out, needed);
    default: return -30;
  }
}
void *clCreateContext(void *a, unsigned b, void *c, void *d, void *e, int *code) { return (void)a, (void)b, (void)c, (void)d, (void)e, *code = 0, &object; }
void *clCreateCommandQueue(void *a, void *b, uint64_t c, int *code) { return (void)a, (void)b, (void)c, *code = 0, &object; }
void *clCreateBuffer(void *a, uint64_t b, size_t c, void *d, int *code) {
  (void)a, (void)b, (void)c, (void)d;
  *code = is("full") ? -4 : 0;
  return is("full") ? NULL : &object;
}
int clReleaseMemObject(void *a) { return (void)a, 0; }
void *clCreateProgramWithBinary(void *a, unsigned b, void *c, void *d, void *e, void *f, int *code) {
  return (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, *code = 0, &object;
}
int clBuildProgram(void *a, unsigned b, void *c, const char *d, void *e, void *f) { return (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, is("broken") ? -11 : 0; }
int clGetProgramBuildInfo(void *a, void *b, unsigned c, size_t bytes, void *out, size_t *needed) {
  return (void)a, (void)b, (void)c, give("error: this is the log", 23, bytes, out, needed);
}
int clReleaseProgram(void *a) { return (void)a, 0; }
void *clCreateKernel(void *a, const char *b, int *code) { return (void)a, (void)b, *code = 0, &object; }
int clGetKernelWorkGroupInfo(void *a, void *b, unsigned c, size_t bytes, void *out, size_t *needed) {
  const size_t threads = 256;
  return (void)a, (void)b, (void)c, give(&threads, sizeof threads, bytes, out, needed);
}
int clSetKernelArg(void *a, unsigned b, size_t c, const void *d) { return (void)a, (void)b, (void)c, (void)d, 0; }
int clEnqueueNDRangeKernel(void *a, void *b, unsigned c, void *d, void *e, void *f, unsigned g, void *h, void **event) {
  return (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, *event = &object, 0;
}
int clEnqueueReadBuffer(void *a, void *b, unsigned c, size_t d, size_t bytes, void *out, unsigned g, void *h, void *i) {
  return (void)a, (void)b, (void)c, (void)d, (void)g, (void)h, (void)i, memset(out, 0, bytes), 0;
}
int clEnqueueWriteBuffer(void *a, void *b, unsigned c, size_t d, size_t e, void *f, unsigned g, void *h, void *i) {
  return (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, 0;
}
int clEnqueueFillBuffer(void *a, void *b, void *c, size_t d, size_t e, size_t f, unsigned g, void *h, void *i) {
  return (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, 0;
}
int clGetEventProfilingInfo(void *a, unsigned b, size_t bytes, void *out, size_t *needed) {
  const uint64_t time = 1000;
  return (void)a, (void)b, give(&time, sizeof time, bytes, out, needed);
}
int clReleaseEvent(void *a) { return (void)a, 0; }
int clFinish(void *a) { return (void)a, is("lost") ? -36 : 0; }
