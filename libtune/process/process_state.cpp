// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/process_state.hpp"

#include <cstring>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include "libtune/base/seal.hpp"

namespace tune::detail {
namespace {

struct limit_name {
  int limit;
  const char* name;
};

constexpr std::array limit_names{limit_name{RLIMIT_AS, "RLIMIT_AS"},
                                 limit_name{RLIMIT_CORE, "RLIMIT_CORE"},
                                 limit_name{RLIMIT_CPU, "RLIMIT_CPU"},
                                 limit_name{RLIMIT_DATA, "RLIMIT_DATA"},
                                 limit_name{RLIMIT_FSIZE, "RLIMIT_FSIZE"},
                                 limit_name{RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK"},
                                 limit_name{RLIMIT_NOFILE, "RLIMIT_NOFILE"},
                                 limit_name{RLIMIT_NPROC, "RLIMIT_NPROC"},
                                 limit_name{RLIMIT_STACK, "RLIMIT_STACK"},
                                 limit_name{RLIMIT_RSS, "RLIMIT_RSS"},
                                 limit_name{RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING"}};

struct address_search {
  std::uintptr_t address;
  bool found;
};

// The first object is the program. Signal handlers of drivers and their compilers lie in libraries.
int look_in_program(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<address_search*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || search.address < begin) continue;
    search.found = search.found || search.address - begin < part.p_memsz;
  }
  return 1;
}

bool lies_in_program(void (*handler)(int)) {
  address_search search{.address = reinterpret_cast<std::uintptr_t>(handler), .found = false};
  ::dl_iterate_phdr(look_in_program, &search);
  return search.found;
}

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "none" : std::to_string(limit);
}

}  // namespace

process_state::process_state() noexcept : sealed_(is_sealed()) {
  for (const limit_name& each : limit_names) {
    rlimit now{};
    ::getrlimit(static_cast<__rlimit_resource>(each.limit), &now);
    limits_[static_cast<std::size_t>(each.limit)] = now.rlim_cur;
  }
  struct stat folder {};
  if (::stat(".", &folder) == 0) {
    folder_device_ = folder.st_dev;
    folder_ = folder.st_ino;
  }
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal = 1; signal <= 64; ++signal) {
    if (::sigismember(&blocked, signal) == 1) blocked_ |= std::uint64_t{1} << (signal - 1);
  }
  for (int signal = 1; signal < signals; ++signal) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0) {
      handlers_[static_cast<std::size_t>(signal)] = now.sa_handler;
    }
  }
}

std::optional<std::string> process_state::change_since(const process_state& before) const {
  if (sealed_ && !before.sealed_) return "it sealed its process (tune::seal)";
  for (const limit_name& each : limit_names) {
    const auto place = static_cast<std::size_t>(each.limit);
    if (limits_[place] >= before.limits_[place]) continue;
    return fmt::format("it lowered the limit {} of its process from {} to {}", each.name,
                       limit_text(before.limits_[place]), limit_text(limits_[place]));
  }
  if (folder_ != before.folder_ || folder_device_ != before.folder_device_) {
    return "it changed the current folder of its process";
  }
  if (blocked_ != before.blocked_) return "it changed which signals its thread blocks";
  for (std::size_t signal = 1; signal < handlers_.size(); ++signal) {
    if (handlers_[signal] == before.handlers_[signal]) continue;
    if (!lies_in_program(handlers_[signal])) continue;
    return fmt::format("it left a handler of signal {} ({}) in its process", signal,
                       ::strsignal(static_cast<int>(signal)));
  }
  return std::nullopt;
}

}  // namespace tune::detail
