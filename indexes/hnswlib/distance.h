// Distance functions for hnswlib, compiled once per instruction set and chosen when the program runs, so that one
// binary is fast on a new CPU and still starts on an old one. hnswlib's own are chosen by compiler flags, which would
// have to hold for the whole program.
#pragma once
#include <hnswlib/hnswlib.h>

#include <cstring>

namespace frontier {
namespace {  // this header belongs to one translation unit

// Defines l2_NAME, the squared Euclidean distance, and ip_NAME, the negated inner product, with LANES values at a time
// in two accumulators. The compiler turns the vector type into the registers that TARGET allows; it is a macro because
// an inlined function would be lowered to the registers of the baseline first.
#define FRONTIER_DISTANCES(NAME, LANES, TARGET)                                                     \
  typedef float vec_##NAME __attribute__((vector_size(LANES * sizeof(float))));                     \
  TARGET float l2_##NAME(const void *pa, const void *pb, const void *pdim) {                        \
    const float *a = static_cast<const float *>(pa), *b = static_cast<const float *>(pb);           \
    const size_t dim = *static_cast<const size_t *>(pdim);                                          \
    vec_##NAME s0 = {}, s1 = {}, x, y;                                                              \
    size_t i = 0;                                                                                   \
    for (; i + 2 * LANES <= dim; i += 2 * LANES) {                                                  \
      memcpy(&x, a + i, sizeof x), memcpy(&y, b + i, sizeof y), x -= y, s0 += x * x;                \
      memcpy(&x, a + i + LANES, sizeof x), memcpy(&y, b + i + LANES, sizeof y), x -= y, s1 += x * x; \
    }                                                                                               \
    s0 += s1;                                                                                       \
    float sum = 0;                                                                                  \
    for (int lane = 0; lane < LANES; lane++) sum += s0[lane];                                       \
    for (; i < dim; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);                                      \
    return sum;                                                                                     \
  }                                                                                                 \
  TARGET float ip_##NAME(const void *pa, const void *pb, const void *pdim) {                        \
    const float *a = static_cast<const float *>(pa), *b = static_cast<const float *>(pb);           \
    const size_t dim = *static_cast<const size_t *>(pdim);                                          \
    vec_##NAME s0 = {}, s1 = {}, x, y;                                                              \
    size_t i = 0;                                                                                   \
    for (; i + 2 * LANES <= dim; i += 2 * LANES) {                                                  \
      memcpy(&x, a + i, sizeof x), memcpy(&y, b + i, sizeof y), s0 += x * y;                        \
      memcpy(&x, a + i + LANES, sizeof x), memcpy(&y, b + i + LANES, sizeof y), s1 += x * y;        \
    }                                                                                               \
    s0 += s1;                                                                                       \
    float sum = 0;                                                                                  \
    for (int lane = 0; lane < LANES; lane++) sum += s0[lane];                                       \
    for (; i < dim; i++) sum += a[i] * b[i];                                                        \
    return -sum;                                                                                    \
  }

FRONTIER_DISTANCES(baseline, 4, )  // SSE on amd64, NEON on arm64
#if defined(__x86_64__)
FRONTIER_DISTANCES(avx2, 8, __attribute__((target("avx2,fma"))))
FRONTIER_DISTANCES(avx512, 16, __attribute__((target("avx512f,fma"))))
#endif

struct Variant {
  const char *name;
  hnswlib::DISTFUNC<float> l2, ip;
};

Variant best() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512", l2_avx512, ip_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"avx2", l2_avx2, ip_avx2};
  return {"sse", l2_baseline, ip_baseline};
#elif defined(__aarch64__)
  return {"neon", l2_baseline, ip_baseline};
#else
  return {"portable", l2_baseline, ip_baseline};
#endif
}

// What hnswlib calls a space: the distance of two vectors and their size.
class Space : public hnswlib::SpaceInterface<float> {
 public:
  Space(bool inner_product, size_t dim) : distance_(inner_product ? best().ip : best().l2), dim_(dim) {}
  size_t get_data_size() override { return dim_ * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance_; }
  void *get_dist_func_param() override { return &dim_; }

 private:
  hnswlib::DISTFUNC<float> distance_;
  size_t dim_;
};

}  // namespace
}  // namespace frontier
