// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/devices.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"

namespace devices_test {

using tune::device_kind;
using tune::testing::fake_device;
using tune::testing::scoped_environment;

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

  // Neither variable of the person who runs the tests counts.
  scoped_environment no_device{"LIBTUNE_DEVICE", nullptr};
  scoped_environment no_cuda{"CUDA_DEVICE", nullptr};
  scoped_environment no_context{"PYOPENCL_CTX", nullptr};

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

}  // namespace devices_test
