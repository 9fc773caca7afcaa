// A C face for hnswlib. Every function that can fail returns 0, or -1 with a message in err, which has FR_ERROR bytes.
#pragma once
#include <stdint.h>

#define FR_ERROR 512

#ifdef __cplusplus
extern "C" {
#endif

enum { FR_L2 = 0, FR_IP = 1 };

typedef struct fr_hnsw fr_hnsw;

// The instruction set of the distance functions on this CPU.
const char *fr_hnsw_instruction_set(void);

fr_hnsw *fr_hnsw_new(int metric, int64_t dim, int64_t rows, int64_t m, int64_t ef_construction, uint64_t seed, char *err);

// Adds rows [from, from+n) of row-major x, whose ids are their numbers. One thread adds them in order; several in no
// order that could be repeated. With normalize each row is scaled to unit length on the way.
int fr_hnsw_add(fr_hnsw *index, const float *x, int64_t from, int64_t n, int threads, int normalize, char *err);

int fr_hnsw_save(fr_hnsw *index, const char *path, char *err);
fr_hnsw *fr_hnsw_load(int metric, int64_t dim, const char *path, char *err);

int64_t fr_hnsw_len(const fr_hnsw *index);

// The bytes that fr_hnsw_save writes: vectors, links and labels.
int64_t fr_hnsw_bytes(const fr_hnsw *index);

void fr_hnsw_set_ef(fr_hnsw *index, int64_t ef);

// Writes at most k ids and distances, nearest first, and returns how many.
int64_t fr_hnsw_search(const fr_hnsw *index, const float *query, int64_t k, int64_t *ids, float *distances, char *err);

void fr_hnsw_free(fr_hnsw *index);

#ifdef __cplusplus
}
#endif
