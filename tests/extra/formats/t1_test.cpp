// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/t1.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/testing/parsed_json.hpp"

namespace t1_test {

using namespace tune;
using nlohmann::json;

std::vector<value> whole(std::initializer_list<std::int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

TEST_CASE("values are what Python makes of the text") {
  CHECK(values_of_python("[16, 32,48]") == whole({16, 32, 48}));
  CHECK(values_of_python("[1, 2, 4] + list(range(32, 128+1, 32))") ==
        whole({1, 2, 4, 32, 64, 96, 128}));
  CHECK(values_of_python("[2**i for i in range(0, 6)]") == whole({1, 2, 4, 8, 16, 32}));
  CHECK(values_of_python("[32 * i for i in range(1, 4)]") == whole({32, 64, 96}));
  CHECK(values_of_python("[i for i in range(1, 10) if i % 3 == 0 or i in [1, 2]]") ==
        whole({1, 2, 3, 6, 9}));
  CHECK(values_of_python("range(3)") == whole({0, 1, 2}));
  CHECK(values_of_python("range(5, 0, -2)") == whole({5, 3, 1}));
  CHECK(values_of_python("range(0, 9223372036854775807, 4611686018427387904)") ==
        whole({0, 4611686018427387904}));
  CHECK(values_of_python("([1] + [2, 3]) + [x for x in (4, 5)]") == whole({1, 2, 3, 4, 5}));
  CHECK(values_of_python("(7,)") == whole({7}));
  CHECK(values_of_python("[]").empty());
  CHECK(values_of_python("[0.5, True, 'a+b', \"for x in\"]") ==
        std::vector<value>{0.5, true, std::string("a+b"), std::string("for x in")});
}

TEST_CASE("a text that is no list of values is refused, and the part is shown") {
  const auto refused = [](const std::string& text, const char* part) {
    CHECK_THROWS_WITH_AS(values_of_python(text), doctest::Contains(part), tune::argument_error);
  };
  refused("", "a value is expected at column 1");
  refused("42", "it is the number 42, not a list of values");
  refused("[1, 2", "',' or ']' is expected at column 6");
  refused("[1] + np.arange(3)", "one of the methods");
  refused("range(1, 2, 0)", "the step of a range is zero, at column 1");
  refused("[[1], [2]]", "it is a list, not one value");
  refused("[a]", "reads 'a', which is no value");
  refused("[1 +]", "a value is expected at column 5");
}

TEST_CASE("lists of values neither nest without end nor grow without end") {
  const auto refused = [](const std::string& text, const char* part) {
    CHECK_THROWS_WITH_AS(values_of_python(text), doctest::Contains(part), tune::argument_error);
  };
  std::string lists;
  for (int i = 0; i < 10'000; ++i) lists += "list(";
  refused(lists + "range(2)" + std::string(10'000, ')'), "less nesting");
  refused(std::string(20'000, '(') + std::string(20'000, ')'), "less nesting");
  CHECK_THROWS_WITH_AS(from_t1_text(std::string(200'000, '[')), doctest::Contains("100 levels"),
                       tune::argument_error);
  // The next number would be beyond the largest.
  CHECK(values_of_python("range(0, 9223372036854775807, 9223372036854775000)") ==
        whole({0, 9223372036854775000}));
  CHECK(values_of_python("range(0, -9223372036854775807, -9223372036854775000)") ==
        whole({0, -9223372036854775000}));
  CHECK(values_of_python("range(1000000)").size() == 1'000'000);
  refused("range(0, 10000000000)", "it needs more than 2000000 items");
  refused("range(1000001)", "more than 1000000 values");
  // Also where a condition leaves none of them.
  refused("[x for x in range(1900000) if False] + [x for x in range(600000) if False]",
          "more than");
  CHECK(values_of_python("[i*j for i in range(2) for j in range(2)]") == whole({0, 0, 0, 1}));
}

/// As the hub has them, shortened.
json sample() {
  return tune::testing::parsed_json(R"({
 "General": {"BenchmarkName": "convolution_milo", "OutputFormat": "JSON"},
 "ConfigurationSpace": {
  "TuningParameters": [
   {"Name": "block_size_x", "Type": "int", "Values": "[16, 32, 48, 64]", "Default": 16},
   {"Name": "tile_size_x", "Type": "int", "Values": "[i for i in range(1, 5)]", "Default": 1},
   {"Name": "use_padding", "Type": "int", "Values": [0, 1]},
   {"Name": "filter_width", "Type": "int", "Values": "[15]"}],
  "Conditions": [
   {"Expression": "use_padding==0 or block_size_x % 32 != 0", "Parameters": ["use_padding"]},
   {"Expression": "32 <= block_size_x * tile_size_x <= 128", "Parameters": []}]},
 "KernelSpecification": {
  "Language": "CUDA", "CompilerOptions": ["-std=c++11"], "KernelName": "convolution_kernel",
  "KernelFile": "convolution_milo.cu", "GlobalSizeType": "CUDA",
  "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"},
  "GridDivX": ["block_size_x", "tile_size_x"], "ProblemSize": [4096, 2048],
  "SharedMemory": 0, "Stream": null,
  "Arguments": [
   {"Name": "output_image", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
    "FillType": "Constant", "Size": "ProblemSize[0]*ProblemSize[1]", "FillValue": 0.0, "Output": 1},
   {"Name": "input_image", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
    "FillType": "Random", "Size": "(ProblemSize[0]+max(filter_width)-1) * 2", "FillValue": 1.0},
   {"Name": "d_filter", "Type": "float", "MemoryType": "Vector", "MemType": "Constant",
    "FillType": "Random", "Size": 225, "FillValue": 1.0},
   {"Name": "step", "Type": "int32", "MemoryType": "Scalar", "FillValue": 3}]}})");
}

TEST_CASE("a problem of the hub is read: the space, the kernel and its arguments") {
  const t1_problem problem = from_t1_text(sample().dump());
  CHECK(tune::is_t1(sample().dump()));
  CHECK(problem.name == "convolution_milo");
  CHECK(problem.kernel_name == "convolution_kernel");
  CHECK(problem.kernel_file == "convolution_milo.cu");
  CHECK(problem.compiler_options == std::vector<std::string>{"-std=c++11"});
  CHECK(problem.problem_size == std::vector<std::size_t>{4096, 2048});
  CHECK(problem.grid_divisors[0] == std::vector<std::string>{"block_size_x", "tile_size_x"});
  CHECK_FALSE(problem.grid_divisors[1]);
  CHECK(problem.work_group[0] == "block_size_x");
  CHECK(problem.work_group[1] == "1");
  CHECK(problem.dynamic_local_memory.empty());
  REQUIRE(problem.arguments.size() == 4);
  CHECK(problem.arguments[0].is_output);
  CHECK(problem.arguments[0].elements == 4096 * 2048);
  CHECK_FALSE(problem.arguments[1].is_output);
  CHECK(problem.arguments[1].is_random);
  CHECK(problem.arguments[1].elements == (4096 + 15 - 1) * 2);
  CHECK(problem.arguments[2].is_constant);
  CHECK(problem.arguments[2].elements == 225);
  CHECK_FALSE(problem.arguments[3].is_array);
  CHECK(problem.arguments[3].type == tune::dtype::int32);
  CHECK(problem.arguments[3].fill_value == 3);
}

TEST_CASE("the space of a problem has the configurations that its conditions allow") {
  const auto space = from_t1_text(sample().dump()).space();
  CHECK(space.cartesian_size() == 4 * 4 * 2);
  // Every pair of x and tile with a product from 32 to 128, twice unless x is a multiple of 32.
  std::size_t expected = 0;
  for (const int x : {16, 32, 48, 64}) {
    for (int tile = 1; tile <= 4; ++tile) {
      if (32 <= x * tile && x * tile <= 128) expected += x % 32 != 0 ? 2 : 1;
    }
  }
  CHECK(space.size() == expected);
}

TEST_CASE("spaces of the hub have as many configurations as were recorded there") {
  const auto size_of = [](const std::vector<std::pair<const char*, const char*>>& parameters,
                          const std::vector<const char*>& conditions) {
    json document = sample();
    json& space = document["ConfigurationSpace"];
    space = {{"TuningParameters", json::array()}, {"Conditions", json::array()}};
    for (const auto& [name, values] : parameters) {
      space["TuningParameters"].push_back({{"Name", name}, {"Type", "int"}, {"Values", values}});
    }
    for (const char* condition : conditions) {
      space["Conditions"].push_back({{"Expression", condition}});
    }
    document["KernelSpecification"]["Arguments"] = json::array();
    return from_t1_text(document.dump()).space().size();
  };
  CHECK(size_of({{"block_size_x", "[16*i for i in range(1, 17)]"},
                 {"block_size_y", "[1, 2, 4, 8, 16]"},
                 {"tile_size_x", "[1, 2, 3, 4]"},
                 {"tile_size_y", "[1, 2, 3, 4]"},
                 {"read_only", "[0, 1]"},
                 {"use_padding", "[0, 1]"},
                 {"use_shmem", "[0, 1]"},
                 {"filter_height", "[15]"},
                 {"filter_width", "[15]"}},
                {"use_padding==0 or block_size_x % 32 != 0", "block_size_x*block_size_y<=1024",
                 "use_padding==0 or use_shmem != 0",
                 "use_shmem == 0 or (((block_size_x*tile_size_x+(filter_width-1)))*((block_size_y*"
                 "tile_size_y+(filter_height-1)))) < 12*1024"}) == 4362);
  CHECK(size_of(
            {{"block_size_x", "[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))"},
             {"block_size_y", "[2**i for i in range(0, 6)]"},
             {"tile_size_x", "[i for i in range(1, 11)]"},
             {"tile_size_y", "[i for i in range(1, 11)]"},
             {"temporal_tiling_factor", "[i for i in range(1, 11)]"},
             {"loop_unroll_factor_t", "[i for i in range(1, 10+1)]"},
             {"sh_power", "[0, 1]"}},
            {"block_size_x*block_size_y>= 32", "temporal_tiling_factor % loop_unroll_factor_t == 0",
             "block_size_x*block_size_y <= 1024",
             "(block_size_x*tile_size_x+ temporal_tiling_factor * 2) * (block_size_y*"
             "tile_size_y+ temporal_tiling_factor * 2) * (2+sh_power) * 4 <= 49152"}) == 82984);
}

TEST_CASE("parameters of texts take no place in a size, where they could grow without end") {
  json document = sample();
  json& parameters = document["ConfigurationSpace"]["TuningParameters"];
  for (int i = 0; i < 64; ++i) {
    const std::string next = "max(t" + std::to_string(i + 1) + ")";
    parameters.push_back({{"Name", "t" + std::to_string(i)}, {"Values", {next + next}}});
  }
  document["KernelSpecification"]["Arguments"][0]["Size"] = "max(t0)";
  CHECK_THROWS_WITH_AS(from_t1_text(document.dump()), doctest::Contains("'output_image'"),
                       tune::argument_error);
}

TEST_CASE("the values of all parameters of a problem are bounded together") {
  json document = sample();
  json& parameters = document["ConfigurationSpace"]["TuningParameters"];
  for (const char* name : {"a", "b"}) {
    parameters.push_back({{"Name", name}, {"Values", "range(600000)"}});
  }
  CHECK_THROWS_WITH_AS(from_t1_text(document.dump()), doctest::Contains("more than 1000000 values"),
                       tune::argument_error);
}

TEST_CASE("a fault is named with the member that has it") {
  const auto refused = [](const auto& spoil, const char* reason) {
    json document = sample();
    spoil(document);
    CHECK_THROWS_WITH_AS(from_t1_text(document.dump()), doctest::Contains(reason),
                         tune::argument_error);
  };
  json::json_pointer parameter("/ConfigurationSpace/TuningParameters/0");
  json::json_pointer condition("/ConfigurationSpace/Conditions/0/Expression");
  json::json_pointer argument("/KernelSpecification/Arguments/0");
  refused([](json& d) { d.erase("ConfigurationSpace"); }, "ConfigurationSpace");
  refused([&](json& d) { d[parameter].erase("Name"); }, "Name");
  refused([&](json& d) { d[parameter]["Values"] = "[1, 1]"; }, "block_size_x");
  refused([&](json& d) { d[parameter]["Values"] = "[]"; }, "'block_size_x' has no values");
  refused([&](json& d) { d[parameter]["Values"] = "linspace(1)"; }, "'block_size_x'");
  refused([&](json& d) { d[condition] = "other == 1"; }, "other");
  refused([&](json& d) { d[condition] = "1 +"; }, "the condition");
  refused([&](json& d) { d[argument]["Type"] = "float5"; }, "the argument 'output_image'");
  refused([&](json& d) { d[argument]["Type"] = "custom"; }, "'custom' has no 'TypeSize'");
  refused([&](json& d) { d[argument]["Size"] = "-1"; }, "no size");
  refused([&](json& d) { d[argument]["Size"] = std::string(10'001, ' '); }, "10001 characters");
  refused([&](json& d) { d[argument]["FillType"] = "BinaryHDF"; }, "'FillType' is 'BinaryHDF'");
  refused([&](json& d) { d[argument]["FillType"] = "Generator"; }, "DataSource");
  refused([&](json& d) { d[argument]["MemoryType"] = "Image"; }, "and not Vector, Scalar, Local");
  refused([](json& d) { d["KernelSpecification"]["ProblemSize"] = "block_size_x"; }, "ProblemSize");
  refused([](json& d) { d["KernelSpecification"].erase("ProblemSize"); },
          "neither 'GlobalSize' nor 'ProblemSize'");
  refused([](json& d) { d["KernelSpecification"].erase("KernelName"); }, "KernelName");
  CHECK_THROWS_WITH_AS(from_t1_text("["), doctest::Contains("no JSON object"),
                       tune::argument_error);
}

TEST_CASE("a problem becomes a kernel with the same space, and what a run cannot have is refused") {
  const tune::testing::temporary_directory folder;
  std::ofstream(folder.path() / "convolution_milo.cu") << "// the kernel";
  const auto made = [&](const auto& change) {
    json document = sample();
    change(document["KernelSpecification"]);
    return to_bare_kernel(from_t1_text(document.dump()), folder.path().string());
  };
  const auto refused = [&](const auto& change, const char* reason) {
    CHECK_THROWS_WITH_AS(made(change), doctest::Contains(reason), tune::argument_error);
  };
  CHECK(made([](json&) {}).space().size() == from_t1_text(sample().dump()).space().size());
  refused([](json& kernel) { kernel["LocalSize"]["Y"] = "rows"; },
          "along y is 'rows', which reads 'rows'");
  refused([](json& kernel) { kernel["LocalSize"]["Y"] = 1e300; }, "along y is 1e+300");
  refused([&](json& kernel) { kernel["KernelFile"] = "other.cu"; }, "other.cu");
  for (const double beyond : {2147483648.0, -1e300}) {
    refused([&](json& kernel) { kernel["Arguments"][3]["FillValue"] = beyond; },
            "which its type does not hold");
  }
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "link.cu");
  for (const char* outside : {"/etc/passwd", "../passwd", "a/../../passwd", "link.cu"}) {
    refused([&](json& kernel) { kernel["KernelFile"] = outside; }, "out of the problem's folder");
  }
  std::filesystem::create_directory(folder.path() / "below");
  std::ofstream(folder.path() / "below/k.cu") << "// the kernel";
  CHECK_NOTHROW(made([](json& kernel) { kernel["KernelFile"] = "below/k.cu"; }));
  const auto wide = made([&](json& kernel) { kernel["LocalSize"]["Y"] = 4; });
  CHECK(wide.space().parameters().back().name == "block_size_y");
  CHECK(wide.space().parameters().back().candidates == whole({4}));
}

TEST_CASE("the last of two parameters of one name counts, and a declared type changes no number") {
  json document = sample();
  json& parameters = document["ConfigurationSpace"]["TuningParameters"];
  parameters.push_back(
      {{"Name", "tile_size_x"}, {"Type", "int"}, {"Values", "[2.0**i for i in [1, 3]]"}});
  parameters.push_back({{"Name", "scale"}, {"Type", "float"}, {"Values", "[1, 2]"}});
  const t1_problem problem = from_t1_text(document.dump());
  REQUIRE(problem.parameters.size() == 5);
  CHECK(problem.parameters[1].candidates == whole({2, 8}));
  CHECK(problem.parameters[4].candidates == std::vector<value>{1.0, 2.0});
}

/// A script of KTT: the schema's size, fills by a generator and a file, and an expected result.
json ktt_sample() {
  return tune::detail::parse_json<json>(R"({
 "ConfigurationSpace": {"TuningParameters": [
   {"Name": "block", "Type": "uint", "Values": "[32, 64]"}]},
 "Search": {"Name": "Random"}, "General": {"TimeUnit": "Microseconds"},
 "KernelSpecification": {
  "Language": "CUDA", "KernelName": "add", "KernelFile": "add.cu", "SharedMemory": 0,
  "GlobalSize": {"X": "1024 // block", "Y": "2"}, "LocalSize": {"X": "block", "Y": "block // 32"},
  "Arguments": [
   {"Name": "a", "Type": "float", "Size": 1024, "TypeSize": 4, "FillType": "Generator",
    "DataSource": "i if i % 2 == 0 else -i / 2", "AccessType": "ReadOnly", "MemoryType": "Vector"},
   {"Name": "b", "Type": "int32", "FillType": "BinaryRaw", "DataSource": "b.bin",
    "AccessType": "ReadOnly", "MemoryType": "Vector"},
   {"Name": "pairs", "Type": "float2", "Size": 3, "FillType": "Constant", "FillValue": 1.5,
    "MemoryType": "Symbol"},
   {"Name": "tile", "Type": "double", "Size": 8, "MemoryType": "Local"},
   {"Name": "result", "Type": "float", "Size": 1024, "FillType": "Constant", "FillValue": 0.0,
    "AccessType": "WriteOnly", "MemoryType": "Vector"},
   {"Type": "float4", "FillValue": 3.0, "MemoryType": "Scalar"}],
  "ReferenceArguments": [
   {"Name": "reference", "FillType": "Generator", "DataSource": "2 * i + 3",
    "TargetName": "result", "ValidationMethod": "SideBySideComparison",
    "ValidationThreshold": 0.1}]}})");
}

TEST_CASE("a script of KTT has the schema's size, in groups for CUDA and in items for OpenCL") {
  json document = ktt_sample();
  const t1_problem groups = from_t1_text(document.dump());
  CHECK(groups.problem_size.empty());
  CHECK(groups.global_size == std::vector<std::string>{"1024 // block", "2"});
  CHECK(groups.counts_groups);
  CHECK(groups.parameters[0].candidates == whole({32, 64}));
  document["KernelSpecification"]["GlobalSizeType"] = "OpenCL";
  CHECK_FALSE(from_t1_text(document.dump()).counts_groups);
  document["KernelSpecification"].erase("GlobalSizeType");
  document["KernelSpecification"]["Language"] = "OpenCL";
  CHECK_FALSE(from_t1_text(document.dump()).counts_groups);
  REQUIRE(groups.arguments.size() == 6);
  CHECK(groups.arguments[0].generator == "i if i % 2 == 0 else -i / 2");
  CHECK(groups.arguments[1].file == "b.bin");
  CHECK(groups.arguments[2].is_constant);
  CHECK(groups.arguments[2].lanes == 2);
  CHECK(groups.arguments[3].is_local);
  CHECK(groups.arguments[5].name.empty());
  CHECK(groups.arguments[5].lanes == 4);
  REQUIRE(groups.answers.size() == 1);
  CHECK(groups.answers[0].argument == 4);
  CHECK(groups.answers[0].threshold == 0.1);
  CHECK(groups.answers[0].contents.elements == 1024);
  CHECK(groups.answers[0].contents.generator == "2 * i + 3");
  CHECK(groups.strategy == "random");
}

TEST_CASE("the search and the budget of a problem are limits and a strategy of libtune") {
  const auto with = [](const char* search, const char* type, double limit) {
    json document = sample();
    document["Search"] = {{"Name", search}};
    document["Budget"] = json::array({{{"Type", type}, {"BudgetValue", limit}}});
    return from_t1_text(document.dump());
  };
  CHECK(with("Deterministic", "ConfigurationCount", 10).strategy == "exhaustive");
  CHECK(with("ProfileBased", "ConfigurationCount", 10).strategy.empty());
  CHECK(with("genetic", "ConfigurationCount", 10).strategy == "genetic");
  CHECK(with("genetic", "ConfigurationCount", 10).most_configurations == 10);
  CHECK(with("genetic", "TuningDuration", 1.5).most_seconds == 1.5);
  CHECK(with("genetic", "ConfigurationFraction", 0.5).most_fraction == 0.5);
  CHECK_FALSE(from_t1_text(sample().dump()).most_seconds);
  CHECK_THROWS_WITH_AS(with("genetic", "ConfigurationFraction", 1.5),
                       doctest::Contains("'Budget' has 1.5"), tune::argument_error);
  CHECK_THROWS_WITH_AS(with("genetic", "TuningDuration", 0), doctest::Contains("BudgetValue"),
                       tune::argument_error);
}

TEST_CASE("the bytes of a script's file come from the problem's folder and have the right size") {
  const tune::testing::temporary_directory folder;
  std::ofstream(folder.path() / "add.cu") << "// the kernel";
  const auto made = [&](const auto& change) {
    json document = ktt_sample();
    change(document["KernelSpecification"]);
    return to_bare_kernel(from_t1_text(document.dump()), folder.path().string());
  };
  const auto refused = [&](const auto& change, const char* reason) {
    CHECK_THROWS_WITH_AS(made(change), doctest::Contains(reason), tune::argument_error);
  };
  refused([](json&) {}, "b.bin' of an argument cannot be read");
  std::ofstream(folder.path() / "b.bin") << "12345678";
  CHECK(made([](json&) {}).space().size() == 2);
  refused([](json& kernel) { kernel["Arguments"][1]["Size"] = 3; }, "has 8 bytes, and 3 elements");
  refused([](json& kernel) { kernel["Arguments"][1]["DataSource"] = "../b.bin"; },
          "out of the problem's folder");
  refused([](json& kernel) { kernel["Arguments"][0]["DataSource"] = "i + j"; }, "more than i");
  refused([](json& kernel) { kernel["Arguments"][0]["DataSource"] = "1 / i"; }, "division by zero");
  refused([](json& kernel) { kernel["ReferenceArguments"][0]["TargetName"] = "c"; },
          "'TargetName' is 'c', which is no array");
}

}  // namespace t1_test
