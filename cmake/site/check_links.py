#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a page of a folder has a link, a picture or a script that leads nowhere in that folder.

Usage: check_links.py FOLDER"""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links = []
        self.names = set()
        with open(path, encoding="utf-8", errors="replace") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, content in attributes:
            if name in ("href", "src") and content:
                self.links.append(content)
            if name == "id" or (tag == "a" and name == "name"):
                self.names.add(content)


def main():
    folder = sys.argv[1]
    pages = {}
    for name in os.listdir(folder):
        if name.endswith(".html"):
            pages[name] = Page(os.path.join(folder, name))
    faults = set()
    outside = set()
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                outside.add(link)
                continue
            if parts.scheme:
                continue
            target = unquote(parts.path) or name
            anchor = unquote(parts.fragment)
            if not os.path.exists(os.path.join(folder, target)):
                faults.add(f"{name}: {link} is not there")
            elif anchor and target in pages and anchor not in pages[target].names:
                faults.add(f"{name}: {link} names no part of that page")
    for fault in sorted(faults):
        print(fault, file=sys.stderr)
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {len(outside)} of them to other sites")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
