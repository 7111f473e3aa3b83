#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a page, or a comment of a header, has a word that aspell (British English) and spelling.txt do not have.

Usage: check_spelling.py FILE... (of *.md, *.hpp and *.h); ends with 77 where aspell or its dictionary is missing

Code is passed over: blocks, `code`, links, and words with capitals inside, digits, underscores, dots or parentheses."""

import os
import re
import subprocess
import sys

LISTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spelling.txt")
CODE = (
    re.compile(r"^ *(```+).*?^ *\1[ \t]*$", re.M | re.S),
    re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t).*\n|\n(?= {4}))+", re.M),
    re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S),
    re.compile(r"\]\([^)]*\)|https?://\S+|<[^<>\n]*>"),
)
WORD = re.compile(r"(?<![\w:./@<>='-])[A-Za-z][a-z]+(?:'[a-z]+)?(?![\w:(<>=@*]|\.\w|->|/|\[)")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def prose(path):
    """The text of a file with all else blanked, so that lines keep their numbers."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".md"):
        for pattern in CODE:
            text = pattern.sub(blank, text)
        return text
    in_comment = False
    lines = []
    for line in text.split("\n"):
        kept = ""
        if in_comment or line.lstrip().startswith("/*"):
            in_comment = "*/" not in line
            kept = line
        elif "//" in line and not re.search(r"[:\"]//", line):
            kept = line.split("//", 1)[1]
        lines.append(re.sub(r"`[^`]*`", " ", kept))
    return "\n".join(lines)


def main():
    places = {}
    for path in sys.argv[1:]:
        for number, line in enumerate(prose(path).split("\n"), 1):
            for word in WORD.findall(line):
                places.setdefault(word, []).append(f"{path}:{number}")
    with open(LISTED, encoding="utf-8") as file:
        listed = {line.strip() for line in file if not line.startswith("#")}
    asked = [word for word in places if re.sub(r"'s?$", "", word).lower() not in listed]
    try:
        answer = subprocess.run(["aspell", "list", "--lang=en_GB-ise", "--encoding=utf-8"], input="\n".join(asked),
                                capture_output=True, text=True)
    except FileNotFoundError:
        print("skipped: there is no aspell; install the packages aspell and aspell-en")
        return 77
    if answer.returncode != 0:
        print("skipped:", answer.stderr.strip(), "; install the package aspell-en")
        return 77
    for word in sorted(set(answer.stdout.split()), key=str.lower):
        print(f"{places[word][0]}: '{word}' is misspelt, or belongs in cmake/spelling.txt ({len(places[word])} times)")
    return 1 if answer.stdout.strip() else 0


if __name__ == "__main__":
    sys.exit(main())
