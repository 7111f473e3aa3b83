// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fixtures.hpp"

#include <cstdint>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/device_requirement.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace fixtures_test {

using tune::detail::current_test_mode;
using tune::testing::allocation_counter;
using tune::testing::cuda_only;
using tune::testing::device_requirement;
using tune::testing::find_unmet;
using tune::testing::only_on;
using tune::testing::opencl_only;
using tune::testing::scoped_environment;
using tune::testing::temporary_directory;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "(unset)";
}

TEST_CASE("a variable has its value in the scope and its old one afterwards") {
  CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
  {
    const scoped_environment outer("LIBTUNE_TESTING_X", "outer");
    CHECK(text_of("LIBTUNE_TESTING_X") == "outer");
    {
      const scoped_environment inner("LIBTUNE_TESTING_X", nullptr);
      CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
    }
    CHECK(text_of("LIBTUNE_TESTING_X") == "outer");
  }
  CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
}

TEST_CASE("a temporary directory is empty, and gone at the end with all that is in it") {
  std::filesystem::path path;
  {
    const temporary_directory folder;
    path = folder.path();
    CHECK(std::filesystem::is_directory(path));
    CHECK(std::filesystem::is_empty(path));
    std::filesystem::create_directory(folder / "inner");
    std::ofstream(folder / "inner/file") << "text";
    CHECK(std::filesystem::exists(path / "inner" / "file"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("each temporary directory is another") {
  const temporary_directory first;
  const temporary_directory second;
  CHECK(first.path() != second.path());
}

TEST_CASE("where no folder can be made, making one throws") {
  const temporary_directory folder;
  std::ofstream(folder / "file") << "text";
  const tune::testing::scoped_environment setting("TMPDIR", (folder / "file").c_str());
  CHECK_THROWS_AS(std::make_unique<temporary_directory>(), std::system_error);
}

TEST_CASE("a guard sets the mode and puts back what was set before") {
  CHECK(current_test_mode() == test_mode::defaults);
  {
    const test_mode_guard off(test_mode::off);
    CHECK(current_test_mode() == test_mode::off);
    {
      const test_mode_guard forced(test_mode::forced);
      CHECK(current_test_mode() == test_mode::forced);
    }
    CHECK(current_test_mode() == test_mode::off);
  }
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("an exception puts the mode back") {
  const auto fail = [] {
    const test_mode_guard off(test_mode::off);
    throw std::runtime_error("x");
  };
  CHECK_THROWS_AS(fail(), std::runtime_error);
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("the fixture gives defaults to a program that has none") {
  const test_mode_guard no_test_main(test_mode::off);
  {
    const tune::testing::autotune_defaults fixture;
    CHECK(current_test_mode() == test_mode::defaults);
  }
  CHECK(current_test_mode() == test_mode::off);
}

tune::device fake(const std::string& backend, std::optional<tune::compute_capability> generation) {
  return tune::testing::fake_device(
             {.backend = backend, .hardware = {.compute_capability = generation}})
      .device();
}

TEST_CASE("cuda_only accepts CUDA devices of a generation and later ones") {
  const tune::device old = fake("CUDA", {{7, 5}});
  const tune::device newer = fake("CUDA", {{8, 6}});
  CHECK(cuda_only().accepts(old));
  CHECK(cuda_only({7, 5}).accepts(old));
  CHECK_FALSE(cuda_only({8, 0}).accepts(old));
  CHECK(cuda_only({8, 0}).accepts(newer));
  CHECK_FALSE(cuda_only({8, 9}).accepts(newer));
  CHECK_FALSE(cuda_only({9, 0}).accepts(newer));
  CHECK(cuda_only().needed() == "a CUDA device");
  CHECK(cuda_only({8, 9}).needed() == "a CUDA device of compute capability 8.9 or later");
}

TEST_CASE("the API decides, whoever made the device") {
  const tune::device nvidia = fake("OpenCL", {{9, 0}});
  CHECK_FALSE(cuda_only().accepts(nvidia));
  CHECK_FALSE(cuda_only({7, 0}).accepts(nvidia));
  CHECK(opencl_only().accepts(nvidia));
  CHECK_FALSE(opencl_only().accepts(fake("CUDA", {{9, 0}})));
}

TEST_CASE("the first requirement that is not met is the reason") {
  const tune::device device = fake("CUDA", {{9, 0}});
  const auto never = [](const tune::device&) { return false; };
  CHECK(find_unmet({}, device).empty());
  CHECK(find_unmet({cuda_only(), cuda_only({9, 0})}, device).empty());
  CHECK(find_unmet({cuda_only(), only_on("a", never), only_on("b", never)}, device) == "a");
}

TEST_CASE("a requirement without a predicate is an error") {
  CHECK_THROWS_AS(only_on("nothing", {}), tune::argument_error);
}

TEST_CASE("a test case has the requirements of its decorators" * opencl_only() *
          only_on("a CPU", [](const tune::device&) { return true; })) {
  const std::vector<device_requirement> mine = tune::testing::running_requirements();
  REQUIRE(mine.size() == 2);
  CHECK(mine[0].needed() == "an OpenCL device");
  CHECK(mine[1].needed() == "a CPU");
}

TEST_CASE("a test case without decorators has none") {
  CHECK(tune::testing::running_requirements().empty());
}

bool has_opencl() { return !tune::testing::test_devices({opencl_only()}).empty(); }

LIBTUNE_DEVICE_TEST_CASE("device tests run on the devices that the environment leaves", device) {
  const scoped_environment no_cuda("CUDA_DEVICE", nullptr);
  const scoped_environment no_opencl("PYOPENCL_CTX", nullptr);
  const scoped_environment first("LIBTUNE_DEVICE", "0");
  CHECK(tune::testing::test_devices() == std::vector{tune::all_devices().at(0)});
  CHECK_FALSE(device.name().empty());
}

TEST_CASE("the variables that choose a device are never ignored") {
  for (const char* name : {"LIBTUNE_DEVICE", "CUDA_DEVICE", "PYOPENCL_CTX"}) {
    CAPTURE(name);
    const scoped_environment no_device("LIBTUNE_DEVICE", nullptr);
    const scoped_environment no_cuda("CUDA_DEVICE", nullptr);
    const scoped_environment no_opencl("PYOPENCL_CTX", nullptr);
    {
      const scoped_environment malformed(name, "first");
      CHECK_THROWS_WITH_AS(tune::testing::test_devices(), doctest::Contains(name),
                           tune::environment_error);
    }
    const scoped_environment absent(name, "99");
    CHECK_THROWS_WITH_AS(tune::testing::test_devices(), doctest::Contains(name),
                         tune::no_device_error);
  }
}

TEST_CASE("the first device of an API is the first that is accepted") {
  const auto devices = tune::testing::test_devices({opencl_only()});
  CHECK(devices.size() == (has_opencl() ? 1 : 0));
}

TEST_CASE("what allocates nothing counts nothing") {
  std::vector<int> values;
  values.reserve(10);
  const allocation_counter counter;
  for (int i = 0; i < 10; ++i) values.push_back(i);
  CHECK(counter.count() == 0);
}

TEST_CASE("every form of operator new counts") {
  const allocation_counter counter;
  ::operator delete(::operator new(3));
  ::operator delete[](::operator new[](0));
  ::operator delete(::operator new(3, std::nothrow), std::nothrow);
  ::operator delete[](::operator new[](3, std::nothrow), std::nothrow);
  CHECK(counter.count() == 4);
  const std::align_val_t aligned{64};
  ::operator delete(::operator new(3, aligned), aligned);
  ::operator delete[](::operator new[](0, aligned), aligned);
  ::operator delete(::operator new(3, aligned, std::nothrow), aligned, std::nothrow);
  ::operator delete[](::operator new[](3, aligned, std::nothrow), aligned, std::nothrow);
  CHECK(counter.count() == 8);
}

TEST_CASE("containers are counted, and a later counter begins at nothing") {
  const allocation_counter first;
  const std::vector<int> values(1000, 1);
  CHECK(first.count() == 1);
  const allocation_counter second;
  CHECK(second.count() == 0);
  CHECK(values.back() == 1);
}

TEST_CASE("aligned memory is aligned") {
  struct alignas(256) wide {
    char data[300];
  };
  const auto pointer = std::make_unique<wide>();
  CHECK(reinterpret_cast<std::uintptr_t>(pointer.get()) % 256 == 0);
}

TEST_CASE("other threads are not counted") {
  std::size_t others = 0;
  std::size_t before = 0;
  std::size_t after = 0;
  {
    const allocation_counter counter;
    std::thread thread([&others] {
      const allocation_counter own;
      const std::vector<std::string> values(10, std::string(100, 'x'));
      others = own.count();
    });
    before = counter.count();  // what starting a thread takes
    thread.join();
    after = counter.count();
  }
  CHECK(others >= 11);
  CHECK(before == after);
}

}  // namespace fixtures_test

namespace fixtures_test::of_devices {

using tune::testing::choose_devices;
using tune::testing::device_choice;

tune::device fake(const std::string& name, const std::string& backend) {
  return tune::testing::fake_device({.identity = {name, "p", "v"}, .backend = backend}).device();
}

std::string names(const std::vector<tune::device>& devices) {
  std::string all;
  for (const tune::device& device : devices) all += device.name();
  return all;
}

int device_runs = 0;

TEST_CASE("choices have names, and other words are refused with a list of them") {
  CHECK(tune::testing::device_choice_from_name("all") == device_choice::all);
  CHECK(tune::testing::device_choice_from_name("none") == device_choice::none);
  CHECK(tune::testing::device_choice_from_name("first-per-api") == device_choice::first_per_api);
  CHECK_THROWS_WITH_AS(tune::testing::device_choice_from_name("some"),
                       "--devices is 'some', expected first-per-api, all or none",
                       tune::argument_error);
}

TEST_CASE("a choice leaves the first device of each backend, all or none") {
  const std::vector<tune::device> devices{fake("a", "x"), fake("b", "y"), fake("c", "x"),
                                          fake("d", "y"), fake("e", "z")};
  CHECK(names(choose_devices(devices, device_choice::first_per_api)) == "abe");
  CHECK(names(choose_devices(devices, device_choice::all)) == "abcde");
  CHECK(choose_devices(devices, device_choice::none).empty());
  CHECK(choose_devices({}, device_choice::first_per_api).empty());
}

LIBTUNE_DEVICE_TEST_CASE("a device test runs on a device that exists", device) {
  ++device_runs;
  CHECK_FALSE(device.name().empty());
  CHECK(device_runs <= static_cast<int>(tune::testing::test_devices().size()));
}

LIBTUNE_DEVICE_TEST_CASE("a device test names its device as it likes", anything) {
  CHECK_FALSE(anything.name().empty());
}

}  // namespace fixtures_test::of_devices
