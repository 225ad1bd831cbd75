#!/bin/sh
# Print a hash of what lies under some paths of this checkout, changes that are not committed yet included: the same in
# every clone that holds the same files.
#   sh tools/tree_hash.sh PATH...
set -e
cd "$(dirname "$0")/.."
git rev-parse --show-toplevel >/dev/null
{
  git ls-files -s -- "$@"
  git diff -- "$@"
  git ls-files --others --exclude-standard -- "$@" | while read -r path; do printf '%s ' "$path"; git hash-object "$path"; done
} | git hash-object --stdin | cut -c1-16
