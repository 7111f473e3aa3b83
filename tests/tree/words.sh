#!/usr/bin/env bash
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Each pattern of cmake/words.txt refuses its first sample and none of the second ones:
#   tests/tree/words.sh SOURCE_DIR
set -euo pipefail
source_dir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cut -f 1 "$source_dir/tests/tree/words_samples.txt" >"$work/refused.cpp"
cut -f 2 "$source_dir/tests/tree/words_samples.txt" >"$work/allowed.cpp"
check=$source_dir/cmake/check_words.sh

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

"$check" "$work/allowed.cpp" || fail "these are allowed"
! "$check" "$work/refused.cpp" >"$work/findings" || fail "nothing was refused"
number=0
while IFS=$'\t' read -r pattern better reason; do
  [[ $pattern && $pattern != '#'* ]] || continue
  number=$((number + 1))
  grep -A 1 -F "refused.cpp:$number: " "$work/findings" | grep -qF "better: $better ($reason)" ||
    fail "'$pattern' does not refuse sample $number"
done <"$source_dir/cmake/words.txt"
[[ $number -eq $(wc -l <"$work/refused.cpp") ]] || fail "there are samples without a pattern"

# Code is not looked at, only comments.
printf 'const char* text = "in vain";\n' >"$work/code.cpp"
"$check" "$work/code.cpp" || fail "code was refused"
