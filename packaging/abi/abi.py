#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The binary interface of the shared libraries, as programs of a release use it.

  abi.py check BUILD    fails where a public symbol is gone or a public class has another layout than in
                        the reference of this SOVERSION; ends with 77 where there is no such reference
  abi.py renew BUILD    writes the reference, from a build with shared libraries

BUILD is a build folder whose tests are configured (build/ci). A reference is a folder SOVERSION beside
this script: symbols.txt, classes.txt, and layouts.abi.xz, which abidw has made of a library of nothing
but pointers to these classes. abidw and abidiff are Debian's abigail-tools. Layouts are compared where
the compiler is of the reference's kind, because classes of the standard library are parts of others.
"""
import glob
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.dirname(os.path.dirname(HERE))
SKIPPED = 77


def run(*command, allowed=(0,)):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode not in allowed:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result


def public_headers(build):
    """Those of the shared libraries, relative to the sources."""
    with open(os.path.join(build, "tests/tree/public_headers.txt"), encoding="utf-8") as file:
        headers = ["libtune/" + line.strip() for line in file if line.strip()]
    headers = [header for header in headers if not header.startswith("libtune/testing/")]
    for pattern in ("operations/*/*.hpp", "operations/telescope/*/*.hpp"):
        paths = sorted(glob.glob(os.path.join(SOURCES, pattern)))
        headers += [os.path.relpath(path, SOURCES) for path in paths]
    return headers


def unify(symbol):
    """Constructors and destructors come in several versions, not all of which each compiler makes."""
    return re.sub(r"(C|D)[0124](?=E)", r"\g<1>4", symbol)


def exported(build):
    """The symbols of all libraries but that for C: name to the letter of nm."""
    symbols = {}
    libraries = sorted(glob.glob(os.path.join(build, "lib", "libtune*.so")))
    if len(libraries) < 10:
        sys.exit(f"{build}/lib has no shared libraries")
    for library in libraries:
        if library.endswith("libtune_c.so"):
            continue
        lines = run("nm", "-D", "--defined-only", "--format=posix", library).stdout
        for line in lines.splitlines():
            name, letter = line.split()[:2]
            symbols[unify(name.partition("@")[0])] = letter
    return symbols


def demangle(names):
    result = subprocess.run(["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True)
    return dict(zip(names, result.stdout.splitlines()))


def compile_probe(compiler, headers, declarations, folder, name, *options):
    """A library with debugging information about what the headers declare."""
    source, library = os.path.join(folder, name + ".cpp"), os.path.join(folder, name + ".so")
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(f'#include "{header}"\n' for header in headers)
        file.writelines(declarations)
    run(compiler, "-std=c++20", "-g", "-O0", "-femit-class-debug-always", "-fPIC", "-shared", "-w", *options,
        f"-I{SOURCES}", source, "-o", library)
    return library


def write_types(library, output, *options):
    run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", *options, "--out-file", output, library)


def classes_in(path):
    """Complete classes of the namespace tune that are no templates, in the output of abidw."""
    found = set()

    def walk(element, scope):
        for child in element:
            name = child.get("name")
            if child.tag == "namespace-decl":
                walk(child, scope + [name])
            elif (child.tag in ("class-decl", "union-decl") and scope[:1] == ["tune"] and
                  child.get("size-in-bits") and re.fullmatch(r"\w+", name) and not name.startswith("__")):
                found.add("::".join(scope + [name]))

    for unit in ElementTree.parse(path).getroot().iter("abi-instr"):
        walk(unit, [])
    return sorted(found)


def pointers_to(classes):
    return [f'extern "C" {{ {name}* libtune_pointer_{i}; }}\n' for i, name in enumerate(classes)]


def public_symbols(build, headers, classes, library):
    """Exported symbols that programs may refer to: members of public classes, what belongs to these
    classes, and functions that public headers declare. Weak ones are in their users, too. Public
    headers have no types of other libraries than std, whose symbols vary with these libraries' versions."""
    information = run("readelf", "--debug-dump=info", library).stdout
    members = {unify(name) for name in re.findall(r"DW_AT_linkage_name.*?(_Z\w+)\n", information)}
    text = ""
    for header in headers:
        with open(os.path.join(SOURCES, header), encoding="utf-8") as file:
            text += re.sub(r"//.*", "", file.read())
    functions = set(re.findall(r"(\w+)\s*\(", text))
    namespaces = set(re.findall(r"\bnamespace ([\w:]+) \{", text))
    symbols = exported(build)
    names = demangle(sorted(symbols))
    found = []
    for symbol, name in names.items():
        of_class = re.match(r"(vtable|typeinfo|typeinfo name|VTT) for (.*)", name)
        plain = re.match(r"(?:[\w:]+::)?(\w+)\(", name)
        if of_class:
            public = of_class.group(2) in classes
        elif symbols[symbol] in "WVu":
            # Declared to be instantiated in the library, which members that are templates are not.
            public = bool(re.match(r"_ZNK?St6vector", symbol) and re.fullmatch(r"std::.*>::~?\w+\(.*", name))
        elif symbol in members:
            public = True
        else:
            scope = name.partition("(")[0].rpartition("::")[0]
            public = symbol.startswith("libtune_") or bool(
                scope in namespaces and plain and plain.group(1) in functions and
                not re.search(r"\b(fmt|nlohmann|spdlog|SQLite)::", name))
        if public:
            found.append(symbol)
    return sorted(found)


def compiler_of(build):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        cache = file.read()
    return (re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)", cache, re.M).group(1),
            re.search(r"^CMAKE_PROJECT_VERSION:\w+=(\d+)", cache, re.M).group(1))


def kind_of(compiler):
    """The name and major version of a compiler: what decides about layouts and their description."""
    macros = run(compiler, "-dM", "-E", "-x", "c++", os.devnull).stdout
    name, macro = ("clang", "__clang_major__") if "__clang__" in macros else ("g++", "__GNUC__")
    return f"{name} {re.search(f'define {macro} (.*)', macros).group(1)} {os.uname().machine}"


def read_lines(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read().splitlines()


def renew(build):
    compiler, soversion = compiler_of(build)
    headers = public_headers(build)
    reference = os.path.join(HERE, soversion)
    os.makedirs(reference, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        types = os.path.join(folder, "types.abi")
        anchor = ['extern "C" void libtune_anchor() {}\n']
        all_of_it = compile_probe(compiler, headers, anchor, folder, "all", "-fno-eliminate-unused-debug-types")
        write_types(all_of_it, types, "--load-all-types")
        classes = classes_in(types)
        library = compile_probe(compiler, headers, pointers_to(classes), folder, "public")
        write_types(library, types)
        with open(types, "rb") as file, lzma.open(os.path.join(reference, "layouts.abi.xz"), "wb", preset=6) as packed:
            packed.write(file.read())
        symbols = public_symbols(build, headers, set(classes), library)
    for name, lines in (("classes.txt", classes), ("symbols.txt", symbols), ("compiler.txt", [kind_of(compiler)])):
        with open(os.path.join(reference, name), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
    print(f"{reference}: {len(symbols)} symbols, {len(classes)} classes")


def check_symbols(build, reference):
    gone = sorted(set(read_lines(reference, "symbols.txt")) - set(exported(build)))
    for name in demangle(gone).values():
        print(f"gone: {name}")
    return not gone


def check_layouts(compiler, build, reference):
    with tempfile.TemporaryDirectory() as folder:
        before, now = os.path.join(folder, "before.abi"), os.path.join(folder, "now.abi")
        with lzma.open(os.path.join(reference, "layouts.abi.xz")) as packed, open(before, "wb") as file:
            file.write(packed.read())
        pointers = pointers_to(read_lines(reference, "classes.txt"))
        write_types(compile_probe(compiler, public_headers(build), pointers, folder, "public"), now)
        # Bits of the status: 1 and 2 an error, 4 a change, 8 a change that breaks programs for certain.
        result = run("abidiff", "--no-show-locs", before, now, allowed=(0, 4, 8, 12))
        print(result.stdout, end="")
        return result.returncode == 0


def check(build):
    compiler, soversion = compiler_of(build)
    reference = os.path.join(HERE, soversion)
    if not os.path.isdir(reference):
        print(f"there is no reference of the interface {soversion}: abi.py renew makes one")
        return SKIPPED
    good = check_symbols(build, reference)
    meant = read_lines(reference, "compiler.txt")[0]
    if kind_of(compiler) != meant:
        print(f"layouts are not compared: the reference is of {meant}, and {compiler} is {kind_of(compiler)}")
    elif not all(shutil.which(tool) for tool in ("abidw", "abidiff")):
        print("layouts are not compared: abidw and abidiff of abigail-tools are not here")
    else:
        good = check_layouts(compiler, build, reference) and good
    if not good:
        print(f"Programs that use libtune.so.{soversion} would break. Change the major version of the project, and\n"
              f"with it SOVERSION; or, if {soversion} is not released or nothing of a release uses this, run\n"
              f"  packaging/abi/abi.py renew {os.path.relpath(build)}")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("check", "renew"):
        sys.exit(__doc__)
    sys.exit({"check": check, "renew": renew}[sys.argv[1]](sys.argv[2]))
