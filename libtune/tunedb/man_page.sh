#!/usr/bin/env bash
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause

# Prints tunedb's man page, made from what it says of itself:
#   libtune/tunedb/man_page.sh build/ci/libtune/tunedb/tunedb 1.0.0 >tunedb.1
set -euo pipefail
tunedb=${1:?which tunedb}
version=${2:?which version}

# From the help of a command to roff: its paragraph, its usage, then each list of options as tagged
# paragraphs. The column of descriptions is the 31st; a longer option has its description below.
to_roff() {
  awk -v top="$1" '
    function roff(text) {
      gsub(/\\/, "\\e", text)
      gsub(/-/, "\\-", text)
      sub(/^[.\x27]/, "\\\\\\&&", text)
      return text
    }
    # Without what excludes it, which is listed in another order each time.
    function finish() {
      sub(/ Excludes: .*/, "", tag)
      if (tag != "") printf ".TP\n.B %s\n%s\n", roff(tag), roff(about)
      tag = about = ""
    }
    /^Usage: / { if (top == "") printf ".PP\n.B %s\n", roff(substr($0, 8)); next }
    /^Exit codes:$/ { finish(); print ".SH EXIT STATUS"; part = "codes"; next }
    /^Subcommands:$/ { finish(); part = "skip"; next }
    /^[A-Z][a-z]+:$/ {
      finish(); part = "list"
      if (top != "") print ".SH " toupper(substr($0, 1, length($0) - 1))
      next
    }
    part == "codes" && /^  [0-9]/ { finish(); tag = $1; about = substr($0, 6); next }
    part == "skip" { next }
    part == "list" && /^  [^ ]/ {
      finish()
      tag = substr($0, 3); about = ""
      if (length($0) > 30 && substr($0, 29, 2) ~ /  |^ / && substr($0, 31, 1) != " ") {
        tag = substr($0, 3, 28); about = substr($0, 31)
        sub(/ +$/, "", tag)
      }
      next
    }
    part == "list" && /^ +[^ ]/ { sub(/^ +/, ""); about = about (about == "" ? "" : " ") $0; next }
    /^$/ { finish(); next }
    { finish(); if (part == "codes") print ".PP"; print roff($0) }
    END { finish() }
  '
}

help=$("$tunedb" --help)
cat <<TEXT
.\\" Made from tunedb's own help.
.TH TUNEDB 1 "" "libtune $version" "User Commands"
.SH NAME
tunedb \\- look into the tuning databases of libtune, and take care of them
.SH SYNOPSIS
.B tunedb
.RI [ options ]
.I command
.RI [ arguments ]
.SH DESCRIPTION
TEXT
to_roff page <<<"${help%%$'\n'Exit codes:*}"
echo '.SH COMMANDS'
for command in $(sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help"); do
  printf '.SS tunedb %s\n' "${command//-/\\-}"
  "$tunedb" "$command" --help | to_roff ''
done
to_roff page <<<"Exit codes:${help#*$'\n'Exit codes:}"
cat <<'TEXT'
.SH ENVIRONMENT
.B tunedb env
prints every variable that libtune reads, with its value. LIBTUNE_DB names the database.
TEXT
