// cuBLASLt that computes nothing: descriptors are pieces of memory, every product has an algorithm, calls are counted.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static long calls, searches, made;
static intptr_t last_stream;
static size_t last_workspace;
long cublaslt_calls(void) { return calls; }
long cublaslt_searches(void) { return searches; }
long cublaslt_made(void) { return made; }
intptr_t cublaslt_stream(void) { return last_stream; }
size_t cublaslt_workspace(void) { return last_workspace; }

static int make(void **place) { made++; *place = calloc(1, 64); return 0; }
static int destroy(void *object) { made--; free(object); return 0; }
int cublasLtCreate(void **h) { *h = (void *)0x99; return 0; }
int cublasLtMatmulDescCreate(void **d, int compute, int scale) { return make(d); }
int cublasLtMatmulDescSetAttribute(void *d, int attribute, const void *value, size_t size) { return 0; }
int cublasLtMatmulDescDestroy(void *d) { return destroy(d); }
int cublasLtMatrixLayoutCreate(void **d, int type, uint64_t rows, uint64_t columns, int64_t lead) { return make(d); }
int cublasLtMatrixLayoutSetAttribute(void *d, int attribute, const void *value, size_t size) { return 0; }
int cublasLtMatrixLayoutDestroy(void *d) { return destroy(d); }
int cublasLtMatmulPreferenceCreate(void **d) { return make(d); }
int cublasLtMatmulPreferenceSetAttribute(void *d, int attribute, const void *value, size_t size) { return 0; }
int cublasLtMatmulPreferenceDestroy(void *d) { return destroy(d); }

typedef struct { uint64_t algorithm[8]; size_t workspace; int state; float waves; int reserved[4]; } result;
int cublasLtMatmulAlgoGetHeuristic(void *h, void *op, void *a, void *b, void *c, void *d, void *search, int wanted,
                                   result *results, int *count) {
  searches++;
  memset(results, 0, sizeof *results);
  results->workspace = 1 << 20;
  *count = 1;
  return 0;
}
int cublasLtMatmul(void *h, void *op, const void *alpha, const void *A, void *a, const void *B, void *b, const void *beta,
                   const void *C, void *c, void *D, void *d, const void *algorithm, void *room, size_t size, intptr_t stream) {
  calls++;
  last_stream = stream;
  last_workspace = room ? size : 0;
  return 0;
}
