#!/bin/sh
# Builds the page into FOLDER/assets.cc. Usage: build.sh FOLDER
#
# If npm is missing or its registry cannot be reached, assets.cc has no files, and the server works without the page.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"

without_page() {
  echo "console: $1; the server is built WITHOUT the console's page" >&2
  cat >"$out/assets.cc" <<'CODE'
#include "cli/console/assets.h"

namespace sibyl::cli::console {

std::span<const Asset> assets() {
  return {};
}

}  // namespace sibyl::cli::console
CODE
  exit 0
}

command -v npm >/dev/null || without_page "npm is not installed"
# The packages are kept in the build directory, so that the source tree stays as it is.
if ! cmp -s "$here/package-lock.json" "$out/package-lock.json" || [ ! -d "$out/node_modules" ]; then
  rm -rf "$out/node_modules" "$out/package-lock.json"
  cp "$here/package.json" "$out/package.json"
  cp "$here/package-lock.json" "$out/lock.new" && mv "$out/lock.new" "$out/package-lock.json"
  (cd "$out" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000 >npm.log 2>&1) || {
    rm -rf "$out/node_modules"
    rm -f "$out/package-lock.json"
    without_page "npm could not install the packages (see $out/npm.log)"
  }
fi
exec node "$here/build.mjs" "$out"
