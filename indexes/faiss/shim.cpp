//go:build faiss && cgo

#include "shim.h"

#include <faiss/AutoTune.h>
#include <faiss/Index2Layer.h>
#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexIVFPQFastScan.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexPQFastScan.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexRowwiseMinMax.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/VectorTransform.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/impl/io.h>
#include <faiss/index_factory.h>
#include <faiss/index_io.h>
#include <faiss/utils/utils.h>
#include <omp.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <typeinfo>
#include <vector>

struct fr_faiss {
  std::unique_ptr<faiss::Index> index;
};

#ifdef __APPLE__  // Accelerate schedules its own threads
#define FR_OPENBLAS 0
#else
#define FR_OPENBLAS 1
// Weak, so that another BLAS can take OpenBLAS's place at link time.
extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) int openblas_get_num_threads(void);
__attribute__((weak)) char *openblas_get_config(void);
__attribute__((weak)) char *openblas_get_corename(void);
}
#endif

namespace {

// Runs f and turns what it throws into a message: no exception may reach Go.
template <typename F>
int guarded(char *err, F f) {
  try {
    f();
    return 0;
  } catch (const std::bad_alloc &) {
    snprintf(err, FR_FAISS_ERROR, "FAISS: out of memory");
  } catch (const std::exception &e) {
    snprintf(err, FR_FAISS_ERROR, "FAISS: %s", e.what());
  } catch (...) {
    snprintf(err, FR_FAISS_ERROR, "FAISS: unknown exception");
  }
  return -1;
}

void use_threads(int n) {
#if FR_OPENBLAS
  // Asked first, because setting takes a lock and rebuilds a pool.
  if (openblas_get_num_threads && openblas_set_num_threads && openblas_get_num_threads() != n)
    openblas_set_num_threads(n);
#endif
  if (omp_get_max_threads() != n) omp_set_num_threads(n);
}

void set_seed(faiss::VectorTransform *transform, int seed) {
  if (auto *itq = dynamic_cast<faiss::ITQTransform *>(transform)) itq->itq.seed = seed;
}

// Gives every random choice that FAISS lets us reach the same seed. OPQ and random rotations have fixed ones.
void set_seed(faiss::Index *index, int seed) {
  if (!index) return;
  if (auto *x = dynamic_cast<faiss::IndexPreTransform *>(index)) {
    for (auto *transform : x->chain) set_seed(transform, seed);
    set_seed(x->index, seed);
  } else if (auto *x = dynamic_cast<faiss::IndexRefine *>(index)) {
    set_seed(x->base_index, seed);
    set_seed(x->refine_index, seed);
  } else if (auto *x = dynamic_cast<faiss::IndexIDMap *>(index)) {
    set_seed(x->index, seed);
  } else if (auto *x = dynamic_cast<faiss::IndexRowwiseMinMaxBase *>(index)) {
    set_seed(x->index, seed);
  } else if (auto *x = dynamic_cast<faiss::IndexHNSW *>(index)) {
    x->hnsw.rng = faiss::RandomGenerator(seed);
    set_seed(x->storage, seed);
  } else if (auto *x = dynamic_cast<faiss::IndexPQ *>(index)) {
    x->pq.cp.seed = seed;
  } else if (auto *x = dynamic_cast<faiss::IndexPQFastScan *>(index)) {
    x->pq.cp.seed = seed;
  } else if (auto *x = dynamic_cast<faiss::Index2Layer *>(index)) {
    x->q1.cp.seed = x->pq.cp.seed = seed;
  } else if (auto *x = dynamic_cast<faiss::IndexIVF *>(index)) {
    x->cp.seed = seed;
    set_seed(x->quantizer, seed);
    if (auto *pq = dynamic_cast<faiss::IndexIVFPQ *>(x)) pq->pq.cp.seed = seed;
    if (auto *pq = dynamic_cast<faiss::IndexIVFPQFastScan *>(x)) pq->pq.cp.seed = seed;
  }
}

// What FAISS wants to be given with a bitmap differs by the kind of index, and what it is given takes the place of what
// was set on the index: nprobe and efSearch are copied from there.
struct Among {
  faiss::SearchParameters plain;
  faiss::SearchParametersIVF ivf;
  faiss::SearchParametersHNSW hnsw;
  faiss::SearchParametersPreTransform transform;

  // The parameters for index, or null if it cannot filter.
  faiss::SearchParameters *of(const faiss::Index *index, faiss::IDSelector *allowed) {
    if (auto *x = dynamic_cast<const faiss::IndexPreTransform *>(index)) {
      transform.index_params = of(x->index, allowed);
      return transform.index_params ? &transform : nullptr;
    }
    if (auto *x = dynamic_cast<const faiss::IndexHNSW *>(index)) {
      if (dynamic_cast<const faiss::IndexHNSW2Level *>(index)) return nullptr;
      hnsw.efSearch = x->hnsw.efSearch;
      hnsw.check_relative_distance = x->hnsw.check_relative_distance;
      hnsw.sel = allowed;
      return &hnsw;
    }
    if (auto *x = dynamic_cast<const faiss::IndexIVF *>(index)) {
      const bool heeds = typeid(*index) == typeid(faiss::IndexIVFFlat) || typeid(*index) == typeid(faiss::IndexIVFPQ) ||
                         typeid(*index) == typeid(faiss::IndexIVFScalarQuantizer);
      if (!heeds) return nullptr;
      ivf.nprobe = x->nprobe;
      ivf.max_codes = x->max_codes;
      ivf.sel = allowed;
      return &ivf;
    }
    if (dynamic_cast<const faiss::IndexFlat *>(index) || typeid(*index) == typeid(faiss::IndexScalarQuantizer)) {
      plain.sel = allowed;
      return &plain;
    }
    return nullptr;
  }
};

struct CountingWriter : faiss::IOWriter {
  int64_t bytes = 0;
  size_t operator()(const void *, size_t size, size_t items) override {
    bytes += size * items;
    return items;
  }
};

}  // namespace

void fr_faiss_version(char *buf) {
  snprintf(buf, FR_FAISS_ERROR, "%d.%d.%d", FAISS_VERSION_MAJOR, FAISS_VERSION_MINOR, FAISS_VERSION_PATCH);
}

void fr_faiss_compile_options(char *buf) {
  buf[0] = 0;
  guarded(buf, [&] { snprintf(buf, FR_FAISS_ERROR, "%s", faiss::get_compile_options().c_str()); });
}

void fr_faiss_blas(char *buf) {
  snprintf(buf, FR_FAISS_ERROR, "not OpenBLAS");
#if FR_OPENBLAS
  if (openblas_get_config && openblas_get_corename)
    snprintf(buf, FR_FAISS_ERROR, "%s running %s", openblas_get_config(), openblas_get_corename());
#endif
}

fr_faiss *fr_faiss_new(int64_t dim, const char *factory, int metric, uint64_t seed, char *err) {
  auto result = std::unique_ptr<fr_faiss>(new (std::nothrow) fr_faiss);
  const int failed = guarded(err, [&] {
    use_threads(1);
    if (!result) throw std::bad_alloc();
    result->index.reset(
        faiss::index_factory(dim, factory, metric == FR_FAISS_L2 ? faiss::METRIC_L2 : faiss::METRIC_INNER_PRODUCT));
    set_seed(result->index.get(), int(seed & 0x7fffffff));
  });
  return failed ? nullptr : result.release();
}

int fr_faiss_is_trained(const fr_faiss *index) { return index->index->is_trained; }

int fr_faiss_train(fr_faiss *index, int64_t n, const float *x, int threads, char *err) {
  return guarded(err, [&] {
    use_threads(threads);
    index->index->train(n, x);
  });
}

int fr_faiss_add(fr_faiss *index, int64_t n, const float *x, int threads, char *err) {
  return guarded(err, [&] {
    use_threads(threads);
    if (dynamic_cast<faiss::IndexIDMap *>(index->index.get())) {
      std::vector<faiss::Index::idx_t> ids(n);
      std::iota(ids.begin(), ids.end(), index->index->ntotal);
      index->index->add_with_ids(n, x, ids.data());
    } else {
      index->index->add(n, x);
    }
  });
}

int fr_faiss_save(const fr_faiss *index, const char *path, char *err) {
  return guarded(err, [&] { faiss::write_index(index->index.get(), path); });
}

fr_faiss *fr_faiss_load(const char *path, char *err) {
  auto result = std::unique_ptr<fr_faiss>(new (std::nothrow) fr_faiss);
  const int failed = guarded(err, [&] {
    use_threads(1);
    if (!result) throw std::bad_alloc();
    result->index.reset(faiss::read_index(path));
  });
  return failed ? nullptr : result.release();
}

int64_t fr_faiss_bytes(const fr_faiss *index, char *err) {
  CountingWriter writer;
  return guarded(err, [&] { faiss::write_index(index->index.get(), &writer); }) ? -1 : writer.bytes;
}

int64_t fr_faiss_len(const fr_faiss *index) { return index->index->ntotal; }

int64_t fr_faiss_dim(const fr_faiss *index) { return index->index->d; }

int fr_faiss_set(fr_faiss *index, const char *name, double value, char *err) {
  return guarded(err, [&] { faiss::ParameterSpace().set_index_parameter(index->index.get(), name, value); });
}

int fr_faiss_search(const fr_faiss *index, const float *query, int64_t k, int64_t *ids, float *distances, char *err) {
  static_assert(sizeof(faiss::Index::idx_t) == sizeof(int64_t), "FAISS ids are 64 bits wide");
  return guarded(err, [&] {
    use_threads(1);
    index->index->search(1, query, k, distances, reinterpret_cast<faiss::Index::idx_t *>(ids));
  });
}

int fr_faiss_can_filter(const fr_faiss *index) {
  Among among;
  return among.of(index->index.get(), nullptr) != nullptr;
}

int fr_faiss_search_among(const fr_faiss *index, const float *query, int64_t k, const uint8_t *bitmap, int64_t *ids,
                          float *distances, char *err) {
  int refused = 0;
  const int failed = guarded(err, [&] {
    use_threads(1);
    faiss::IDSelectorBitmap allowed((index->index->ntotal + 7) / 8, bitmap);
    Among among;
    faiss::SearchParameters *params = among.of(index->index.get(), &allowed);
    if (!params) {
      refused = 1;
      return;
    }
    index->index->search(1, query, k, distances, reinterpret_cast<faiss::Index::idx_t *>(ids), params);
  });
  return failed ? failed : refused;
}

void fr_faiss_free(fr_faiss *index) { delete index; }
