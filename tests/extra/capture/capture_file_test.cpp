// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Files of captured frames: everything comes back, and no damage goes unnoticed.
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "libtune/extra/capture/capture_reader.hpp"
#include "libtune/extra/capture/capture_writer.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace capture_file_test {

using tune::detail::capture_chunk_bytes;
using tune::detail::capture_writer;

std::vector<std::byte> noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random() & 0xFF);
  return bytes;
}

tune::captured_frame sample_frame() {
  tune::captured_frame frame{.number = 41, .reason = tune::capture_reason::over_deadline};
  frame.pipeline = "receiver \xC3\xA4";
  frame.weight = 12.5;
  frame.time = std::chrono::system_clock::time_point(std::chrono::microseconds(1234567890123456));
  frame.duration = std::chrono::microseconds(7);
  frame.device = {"GPU One", "platform", "1.2"};
  frame.device.capabilities.architecture = "sm_90";
  frame.device.performance.compute_units = 132;
  frame.backend = "CUDA";
  frame.version = "0.1.0";
  tune::captured_call& call = frame.calls.emplace_back();
  call.name = "gain";
  call.form.type = "app::gain";
  call.form.parameters = {{"scale", 0.1},
                          {"n", std::uint64_t{7}},
                          {"shift", std::int64_t{3}},
                          {"text", std::string("\xFF\x01")},
                          {"none", {}},
                          {"on", true}};
  call.form.child_names = {"first"};
  call.form.children.push_back({.type = "app::first", .parameters = {{"x", std::int64_t{-1}}}});
  call.form.joins.push_back({"both", true, {"first:a", "first:b"}});
  call.function = "app.gain";
  call.key = {{"channels", std::int64_t{4096}}};
  return frame;
}

tune::captured_slot sample_slot(const std::string& name, tune::captured_contents before,
                                std::size_t bytes) {
  tune::captured_slot slot{.name = name, .type = "int8"};
  slot.size = {bytes - 1};
  slot.padded = {bytes};
  slot.bytes = bytes;
  slot.before = std::move(before);
  return slot;
}

/// A file with one slot of zeros and one of noise, each longer than a chunk.
std::string write_sample(const std::string& path, const std::vector<std::byte>& zeros,
                         const std::vector<std::byte>& other) {
  tune::replace_file_by(path, [&](const std::string& name) {
    capture_writer writer(name);
    tune::captured_frame frame = sample_frame();
    auto& slots = frame.calls.front().slots;
    slots.push_back(sample_slot("zeros", writer.add_contents(zeros), zeros.size()));
    slots.push_back(sample_slot("noise", writer.add_contents(other), other.size()));
    slots.back().changed = true;
    slots.back().after = writer.add_contents(other);
    writer.add(frame);
    frame.number = 42;
    writer.add(frame);
    writer.finish();
  });
  return path;
}

// Bytes between the places that are tried.
const std::size_t step = 5;

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_whole(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

TEST_CASE("frames come back from a file as they were written") {
  const tune::testing::temporary_directory folder;
  const std::vector<std::byte> zeros(2 * capture_chunk_bytes + 5);
  const auto other = noise(capture_chunk_bytes + 100, 1);
  const std::string path = write_sample((folder / "a.ltcapture").string(), zeros, other);

  const tune::capture_reader reader(path);
  reader.check();
  REQUIRE(reader.frames().size() == 2);
  const tune::captured_frame wanted = sample_frame();
  const tune::captured_frame& frame = reader.frames().front();
  CHECK(frame.number == 41);
  CHECK(reader.frames().back().number == 42);
  CHECK(frame.reason == wanted.reason);
  CHECK(frame.pipeline == wanted.pipeline);
  CHECK(frame.weight == wanted.weight);
  CHECK(frame.time == wanted.time);
  CHECK(frame.duration == wanted.duration);
  CHECK(frame.device == wanted.device);
  REQUIRE(frame.calls.size() == 1);
  const tune::captured_call& call = frame.calls.front();
  const tune::captured_call& expected = wanted.calls.front();
  CHECK(call.form.type == "app::gain");
  CHECK(tune::canonical_text(call.form.parameters) ==
        tune::canonical_text(expected.form.parameters));
  CHECK(call.form.child_names == expected.form.child_names);
  CHECK(call.form.children.at(0).type == "app::first");
  CHECK(call.form.joins == expected.form.joins);
  CHECK(call.function == expected.function);
  CHECK(call.key == expected.key);
  REQUIRE(call.slots.size() == 2);
  CHECK(call.slots[0].size == tune::shape{zeros.size() - 1});
  CHECK(reader.read(*call.slots[0].before) == zeros);
  CHECK(reader.read(*call.slots[1].before) == other);
  CHECK_FALSE(call.slots[0].after);
  // Equal contents are in the file once, and zeros take next to nothing.
  CHECK(call.slots[1].after == call.slots[1].before);
  CHECK(std::filesystem::file_size(path) < other.size() + 20000);
}

TEST_CASE("a file that is cut off anywhere is refused") {
  const tune::testing::temporary_directory folder;
  const auto other = noise(300, 2);
  const std::string path =
      write_sample((folder / "a.ltcapture").string(), std::vector<std::byte>(50), other);
  const std::string whole = read_whole(path);
  for (std::size_t size = 0; size < whole.size(); size += step) {
    write_whole(path, whole.substr(0, size));
    CHECK_THROWS_AS(tune::capture_reader{path}, tune::capture_file_error);
  }
  write_whole(path, whole + "x");
  CHECK_THROWS_WITH_AS(tune::capture_reader{path}, doctest::Contains("bytes behind its end"),
                       tune::capture_file_error);
}

// Some bits of compressed bytes have no meaning.
bool comes_back(const std::string& path, const std::vector<std::byte>& other) {
  const tune::capture_reader reader(path);
  reader.check();
  const auto& slots = reader.frames().front().calls.front().slots;
  return reader.read(*slots[0].before) == std::vector<std::byte>(50) &&
         reader.read(*slots[1].before) == other && slots[1].after == slots[1].before;
}

TEST_CASE("an altered byte is found, and the error names its place") {
  const tune::testing::temporary_directory folder;
  const auto other = noise(300, 3);
  const std::string path =
      write_sample((folder / "a.ltcapture").string(), std::vector<std::byte>(50), other);
  const std::string whole = read_whole(path);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += step) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 0x10);
    write_whole(path, altered);
    try {
      CHECK(comes_back(path, other));
    } catch (const tune::capture_file_error&) {
      ++refused;
    }
  }
  CHECK(refused > whole.size() / step - 10);
  std::string altered = whole;
  altered[100] = static_cast<char>(altered[100] + 1);
  write_whole(path, altered);
  CHECK_THROWS_WITH_AS(tune::capture_reader(path).check(),
                       doctest::Contains("frame 41, operation 'gain', slot 'noise'"),
                       tune::capture_file_error);
}

TEST_CASE("a file that is missing, or no file, is an error that names it") {
  const tune::testing::temporary_directory folder;
  CHECK_THROWS_WITH_AS(tune::capture_reader((folder / "none").string()), doctest::Contains("/none"),
                       tune::error);
  CHECK_THROWS_AS(tune::capture_reader{folder.path()}, tune::capture_file_error);
}

TEST_CASE("a full disk is an error") {
  if (!std::filesystem::exists("/dev/full")) return;
  CHECK_THROWS_WITH_AS(capture_writer{"/dev/full"}, doctest::Contains("could not be written"),
                       tune::error);
}

}  // namespace capture_file_test
