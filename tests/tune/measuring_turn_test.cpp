// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/measuring_turn.hpp"

#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "tests/tune/tuning_processes.hpp"

using namespace std::chrono_literals;
using tune::measuring_turn;

namespace {

/// A device that no other test has. Its lock file goes with it.
struct test_device {
  explicit test_device(const std::string& name, const std::string& pci_address = "") {
    info.identity.name = "turn test " + name + " " + std::to_string(::getpid());
    info.hardware.pci_address = pci_address;
  }
  ~test_device() { tune::testing::remove_lock_file(tune::hardware_name(info)); }
  test_device(const test_device&) = delete;
  test_device& operator=(const test_device&) = delete;

  tune::device_info info;
};

bool is_alone_elsewhere(const tune::device_info& device) {
  bool alone = false;
  std::jthread([&] { alone = measuring_turn(device, 0ms).is_alone(); }).join();
  return alone;
}

}  // namespace

TEST_CASE("hardware is told by its PCI address, else its UUID, else its name") {
  tune::device_info device;
  device.identity.name = "a device";
  CHECK(tune::hardware_name(device) == "name a device");
  device.hardware.uuid = "0011";
  CHECK(tune::hardware_name(device) == "uuid 0011");
  device.hardware.pci_address = "0000:3b:00.0";
  CHECK(tune::hardware_name(device) == "pci 0000:3b:00.0");
}

TEST_CASE("one has the turn, and who waits in vain goes ahead without it") {
  const test_device device("a");
  const test_device another("b");
  {
    const measuring_turn turn(device.info, 0ms);
    CHECK(turn.is_alone());
    CHECK_FALSE(is_alone_elsewhere(device.info));
    CHECK(is_alone_elsewhere(another.info));
  }
  CHECK(is_alone_elsewhere(device.info));
}

TEST_CASE("two backends that offer one device take turns") {
  const std::string address = "test " + std::to_string(::getpid());
  const test_device opencl("as OpenCL names it", address);
  const test_device cuda("as CUDA names it", address);
  const measuring_turn turn(opencl.info, 0ms);
  CHECK_FALSE(is_alone_elsewhere(cuda.info));
}

TEST_CASE("another process keeps the turn until it gives it back") {
  const test_device device("elsewhere");
  {
    tune::device_lock other(tune::hardware_name(device.info));
    REQUIRE(other.take(0ms));
    CHECK_FALSE(measuring_turn(device.info, 1ms).is_alone());
  }
  CHECK(measuring_turn(device.info, 0ms).is_alone());
}
