// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/cuda/nvrtc.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/compile/defines.hpp"
#include "libtune/compile/preamble.hpp"
#include "libtune/cuda/cubin.hpp"
#include "tests/cuda/fake_machine.hpp"

namespace {

using tune::compute_capability;

constexpr compute_capability architectures[] = {{7, 5}, {8, 0}, {8, 6}, {8, 9}, {9, 0}, {10, 0}};

/// A kernel file of the tree with macros that it can be compiled with.
struct sample {
  const char* path;
  tune::defines macros;
};

const sample samples[] = {{"examples/diffusion/naive.kernel",
                           tune::defines().add("block_size_x", 32).add("block_size_y", 8)},
                          {"examples/diffusion/shared.kernel",
                           tune::defines().add("block_size_x", 32).add("block_size_y", 8)},
                          {"examples/diffusion/tiled.kernel", tune::defines()
                                                                  .add("block_size_x", 16)
                                                                  .add("block_size_y", 16)
                                                                  .add("tile_size_x", 2)
                                                                  .add("tile_size_y", 4)},
                          {"libtune/device/fill.kernel", {}},
                          {"libtune/testing/conformance.kernel",
                           tune::defines().add("factor", 3).add("reverse_group", 32)}};

// The kernels of the tree, but for the preambles, which no compiler sees alone.
std::set<std::string> kernels_of_the_tree() {
  const std::filesystem::path top = LIBTUNE_SOURCE_DIR;
  std::set<std::string> paths;
  for (const char* folder : {"libtune", "operations", "examples"}) {
    if (!std::filesystem::exists(top / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top / folder)) {
      const std::string path = entry.path().lexically_relative(top).generic_string();
      if (path.ends_with(".kernel") && path.find("/preamble.") == std::string::npos) {
        paths.insert(path);
      }
    }
  }
  return paths;
}

std::string read_file(const std::string& path) {
  std::ifstream file(std::string(LIBTUNE_SOURCE_DIR "/") + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

tune::program_source with_preamble(const std::string& name, const std::string& text,
                                   const tune::defines& macros = {}) {
  return {.name = name,
          .text = std::string(tune::preamble(tune::kernel_language::cuda_cpp)) + "\n" +
                  macros.text() + "#line 1 \"" + name + "\"\n" + text,
          .options = {}};
}

std::string log_of(const tune::program_source& source) {
  try {
    fake_cuda::compiler().compile_to_cubin(source, {9, 0});
  } catch (const tune::build_error& failure) {
    CHECK(std::string(failure.what()).find(failure.log()) != std::string::npos);
    return failure.log();
  }
  return {};
}

}  // namespace

TEST_CASE("every kernel of the tree compiles for every architecture from sm_75 to sm_100") {
  std::set<std::string> paths;
  for (const sample& item : samples) paths.insert(item.path);
  CHECK(paths == kernels_of_the_tree());
  if (!fake_cuda::has_compiler()) return;
  for (const sample& item : samples) {
    const std::string text = read_file(item.path);
    REQUIRE_FALSE(text.empty());
    for (const compute_capability& architecture : architectures) {
      CAPTURE(item.path);
      CAPTURE(architecture.major);
      CAPTURE(architecture.minor);
      const auto cubin = fake_cuda::compiler().compile_to_cubin(
          with_preamble(item.path, text, item.macros), architecture);
      CHECK(tune::cuda::is_complete_cubin(cubin));
    }
  }
}

TEST_CASE("vector types, all the types of the dialect and its functions compile") {
  if (!fake_cuda::has_compiler()) return;
  const std::string text = R"(
DEVICE_FN float4 twice(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }
KERNEL REQD_WORK_GROUP_SIZE(64, 1, 1)
void mix(GLOBAL float4* RESTRICT a, GLOBAL const double2* b, uchar c, ushort d, uint e, ulong f) {
  LOCAL_DECL float2 tile[64];
  tile[get_local_id(0)] = make_float2(c + d, e + f);
  BARRIER();
  const size_t i = get_global_id(0);
  a[i] = twice(a[i]);
  a[i].x += tile[63 - get_local_id(0)].y + b[i].x + get_global_size(0) + get_num_groups(1);
})";
  CHECK_NOTHROW(fake_cuda::compiler().compile_to_cubin(with_preamble("mix.kernel", text), {9, 0}));
}

TEST_CASE("the kernel of the README's example compiles") {
  if (!fake_cuda::has_compiler()) return;
  const tune::program_source source =
      with_preamble("multiply.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1) void multiply(GLOBAL type* data, type scale) {
  data[get_global_id(0)] *= scale;
})",
                    tune::defines().add("wgs", 64).add("type", "double"));
  for (const compute_capability& architecture : architectures) {
    CHECK_NOTHROW(fake_cuda::compiler().compile_to_cubin(source, architecture));
  }
}

TEST_CASE("a long is 64 bits wide") {
  if (!fake_cuda::has_compiler()) return;
  const std::string text = "static_assert(sizeof(long) == 8 && sizeof(ulong) == 8, \"\");\n";
  CHECK_NOTHROW(fake_cuda::compiler().compile_to_cubin(with_preamble("long.kernel", text), {8, 0}));
}

TEST_CASE("what does not compile says where") {
  if (!fake_cuda::has_compiler()) return;
  const std::string log = log_of(with_preamble("bad.kernel", "KERNEL void f() {\n  oops;\n}\n"));
  CHECK(log.find("bad.kernel(2)") != std::string::npos);
  CHECK(log.find("oops") != std::string::npos);
}

TEST_CASE("an option that the compiler does not know is an error that names it") {
  if (!fake_cuda::has_compiler()) return;
  tune::program_source source = with_preamble("fine.kernel", "KERNEL void f() {}\n");
  source.options = {"--no-such-option"};
  CHECK(log_of(source).find("--no-such-option") != std::string::npos);
  source.options = {"--minimal=false", "--use_fast_math", "-std=c++20"};
  CHECK(log_of(source) == "");
}

TEST_CASE("macros of options and include paths reach the compiler") {
  if (!fake_cuda::has_compiler()) return;
  tune::program_source source = with_preamble(
      "options.kernel", "#include \"conformance.kernel\"\nstatic_assert(extra == 4, \"\");\n",
      tune::defines().add("factor", 1).add("reverse_group", 8));
  source.options = {"-Dextra=4", "-I" LIBTUNE_SOURCE_DIR "/libtune/testing"};
  CHECK(log_of(source) == "");
}

TEST_CASE("a kernel that needs more than the minimal language gets it") {
  if (!fake_cuda::has_compiler()) return;
  const std::string text =
      "KERNEL void f(cudaTextureObject_t t, GLOBAL float* a) {\n"
      "  a[0] = tex1Dfetch<float>(t, 0);\n}\n";
  CHECK(log_of(with_preamble("texture.kernel", text)) == "");
}

TEST_CASE("code is made for the device, or what is newest of what it runs") {
  if (!fake_cuda::has_compiler()) return;
  CHECK(fake_cuda::compiler().architecture_for({9, 0}) == "sm_90");
  CHECK(fake_cuda::compiler().architecture_for({8, 9}) == "sm_89");
  CHECK(fake_cuda::compiler().architecture_for({9, 9}) == "sm_90");
  CHECK(fake_cuda::compiler().architecture_for({77, 0}) == "sm_770");
}

TEST_CASE("a compiler is ready with its version, or says why it is not") {
  const tune::cuda::nvrtc& compiler = fake_cuda::compiler();
  CHECK(compiler.absence().empty() == (compiler.version() >= 12000));
}
