#!/usr/bin/env bash
# Builds frontier and runs the quick start: a sweep over the documentation of this machine's own Go installation.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh
scripts/build.sh

# The sweep prints the frontier on stdout and the paths of its report and table on stderr.
bin/frontier sweep examples/quickstart.yaml --out out/quickstart
echo "Open out/quickstart/report.html in a browser. Next: docs/, examples/, and \`bin/frontier --help\`." >&2
