// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/devices.hpp"

#include <algorithm>
#include <cstddef>
#include <doctest/doctest.h>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"

namespace devices_test {

using tune::complete_identity;
using tune::device_info;
using tune::device_kind;
using tune::testing::fake_device;
using tune::testing::scoped_environment;

// Removes what the person who runs the tests has set.
struct no_variables {
  scoped_environment no_device{"LIBTUNE_DEVICE", nullptr};
  scoped_environment no_cuda{"CUDA_DEVICE", nullptr};
  scoped_environment no_context{"PYOPENCL_CTX", nullptr};
};

bool is_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

// The first case, because others load all drivers.
TEST_CASE_FIXTURE(no_variables, "the best candidate is selected, and for CUDA its driver alone") {
  const bool is_opencl_there = is_mapped("/libOpenCL.so");
  for (const device_kind kind : {device_kind::gpu, device_kind::cpu}) {
    const auto is_wanted = [&](const tune::device& d) { return d.kind() == kind; };
    std::optional<tune::device> selected;
    try {
      selected = tune::select_device({.filter = is_wanted});
    } catch (const tune::no_device_error&) {
    }
    if (selected && selected->info().backend == "CUDA") {
      CHECK(is_mapped("/libOpenCL.so") == is_opencl_there);
    }
    const std::vector<tune::device> candidates = tune::candidate_devices(is_wanted);
    CHECK(selected.has_value() == !candidates.empty());
    if (selected) CHECK(*selected == tune::best_device(candidates));
  }
}

TEST_CASE("a backend is available or says why not") {
  std::size_t devices = 0;
  for (const tune::backend_status& backend : tune::backends()) {
    CAPTURE(backend.name);
    CHECK(backend.available == (backend.devices > 0));
    CHECK(backend.available == backend.reason.empty());
    devices += backend.devices;
  }
  CHECK(devices == tune::all_devices().size());
}

TEST_CASE("every backend that libtune knows is listed, CUDA first") {
  const auto backends = tune::backends();
  REQUIRE(backends.size() == 2);
  CHECK(backends[0].name == "CUDA");
  CHECK(backends[1].name == "OpenCL");
}

TEST_CASE("asking twice gives the same devices in the same order") {
  CHECK(tune::all_devices() == tune::all_devices());
  CHECK(tune::take_inventory().all() == tune::all_devices());
}

tune::device make(const std::string& name, device_kind kind) {
  tune::testing::fake_device_options options;
  options.identity.name = name;
  options.kind = kind;
  return fake_device(options).device();
}

/// Two platforms with devices and an empty one between them.
struct machine {
  tune::device cpu = make("cpu", device_kind::cpu);
  tune::device board = make("board", device_kind::accelerator);
  tune::device first_gpu = make("first gpu", device_kind::gpu);
  tune::device second_gpu = make("second gpu", device_kind::gpu);
  tune::inventory inventory{{{.backend = "OpenCL", .devices = {cpu, board}},
                             {.backend = "OpenCL", .devices = {}},
                             {.backend = "OpenCL", .devices = {first_gpu, second_gpu}}}};

  /// Puts CUDA devices before these.
  void add_cuda(std::vector<tune::device> devices) {
    inventory.platforms.insert(inventory.platforms.begin(),
                               {.backend = "CUDA", .devices = std::move(devices)});
  }

  no_variables no_variable_counts;

  std::vector<tune::device> candidates(const tune::device_filter& filter = {}) const {
    return tune::candidate_devices(inventory, filter);
  }
};

using devices = std::vector<tune::device>;

TEST_CASE("without a variable every device that passes the filter is a candidate") {
  const machine m;
  CHECK(m.candidates() == devices{m.cpu, m.board, m.first_gpu, m.second_gpu});
  CHECK(m.candidates([](const tune::device& d) { return d.kind() == device_kind::gpu; }) ==
        devices{m.first_gpu, m.second_gpu});
}

TEST_CASE("the best device is the first GPU, else the first accelerator, else the first") {
  const machine m;
  CHECK(tune::best_device(m.candidates()) == m.first_gpu);
  CHECK(tune::best_device({m.cpu, m.board}) == m.board);
  CHECK(tune::best_device({m.cpu}) == m.cpu);
  const tune::device other = make("other", device_kind::other);
  CHECK(tune::best_device({other, m.cpu}) == other);
}

TEST_CASE("no candidate is an error that says what the backends offer") {
  CHECK_THROWS_WITH_AS(tune::best_device({}), doctest::Contains("OpenCL"), tune::no_device_error);
}

TEST_CASE("LIBTUNE_DEVICE counts the devices that pass the filter") {
  const machine m;
  const scoped_environment index("LIBTUNE_DEVICE", "1");
  CHECK(m.candidates() == devices{m.board});
  CHECK(m.candidates([](const tune::device& d) { return d.kind() == device_kind::gpu; }) ==
        devices{m.second_gpu});
}

TEST_CASE("LIBTUNE_DEVICE wins over PYOPENCL_CTX") {
  const machine m;
  const scoped_environment index("LIBTUNE_DEVICE", "0");
  const scoped_environment context("PYOPENCL_CTX", "2:1");
  CHECK(m.candidates() == devices{m.cpu});
}

TEST_CASE("an index of no device is an error that lists the devices") {
  const machine m;
  const scoped_environment index("LIBTUNE_DEVICE", "4");
  CHECK_THROWS_WITH_AS(m.candidates(), doctest::Contains("3: second gpu"), tune::no_device_error);
}

TEST_CASE("CUDA devices come before those of OpenCL") {
  machine m;
  const tune::device cuda = make("cuda", device_kind::gpu);
  m.add_cuda({cuda});
  CHECK(m.candidates() == devices{cuda, m.cpu, m.board, m.first_gpu, m.second_gpu});
  CHECK(tune::best_device(m.candidates()) == cuda);
  const scoped_environment index("LIBTUNE_DEVICE", "0");
  CHECK(m.candidates() == devices{cuda});
}

TEST_CASE("CUDA_DEVICE counts the CUDA devices that pass the filter") {
  machine m;
  const tune::device large = make("large", device_kind::gpu);
  const tune::device small = make("small", device_kind::gpu);
  m.add_cuda({large, small});
  const scoped_environment index("CUDA_DEVICE", "1");
  CHECK(m.candidates() == devices{small});
  const auto is_small = [](const tune::device& d) { return d.name() == "small"; };
  CHECK_THROWS_WITH_AS(m.candidates(is_small), doctest::Contains("0: small"),
                       tune::no_device_error);
  {
    const scoped_environment context("PYOPENCL_CTX", "0");
    CHECK(m.candidates() == devices{small});
  }
  {
    const scoped_environment any("LIBTUNE_DEVICE", "2");
    CHECK(m.candidates() == devices{m.cpu});
  }
}

TEST_CASE("CUDA_DEVICE without a CUDA device is an error, never ignored") {
  const machine m;
  {
    const scoped_environment index("CUDA_DEVICE", "0");
    CHECK_THROWS_WITH_AS(m.candidates(), doctest::Contains("CUDA_DEVICE"), tune::no_device_error);
  }
  const scoped_environment index("CUDA_DEVICE", "first");
  CHECK_THROWS_WITH_AS(m.candidates(), doctest::Contains("CUDA_DEVICE is 'first'"),
                       tune::environment_error);
}

TEST_CASE("PYOPENCL_CTX names a platform, or a device of it; empty platforms count") {
  const machine m;
  {
    const scoped_environment context("PYOPENCL_CTX", "2");
    CHECK(m.candidates() == devices{m.first_gpu, m.second_gpu});
  }
  {
    const scoped_environment context("PYOPENCL_CTX", "0:1");
    CHECK(m.candidates() == devices{m.board});
  }
  {
    const scoped_environment context("PYOPENCL_CTX", "1");
    CHECK(m.candidates().empty());
  }
}

TEST_CASE("PYOPENCL_CTX with what is not there is an error") {
  const machine m;
  for (const char* absent : {"3", "0:2", "1:0"}) {
    CAPTURE(absent);
    const scoped_environment context("PYOPENCL_CTX", absent);
    CHECK_THROWS_WITH_AS(m.candidates(), doctest::Contains("PYOPENCL_CTX"), tune::no_device_error);
  }
}

TEST_CASE("a variable that cannot be read is an error that names it, never ignored") {
  const machine m;
  for (const char* malformed : {"x", "-1", "1:", ":1", "0:1:0", "0,1", "1.0"}) {
    CAPTURE(malformed);
    const scoped_environment context("PYOPENCL_CTX", malformed);
    try {
      m.candidates();
      FAIL("accepted");
    } catch (const tune::environment_error& failure) {
      CHECK(failure.variable() == "PYOPENCL_CTX");
    }
  }
  const scoped_environment index("LIBTUNE_DEVICE", "gpu");
  CHECK_THROWS_WITH_AS(m.candidates(), doctest::Contains("LIBTUNE_DEVICE is 'gpu'"),
                       tune::environment_error);
}

TEST_CASE("a UUID is written in groups of hexadecimal digits") {
  std::array<std::byte, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0xF0 + i);
  CHECK(tune::uuid_text(bytes) == "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
}

TEST_CASE("a device's shortcuts repeat what is known of it") {
  const tune::testing::fake_device fake(
      {.identity = {"name", "platform", "driver"},
       .kind = tune::device_kind::accelerator,
       .limits = {.max_work_group_size = 7, .local_memory_bytes = 11, .simd_group_size = 13}});
  const tune::device device = fake.device();
  CHECK(device.name() == "name");
  CHECK(device.platform_name() == "platform");
  CHECK(device.driver_version() == "driver");
  CHECK(device.kind() == tune::device_kind::accelerator);
  CHECK(device.max_work_group_size() == 7);
  CHECK(device.local_memory_bytes() == 11);
  CHECK(device.simd_group_size() == 13);
}

TEST_CASE("handles are equal if they mean the same device") {
  const tune::testing::fake_device one;
  const tune::testing::fake_device another;
  CHECK(one.device() == one.device());
  CHECK_FALSE(one.device() == another.device());
}

TEST_CASE("kinds of devices have names") {
  CHECK(tune::device_kind_name(tune::device_kind::gpu) == "GPU");
  CHECK(tune::device_kind_name(tune::device_kind::accelerator) == "accelerator");
  CHECK(tune::device_kind_name(tune::device_kind::cpu) == "CPU");
  CHECK(tune::device_kind_name(tune::device_kind::other) == "other");
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;

device_info some_info() {
  return {.identity = {"name", "platform", "driver"},
          .backend = "API",
          .kind = tune::device_kind::gpu,
          .limits = {.max_work_group_size = 1024,
                     .max_work_group_extent = {1024, 512, 64},
                     .local_memory_bytes = 48 << 10,
                     .global_memory_bytes = std::size_t{80} * 1024 * mebibyte,
                     .compute_units = 132,
                     .simd_group_size = 32,
                     .max_dynamic_local_memory_bytes = 227 << 10,
                     .registers_per_work_group = 65536,
                     .cache_bytes = 50 * mebibyte,
                     .clock_khz = 1'980'000,
                     .memory_clock_khz = 2'619'000,
                     .memory_bus_bits = 5120},
          .hardware = {.compute_capability = {{9, 0}}}};
}

TEST_CASE("the capabilities follow from the limits and the hardware") {
  CHECK(complete_identity(some_info()).capabilities ==
        tune::device_capabilities{.api = "API",
                                  .architecture = "sm_90",
                                  .work_group = 1024,
                                  .work_group_x = 1024,
                                  .work_group_y = 512,
                                  .work_group_z = 64,
                                  .local_memory_bytes = 48 << 10,
                                  .dynamic_local_memory_bytes = 227 << 10,
                                  .registers = 65536,
                                  .simd_group = 32});
}

TEST_CASE("the performance attributes follow from the limits") {
  CHECK(complete_identity(some_info()).performance ==
        tune::device_performance{.compute_units = 132,
                                 .memory_gib = 80,
                                 .cache_kib = 50 << 10,
                                 .memory_bus_bits = 5120,
                                 .clock_mhz = 1980,
                                 .memory_clock_mhz = 2619});
}

TEST_CASE("what a backend has set stays, and names are left alone") {
  device_info info = some_info();
  info.identity.capabilities.architecture = "gfx90a";
  info.identity.performance.compiler = "some compiler";
  const tune::device_identity identity = complete_identity(info);
  CHECK(identity.capabilities.architecture == "gfx90a");
  CHECK(identity.performance.compiler == "some compiler");
  CHECK(identity.name == "name");
  CHECK(identity.platform == "platform");
  CHECK(identity.driver_version == "driver");
}

TEST_CASE("a little more or less memory, as a new boot gives, is the same device") {
  device_info info = some_info();
  const auto identity = complete_identity(info);
  info.limits.global_memory_bytes -= 300 * mebibyte;
  CHECK(complete_identity(info) == identity);
  info.limits.global_memory_bytes -= 300 * mebibyte;
  CHECK(complete_identity(info) != identity);
  info.limits.global_memory_bytes = mebibyte;
  CHECK(complete_identity(info).performance.memory_gib == 1);
}

TEST_CASE("the clock of a CPU, which changes all the time, is no part of it") {
  device_info info = some_info();
  info.kind = tune::device_kind::cpu;
  CHECK(complete_identity(info).performance.clock_mhz == 0);
  CHECK(complete_identity(info).performance.memory_clock_mhz == 0);
  CHECK(complete_identity(info).performance.memory_gib == 0);
}

TEST_CASE("a device has the whole identity, whatever its backend has filled in") {
  const tune::testing::fake_device fake;
  CHECK(fake.device().identity().capabilities.work_group == 1024);
  CHECK(fake.device().identity().capabilities.api == "fake");
}

LIBTUNE_DEVICE_TEST_CASE("a real device tells its API, its architecture and its limits", device) {
  const tune::device_identity& identity = device.identity();
  CHECK(identity.capabilities.api == device.info().backend);
  CHECK_FALSE(identity.capabilities.architecture.empty());
  CHECK(identity.capabilities.work_group > 0);
  CHECK(identity.capabilities.simd_group > 0);
  CHECK_FALSE(identity.performance.compiler.empty());
  CHECK(identity.performance.compute_units > 0);
}

tune::kernel make_kernel(const tune::context& context) {
  return context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("k");
}

TEST_CASE("arguments are set from the first on") {
  const fake_device fake;
  int sum = 0;
  fake.add_kernel("k", 3, [&](tune::testing::fake_launch& launch) {
    sum = launch.argument<int>(0) + launch.buffer<int>(1)[0] + launch.argument<short>(2);
  });
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer buffer = context.create_buffer(sizeof(int));
  const int ten = 10;
  queue.write(buffer, &ten, sizeof ten);
  tune::kernel kernel = make_kernel(context);
  kernel.set_arguments(1, buffer, short{100});
  queue.enqueue(kernel, {});
  CHECK(sum == 111);
}

TEST_CASE("a buffer of another context is refused, naming the argument and the kernel") {
  const fake_device fake;
  fake.add_kernel("k", 2, nullptr);
  tune::kernel kernel = make_kernel(fake.device().create_context());
  const tune::buffer foreign = fake.device().create_context().create_buffer(4);
  CHECK_THROWS_WITH_AS(kernel.set_argument(1, foreign),
                       doctest::Contains("argument 1 of kernel 'k'"), tune::argument_error);
}

TEST_CASE("a kernel can be moved, with its arguments") {
  const fake_device fake;
  int seen = 0;
  fake.add_kernel("k", 1,
                  [&](tune::testing::fake_launch& launch) { seen = launch.argument<int>(0); });
  const tune::context context = fake.device().create_context();
  tune::kernel first = make_kernel(context);
  first.set_argument(0, 5);
  tune::kernel second = make_kernel(context);
  second = std::move(first);
  context.create_command_queue().enqueue(second, {});
  CHECK(seen == 5);
}

TEST_CASE("setting arguments allocates nothing") {
  const fake_device fake;
  fake.add_kernel("k", 2, nullptr);
  const tune::context context = fake.device().create_context();
  tune::kernel kernel = make_kernel(context);
  const tune::buffer buffer = context.create_buffer(4);
  const tune::testing::allocation_counter counter;
  kernel.set_arguments(buffer, 1.5);
  kernel.set_arguments(2.5F, buffer);
  CHECK(counter.count() == 0);
}

TEST_CASE("a work size counts its work items") {
  CHECK(tune::work_size{}.total() == 1);
  CHECK(tune::work_size{4, 3, 2}.total() == 24);
  CHECK(tune::work_size{4, 0, 2}.total() == 0);
}

TEST_CASE("sizes are rounded up to a step") {
  CHECK(tune::round_up(0, 8) == 0);
  CHECK(tune::round_up(1, 8) == 8);
  CHECK(tune::round_up(8, 8) == 8);
  CHECK(tune::round_up(10, 3) == 12);
}

TEST_CASE("divisions are rounded up") {
  CHECK(tune::divide_up(0, 8) == 0);
  CHECK(tune::divide_up(8, 8) == 1);
  CHECK(tune::divide_up(9, 8) == 2);
}

}  // namespace devices_test
