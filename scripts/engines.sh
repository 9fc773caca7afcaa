#!/usr/bin/env bash
# Finds out which of the C++ engines this machine can build, by compiling, linking and running a few lines against
# each. Prints shell assignments on stdout, for eval:
#
#   ENGINE_TAGS=faiss,hnswlib  CGO_ENABLED=1  CGO_CXXFLAGS=...  CGO_LDFLAGS=...
#
# and, with --report, one line an engine on stderr. FAISS_PREFIX and HNSWLIB_PREFIX name folders with include/ and lib/
# to look in first. CGO_ENABLED=0 switches both off.
set -euo pipefail
cd "$(dirname "$0")/.."

report=
[ "${1:-}" = --report ] && report=1
read -ra cxx <<<"${CXX:-$(go env CXX)}" # "ccache g++" is two words, to cgo as well
os=$(go env GOOS)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

include=()
library=()
for prefix in "${FAISS_PREFIX:-}" "${HNSWLIB_PREFIX:-}"; do
  [ -n "$prefix" ] || continue
  # Whoever names a folder does not want the system's library in its place.
  if [ ! -d "$prefix/include" ]; then
    echo "FAISS_PREFIX or HNSWLIB_PREFIX is $prefix, which has no folder include/; correct or unset it" >&2
    exit 2
  fi
  include+=("-I$prefix/include")
  for lib in "$prefix/lib" "$prefix/lib64"; do
    if [ -d "$lib" ]; then library+=("-L$lib" "-Wl,-rpath,$lib"); fi
  done
done
# Homebrew's folders are not on the path of Apple's compiler, and libomp is not linked into them.
if [ "$os" = darwin ] && command -v brew >/dev/null; then
  for prefix in "$(brew --prefix)" "$(brew --prefix)/opt/libomp"; do
    include+=("-I$prefix/include")
    library+=("-L$prefix/lib")
  done
fi

# cgo_flags FILE KIND prints the flags that the #cgo lines of a Go file give for this system, so that the probe is built
# as the engine will be.
cgo_flags() {
  sed -n -E "s,^// #cgo ($os )?$2: ,,p" "$1" | tr '\n' ' '
}

# probe NAME FILE writes the reason to $work/NAME.log, and fails, if the program on stdin cannot be built and run.
probe() {
  local name=$1 file=$2 flags libs
  cat >"$work/$name.cpp"
  read -ra flags <<<"$(cgo_flags "$file" CXXFLAGS) ${CGO_CXXFLAGS:-}"
  read -ra libs <<<"${CGO_LDFLAGS:-} $(cgo_flags "$file" LDFLAGS)"
  # -O0 after the engine's own flags: the probe is to be quick, not fast.
  "${cxx[@]}" "${flags[@]}" -O0 ${include[@]+"${include[@]}"} -o "$work/$name" "$work/$name.cpp" \
    ${library[@]+"${library[@]}"} "${libs[@]}" >"$work/$name.log" 2>&1 || return 1
  "$work/$name" >"$work/$name.log" 2>&1 || {
    echo "a program linked against it does not run: $(head -n 1 "$work/$name.log")" >"$work/$name.log"
    return 1
  }
}

# reason NAME prints the line of a failed probe that says most.
reason() {
  { grep -m 1 -E 'error|cannot|not found' "$work/$1.log" || head -n 1 "$work/$1.log"; } | sed -E 's/^.*error: //'
}

probe_faiss() {
  probe faiss indexes/faiss/cgo_faiss.go <<'EOF'
#include <faiss/IndexFlat.h>
#include <omp.h>
int main() {
  faiss::IndexFlatL2 index(4);
  float x[4] = {1, 2, 3, 4};
  index.add(1, x);
  return index.ntotal == 1 && omp_get_max_threads() > 0 ? 0 : 1;
}
EOF
}

probe_hnswlib() {
  probe hnswlib indexes/hnswlib/cgo_hnswlib.go <<'EOF'
#include <hnswlib/hnswlib.h>
int main() {
  hnswlib::L2Space space(4);
  return space.get_data_size() == 16 ? 0 : 1;
}
EOF
}

has_compiler() {
  echo 'int main() { return 0; }' >"$work/compiler.cpp"
  "${cxx[@]}" -o "$work/compiler" "$work/compiler.cpp" >"$work/compiler.log" 2>&1
}

tags=
cgo=1
if [ "$(go env CGO_ENABLED)" = 0 ]; then
  cgo=0
  why_faiss="cgo is off: there is no C compiler, or CGO_ENABLED=0 is set" why_hnswlib=$why_faiss
elif ! has_compiler; then
  cgo=0
  why_faiss="${cxx[*]} builds no program" why_hnswlib=$why_faiss
else
  # Both at once: each takes about a second.
  probe_faiss & faiss_pid=$!
  probe_hnswlib & hnswlib_pid=$!
  if wait "$faiss_pid"; then tags=faiss; else why_faiss=$(reason faiss); fi
  if wait "$hnswlib_pid"; then tags=${tags:+$tags,}hnswlib; else why_hnswlib=$(reason hnswlib); fi
fi

if [ -n "$report" ]; then
  if [ -n "${why_faiss:-}" ]; then
    {
      echo "faiss is left out: $why_faiss"
      echo "  to have it: libfaiss-dev and libopenblas-openmp-dev (Debian, Ubuntu), faiss and libomp (Homebrew), or FAISS_PREFIX=/path"
    } >&2
  fi
  if [ -n "${why_hnswlib:-}" ]; then
    {
      echo "hnswlib is left out: $why_hnswlib"
      echo "  to have it: libhnswlib-dev (Debian, Ubuntu), hnswlib (Homebrew), or HNSWLIB_PREFIX=/path"
    } >&2
  fi
  [ -n "${why_faiss:-}${why_hnswlib:-}" ] && echo "  see docs/install.md; all else works without" >&2
fi

printf 'ENGINE_TAGS=%q\n' "$tags"
printf 'export CGO_ENABLED=%q\n' "$cgo"
# Setting these variables replaces Go's defaults, which are -g -O2.
if [ ${#include[@]} -gt 0 ]; then printf 'export CGO_CXXFLAGS=%q\n' "${CGO_CXXFLAGS:--g -O2} ${include[*]}"; fi
if [ ${#library[@]} -gt 0 ]; then printf 'export CGO_LDFLAGS=%q\n' "${CGO_LDFLAGS:--g -O2} ${library[*]}"; fi
