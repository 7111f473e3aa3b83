// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/stderr_filter.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace tune::detail {
namespace {

// For the handler too, which may use nothing else. -1: standard error is what it was.
volatile std::sig_atomic_t kept = -1;
volatile std::sig_atomic_t before = -1;

bool write_all(int to, const char* bytes, std::size_t size) noexcept {
  while (size > 0) {
    const ::ssize_t count = ::write(to, bytes, size);
    if (count < 0 && errno != EINTR) return false;
    if (count < 0) continue;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

template <class Take>
void read_kept(Take&& take) {
  std::array<char, 4096> part;
  ::off_t at = 0;
  while (true) {
    const ::ssize_t count = ::pread(kept, part.data(), part.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    take(part.data(), static_cast<std::size_t>(count));
    at += count;
  }
}

// It was installed for once: the signal comes again when this returns, or is raised again.
void write_last_words(int signal) {
  if (kept >= 0) {
    read_kept([](const char* bytes, std::size_t size) { write_all(before, bytes, size); });
  }
  ::raise(signal);
}

void install_handlers() noexcept {
  struct sigaction action = {};
  action.sa_handler = write_last_words;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL}) {
    struct sigaction present = {};
    // A handler that is there already stays.
    if (::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) {
      ::sigaction(signal, &action, nullptr);
    }
  }
}

/// "1 warning generated.", "2 warnings and 1 error generated."
bool is_count(std::string_view line) noexcept {
  constexpr std::string_view end = " generated.";
  if (!line.ends_with(end) || std::isdigit(static_cast<unsigned char>(line.front())) == 0) {
    return false;
  }
  line.remove_suffix(end.size());
  return line.ends_with(" warning") || line.ends_with(" warnings") || line.ends_with(" error") ||
         line.ends_with(" errors");
}

std::string without_counts(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::string_view whole = text.substr(0, line.size() + 1);
    if (!is_count(line)) rest += whole;
    text.remove_prefix(whole.size());
  }
  return rest;
}

}  // namespace

stderr_filter::stderr_filter() noexcept {
  const int file = ::memfd_create("libtune-compiler", MFD_CLOEXEC);
  const int error = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  // Where it cannot be kept back it is written as ever.
  if (file < 0 || error < 0) {
    if (file >= 0) ::close(file);
    if (error >= 0) ::close(error);
    return;
  }
  install_handlers();
  std::fflush(stderr);
  before = error;
  kept = file;
  ::dup2(file, STDERR_FILENO);
}

stderr_filter::~stderr_filter() {
  if (kept < 0) return;
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  try {
    std::string text;
    read_kept([&](const char* bytes, std::size_t size) { text.append(bytes, size); });
    text = without_counts(text);
    write_all(STDERR_FILENO, text.data(), text.size());
  } catch (...) {  // no memory for it
  }
  ::close(kept);
  ::close(before);
  kept = -1;
  before = -1;
}

}  // namespace tune::detail
