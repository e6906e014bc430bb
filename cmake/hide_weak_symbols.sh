#!/bin/sh
# Writes the version script of a shared library that does not export weak functions, which are inline ones and those of templates: who
# uses one has a copy of it. Not so the templates of tessera::cpu, which only the library instantiates.
#   hide_weak_symbols.sh NM SCRIPT OBJECT...
set -eu
nm=$1 script=$2
shift 2
{
  echo '{ global: *; local:'
  "$nm" --defined-only --format=posix "$@" | awk '$2 == "W" && $1 !~ /7tessera3cpu/ { print "\"" $1 "\";" }' | sort -u
  echo '};'
} > "$script"
