#!/bin/sh
# Runs the tests of the console's page. Usage: run.sh SIBYL FOLDER [SCRIPT ARGUMENT], where FOLDER keeps the packages.
#
# Exits with 77 (skipped) if there is no Chromium or npm's registry cannot be reached.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export SIBYL_BINARY="$(realpath "$1")"
out=$2
mkdir -p "$out"
command -v npm >/dev/null || { echo "npm is not installed"; exit 77; }
[ -x /usr/bin/chromium ] || { echo "chromium is not installed"; exit 77; }
if ! cmp -s "$here/package-lock.json" "$out/fetched.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$out/"
  (cd "$out" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) || { cat "$out/npm.log"; exit 77; }
  cp "$here/package-lock.json" "$out/fetched.json"
fi
rm -rf "$out/tests"
mkdir "$out/tests"
cp "$here"/*.mjs "$out/tests/"
cd "$out/tests"
exec node "${3:---test}" ${4:+"$4"}
