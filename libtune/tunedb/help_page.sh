#!/usr/bin/env bash
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Prints docs/tunedb.md, made from what tunedb says of itself:
#   libtune/tunedb/help_page.sh build/ci/libtune/tunedb/tunedb >docs/tunedb.md
set -euo pipefail
tunedb=${1:?which tunedb}

# The order of options that exclude each other differs from run to run.
sort_exclusions() {
  local line
  while IFS= read -r line; do
    if [[ $line == *'Excludes: '* ]]; then
      line="${line%%Excludes: *}Excludes: $(tr ' ' '\n' <<<"${line#*Excludes: }" | sort | paste -sd ' ')"
    fi
    printf '%s\n' "$line"
  done
}

# Since 2.4, CLI11 writes a default as "NAME [2]", and before as "NAME=2".
write_defaults_alike() {
  sed -E 's/^(  --.*[^ ]) \[([^] ]+)\]( |$)/\1=\2  \3/; s/ +$//'
}

section() {
  local text
  text=$("$tunedb" "$@" --help)  # without the empty line that some versions of CLI11 end it with
  printf '\n## `tunedb%s`\n\n```text\n' "${1:+ $1}"
  write_defaults_alike <<<"$text" | sort_exclusions
  printf '```\n'
}

cat <<'TEXT'
# tunedb

`libtune/tunedb/help_page.sh` makes this page from the output of `tunedb COMMAND --help`; a test compares the two.

[database.md](database.md) shows how to use most of these commands, and
[tuning-before-shipping.md](tuning-before-shipping.md) shows `pretune`, `missed` and `merge`.
TEXT
section
for command in $("$tunedb" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do
  section "$command"
done
