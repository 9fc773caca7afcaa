// What scripts/truth-bench.sh measures frontier against: FAISS's IndexFlat, and the matrix product of the same shape.
//
//   truthbench gen DIR N NQ DIM              writes base.fbin and queries.fbin of normal deviates
//   truthbench faiss DIR l2|ip K FT BT R     searches R times with FT threads of FAISS and BT of OpenBLAS, keeps ids-METRIC.ibin
//   truthbench sgemm DIR BT R                multiplies R times, in parts as FAISS does
//
// The last two print the least seconds.
#include <cblas.h>
#include <faiss/IndexFlat.h>
#include <omp.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" void openblas_set_num_threads(int);

struct Matrix {
  uint32_t rows = 0, dim = 0;
  std::vector<float> values;
};

static Matrix read(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  Matrix m;
  f.read(reinterpret_cast<char*>(&m.rows), 4);
  f.read(reinterpret_cast<char*>(&m.dim), 4);
  m.values.resize(size_t(m.rows) * m.dim);
  f.read(reinterpret_cast<char*>(m.values.data()), m.values.size() * 4);
  if (!f) throw std::runtime_error("cannot read " + path);
  return m;
}

static void write(const std::string& path, uint32_t rows, uint32_t dim, const void* values) {
  std::ofstream f(path, std::ios::binary);
  f.write(reinterpret_cast<const char*>(&rows), 4);
  f.write(reinterpret_cast<const char*>(&dim), 4);
  f.write(static_cast<const char*>(values), size_t(rows) * dim * 4);
  if (!f.flush()) throw std::runtime_error("cannot write " + path);
}

template <class F>
static double best(int rounds, F work) {
  double least = 1e300;
  for (int i = 0; i < rounds; i++) {
    auto start = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() < least) least = took.count();
  }
  return least;
}

static void generate(const std::string& dir, uint32_t n, uint32_t nq, uint32_t dim) {
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  for (bool base : {true, false}) {
    uint32_t rows = base ? n : nq;
    std::vector<float> values(size_t(rows) * dim);
    for (float& v : values) v = normal(rng);
    write(dir + (base ? "/base.fbin" : "/queries.fbin"), rows, dim, values.data());
  }
}

static double search(const std::string& dir, const std::string& metric, int k, int threads, int blas, int rounds) {
  Matrix base = read(dir + "/base.fbin"), queries = read(dir + "/queries.fbin");
  faiss::IndexFlat index(base.dim, metric == "l2" ? faiss::METRIC_L2 : faiss::METRIC_INNER_PRODUCT);
  index.add(base.rows, base.values.data());
  omp_set_num_threads(threads);
  openblas_set_num_threads(blas);
  std::vector<float> distances(size_t(queries.rows) * k);
  std::vector<int64_t> ids(distances.size());
  double seconds = best(rounds, [&] { index.search(queries.rows, queries.values.data(), k, distances.data(), ids.data()); });
  std::vector<int32_t> narrow(ids.begin(), ids.end());
  write(dir + "/ids-" + metric + ".ibin", queries.rows, k, narrow.data());
  return seconds;
}

static double multiply(const std::string& dir, int blas, int rounds) {
  Matrix base = read(dir + "/base.fbin"), queries = read(dir + "/queries.fbin");
  openblas_set_num_threads(blas);
  const uint32_t part = 8192;
  std::vector<float> out(size_t(part) * queries.rows);
  return best(rounds, [&] {
    for (uint32_t from = 0; from < base.rows; from += part) {
      uint32_t n = std::min(part, base.rows - from);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, queries.rows, n, base.dim, 1, queries.values.data(), base.dim,
                  base.values.data() + size_t(from) * base.dim, base.dim, 0, out.data(), n);
    }
  });
}

int main(int argc, char** argv) try {
  std::vector<std::string> a(argv + 1, argv + argc);
  auto number = [&](size_t i) { return std::stoi(a.at(i)); };
  if (a.at(0) == "gen") {
    generate(a.at(1), number(2), number(3), number(4));
  } else if (a[0] == "faiss") {
    std::printf("%.6f\n", search(a.at(1), a.at(2), number(3), number(4), number(5), number(6)));
  } else if (a[0] == "sgemm") {
    std::printf("%.6f\n", multiply(a.at(1), number(2), number(3)));
  } else {
    throw std::runtime_error("unknown command " + a[0]);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "truthbench: %s\n", e.what());
  return 1;
}
