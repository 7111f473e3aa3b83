#!/usr/bin/env bash
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Refuses the patterns of cmake/words.txt in the comments of sources and in all lines of pages:
#   cmake/check_words.sh FILE...
# Prints FILE:LINE, the text and the better word for each, and fails if there is any.
set -euo pipefail
list=$(dirname "${BASH_SOURCE[0]}")/words.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The place of every line that counts, and its text from the first // on.
awk -v texts="$work/texts" '
  FILENAME ~ /\.md$/ { print FILENAME ":" FNR; print $0 > texts; next }
  match($0, /(^|[^:"])\/\//) { print FILENAME ":" FNR; print substr($0, index($0, "//")) > texts }
' "$@" >"$work/places"
touch "$work/texts"

while IFS=$'\t' read -r pattern better reason; do
  [[ $pattern && $pattern != '#'* ]] || continue
  options=(-nE)
  [[ $pattern =~ [A-Z] ]] || options+=(-i)
  { grep "${options[@]}" -e "$pattern" "$work/texts" || (($? == 1)); } |
    BETTER="$better ($reason)" awk '
      NR == FNR { place[NR] = $0; next }
      { at = index($0, ":"); print place[substr($0, 1, at - 1)] ": " substr($0, at + 1) "\n    better: " ENVIRON["BETTER"] }
    ' "$work/places" -
done <"$list" >"$work/findings"

[[ ! -s $work/findings ]] || { cat "$work/findings"; exit 1; }
