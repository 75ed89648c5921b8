/* The driver library: a launch is checked for what a GPU would refuse and recorded, kernels do not run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1 << 14, NAMES = 1 << 14, LENGTH = 192 };
struct launch { long function; unsigned grid[3], block[3], shared; intptr_t stream; int device; };
static char names[NAMES][LENGTH];
static long functions, launches;
static struct launch record[KEPT];
static int (*current_device)(void);
static __thread int bound;
static int strict_context;

void stub_device_function(int (*function)(void)) { current_device = function; }
void stub_bind(void) { bound = 1; }
void stub_require_context(int on) { strict_context = on; }
long stub_count(void) { return launches; }
void stub_reset(void) { launches = 0; }
struct launch *stub_launch(long i) { return &record[i % KEPT]; }
const char *stub_name(long function) { return names[function]; }

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
/* NVRTC asks for a private table; this one is empty: its first word is its size. */
int cuGetExportTable(const void **table, const void *identity) {
  static const size_t empty[8] = {sizeof(size_t)};
  *table = empty;
  return 0;
}
int cuGetErrorName(int e, const char **p) { *p = e == 201 ? "CUDA_ERROR_INVALID_CONTEXT" : "STUB_ERROR"; return 0; }
int cuGetErrorString(int e, const char **p) { *p = e == 201 ? "invalid device context" : "refused by the stub driver"; return 0; }
int cuCtxGetCurrent(void **context) { *context = (void *)0x77; return 0; }
int cuCtxSetCurrent(void *context) { bound = 1; return 0; }
int cuCtxGetDevice(int *device) { *device = current_device ? current_device() : 0; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : attribute == 97 ? 232448 : 1024;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)0x77; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *flags = 0, *active = 1; return 0; }
int cuCtxGetLimit(size_t *value, int limit) { *value = 0; return 0; }
int cuCtxSetLimit(int limit, size_t value) { return 0; }
int cuPointerGetAttribute(void *value, int attribute, uint64_t pointer) { *(uint64_t *)value = pointer; return 0; }
int cuStreamIsCapturing(void *stream, int *status) { *status = 0; return 0; }
int cuStreamGetCtx(void *stream, void **context) { *context = (void *)0x77; return 0; }
int cuModuleLoad(void **module, const char *path) { *module = (void *)1; return 0; }
int cuModuleLoadData(void **module, const void *image) {
  if (memcmp(image, "\x7f" "ELF", 4) && memcmp(image, "//", 2)) return 200;
  *module = (void *)1;
  return 0;
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, void *options, void *values) { return cuModuleLoadData(module, image); }
int cuModuleUnload(void *module) { return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  if (functions + 1 >= NAMES) return 2;
  strncpy(names[++functions], name, LENGTH - 1);
  *function = (void *)functions;
  return 0;
}
int cuModuleGetGlobal_v2(void **pointer, size_t *size, void *module, const char *name) {
  *pointer = calloc(1, 65536);
  if (size) *size = 65536;
  return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
  *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0;
  return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) { return 0; }
int cuFuncSetCacheConfig(void *function, int config) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *f, int block, size_t shared) { *count = 2; return 0; }
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *f, void *size, size_t shared, int limit) {
  *grid = 264;
  *block = 512;
  return 0;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra) {
  if (!gx || !gy || !gz || gx > 2147483647u || gy > 65535 || gz > 65535 || !(bx * by * bz) || bx * by * bz > 1024) return 1;
  if (!function || (long)function > functions) return 400;
  if (strict_context && !bound) return 201;
  struct launch *l = &record[launches++ % KEPT];
  l->function = (long)function;
  l->grid[0] = gx, l->grid[1] = gy, l->grid[2] = gz, l->block[0] = bx, l->block[1] = by, l->block[2] = bz;
  l->shared = shared, l->stream = (intptr_t)stream, l->device = current_device ? current_device() : 0;
  return 0;
}
int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                              unsigned shared, void *stream, void **arguments) {
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, 0);
}
/* What Triton's own launcher calls: the same numbers in a structure. */
struct configuration { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned count; };
int cuLaunchKernelEx(const struct configuration *c, void *f, void **arguments, void **extra) {
  return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared, c->stream,
                        arguments, extra);
}
