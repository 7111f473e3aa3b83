// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/read_recording.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <zlib.h>

#include "libtune/base/error.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace read_recording_test {

const std::string cache = R"({"tune_params_keys": ["n"], "cache": {"1": {"n": 1, "time": 1}}})";
const std::string t4 = R"({"results": [{"configuration": {"n": 1}, "invalidity": "correct",
    "times": {}, "measurements": [{"name": "time", "value": 2}]}]})";
const std::string own = R"({"format": "libtune tuning results", "format_version": 1, "functions": [
    {"name": "f", "version": 0, "key_fields": [], "value_fields": [], "results": [], "searches": [{"columns": {}, "trials": [
      {"configuration": [["n", "signed", 1]], "columns": {"score_ns": 3e6}}]}]}]})";

TEST_CASE("the kind of a recording is told by what it contains") {
  CHECK(tune::read_recording(cache, "r")[0].score_ms == 1);
  CHECK(tune::read_recording(t4, "r")[0].score_ms == 2);
  CHECK(tune::read_recording(own, "r")[0].score_ms == 3);
  CHECK_THROWS_WITH_AS(tune::read_recording("{}", "r"), doctest::Contains("'r' is neither"),
                       tune::argument_error);
}

/// Writes a gzip file; each part is a member of its own.
void write_gzip(const std::filesystem::path& path, std::initializer_list<std::string_view> parts) {
  std::filesystem::remove(path);
  for (const std::string_view part : parts) {
    gzFile file = gzopen(path.c_str(), "ab");
    REQUIRE(gzwrite(file, part.data(), static_cast<unsigned>(part.size())) > 0);
    REQUIRE(gzclose(file) == Z_OK);
  }
}

/// A cache with more text than a buffer holds.
std::string long_cache() {
  std::string numbers;
  for (int i = 0; i < 40'000; ++i) numbers += std::to_string(i * 7919) + ",";
  return cache.substr(0, cache.size() - 1) + R"(, "extra": [)" + numbers + "0]}";
}

TEST_CASE("a file may be compressed, and consist of several such files") {
  const tune::testing::temporary_directory folder;
  const auto path = folder.path() / "kernel.json.gz";
  write_gzip(path, {long_cache()});
  CHECK(tune::read_recording(path)[0].score_ms == 1);
  write_gzip(path, {cache.substr(0, 20), cache.substr(20)});
  CHECK(tune::read_recording(path)[0].score_ms == 1);
  CHECK_THROWS_WITH_AS(tune::read_recording(path, 10), doctest::Contains("more than 10 bytes"),
                       tune::argument_error);
}

TEST_CASE("damaged and cut off files are errors") {
  const tune::testing::temporary_directory folder;
  const auto path = folder.path() / "kernel.json.gz";
  write_gzip(path, {long_cache()});
  const auto size = std::filesystem::file_size(path);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(static_cast<std::streamoff>(size / 2))
      .write("\0\xff\0\xff\0\xff", 6);
  CHECK_THROWS_AS(tune::read_recording(path), tune::argument_error);
  for (const auto cut : {size - 1, size / 2}) {
    write_gzip(path, {long_cache()});
    std::filesystem::resize_file(path, cut);
    CHECK_THROWS_AS(tune::read_recording(path), tune::argument_error);
  }
}

TEST_CASE("a file is named by what comes before the first dot") {
  const tune::testing::temporary_directory folder;
  const auto path = folder.path() / "kernel_gpu.json.gz";
  std::ofstream(path) << cache;
  CHECK(tune::read_recording(path).name() == "kernel_gpu");
}

TEST_CASE("a file that cannot be read is an error that names it") {
  const tune::testing::temporary_directory folder;
  CHECK_THROWS_WITH_AS(tune::read_recording(folder.path() / "absent.json"),
                       doctest::Contains("absent.json"), tune::error);
}

}  // namespace read_recording_test
