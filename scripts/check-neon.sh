#!/usr/bin/env bash
# Tests the NEON kernels, and exact search with them. On 64-bit ARM they run as they are; elsewhere under qemu-user, which
# is installed with apt where it is absent and can be. Where it cannot, the tests are compiled and not run, which is said.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(./internal/kernels ./internal/knn ./bench/truth ./indexes/flat)
# Child processes would need an emulator of their own, and the real data is compared on the machine's own architecture.
tests='Sums|Past|Rows|Pack|Bytes|Four|Sift|Bounds|Refused|Exact|Scanner|Distance|Batch|Ties|Extreme'
export CGO_ENABLED=0 GOFLAGS='' FRONTIER_KERNELS=neon

if [ "$(go env GOHOSTARCH)" = arm64 ]; then
  exec go test -short -count=1 "${packages[@]}"
fi

if ! command -v qemu-aarch64 >/dev/null; then
  if [ "$(go env GOHOSTOS)" = linux ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get install -y --no-install-recommends qemu-user || { apt-get update && apt-get install -y --no-install-recommends qemu-user; }; } >/dev/null 2>&1 || true
  fi
fi
if ! command -v qemu-aarch64 >/dev/null; then
  GOOS=linux GOARCH=arm64 go vet "${packages[@]}"
  echo "check-neon: compiled but not run: install qemu-user (as root: apt-get install qemu-user)" >&2
  exit 0
fi
GOOS=linux GOARCH=arm64 go vet ./internal/kernels
GOOS=linux GOARCH=arm64 go test -short -count=1 -exec qemu-aarch64 -run "$tests" "${packages[@]}"
