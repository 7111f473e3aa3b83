#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Copies the Markdown pages of the repository for doxygen, which needs names of its own for pages and headings.

Usage: stage_pages.py TARGET < list of pages, a path on each line
       stage_pages.py --check < list of pages

A link to another page, or to a heading of it, becomes a reference; one to a file that the site does not have becomes its
name. Errors are a link to a file or a heading that is not there, a picture that is not there, and a page that no links
lead to from README.md. With --check nothing is copied."""

import os
import re
import sys

# A page is in the first section that has its path; those that BEGIN names come first, the others by title.
SECTIONS = [
    ("start", "Begin here", re.compile(r"docs/(README|first-hour|tutorial|writing-an-operation|testing|how-it-decides)\.md")),
    ("reference", "Reference", re.compile(r"docs/(tunedb|environment|database|figures|versions)\.md|libtune/store/FORMAT\.md")),
    ("tasks", "Tasks", re.compile(r"docs/(?!release\.md)")),
    ("operations", "Operations", re.compile(r"operations/")),
    ("examples", "Examples and benchmarks", re.compile(r"(examples|bench)/")),
    ("rooms", "Inside the library", re.compile(r"libtune/")),
    ("project", "The project", re.compile(r"")),
]
BEGIN = ["docs/README.md", "docs/first-hour.md", "docs/tutorial.md", "docs/writing-an-operation.md", "docs/testing.md",
         "operations/README.md", "libtune/README.md"]

FENCE = re.compile(r"^(```+).*?^\1[ \t]*$", re.M | re.S)
# Doxygen would look for our names in it.
OTHER_LANGUAGE = re.compile(r"^```(?:python|text|cmake|json)$", re.M)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t).*\n|\n(?= {4}))+", re.M)
INLINE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
PICTURE = re.compile(r"!\[([^\[\]]*)\]\(([^()\s]+)\)")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) +(.+?) *#*$", re.M)


def identifier(path):
    name = path[: -len("/README.md")] if path.endswith("/README.md") else path[: -len(".md")]
    return "page_" + re.sub(r"\W", "_", name).lower()


def slug(title, taken):
    """The name of a heading in links, as the hosts of repositories make it."""
    plain = re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)).strip().lower()
    base = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
    name = base
    number = 0
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name


class Hidden:
    """Code, taken out of a text while the rest is changed."""

    def __init__(self, text):
        self.kept = []
        for pattern in (FENCE, INDENTED, INLINE):
            text = pattern.sub(self._keep, text)
        self.text = text

    def _keep(self, match):
        self.kept.append(match.group(0))
        return f"\x00{len(self.kept) - 1}\x00"

    def show(self, text):
        while "\x00" in text:
            text = re.sub("\x00(\\d+)\x00", lambda match: self.kept[int(match.group(1))], text)
        return text


class Page:
    def __init__(self, path):
        self.path = path
        self.id = identifier(path)
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"\A(\s*<!--.*?-->\s*)+", "", file.read(), flags=re.S)  # or else it has no title
        self.hidden = Hidden(OTHER_LANGUAGE.sub("```{.unparsed}", text))
        taken = set()
        self.headings = [
            (match, slug(self.hidden.show(match.group(2)), taken)) for match in HEADING.finditer(self.hidden.text)
        ]
        self.slugs = taken
        self.linked = set()
        self.title = self.hidden.show(self.headings[0][0].group(2)) if self.headings else path

    def heading_id(self, name):
        return f"{self.id}-{name}"


def staged(page, pages, faults):
    def link(match):
        text, target = match.groups()
        text = re.sub(r"\s+", " ", text)  # doxygen loses the rest of the page where a title has two lines
        if re.match(r"[a-z]+:", target):
            return match.group(0)
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page.path), path)) if path else page.path
        if not os.path.exists(path):
            faults.append(f"{page.path}: {target} is not there")
            return text
        if os.path.isdir(path) and path + "/README.md" in pages:
            path += "/README.md"
        if path in pages:
            page.linked.add(path)
            there = pages[path]
            if anchor and anchor not in there.slugs:
                faults.append(f"{page.path}: {target} names no heading of that page")
            plain = page.hidden.show(text).replace("`", "")  # a reference shows the signs of code
            if plain in (target, os.path.basename(path)):
                plain = there.title.replace("`", "").partition(":")[0]
            return f"[{plain}](@ref {there.heading_id(anchor) if anchor else there.id})"
        return f"{text} (`{path}`)" if page.hidden.show(text).strip("`") not in (path, target) else f"`{path}`"

    def picture(match):
        path = os.path.normpath(os.path.join(os.path.dirname(page.path), match.group(2)))
        if not os.path.exists(path):
            faults.append(f"{page.path}: the picture {match.group(2)} is not there")
        return f"![{match.group(1)}]({os.path.basename(path)})"

    text = page.hidden.text
    parts = []
    at = 0
    for number, (match, name) in enumerate(page.headings):
        parts.append(text[at : match.start()])
        label = page.id if number == 0 else page.heading_id(name)
        parts.append(f"{match.group(1)} {match.group(2)} {{#{label}}}")
        at = match.end()
    parts.append(text[at:])
    return page.hidden.show(LINK.sub(link, PICTURE.sub(picture, "".join(parts))))


def order(page):
    return (BEGIN.index(page.path) if page.path in BEGIN else len(BEGIN), page.title.lower())


def unreachable(pages):
    """The pages that no links lead to from README.md."""
    reached = set()
    found = {"README.md"}
    while found:
        reached |= found
        found = {path for page in found for path in pages[page].linked} - reached
    return sorted(set(pages) - reached)


def write_pages(pages, texts, target):
    os.makedirs(target, exist_ok=True)
    for page in pages.values():
        with open(os.path.join(target, page.id + ".md"), "w", encoding="utf-8") as file:
            file.write(texts[page.path])
    left = sorted((page for page in pages.values() if page.path != "README.md"), key=order)
    for number, (name, title, pattern) in enumerate(SECTIONS):
        members = [page for page in left if pattern.match(page.path)]
        left = [page for page in left if page not in members]
        with open(os.path.join(target, f"0{number}_{name}.md"), "w", encoding="utf-8") as file:
            file.write(f"# {title} {{#section_{name}}}\n\n")
            file.writelines(f"- @subpage {page.id}\n" for page in members)


def main():
    paths = [os.path.normpath(line.strip()) for line in sys.stdin if line.strip()]
    pages = {path: Page(path) for path in paths}
    faults = []
    texts = {path: staged(page, pages, faults) for path, page in pages.items()}
    faults += [f"{path}: no links lead to it from README.md" for path in unreachable(pages)]
    if sys.argv[1] != "--check":
        write_pages(pages, texts, sys.argv[1])
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
