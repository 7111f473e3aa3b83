// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device/lock_watch.hpp"

#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include "libtune/base/seal.hpp"

namespace {

/// Where the code of an object lies.
struct extent {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;

  bool has(std::uintptr_t address) const noexcept { return first <= address && address < last; }
};

extent object_with(std::uintptr_t address) {
  struct search {
    std::uintptr_t address = 0;
    extent found;
  } wanted{address, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& asked = *static_cast<search*>(data);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          const std::uintptr_t start = object->dlpi_addr + part.p_vaddr;
          const extent covered{start, start + part.p_memsz};
          if (part.p_type == PT_LOAD && covered.has(asked.address)) asked.found = covered;
        }
        return asked.found.last != 0 ? 1 : 0;
      },
      &wanted);
  return wanted.found;
}

using lock_function = int (*)(void*);

lock_function next(const char* name) {
  return reinterpret_cast<lock_function>(::dlsym(RTLD_NEXT, name));
}

// Ours are the program and the library, which may be one.
struct objects {
  extent program = object_with(reinterpret_cast<std::uintptr_t>(&object_with));
  extent library = object_with(reinterpret_cast<std::uintptr_t>(&tune::is_sealed));
};

constinit thread_local std::size_t locks = 0;
constinit const objects* ours = nullptr;

[[gnu::constructor]] void find_objects() { ours = new objects; }

void count(const void* caller) noexcept {
  if (ours == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (ours->program.has(address) || ours->library.has(address)) ++locks;
}

}  // namespace

std::size_t sealed::lock_watch::taken_by_this_thread() noexcept { return locks; }

// NOLINTBEGIN(bugprone-macro-parentheses): names cannot be put in parentheses
#define REPLACE(function, type)                        \
  extern "C" int function(type* lock) noexcept {       \
    static const lock_function real = next(#function); \
    count(__builtin_return_address(0));                \
    return real(lock);                                 \
  }
// NOLINTEND(bugprone-macro-parentheses)

REPLACE(pthread_mutex_lock, pthread_mutex_t)
REPLACE(pthread_mutex_trylock, pthread_mutex_t)
REPLACE(pthread_rwlock_rdlock, pthread_rwlock_t)
REPLACE(pthread_rwlock_wrlock, pthread_rwlock_t)
