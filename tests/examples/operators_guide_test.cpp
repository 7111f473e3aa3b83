// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/operators.md.
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>

#include "examples/multiply/multiply.hpp"
#include "libtune/extra/metrics.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace operators_guide_test {

LIBTUNE_DEVICE_TEST_CASE("the page for operators measures frames, and adds a metric", device) {
  const tune::testing::temporary_directory folder;
  const std::filesystem::path file = folder / "receiver.prom";
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  multiply operation = multiply_template(context).instantiate(queue, 1 << 10);
  operation.ensure_all_bound();
  int left = 10;
  const auto running = [&] { return left-- > 0; };
  const std::uint64_t lost = 7;
  // clang-format off
  // [frames]
  const tune::metrics_exporter metrics({.file = file});
  tune::frame_clock frames("receiver", std::chrono::milliseconds(5));
  tune::seal({.scope = tune::seal_scope::this_thread});
  while (running()) {
    frames.begin();
    operation.run();
    queue.finish();
    frames.end();
  }
  // [frames]
  tune::unseal(tune::seal_scope::this_thread);
  // [source]
  metrics.add([&](tune::metric_page& to) {
    to.counter("receiver_packets_lost_total", "Packets that did not arrive.", {{"port", "0"}},
               static_cast<double>(lost));
  });
  // [source]
  // clang-format on
  REQUIRE(metrics.write());
  std::ifstream written(file);
  const std::string text{std::istreambuf_iterator<char>(written), {}};
  static int frames_of_all_devices = 0;  // the frames of a name count on
  frames_of_all_devices += 10;
  CHECK(text.find(fmt::format(
            "libtune_frame_seconds_count{{program=\"receiver\",pipeline=\"receiver\"}} {}\n",
            frames_of_all_devices)) != std::string::npos);
  CHECK(text.find("receiver_packets_lost_total{program=\"receiver\",port=\"0\"} 7\n") !=
        std::string::npos);
}

}  // namespace operators_guide_test
