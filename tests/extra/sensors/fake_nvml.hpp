// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a test and the stand-in for NVIDIA's management library (fake_nvml.cpp) have in common: a
// GPU in a file that both map into memory, so that it outlives killed processes.
#pragma once

#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "libtune/device/device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace fake_nvml {

/// The environment variable with the path of the file.
inline constexpr const char* state_variable = "FAKE_NVML_STATE";

/// A GPU. All zero: it has no clocks to offer and consumes nothing.
struct gpu {
  std::atomic<int> settings_status;      ///< of every call that sets something: 4 is no permission
  std::atomic<unsigned> graphics_clock;  ///< locked at it; 0: not locked
  std::atomic<unsigned> memory_clock;
  std::atomic<unsigned> power_limit_mw;
  std::atomic<unsigned> clock;  ///< just now
  std::atomic<unsigned> temperature;
  std::atomic<unsigned> milliwatts;
  std::atomic<unsigned> period_ms;  ///< of the energy counter; 0: there is none
  std::atomic<unsigned long long> reasons;
  std::atomic<int> changes;  ///< calls that set something and were not refused
};

inline gpu* map(const char* path) {
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(gpu)) != 0) return nullptr;
  void* const memory = ::mmap(nullptr, sizeof(gpu), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory != MAP_FAILED ? static_cast<gpu*>(memory) : nullptr;
}

// No machine has a GPU there.
inline constexpr const char* address = "ffff:ff:1f.0";
inline constexpr const char* uuid = "00112233-4455-6677-8899-aabbccddeeff";

#ifdef LIBTUNE_FAKE_NVML
/// The stand-in in use, as long as this lives, and its GPU. Each has a library of its own, by name,
/// so that tests which run at the same time see nothing of each other.
class workbench {
 public:
  workbench() : state_(*map((folder_ / "gpu").c_str())) {
    state_.power_limit_mw = 700'000;
    state_.clock = 1980;
    state_.temperature = 40;
    state_.milliwatts = 300'000;
    state_.period_ms = 10;
  }
  ~workbench() { ::munmap(&state_, sizeof(gpu)); }
  workbench(const workbench&) = delete;
  workbench& operator=(const workbench&) = delete;

  gpu& operator*() noexcept { return state_; }
  gpu* operator->() noexcept { return &state_; }

  static tune::device_info info() {
    tune::device_info info;
    info.identity.name = "GPU One";
    info.kind = tune::device_kind::gpu;
    info.hardware.pci_address = address;
    return info;
  }

 private:
  tune::testing::temporary_directory folder_;
  std::string link_ = [this] {
    std::filesystem::create_symlink(LIBTUNE_FAKE_NVML, folder_ / "nvml.so");
    return (folder_ / "nvml.so").string();
  }();
  tune::testing::scoped_environment library_{"LIBTUNE_NVML", link_.c_str()};
  tune::testing::scoped_environment path_{state_variable, (folder_ / "gpu").c_str()};
  gpu& state_;
};
#endif

}  // namespace fake_nvml
