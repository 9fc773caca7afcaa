#!/usr/bin/env bash
# Prints the path of a Python that has what the pandas recipes and the check with pyarrow need, and makes it in bin/venv
# the first time. Prints nothing where that cannot be had; those tests then say what they lack.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${FRONTIER_PYTHON:-}" ]; then
  echo "$FRONTIER_PYTHON"
  exit 0
fi
python=$PWD/bin/venv/bin/python
usable() { "$python" -c 'import pandas, pyarrow, hdrh' 2>/dev/null; }
if ! usable; then
  rm -rf bin/venv
  mkdir -p bin
  {
    python3 -m venv bin/venv && "$python" -m pip install --quiet --disable-pip-version-check pandas pyarrow hdrhistogram
  } >&2 || true
fi
if usable; then echo "$python"; fi
