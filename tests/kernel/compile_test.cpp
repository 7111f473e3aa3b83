// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compile.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/kernel/build_log.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/kernel/library_kernels.hpp"

namespace compile_test {

using lines = std::vector<std::size_t>;

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

const tune::kernel_source scale{"scale.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 2, 1) void scale(GLOBAL float4* data, float factor) {
  data[get_global_id(0)] *= factor;
})"};

const tune::defines macros = tune::defines().add("wgs", 64);

/// Whether kernels can be compiled for CUDA; else the test case is skipped.
bool has_cuda() {
  try {
    return !tune::compile_targets("cuda sm_90").empty();
  } catch (const tune::no_device_error& absent) {
    tune::testing::skip(absent.what());
    return false;
  }
}

std::string complaint(const tune::kernel_source& source, const tune::defines& with,
                      const std::string& target) {
  try {
    tune::check_compiles(source, with, target);
  } catch (const tune::build_error& failure) {
    return failure.what();
  }
  return {};
}

LIBTUNE_DEVICE_TEST_CASE("a text in the language of other devices is named as such", device) {
  const bool is_cuda = device.info().language == tune::kernel_language::cuda_cpp;
  const tune::kernel_source other{"other.kernel",
                                  is_cuda ? "__kernel void f() {}\n" : "__global__ void f() {}\n"};
  CHECK_THROWS_WITH_AS(
      tune::compile(device.create_context(), other, {}),
      doctest::Contains(is_cuda ? "(the text is OpenCL C, and this device compiles CUDA C++)"
                                : "(the text is CUDA C++, and this device compiles OpenCL C)"),
      tune::build_error);
}

TEST_CASE("a kernel is checked for CUDA without a GPU") {
  if (!has_cuda()) return;
  CHECK(complaint(scale, macros, "cuda sm_90").empty());
  CHECK(complaint(scale, macros, "cuda sm_75").empty());
  CHECK(complaint(scale, macros, "cuda").empty());
  const std::string text =
      complaint({"bad.kernel", "KERNEL void f() {\n  oops;\n}\n"}, macros, "cuda sm_90");
  CAPTURE(text);
  CHECK(text.find("'bad.kernel' does not compile: bad.kernel:2: error: ") == 0);
  CHECK(text.find("with wgs=64") != std::string::npos);
  CHECK(complaint({"c.kernel", "__kernel void f() {}\n"}, macros, "cuda sm_90")
            .find("the text is OpenCL C") != std::string::npos);
}

TEST_CASE("a kernel is checked for what the generation lacks") {
  if (!has_cuda()) return;
  const tune::kernel_source late{"late.kernel",
                                 "#if __CUDA_ARCH__ < 900\n#error too early\n#endif\n"};
  CHECK(complaint(late, {}, "cuda sm_90").empty());
  CHECK(complaint(late, {}, "cuda sm_80").find("too early") != std::string::npos);
  CHECK_THROWS_AS(tune::compile_targets("cuda sm_99"), tune::no_device_error);
}

LIBTUNE_DEVICE_TEST_CASE("a kernel is checked for the OpenCL devices that there are", device) {
  if (device.info().backend != "OpenCL") return;
  CHECK(complaint(scale, macros, "opencl").empty());
  CHECK(complaint({"bad.kernel", "KERNEL void f() {\n  oops;\n}\n"}, macros, "opencl")
            .find("bad.kernel:2:") != std::string::npos);
}

TEST_CASE("a text that means no target is refused, with those that do") {
  for (const char* target :
       {"", "cuda ", "cuda sm_", "cuda 90", "cuda sm_9x", "opencl gpu", "hip"}) {
    CAPTURE(target);
    CHECK_THROWS_WITH_AS(tune::check_compiles(scale, macros, target),
                         doctest::Contains("\"cuda sm_90\""), tune::argument_error);
  }
}

TEST_CASE("a device to compile for has kernels, and says that it is not there") {
  if (!has_cuda()) return;
  const tune::context context = tune::compile_targets("cuda sm_90").front().create_context();
  const tune::program built = tune::compile(context, scale, macros);
  const tune::work_size required = built.create_kernel("scale").info().required_work_group_size;
  CHECK(required == tune::work_size{64, 2, 1});
  CHECK_FALSE(built.binary().empty());
  CHECK_NOTHROW(context.create_program_from_binary("scale", built.binary()));
  for (const std::function<void()>& call :
       {std::function<void()>([&] { built.create_kernel("x"); }),
        {[&] { context.create_buffer(4); }},
        {[&] { context.create_command_queue(); }}}) {
    CHECK_THROWS_WITH_AS(call(), doctest::Contains("only compiles"), tune::device_error);
  }
}

TEST_CASE("the words of the preambles compile everywhere, as a test of an application says it") {
  LIBTUNE_CHECK_COMPILES(library_kernels::words(), tune::defines().add("words_rounds", 2),
                         "cuda sm_90");
  LIBTUNE_CHECK_COMPILES(library_kernels::storage(), {}, "cuda sm_90");
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(tune::compile(context, scale, macros));
  });
}

/// A source that includes nothing.
tune::resolved_source plain(const std::string& text) {
  return {.text = tune::line_directive(1, "k") + text, .files = {{"k", text}}, .runs = {{2, 0}}};
}

TEST_CASE("lines are found in the manner of clang and of NVRTC") {
  CHECK(tune::lines_in_log("a.kernel", "a.kernel:12:3: error: no") == lines{12});
  CHECK(tune::lines_in_log("a.kernel", "a.kernel(7): error: no\n1 error") == lines{7});
}

TEST_CASE("each line is named once, in ascending order") {
  CHECK(tune::lines_in_log("k", "k:9:1: error\nk:2:1: note\nk:9:4: error") == lines{2, 9});
}

TEST_CASE("a log without the source's name, or without numbers, names no line") {
  CHECK(tune::lines_in_log("a.kernel", "b.kernel:1: error").empty());
  CHECK(tune::lines_in_log("a.kernel", "a.kernel: cannot be read, a.kernel:x, a.kernel").empty());
  CHECK(tune::lines_in_log("", "a:1").empty());
}

TEST_CASE("a file of a longer name is another file") {
  CHECK(tune::lines_in_log("k", "libtune/k:3: error, my_k:4:, a.k:5:, ak:6:, -k:8:").empty());
  CHECK(tune::lines_in_log("k", "'k:3: error\nk:4: error\n\"k(5) k:6") == lines{3, 4, 5, 6});
}

TEST_CASE("the source lines are quoted with their numbers") {
  const tune::resolved_source source = plain("one\ntwo\nthree");
  CHECK(tune::quote_source_lines(source, "k:3:1: bad, k:1:1: worse") ==
        "\n  k:1: one\n  k:3: three");
  CHECK(tune::quote_source_lines(source, "all is well").empty());
  CHECK(tune::quote_source_lines(source, "k:99: beyond the end") == "\n  k:99: ");
}

TEST_CASE("a compiler that ignores #line counts from the first line that it was given") {
  const tune::resolved_source source = plain("one\ntwo\nthree");
  CHECK(tune::quote_source_lines(source, "<kernel>:43:3: error: no", 40) == "\n  k:2: two");
  CHECK(tune::quote_source_lines(source, "<kernel>:7:3: error in the preamble", 40).empty());
}

TEST_CASE("a long list of lines is cut") {
  std::string text;
  std::string log;
  for (int i = 1; i <= 12; ++i) {
    text += "x\n";
    log += "k:" + std::to_string(i) + ": bad\n";
  }
  const std::string quoted = tune::quote_source_lines(plain(text), log);
  CHECK(quoted.find("k:10: x") != std::string::npos);
  CHECK(quoted.find("k:11:") == std::string::npos);
  CHECK(quoted.ends_with("\n  ..."));
}

TEST_CASE("lines of included files are quoted too, after the kernel's own") {
  const tune::resolved_source source{.text = "#line 1 \"lib/k\"\nx\ny\n#line 1 \"k\"\none\ntwo\n",
                                     .files = {{"k", "one\ntwo\n"}, {"lib/k", "x\ny\n"}},
                                     .runs = {{2, 1}, {5, 0}}};
  const std::string expected = "\n  k:2: two\n  lib/k:1: x";
  CHECK(tune::quote_source_lines(source, "lib/k(1): error\nk(2): error") == expected);
  CHECK(tune::quote_source_lines(source, "<kernel>:46:1: error\n<kernel>:42:1: note", 40) ==
        expected);
  CHECK(tune::quote_source_lines(source, "<kernel>:41:1: error", 40).empty());
}

TEST_CASE("the first error is the same text whichever compiler tells it") {
  const tune::resolved_source source = plain("one\ntwo\nthree");
  for (const char* log :
       {"k:2:5: error: expected ';'\nk:3:1: error: more\n2 errors generated.\n",
        "k:1:1: warning: unused [-Wunused]\nk:2:5: fatal error: expected ';'\n",
        "error: k:2:5: expected ';'\nerror: k:3:1: more\nDevice x failed to build the program\n",
        "<kernel>:43:5: error: expected ';'\n"}) {
    CAPTURE(log);
    CHECK(tune::first_error(source, log, 40) == "k:2:5: error: expected ';'");
  }
  CHECK(tune::first_error(source,
                          "k(1): warning #1-D: last line\n\nk(2): error: expected a \";\"\n    "
                          "oops\n    ^\n\n1 error detected in the compilation of \"k\".\n") ==
        "k:2: error: expected a \";\"");
  CHECK(tune::first_error(source, "k(2): error #20: unknown \"x\"\n") ==
        "k:2: error: unknown \"x\"");
}

TEST_CASE("an error without a place, or of another file, is shown as it is") {
  const tune::resolved_source source = plain("one\ntwo\nthree");
  CHECK(
      tune::first_error(source, "ptxas error   : Entry function 'f' uses too much shared data\n") ==
      "ptxas: error: Entry function 'f' uses too much shared data");
  CHECK(tune::first_error(source, "ptxas fatal   : Unresolved extern function 'g'\n") ==
        "ptxas: error: Unresolved extern function 'g'");
  CHECK(tune::first_error(source, "error: no room: left\n") == "error: no room: left");
  CHECK(tune::first_error(source, "<kernel>:7:3: error: in the preamble\n", 40) ==
        "<kernel>:7:3: error: in the preamble");
  CHECK(tune::first_error(source, "a/b.h:7:3: error: x\n") == "a/b.h:7:3: error: x");
}

TEST_CASE("a log without an error gives its first line, and nothing gives nothing") {
  const tune::resolved_source source = plain("one");
  CHECK(tune::first_error(source, "\n\nInvalid build option: -x\nmore\n") ==
        "Invalid build option: -x");
  CHECK(tune::first_error(source, "3 errors generated.") == "3 errors generated.");
  CHECK(tune::first_error(source, "").empty());
  CHECK(tune::first_error(source, "k:1:1: error: " + std::string(5000, 'x')).size() < 400);
}

}  // namespace compile_test
