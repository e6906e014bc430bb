// An OpenCL loader with one device that is as FAKE says: crash, exit, liar, none, small (no f64, 16 KiB of shared storage, blocks of 256
// threads), broken (builds nothing), full (no memory), lost (waiting fails), mute (reads no SPIR), two (devices). With hang, hang_context,
// hang_build, hang_start, hang_finish it does not return from listing, from a context, from a build, from the start of a kernel, from the
// wait for it, and then not from its end either; with crash_build, crash_info, crash_finish it crashes there. FAKE_LIVE names a file for
// the number of buffers that exist when the process ends, or for -1 while it hangs. It computes nothing. A device is also its context, its
// queue, and every program and kernel of it: what belongs to another one is refused.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *name) {
  const char *fake = getenv("FAKE");
  return fake != NULL && strcmp(fake, name) == 0;
}
static int devices[2];
static struct Buffer {
  void *context;
  char *bytes;
  struct Buffer *next;
} *buffers;
static int hangs, alive, kernels;
static int belongs(const void *context, const void *what) {
  const int invalid_context = -34;
  return context == what ? 0 : invalid_context;
}
static struct Buffer *find(const void *handle) {
  struct Buffer *at = buffers;
  while (at != NULL && at != handle) at = at->next;
  return at;
}
static void tell(int number) {
  const char *file = getenv("FAKE_LIVE");
  FILE *out = file == NULL ? NULL : fopen(file, "w");
  if (out != NULL) fprintf(out, "%d\n", number), fclose(out);
}
static void hang(const char *name) {
  if (!is(name)) return;
  hangs = 1, tell(-1);
  for (;;) pause();
}
__attribute__((destructor)) static void end(void) {
  while (hangs) pause();
  tell(alive);
}

int clGetPlatformIDs(unsigned most, void **out, unsigned *count) {
  if (is("crash")) abort();
  hang("hang");
  if (is("exit")) _exit(0);
  (void)most;
  *count = is("liar") ? 4000000000u : is("none") ? 0 : 1;
  if (*count > 0) out[0] = devices;
  return is("none") ? -1001 : 0;
}
int clGetDeviceIDs(void *platform, uint64_t type, unsigned most, void **out, unsigned *count) {
  (void)platform, (void)type, (void)most;
  *count = is("liar") ? 4000000000u : is("two") ? 2 : 1;
  for (int i = 0; i < 2; ++i) out[i] = is("liar") ? NULL : &devices[i];
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
void *clCreateContext(void *a, unsigned b, void **given, void *d, void *e, int *code) {
  hang("hang_context");
  return (void)a, (void)b, (void)d, (void)e, *code = 0, given[0];
}
int clReleaseContext(void *a) { return (void)a, 0; }
void *clCreateCommandQueue(void *context, void *device, uint64_t c, int *code) { return (void)c, *code = belongs(context, device), context; }
void *clCreateBuffer(void *context, uint64_t b, size_t bytes, void *d, int *code) {
  (void)b, (void)d;
  *code = is("full") ? -4 : 0;
  if (is("full")) return NULL;
  struct Buffer *out = malloc(sizeof *out);
  *out = (struct Buffer){context, calloc(bytes, 1), buffers};
  ++alive;
  return buffers = out;
}
int clReleaseMemObject(void *handle) {
  struct Buffer **at = &buffers;
  while (*at != NULL && *at != handle) at = &(*at)->next;
  if (*at == NULL) abort();  // released twice
  struct Buffer *const gone = *at;
  *at = gone->next, --alive;
  return free(gone->bytes), free(gone), 0;
}
void *clCreateProgramWithBinary(void *context, unsigned b, void **given, void *d, void *e, void *f, int *code) {
  return (void)b, (void)d, (void)e, (void)f, *code = belongs(context, given[0]), context;
}
int clBuildProgram(void *program, unsigned b, void **given, const char *d, void *e, void *f) {
  hang("hang_build");
  if (is("crash_build")) abort();
  return (void)b, (void)d, (void)e, (void)f, is("broken") ? -11 : belongs(program, given[0]);
}
int clGetProgramBuildInfo(void *a, void *b, unsigned c, size_t bytes, void *out, size_t *needed) {
  return (void)a, (void)b, (void)c, give("error: this is the log", 23, bytes, out, needed);
}
int clReleaseProgram(void *a) { return (void)a, 0; }
void *clCreateKernel(void *program, const char *b, int *code) { return (void)b, *code = 0, program; }
int clGetKernelWorkGroupInfo(void *kernel, void *device, unsigned c, size_t bytes, void *out, size_t *needed) {
  const size_t threads = 256;
  if (is("crash_info")) abort();
  return (void)c, give(&threads, sizeof threads, bytes, out, needed), belongs(kernel, device);
}
int clSetKernelArg(void *kernel, unsigned b, size_t bytes, const void *value) {
  const struct Buffer *const given = value == NULL || bytes != sizeof(void *) ? NULL : find(*(void *const *)value);
  return (void)b, given == NULL ? 0 : belongs(kernel, given->context);
}
int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned c, void *d, void *e, void *f, unsigned g, void *h, void **event) {
  hang("hang_start");
  ++kernels;
  return (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, *event = queue, belongs(queue, kernel);
}
int clEnqueueReadBuffer(void *queue, struct Buffer *from, unsigned c, size_t at, size_t bytes, void *out, unsigned g, void *h, void *i) {
  return (void)c, (void)g, (void)h, (void)i, memcpy(out, from->bytes + at, bytes), belongs(queue, from->context);
}
int clEnqueueWriteBuffer(void *queue, struct Buffer *to, unsigned c, size_t at, size_t bytes, const void *in, unsigned g, void *h, void *i) {
  return (void)c, (void)g, (void)h, (void)i, memcpy(to->bytes + at, in, bytes), belongs(queue, to->context);
}
int clEnqueueFillBuffer(void *queue, struct Buffer *to, void *c, size_t d, size_t at, size_t bytes, unsigned g, void *h, void *i) {
  return (void)c, (void)d, (void)g, (void)h, (void)i, memset(to->bytes + at, 0, bytes), belongs(queue, to->context);
}
int clGetEventProfilingInfo(void *a, unsigned b, size_t bytes, void *out, size_t *needed) {
  const uint64_t time = 1000;
  return (void)a, (void)b, give(&time, sizeof time, bytes, out, needed);
}
int clReleaseEvent(void *a) { return (void)a, 0; }
int clFinish(void *a) {
  if (kernels > 0) hang("hang_finish");
  if (is("crash_finish")) *(volatile int *)a = *(volatile int *)NULL;
  return (void)a, is("lost") ? -36 : 0;
}
