// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compile.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/testing/devices.hpp"

namespace compile_test {

/// Keeps what it is given to compile, then lets the device do it.
class recording_compiler final : public tune::compiler {
 public:
  mutable std::vector<tune::program_source> seen;

 private:
  tune::program do_build(const tune::context& context,
                         const tune::program_source& source) const override {
    seen.push_back(source);
    return tune::in_process_compiler().build(context, source);
  }
};

const tune::kernel_source add_one{"add_one.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1) void add_one(GLOBAL type* data) {
  data[get_global_id(0)] += 1;
})"};

const tune::kernel_source broken{"broken.kernel", R"(KERNEL void broken(GLOBAL int* data) {
  data[0] = ;
})"};

std::string failure_text(const tune::context& context, const tune::defines& macros,
                         const tune::kernel_source& source = broken) {
  try {
    tune::compile(context, source, macros);
  } catch (const tune::build_error& failure) {
    CHECK_FALSE(failure.log().empty());
    return failure.what();
  }
  FAIL("compiled");
  return {};
}

LIBTUNE_DEVICE_TEST_CASE("a kernel compiles with its macros and runs", device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  auto kernel = tune::compile(context, add_one, tune::defines().add("wgs", 4).add("type", "int"))
                    .create_kernel("add_one");
  const tune::buffer data = context.create_buffer(8 * sizeof(int));
  const std::vector<int> before{0, 1, 2, 3, 4, 5, 6, 7};
  queue.write(data, before.data(), before.size() * sizeof(int));
  kernel.set_arguments(data);
  queue.enqueue(kernel, {{8}, {4}});
  std::vector<int> after(8);
  queue.read(data, after.data(), after.size() * sizeof(int));
  CHECK(after == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
}

LIBTUNE_DEVICE_TEST_CASE("a compile error shows the log, the line, the device and the macros",
                         device) {
  const std::string text =
      failure_text(device.create_context(), tune::defines().add("wgs", 64).add("rows", 2));
  CAPTURE(text);
  CHECK(text.find("'broken.kernel' does not compile: broken.kernel:2:") == 0);
  CHECK(text.find(": error: expected") < text.find('\n'));
  CHECK(text.find("\nfor device '" + device.name() + "'") != std::string::npos);
  CHECK(text.find("with wgs=64, rows=2") != std::string::npos);
  CHECK(text.find("broken.kernel:2:   data[0] = ;") != std::string::npos);
  CHECK(text.find("compiler log:") != std::string::npos);
}

LIBTUNE_DEVICE_TEST_CASE("another compiler can be given, and flags reach it", device) {
  const recording_compiler recorder;
  tune::compile(device.create_context(), add_one,
                tune::defines().add("wgs", 4).add("type", "float"),
                {.flags = {"-DUNUSED=1"}, .compiler = &recorder});
  REQUIRE(recorder.seen.size() == 1);
  const tune::program_source& source = recorder.seen.front();
  CHECK(source.name == "add_one.kernel");
  CHECK(source.options == std::vector<std::string>{"-DUNUSED=1"});
  CHECK(source.text.find("#define wgs 4\n#define type float\n#line 1 \"add_one.kernel\"\n") !=
        std::string::npos);
}

LIBTUNE_DEVICE_TEST_CASE("lines of a kernel that includes others are counted as in its own file",
                         device) {
  const tune::kernel_source source{"includes.kernel",
                                   "// sums\n#include \"libtune/work_group_reduce.kernel\"\n"
                                   "KERNEL void f(GLOBAL int* data) {\n  data[0] = wrong;\n}\n"};
  const std::string text = failure_text(device.create_context(), {}, source);
  CAPTURE(text);
  CHECK(text.find("\n  includes.kernel:4:   data[0] = wrong;\n") != std::string::npos);
}

LIBTUNE_DEVICE_TEST_CASE("an error within an included text shows that text's line", device) {
  const tune::kernel_source source{"includes.kernel",
                                   "#include \"libtune/transpose_tile.kernel\"\n"
                                   "KERNEL void f(GLOBAL int* data) { data[0] = 1; }\n"};
  const std::string text =
      failure_text(device.create_context(), tune::defines().add("diagonal_tile_row", "4"), source);
  CAPTURE(text);
  CHECK(text.find("\n  libtune/transpose_tile.kernel:") != std::string::npos);
  CHECK(text.find(": DEVICE_FN uint diagonal_tile_row(") != std::string::npos);
  CHECK(text.find("\n  includes.kernel:") == std::string::npos);
}

LIBTUNE_DEVICE_TEST_CASE("a compiler gets text that includes nothing from libtune", device) {
  const recording_compiler recorder;
  tune::compile(device.create_context(),
                {"includes.kernel",
                 "#include \"libtune/work_group_reduce.kernel\"\n"
                 "KERNEL void f(GLOBAL int* data) { data[0] = 1; }\n"},
                {}, {.flags = {}, .compiler = &recorder});
  REQUIRE(recorder.seen.size() == 1);
  CHECK(recorder.seen.front().text.find("#include") == std::string::npos);
  CHECK(recorder.seen.front().text.find("#define WORK_GROUP_REDUCE") != std::string::npos);
}

}  // namespace compile_test
