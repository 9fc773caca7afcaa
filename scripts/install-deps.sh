#!/usr/bin/env bash
# Installs the C++ compiler and the libraries of the engines faiss and hnswlib, where they are missing: with apt on
# Debian and Ubuntu, with Homebrew on macOS. It never fails for want of them, since frontier builds without: the build
# that follows says what is absent. FRONTIER_INSTALL=0 installs nothing.
set -euo pipefail

say() { echo "$*" >&2; }

if [ "${FRONTIER_INSTALL:-1}" = 0 ]; then exit 0; fi

with_apt() {
  local missing=() package
  for package in g++ libfaiss-dev libhnswlib-dev; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  # Any variant of OpenBLAS will do if there is one; the one for OpenMP shares its threads with FAISS.
  if ! dpkg-query -W -f='${Package} ${Status}\n' 'libopenblas-*-dev' 2>/dev/null | grep -q 'ok installed'; then
    missing+=(libopenblas-openmp-dev)
  fi
  [ ${#missing[@]} -gt 0 ] || return 0

  local root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      say "cannot install ${missing[*]}: neither root nor sudo"
      return 1
    }
    root=(sudo)
  fi
  say "installing ${missing[*]} with apt"
  local apt=(${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
  local log
  log=$(mktemp)
  # The lists of packages are fetched only if the installation does not succeed with those that are there.
  if "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 ||
    { "${apt[@]}" update >"$log" 2>&1 && "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; }; then
    rm -f "$log"
    return 0
  fi
  tail -n 5 "$log" >&2
  rm -f "$log"
  return 1
}

with_brew() {
  local missing=() formula
  for formula in faiss hnswlib libomp; do
    brew list --versions "$formula" >/dev/null 2>&1 || missing+=("$formula")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]} with Homebrew"
  HOMEBREW_NO_AUTO_UPDATE=1 brew install --quiet "${missing[@]}" >&2
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  with_apt || say "could not install everything; going on without (see docs/install.md)"
elif command -v brew >/dev/null; then
  with_brew || say "could not install everything; going on without (see docs/install.md)"
else
  say "neither apt nor Homebrew is here, so nothing is installed; docs/install.md says what faiss and hnswlib need"
fi
