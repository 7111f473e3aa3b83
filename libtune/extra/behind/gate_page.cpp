// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/gate_page.hpp"

#include <climits>
#include <ctime>
#include <fmt/format.h>
#include <linux/futex.h>
#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libtune/base/forked_process.hpp"
#include "libtune/child/gate_of_parent.hpp"
#include "libtune/extra/behind/page_gate.hpp"

namespace tune::detail {
namespace {

struct placed_page {
  gate_page* page;
  int file;  // -1: other processes cannot map it
};

placed_page place_page() noexcept {
  watch_forks();
  static gate_page private_page;
  const int file = ::memfd_create("libtune-gate", MFD_CLOEXEC);
  if (file < 0) return {&private_page, -1};
  void* memory = MAP_FAILED;
  if (::ftruncate(file, sizeof(gate_page)) == 0) {
    memory = ::mmap(nullptr, sizeof(gate_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (memory == MAP_FAILED) {
    ::close(file);
    return {&private_page, -1};
  }
  return {::new (memory) gate_page, file};
}

const placed_page& the_page() noexcept {
  static const placed_page placed = place_page();
  return placed;
}

}  // namespace

gate_page& own_gate_page() noexcept { return *the_page().page; }

std::string gate_variable() {
  const int file = the_page().file;
  if (file < 0) return {};
  return fmt::format("{}=/proc/{}/fd/{}", gate_variable_name, ::getpid(), file);
}

void wake(gate_page& page) noexcept {
  page.version.fetch_add(1);
  ::syscall(SYS_futex, &page.version, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void wait_for_change(gate_page& page, std::uint32_t seen,
                     std::chrono::nanoseconds longest) noexcept {
  if (longest.count() <= 0) return;
  constexpr std::int64_t second = 1'000'000'000;
  const timespec time{.tv_sec = longest.count() / second, .tv_nsec = longest.count() % second};
  ::syscall(SYS_futex, &page.version, FUTEX_WAIT, seen, &time, nullptr, 0);
}

}  // namespace tune::detail
