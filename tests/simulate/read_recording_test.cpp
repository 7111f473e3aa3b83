// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/simulate/read_recording.hpp"

#include <doctest/doctest.h>
#include <fstream>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace read_recording_test {

const std::string cache = R"({"tune_params_keys": ["n"], "cache": {"1": {"n": 1, "time": 1}}})";
const std::string t4 = R"({"results": [{"configuration": {"n": 1}, "invalidity": "correct",
    "times": {}, "measurements": [{"name": "time", "value": 2}]}]})";
const std::string own = R"({"format": "libtune tuning results", "format_version": 1, "functions": [
    {"name": "f", "version": 0, "searches": [{"columns": {}, "trials": [
      {"configuration": [["n", "signed", 1]], "columns": {"score_ns": 3e6}}]}]}]})";

TEST_CASE("the kind of a recording is told by what it contains") {
  CHECK(tune::read_recording(cache, "r")[0].score_ms == 1);
  CHECK(tune::read_recording(t4, "r")[0].score_ms == 2);
  CHECK(tune::read_recording(own, "r")[0].score_ms == 3);
  CHECK_THROWS_WITH_AS(tune::read_recording("{}", "r"), doctest::Contains("'r' is neither"),
                       tune::argument_error);
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
