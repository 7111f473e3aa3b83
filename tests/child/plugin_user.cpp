// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Loads the library, has it tune, and ends with the winner: plugin_user <library> <database> <log>.
#include <cstdio>
#include <dlfcn.h>

int main(int count, char** arguments) {
  if (count != 4) return 100;
  void* const library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 101;
  }
  using function = int (*)(const char*, const char*, const char*);
  const auto tune = reinterpret_cast<function>(::dlsym(library, "tune_in_plugin"));
  return tune == nullptr ? 102 : tune(arguments[1], arguments[2], arguments[3]);
}
