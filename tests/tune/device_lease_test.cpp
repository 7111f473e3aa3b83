// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/device_lease.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

#include "libtune/base/log.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/tune/tuning_processes.hpp"

namespace device_lease_test {

using namespace std::chrono_literals;
using tune::device_lease;

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
  std::jthread([&] { alone = device_lease(device, 0ms).is_alone(); }).join();
  return alone;
}

TEST_CASE("hardware is told by its PCI address, else its UUID, else its name") {
  tune::device_info device;
  device.identity.name = "a device";
  CHECK(tune::hardware_name(device) == "name a device");
  device.hardware.uuid = "0011";
  CHECK(tune::hardware_name(device) == "uuid 0011");
  device.hardware.pci_address = "0000:3b:00.0";
  CHECK(tune::hardware_name(device) == "pci 0000:3b:00.0");
}

TEST_CASE("a card has one turn, whichever platform reaches it") {
  const std::string address = "test:" + std::to_string(::getpid());
  test_device through_cuda("through CUDA", address);
  test_device through_opencl("through OpenCL", address);
  through_cuda.info.hardware.uuid = "0011";
  through_opencl.info.backend = "OpenCL";
  const device_lease here(through_cuda.info, 0ms);
  CHECK(here.is_alone());
  CHECK_FALSE(is_alone_elsewhere(through_opencl.info));
}

TEST_CASE("one has the turn, and who waits in vain goes ahead without it") {
  const test_device device("a");
  const test_device another("b");
  {
    const device_lease turn(device.info, 0ms);
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
  const device_lease turn(opencl.info, 0ms);
  CHECK_FALSE(is_alone_elsewhere(cuda.info));
}

TEST_CASE("another process keeps the turn until it gives it back") {
  const test_device device("elsewhere");
  {
    tune::device_lock other(tune::hardware_name(device.info));
    REQUIRE(other.take(0ms));
    CHECK_FALSE(device_lease(device.info, 1ms).is_alone());
  }
  CHECK(device_lease(device.info, 0ms).is_alone());
}

TEST_CASE("a thread that has the turn has it again at once, and gives it back once") {
  const test_device device("again");
  {
    const device_lease turn(device.info, 0ms);
    {
      const device_lease again(device.info, 0ms);
      CHECK(again.is_alone());
    }
    CHECK_FALSE(is_alone_elsewhere(device.info));
  }
  CHECK(is_alone_elsewhere(device.info));
}

TEST_CASE("while a thread pauses its turns others have them, and it may take its own anew") {
  const test_device device("paused");
  const device_lease turn(device.info, 60s);
  {
    const device_lease::pause pause;
    CHECK(is_alone_elsewhere(device.info));
    const device_lease inner(device.info, 0ms);
    CHECK(inner.is_alone());
    const device_lease::pause another;
    CHECK(is_alone_elsewhere(device.info));
  }
  CHECK_FALSE(is_alone_elsewhere(device.info));
  CHECK(turn.is_alone());
}

TEST_CASE("a thread knows how long it has waited for turns") {
  const test_device here("waited");
  const device_lease held(here.info, 0ms);
  std::jthread([&] {
    CHECK(device_lease::waited() == 0ns);
    const device_lease in_vain(here.info, 20ms);
    CHECK(device_lease::waited() >= 20ms);
  }).join();
}

TEST_CASE("who waits for the turn is told by which process") {
  const test_device device("told");
  std::optional<::pid_t> seen;
  const auto look = [&](std::chrono::nanoseconds, std::optional<::pid_t> holder) { seen = holder; };
  // Longer than the first attempt takes, on a busy machine too: nobody is told who waits no longer.
  constexpr auto wait = 200ms;
  SUBCASE("another") {
    const tune::testing::lock_keeper other([&] {
      auto lock = std::make_unique<tune::device_lock>(tune::hardware_name(device.info));
      if (!lock->take(0ms)) ::_exit(1);
      return lock;
    });
    CHECK_FALSE(device_lease(device.info, wait, look).is_alone());
    CHECK(seen == other.id());
  }
  SUBCASE("this one, for another thread has it") {
    const device_lease turn(device.info, 0ms);
    std::jthread([&] { CHECK_FALSE(device_lease(device.info, wait, look).is_alone()); }).join();
    CHECK(seen == ::getpid());
  }
}

TEST_CASE("a measurement beside another says which process keeps the device") {
  const test_device device("named");
  std::string said;
  std::mutex mutex;
  const auto measure_beside = [&] {
    tune::detail::redirect_log([&](tune::log_level, std::string_view text) {
      const std::lock_guard lock(mutex);
      said += text;
    });
    CHECK_FALSE(is_alone_elsewhere(device.info));
    tune::detail::redirect_log({});
  };
  SUBCASE("another") {
    const tune::testing::lock_keeper other([&] {
      auto lock = std::make_unique<tune::device_lock>(tune::hardware_name(device.info));
      if (!lock->take(0ms)) ::_exit(1);
      return lock;
    });
    measure_beside();
    CHECK(said.find("process " + std::to_string(other.id()) + " has kept it") != said.npos);
  }
  SUBCASE("this one") {
    const device_lease turn(device.info, 0ms);
    measure_beside();
    CHECK(said.find("another thread of this process has kept it") != said.npos);
  }
}

}  // namespace device_lease_test
