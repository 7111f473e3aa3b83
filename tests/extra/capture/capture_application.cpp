// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program that ends while a captured frame is being written: capture_application <number of the
// device> <folder> <"exit" or "return">.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "libtune/device/devices.hpp"
#include "libtune/extra/capture.hpp"
#include "tests/extra/capture/captured_pipeline.hpp"

namespace {

constexpr std::size_t size = std::size_t{1} << 20;

bool is_empty(const std::filesystem::path& folder) {
  return std::filesystem::directory_iterator(folder) == std::filesystem::directory_iterator();
}

int run(std::size_t number, const std::string& folder, const std::string& how) {
  const tune::context context = tune::all_devices().at(number).create_context();
  captured_pipeline::gain step(context.create_command_queue(), captured_pipeline::compile(context),
                               size);
  captured_pipeline::set(step, "src", captured_pipeline::ramp(size, 0));
  // At this rate a frame takes minutes.
  auto* const frames =
      new tune::capture("ending", {.folder = folder, .each_nth = 1, .bytes_per_second = 1e5});
  const auto point = frames->add("gain", step);
  frames->prepare();
  tune::frame_snapshot frame = frames->begin();
  point.run(frame);
  frames->end(frame);
  while (is_empty(folder)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (how == "exit") std::exit(3);  // in the midst, with all objects
  delete frames;
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  return run(std::stoul(arguments[1]), arguments[2], arguments[3]);
}
