/* NVIDIA's run-time compiler, without the compiler: a program's names, and an image that the stub driver loads. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct program { char *names[64]; int count; };
static const char image[] = "\x7f" "ELF of the stub";

int nvrtcVersion(int *major, int *minor) { *major = MAJOR; *minor = 0; return 0; }
const char *nvrtcGetErrorString(int error) { return error ? "refused by the stub compiler" : "no error"; }
int nvrtcCreateProgram(struct program **p, const char *source, const char *name, int n, const char *const *headers, const char *const *includes) {
  *p = calloc(1, sizeof **p);
  return 0;
}
int nvrtcDestroyProgram(struct program **p) { *p = NULL; return 0; }
int nvrtcCompileProgram(struct program *p, int n, const char *const *options) { return 0; }
int nvrtcAddNameExpression(struct program *p, const char *name) {
  if (p->count == 64) return 1;
  p->names[p->count++] = strdup(name);
  return 0;
}
int nvrtcGetLoweredName(struct program *p, const char *name, const char **lowered) {
  for (int i = 0; i < p->count; i++)
    if (!strcmp(p->names[i], name)) { *lowered = p->names[i]; return 0; }
  return 1;
}
int nvrtcGetCUBINSize(struct program *p, size_t *n) { *n = sizeof image; return 0; }
int nvrtcGetCUBIN(struct program *p, char *to) { memcpy(to, image, sizeof image); return 0; }
int nvrtcGetPTXSize(struct program *p, size_t *n) { *n = sizeof image; return 0; }
int nvrtcGetPTX(struct program *p, char *to) { memcpy(to, image, sizeof image); return 0; }
int nvrtcGetLTOIRSize(struct program *p, size_t *n) { *n = sizeof image; return 0; }
int nvrtcGetLTOIR(struct program *p, char *to) { memcpy(to, image, sizeof image); return 0; }
int nvrtcGetProgramLogSize(struct program *p, size_t *n) { *n = 1; return 0; }
int nvrtcGetProgramLog(struct program *p, char *to) { *to = 0; return 0; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 2; return 0; }
int nvrtcGetSupportedArchs(int *archs) { archs[0] = 80; archs[1] = 90; return 0; }
