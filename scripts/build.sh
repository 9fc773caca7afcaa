#!/usr/bin/env bash
# Builds bin/frontier with the engines that this machine has, and says which those are.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${FRONTIER_ENGINES+set}" ]; then
  FRONTIER_REPORT=1 exec scripts/with-engines.sh scripts/build.sh
fi

# Without git, or outside of a clone, the binary states no commit; that is better than a wrong one.
revision=$(git rev-parse --short=12 HEAD 2>/dev/null || true)
if [ -n "$revision" ] && [ -n "$(git status --porcelain --untracked-files=no 2>/dev/null)" ]; then
  revision=$revision-dirty
fi
release=${RELEASE:-$(git describe --tags --exact-match 2>/dev/null || true)}

echo "building bin/frontier (the first time takes a minute or two)" >&2
mkdir -p bin
# A lazier collector in the compiler saves a tenth of the CPU time of a first build.
GOGC=${GOGC:-400} go build -ldflags "-X main.release=$release -X main.revision=$revision" -o bin/frontier ./cmd/frontier
echo "bin/frontier has the engines flat, bleve, coder, hybrid${FRONTIER_ENGINES:+, ${FRONTIER_ENGINES//,/, }}" >&2
