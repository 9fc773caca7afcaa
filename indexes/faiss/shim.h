// A C face for FAISS. Every function that can fail returns 0, or -1 or null, with a message in err, which has
// FR_FAISS_ERROR bytes. Every function sets the threads of OpenMP and BLAS first: OpenMP keeps its count per thread of
// the operating system, and Go moves between those.
#pragma once
#include <stdint.h>

#define FR_FAISS_ERROR 1024

#ifdef __cplusplus
extern "C" {
#endif

enum { FR_FAISS_L2 = 0, FR_FAISS_IP = 1 };

typedef struct fr_faiss fr_faiss;

// Each writes into buf of FR_FAISS_ERROR bytes.
void fr_faiss_version(char *buf);
void fr_faiss_compile_options(char *buf);
void fr_faiss_blas(char *buf);

fr_faiss *fr_faiss_new(int64_t dim, const char *factory, int metric, uint64_t seed, char *err);
int fr_faiss_is_trained(const fr_faiss *index);
int fr_faiss_train(fr_faiss *index, int64_t n, const float *x, int threads, char *err);

// Adds n rows, whose ids go on from those already there.
int fr_faiss_add(fr_faiss *index, int64_t n, const float *x, int threads, char *err);

int fr_faiss_save(const fr_faiss *index, const char *path, char *err);
fr_faiss *fr_faiss_load(const char *path, char *err);

// The bytes that fr_faiss_save writes, or -1.
int64_t fr_faiss_bytes(const fr_faiss *index, char *err);

int64_t fr_faiss_len(const fr_faiss *index);
int64_t fr_faiss_dim(const fr_faiss *index);

// Sets a search parameter by the name that FAISS's ParameterSpace gives it.
int fr_faiss_set(fr_faiss *index, const char *name, double value, char *err);

// Writes k ids and distances, best first, padded with the id -1. It uses one thread.
int fr_faiss_search(const fr_faiss *index, const float *query, int64_t k, int64_t *ids, float *distances, char *err);

// The same among the ids whose bit is set in a bitmap of (rows + 7) / 8 bytes. 1 means that this kind of index cannot:
// FAISS throws for some and, worse, overlooks the bitmap in others, so that only kinds that are known to heed it are asked.
int fr_faiss_search_among(const fr_faiss *index, const float *query, int64_t k, const uint8_t *bitmap, int64_t *ids,
                          float *distances, char *err);

// Whether fr_faiss_search_among can.
int fr_faiss_can_filter(const fr_faiss *index);

void fr_faiss_free(fr_faiss *index);

#ifdef __cplusplus
}
#endif
