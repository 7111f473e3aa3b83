// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// libtune-tuner: loads a shared library with autotune functions, and serves with the libtune in it.
// It does not link libtune itself, so that the process has only one.
#include <cstdio>
#include <dlfcn.h>

namespace {

constexpr int socket_from_parent = 3;
constexpr int usage_exit_status = 2;

using serve_function = int (*)(int);

int complain(const char* what) {
  std::fprintf(stderr, "libtune-tuner: %s\n", what);
  return usage_exit_status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    return complain("tunes the kernels of a library for programs that use libtune, which start it");
  }
  void* const library = ::dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return complain(::dlerror());
  const auto serve = reinterpret_cast<serve_function>(::dlsym(library, "libtune_serve_worker"));
  if (serve == nullptr) return complain("the library has no libtune in it");
  serve(socket_from_parent);
  return complain("it was not started by a program that uses libtune");
}
