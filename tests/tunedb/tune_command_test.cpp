// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fstream>
#include <optional>
#include <string>

#include "libtune/device/devices.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace tune_command_test {

using namespace tune::testing;
using nlohmann::json;

/// The number of the first device that takes OpenCL, as LIBTUNE_DEVICE takes it.
std::optional<std::string> opencl_device() {
  const auto all = tune::all_devices();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].info().backend == "OpenCL") return std::to_string(i);
  }
  return std::nullopt;
}

const char* const kernel = R"(
__kernel void scale(__global float* out, __global const float* in, float factor) {
  for (int i = 0; i < tile; ++i) {
    const int at = (get_group_id(0) * tile + i) * block_size_x + get_local_id(0);
    out[at] = in[at] * factor;
  }
})";

const char* const problem = R"({
 "General": {"BenchmarkName": "scale"},
 "ConfigurationSpace": {
  "TuningParameters": [
   {"Name": "block_size_x", "Type": "int", "Values": "[2**i for i in range(4, 7)]"},
   {"Name": "tile", "Type": "int", "Values": "[1, 2]"}],
  "Conditions": [{"Expression": "block_size_x * tile <= 64"}]},
 "KernelSpecification": {
  "Language": "OpenCL", "KernelName": "scale", "KernelFile": "scale.cl",
  "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"},
  "GridDivX": ["block_size_x", "tile"], "ProblemSize": [4096],
  "Arguments": [
   {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
    "Size": "ProblemSize[0]", "FillValue": 0.0},
   {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
    "FillType": "Random", "Size": "ProblemSize[0]", "FillValue": 1.0},
   {"Name": "factor", "Type": "float", "MemoryType": "Scalar", "FillValue": 3}]}})";

TEST_CASE("a problem in T1 is tuned, reported and stored, and found the next time") {
  const auto device = opencl_device();
  if (!device) {
    MESSAGE("no device takes OpenCL");
    return;
  }
  const filled_database here;
  const scoped_environment chosen("LIBTUNE_DEVICE", device->c_str());
  const scoped_environment log("LIBTUNE_LOG", "warning");
  const std::string file = here.folder.file("scale.json");
  std::ofstream(file) << problem;
  CHECK(contains(tunedb("tune " + file + " 2>&1").output, "scale.cl"));  // it is not there
  std::ofstream(here.folder.file("scale.cl")) << kernel;
  const auto first = tunedb("tune " + file);
  CHECK(first.code == 0);
  CHECK(contains(first.output, "Best (>)"));
  CHECK(contains(first.output, "Coverage: 6 combinations - 1 (block_size_x * tile <= 64) = 5"));
  CHECK(contains(tunedb("tune " + file).output, "found in"));
  CHECK(tunedb_json("coverage t1.scale --arg problem_size_x=4096")["tried"] == 5);
  const json again = tunedb_json("tune " + file + " --function other.scale__2");
  CHECK(again["trials"].size() == 5);
  CHECK(tunedb_json("show other.scale")["version"] == 2);
}

TEST_CASE("a problem that cannot be run here is refused, with its file") {
  const filled_database here;
  const std::string file = here.folder.file("scale.json");
  std::string text = problem;
  text.replace(text.find("OpenCL"), 6, "Fortran");
  std::ofstream(file) << text;
  const auto run = tunedb("tune " + file + " 2>&1");
  CHECK(run.code == 1);
  if (!tune::all_devices().empty()) CHECK(contains(run.output, "is written in Fortran"));
  std::ofstream(file) << "{}";
  CHECK(contains(tunedb("tune " + file + " 2>&1").output, file));
  CHECK(tunedb("tune 2>&1").code == 2);
}

}  // namespace tune_command_test
