// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace tune::testing {

/// What processes that tune are told, and what they count together, in memory that they share.
struct process_tally {
  static constexpr std::size_t most_devices = 8;

  // What they are told. Process i takes device i modulo devices and key i modulo keys.
  std::array<char, 512> database{};
  int devices = 1;
  int keys = 1;
  int threads = 1;
  int wait_ms = 120'000;
  int launch_us = 100;  ///< how long a launch takes

  // What they count.
  std::atomic<bool> go{false};
  std::atomic<int> ready{0};
  std::atomic<int> searches{0};
  std::atomic<int> searching{0};  ///< the process that has started a search last
  std::atomic<int> errors{0};
  std::atomic<int> defaults{0};           ///< threads that were given the test default
  std::atomic<int> tuned{0};              ///< threads that were given anything else
  std::atomic<std::uint64_t> answers{0};  ///< a bit for each configuration that anyone was given
  std::array<std::atomic<int>, most_devices> measuring{};  ///< who measures now, for each device
  std::atomic<int> overlaps{0};  ///< launches while another process measured on the device
};

/// The name of a device that all processes of a tally have.
inline std::string device_name(const process_tally& tally, std::size_t number) {
  return "fake " + std::to_string(number) + " of " + tally.database.data();
}

/// A process_tally in a file. The first to map it makes it; all others find it as it is.
class shared_tally {
 public:
  explicit shared_tally(const std::string& path) {
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const int file = made >= 0 ? made : ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0 || ::ftruncate(file, sizeof(process_tally)) != 0) {
      throw std::runtime_error("no tally in " + path);
    }
    void* memory =
        ::mmap(nullptr, sizeof(process_tally), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    tally_ = made >= 0 ? new (memory) process_tally : static_cast<process_tally*>(memory);
  }
  ~shared_tally() { ::munmap(tally_, sizeof(process_tally)); }
  shared_tally(const shared_tally&) = delete;
  shared_tally& operator=(const shared_tally&) = delete;

  process_tally& operator*() const noexcept { return *tally_; }
  process_tally* operator->() const noexcept { return tally_; }

 private:
  process_tally* tally_;
};

}  // namespace tune::testing
