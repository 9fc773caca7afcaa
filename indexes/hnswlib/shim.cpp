//go:build hnswlib && cgo

#include "shim.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "distance.h"

using Graph = hnswlib::HierarchicalNSW<float>;

struct fr_hnsw {
  frontier::Space space;
  std::unique_ptr<Graph> graph;
  size_t dim;

  fr_hnsw(int metric, size_t dim) : space(metric == FR_IP, dim), dim(dim) {}
};

namespace {

// Runs f and turns what it throws into a message: no exception may reach Go.
template <typename F>
int guarded(char *err, F f) {
  try {
    f();
    return 0;
  } catch (const std::bad_alloc &) {
    snprintf(err, FR_ERROR, "hnswlib: out of memory");
  } catch (const std::exception &e) {
    snprintf(err, FR_ERROR, "hnswlib: %s", e.what());
  } catch (...) {
    snprintf(err, FR_ERROR, "hnswlib: unknown exception");
  }
  return -1;
}

void add_row(fr_hnsw *index, const float *row, size_t id, bool normalize, std::vector<float> &unit) {
  if (normalize) {
    double sum = 0;
    for (size_t i = 0; i < index->dim; i++) sum += double(row[i]) * row[i];
    const double inverse = sum > 0 ? 1 / std::sqrt(sum) : 0;
    for (size_t i = 0; i < index->dim; i++) unit[i] = float(row[i] * inverse);
    row = unit.data();
  }
  index->graph->addPoint(row, id);
}

}  // namespace

const char *fr_hnsw_instruction_set(void) { return frontier::best().name; }

fr_hnsw *fr_hnsw_new(int metric, int64_t dim, int64_t rows, int64_t m, int64_t ef_construction, uint64_t seed,
                     char *err) {
  std::unique_ptr<fr_hnsw> index;
  const int failed = guarded(err, [&] {
    index.reset(new fr_hnsw(metric, dim));
    index->graph.reset(new Graph(&index->space, rows, m, ef_construction, seed));
  });
  return failed ? nullptr : index.release();
}

int fr_hnsw_add(fr_hnsw *index, const float *x, int64_t from, int64_t n, int threads, int normalize, char *err) {
  return guarded(err, [&] {
    std::atomic<int64_t> next(from);
    std::mutex failing;
    std::exception_ptr failure;
    auto work = [&] {
      try {
        std::vector<float> unit(normalize ? index->dim : 0);
        for (int64_t i; (i = next++) < from + n;) add_row(index, x + i * index->dim, i, normalize, unit);
      } catch (...) {
        std::lock_guard<std::mutex> lock(failing);
        failure = std::current_exception();
        next = from + n;
      }
    };
    std::vector<std::thread> others;
    try {
      for (int t = 1; t < threads; t++) others.emplace_back(work);
    } catch (const std::exception &) {
      // The system has no thread to spare; those that there are do the work.
    }
    work();
    for (auto &t : others) t.join();
    if (failure) std::rethrow_exception(failure);
  });
}

int fr_hnsw_save(fr_hnsw *index, const char *path, char *err) {
  return guarded(err, [&] { index->graph->saveIndex(path); });
}

fr_hnsw *fr_hnsw_load(int metric, int64_t dim, const char *path, char *err) {
  std::unique_ptr<fr_hnsw> index;
  const int failed = guarded(err, [&] {
    index.reset(new fr_hnsw(metric, dim));
    index->graph.reset(new Graph(&index->space, path));
    const Graph &g = *index->graph;
    // hnswlib believes the file; a vector of another size would be read past its end.
    if (g.size_data_per_element_ != g.size_links_level0_ + dim * sizeof(float) + sizeof(hnswlib::labeltype))
      throw std::runtime_error("the file holds vectors of another dimension");
  });
  return failed ? nullptr : index.release();
}

int64_t fr_hnsw_len(const fr_hnsw *index) { return index->graph->cur_element_count; }

int64_t fr_hnsw_bytes(const fr_hnsw *index) {
  const Graph &g = *index->graph;
  const int64_t header = 9 * sizeof(size_t) + sizeof(double) + 2 * sizeof(int) + sizeof(size_t);
  int64_t bytes = header + g.cur_element_count * (g.size_data_per_element_ + sizeof(unsigned int));
  for (size_t i = 0; i < g.cur_element_count; i++) bytes += g.element_levels_[i] * g.size_links_per_element_;
  return bytes;
}

void fr_hnsw_set_ef(fr_hnsw *index, int64_t ef) { index->graph->setEf(ef); }

int64_t fr_hnsw_search(const fr_hnsw *index, const float *query, int64_t k, int64_t *ids, float *distances,
                       char *err) {
  int64_t found = 0;
  const int failed = guarded(err, [&] {
    auto heap = index->graph->searchKnn(query, k);  // the farthest is on top
    found = heap.size();
    for (int64_t i = found; i-- > 0; heap.pop()) {
      ids[i] = heap.top().second;
      distances[i] = heap.top().first;
    }
  });
  return failed ? -1 : found;
}

void fr_hnsw_free(fr_hnsw *index) { delete index; }
