// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/nvrtc.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/cubin.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/kernel/kernel_source.hpp"
#include "libtune/kernel/preamble.hpp"
#include "tests/device/cuda/fake_machine.hpp"
#include "tests/kernel/library_kernels.hpp"
#include "tests/kernel/ranking_kernels.hpp"
#include "tests/testing/long_run.hpp"

namespace {

using tune::compute_capability;

// The oldest, the newest, and those from which on kernels have other text.
constexpr compute_capability architectures[] = {{7, 5}, {8, 0}, {9, 0}, {10, 0}};

/// The architectures that one of the kernels is compiled for: all in a long run; else one, a
/// different one for the next kernel.
std::vector<compute_capability> architectures_of(std::size_t kernel) {
  if (tune::testing::is_long_run()) return {std::begin(architectures), std::end(architectures)};
  return {architectures[kernel % std::size(architectures)]};
}

/// The kernel files that others of rfi2d come after.
constexpr const char* rfi2d_samples = "operations/telescope/rfi2d/rfi2d_samples.kernel";
constexpr const char* rfi2d_medians =
    "operations/telescope/rfi2d/rfi2d_samples.kernel "
    "operations/telescope/rfi2d/rfi2d_median.kernel";

/// The functions of dither.kernel that the kernels after it call.
constexpr const char* dither_helpers =
    "#define PACK2(a, b) ((a) + (b))\n#define PACK4(a, b, c, d) ((a) + (b) + (c) + (d))\n"
    "DEVICE_FN float2 times(float2 a, float2 b) { return a * b; }\n"
    "DEVICE_FN float2 half_turns(float x) { return make_float2(x, x); }\n"
    "DEVICE_FN uint4 dither_words(uint4 counter, uint8 low, uint8 high) { return counter; }\n"
    "DEVICE_FN float2 dither_of(uint word) { return make_float2(word, word); }\n"
    "DEVICE_FN uint rounded(float value) { return as_uint(value); }\n"
    "DEVICE_FN float2 clamped(float2 value) { return value; }\n";
/// The parts of packed_samples.kernel that the kernels after it use.
constexpr const char* packed_samples =
    "typedef const uint* packed_row;\n"
    "DEVICE_FN packed_row row_from(const uint* row, ulong words, ulong sample) {\n"
    "  return row + sample;\n"
    "}\n"
    "#define LOAD_PACKED(n, aligned, row, sample) const uint* const aligned = (row) + (sample);\n"
    "DEVICE_FN float packed_float(const uint* aligned, uint i) { return (float)aligned[i]; }\n"
    "DEVICE_FN int packed_int(const uint* aligned, uint i) { return (int)aligned[i]; }\n";

/// A kernel file of the tree, with the macros, and the text or kernel files before it, that it can
/// be compiled with.
struct sample {
  const char* path;
  std::vector<std::pair<const char*, int>> macros = {};
  const char* preface = "";
  std::vector<compute_capability> only = {};  // empty: all
  std::vector<std::string> options = {};
};

/// A tuning of rfi2d, of complex samples.
const std::vector<std::pair<const char*, int>> of_rfi2d{
    {"wgsx", 32},   {"wgsy", 4},    {"select_x", 16}, {"select_y", 16}, {"bits", 6},
    {"line_x", 16}, {"line_y", 16}, {"together", 2},  {"held", 4},      {"is_complex", 1}};

/// The kernel files that those for tensor cores come after.
constexpr const char* gemm_for_tensors =
    "operations/gemm/gemm.kernel operations/gemm/gemm_tensor.kernel "
    "operations/gemm/gemm_pairs.kernel";
constexpr const char* gemm_for_words =
    "operations/gemm/gemm.kernel operations/gemm/gemm_words.kernel";
constexpr const char* gemm_for_tf32 =
    "operations/gemm/gemm.kernel operations/gemm/gemm_words.kernel "
    "operations/gemm/gemm_pairs.kernel";

/// A tuning of gemm for an instruction: 0 plain, 1 mma, 2 wgmma, 3 tf32x3, 4 tf32; of float16 or
/// float32.
std::vector<std::pair<const char*, int>> macros_of_gemm(int instruction, bool is_half = true) {
  const int tile = instruction == 0 ? 32 : 64;
  const int part = std::array{4, 32, 64, 32, 32}.at(static_cast<std::size_t>(instruction));
  return {{"instruction", instruction},
          {"tile_m", tile},
          {"tile_n", tile},
          {"part_m", part},
          {"part_n", part},
          {"depth", std::array{8, 64, 64, 16, 32}.at(static_cast<std::size_t>(instruction))},
          {"stages", 2},
          {"resident", 2},
          {"band", 8},
          {"a_along_k", 1},
          {"b_along_k", 0},
          {"half_input", is_half ? 1 : 0},
          {"half_output", is_half ? 1 : 0}};
}

const sample samples[] = {
    {"examples/diffusion/naive.kernel", {{"block_size_x", 32}, {"block_size_y", 8}}},
    {"examples/diffusion/shared.kernel", {{"block_size_x", 32}, {"block_size_y", 8}}},
    {"examples/diffusion/tiled.kernel",
     {{"block_size_x", 16}, {"block_size_y", 16}, {"tile_size_x", 2}, {"tile_size_y", 4}}},
    {"examples/receiver/magnitude.kernel", {{"wgs", 64}}},
    {"examples/sonar/sonar.kernel",
     {{"block_size_x", 64},
      {"per_item", 2},
      {"length", 1024},
      {"hydrophones", 16},
      {"blocks", 4},
      {"threshold", 40}}},
    {"examples/poison/square_root.kernel",
     {{"work_group", 64},
      {"needless_rounds", 1},
      {"endless_loop", 1},
      {"device_fault", 2},
      {"wrong_result", 3},
      {"compiler_error", 4},
      {"MISBEHAVES", 1}}},
    {"examples/sequence/scale.kernel", {{"wgs", 64}}},
    {"examples/sequence/window_sum.kernel", {{"wgs", 64}, {"window", 8}}},
    {"examples/tutorial/convolution.kernel",
     {{"FILTER_SIZE", 17}, {"block_size_x", 32}, {"block_size_y", 4}, {"tile_size_x", 2}}},
    {"examples/verification/convolution.kernel",
     {{"block_size_x", 32},
      {"block_size_y", 4},
      {"tile_size_x", 2},
      {"tile_size_y", 2},
      {"write_out", 1},
      {"missing_columns", 0},
      {"FILTER_SIZE", 3}},
     "__constant__ float weights[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"},
    {"examples/verification/naive.kernel",
     {{"FILTER_SIZE", 3}},
     "__constant__ float weights[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"},
    {"examples/verification/partial_sums.kernel", {{"block_size", 64}, {"vector", 2}}},
    {"libtune/kernel/complex_magnitude.kernel"},
    {"libtune/kernel/transpose_tile.kernel"},
    {"libtune/kernel/work_group_rank.kernel"},
    {"libtune/kernel/work_group_reduce.kernel"},
    {"libtune/kernel/work_group_scan.kernel"},
    {"libtune/kernel/work_group_select.kernel"},
    {"libtune/device/fill.kernel"},
    {"tests/conformance/conformance.kernel", {{"factor", 3}, {"reverse_group", 32}}},
    {"libtune/measure/peak_arithmetic.kernel",
     {{"chain_count", 16}},
     "#define element float\n#define number float\n"},
    {"libtune/measure/peak_arithmetic.kernel",
     {{"chain_count", 16}, {"packed_halves", 1}},
     "#define element half\n#define number uint\n"},
    {"libtune/measure/peak_memory.kernel"},
    {"libtune/measure/peak_tensor.kernel", {{"tensor", 1}, {"uses_wgmma", 0}}, "", {{8, 0}}},
    {"libtune/measure/peak_tensor.kernel", {{"tensor", 2}, {"uses_wgmma", 0}}, "", {{8, 0}}},
    {"libtune/measure/peak_tensor.kernel", {{"tensor", 3}, {"uses_wgmma", 0}}, "", {{8, 0}}},
    {"libtune/measure/peak_tensor.kernel",
     {{"tensor", 1}, {"uses_wgmma", 1}},
     "",
     {{9, 0}},
     {"--gpu-architecture=sm_90a"}},
    {"libtune/measure/peak_tensor.kernel",
     {{"tensor", 2}, {"uses_wgmma", 1}},
     "",
     {{9, 0}},
     {"--gpu-architecture=sm_90a"}},
    {"libtune/measure/peak_tensor.kernel",
     {{"tensor", 3}, {"uses_wgmma", 1}},
     "",
     {{9, 0}},
     {"--gpu-architecture=sm_90a"}},
    {"libtune/verify/count_differences.kernel", {{"wgs", 64}}, "#define complex_part float\n"},
    {"libtune/verify/digest_words.kernel", {{"wgs", 64}}, "#define word uint\n"},
    {"libtune/verify/measure_errors.kernel",
     {{"wgs", 64}, {"parts", 2}},
     "#define complex_part float\n#define word uint\n#define sign_bit 0x80000000u\n"},
    {"operations/telescope/correlate/correlate.kernel",
     {{"instruction", 0},
      {"tile_m", 1},
      {"tile_n", 1},
      {"warps", 1},
      {"steps", 1},
      {"stages", 2},
      {"resident", 1},
      {"slack", 0},
      {"prepares", 0},
      {"atomics", 0},
      {"waves", 1},
      {"antennas", 8},
      {"spectra", 32},
      {"bits", 8}},
     "#define GROUPS 1\n#define WARPS 1\n#define SLOTS 8\nCONSTANT_DECL uint tile_blocks[] = {0};\n"
     "CONSTANT_DECL uint tile_slots[] = {0};\nCONSTANT_DECL uint staged_blocks[] = {0};\n"
     "CONSTANT_DECL uint staged_counts[] = {1};\n"},
    {"operations/telescope/correlate/correlate_reduce.kernel", {{"wgs", 64}, {"items", 2}}},
    {"operations/telescope/ddc/ddc.kernel",
     {{"taps", 32},
      {"subsampling", 4},
      {"bits", 10},
      {"wgs", 64},
      {"outputs", 4},
      {"tensor", 0},
      {"staged_phases", 4}},
     packed_samples},
    {"operations/fft/backend/strided_copy.kernel",
     {},
     "#define AXES 2\ntypedef uint index_type;\ntypedef float from_type;\ntypedef float to_type;\n"
     "#define CONVERT(to, i, from, j) (to)[i] = (from)[j]\n"},
    {"operations/fft/backend/vkfft_cuda.kernel",
     {},
     "#define LIBTUNE_INDEX uint\n#define LIBTUNE_FIRST_AXIS 0\n"},
    {"operations/fft/backend/real_by_complex.kernel",
     {},
     "typedef float real;\ntypedef float2 pair;\n"},
    {"operations/telescope/beamform/beamform.kernel",
     {{"beams", 8},
      {"has_dither", 1},
      {"most", 127},
      {"tensor", 0},
      {"wgs", 128},
      {"vector", 4},
      {"antennas_of_step", 32},
      {"unroll", 4},
      {"parts", 1}},
     dither_helpers},
    {"operations/fill/fill.kernel",
     {{"wgs", 64}, {"items", 2}},
     "typedef uint element;\ntypedef uint4 word;\n"},
    {"operations/gemm/gemm.kernel", macros_of_gemm(0)},
    {"operations/gemm/gemm_words.kernel", macros_of_gemm(0), "operations/gemm/gemm.kernel"},
    {"operations/gemm/gemm_pairs.kernel",
     macros_of_gemm(1),
     "operations/gemm/gemm.kernel",
     {{8, 0}}},
    {"operations/gemm/gemm_plain.kernel", macros_of_gemm(0), gemm_for_words},
    {"operations/gemm/gemm_plain.kernel", macros_of_gemm(0, false), gemm_for_words},
    {"operations/gemm/gemm_tf32.kernel",
     macros_of_gemm(3, false),
     gemm_for_tf32,
     {{8, 0}, {9, 0}, {10, 0}}},
    {"operations/gemm/gemm_tf32.kernel",
     macros_of_gemm(4, false),
     gemm_for_tf32,
     {{8, 0}, {9, 0}, {10, 0}}},
    {"operations/gemm/gemm_tensor.kernel",
     macros_of_gemm(1),
     "operations/gemm/gemm.kernel",
     {{8, 0}}},
    {"operations/gemm/gemm_mma.kernel",
     macros_of_gemm(1),
     gemm_for_tensors,
     {{8, 0}, {9, 0}, {10, 0}}},
    {"operations/gemm/gemm_wgmma.kernel",
     macros_of_gemm(2),
     gemm_for_tensors,
     {{9, 0}},
     {"--gpu-architecture=sm_90a"}},
    {"operations/hreduce/hreduce.kernel",
     {{"wgsx", 96}, {"wgsy", 2}, {"vector", 4}, {"items", 2}},
     "typedef float element;\ntypedef float value;\ntypedef float4 word;\n"
     "#define IDENTITY 0\n#define LOAD(p, i) ((p)[i])\n#define STORE(v, p, i) ((p)[i] = (v))\n"
     "DEVICE_FN value combine(value a, value b) { return a + b; }\n"},
    {"operations/maskedsum/maskedsum.kernel",
     {{"use_amplitudes", 1}, {"wgsx", 64}, {"wgsy", 4}, {"vector", 2}, {"items", 4}}},
    {"operations/percentile5/percentile5.kernel",
     {{"is_amplitude", 1},
      {"size", 128},
      {"rows", 2},
      {"vector", 4},
      {"bins", 512},
      {"pass_bits", 0},
      {"items", 16}}},
    {"operations/telescope/quantise/dither.kernel", {{"most", 127}}},
    {"operations/telescope/quantise/quantise.kernel",
     {{"real", 1},
      {"unzip", 4},
      {"bits", 8},
      {"has_dither", 1},
      {"fixed_channels", 0},
      {"most", 127},
      {"width", 16},
      {"height", 4},
      {"spectra_of_tile", 32},
      {"together", 1},
      {"ahead", 2},
      {"resident_groups", 2}},
     dither_helpers},
    {"operations/telescope/pfb/pfb.kernel",
     {{"taps", 4}, {"bits", 0}, {"unzip", 4}, {"wgs", 64}, {"adjacent", 4}, {"wide", 1}}},
    {"operations/telescope/rfi/background.kernel",
     {{"width", 3},
      {"windows", 1},
      {"wgs", 64},
      {"tiled", 0},
      {"is_amplitude", 1},
      {"flag_use", 0},
      {"order", 1}},
     "typedef float sample;\n"
     "DEVICE_FN void find_medians(const float* window, float* middle) {}\n"
     "DEVICE_FN void find_neighbours(const float* window, float* lower, float* middle,\n"
     "                               float* upper) {}\n"},
    {"operations/telescope/rfi/noise_estimate.kernel",
     {{"wgsx", 64}, {"wgsy", 1}, {"order", 1}, {"held", 8}, {"listed", 64}}},
    {"operations/telescope/rfi/threshold_simple.kernel",
     {{"wgsx", 32}, {"wgsy", 4}, {"vector", 8}, {"items", 2}, {"order", 0}}},
    {"operations/telescope/rfi/threshold_sum.kernel",
     {{"n_windows", 4}, {"order", 0}, {"wgsy", 4}, {"turns", 4}, {"run", 16}}},
    {"operations/telescope/rfi2d/rfi2d_background.kernel", of_rfi2d, rfi2d_samples},
    {"operations/telescope/rfi2d/rfi2d_median.kernel", of_rfi2d, rfi2d_samples},
    {"operations/telescope/rfi2d/rfi2d_samples.kernel", of_rfi2d},
    {"operations/telescope/rfi2d/rfi2d_threshold.kernel", of_rfi2d, rfi2d_medians},
    {"operations/transpose/transpose.kernel",
     {{"block_x", 16}, {"block_y", 8}, {"tile", 32}, {"vector", 4}, {"walk", 1}},
     "typedef ushort element;\ntypedef ushort4 word;\n"},
    {"operations/telescope/unpack/packed_samples.kernel", {{"bits", 10}}},
    {"operations/telescope/unpack/unpack.kernel",
     {{"bits", 10}, {"is_float", 1}, {"wgs", 64}, {"adjacent", 4}, {"rounds", 2}},
     packed_samples}};

tune::defines defines_of(const sample& item) {
  tune::defines defines;
  for (const auto& [name, value] : item.macros) defines.add(name, value);
  return defines;
}

// The kernels of the tree, but for the preambles, which no compiler sees alone.
std::set<std::string> kernels_of_the_tree() {
  const std::filesystem::path top = LIBTUNE_SOURCE_DIR;
  std::set<std::string> paths;
  for (const char* folder : {"libtune", "operations", "examples", "tests/conformance"}) {
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
                  macros.text() + tune::include_kernel_library({name, text}).text,
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

COMPILER_TEST_CASE("the compiler's built-in functions are loaded with it, before a compilation") {
  // The first case, because a compilation loads them too, where the system's search finds them.
  const int version = fake_cuda::compiler().version();
  const std::string name =
      fmt::format("libnvrtc-builtins.so.{}.{}", version / 1000, version % 1000 / 10);
  void* const loaded = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE_MESSAGE(loaded != nullptr, ::dlerror());
  ::dlclose(loaded);
}

TEST_CASE("every kernel of the tree compiles for architectures from sm_75 to sm_100") {
  std::set<std::string> paths;
  for (const sample& item : samples) paths.insert(item.path);
  CHECK(paths == kernels_of_the_tree());
  if (!fake_cuda::has_compiler()) return;
  std::size_t kernel = 0;
  for (const sample& item : samples) {
    std::string before = item.preface;
    if (before.ends_with(".kernel")) {
      std::istringstream paths_before(before);
      before.clear();
      for (std::string path; paths_before >> path;) before += read_file(path);
    }
    const std::string text = before + read_file(item.path);
    REQUIRE_FALSE(read_file(item.path).empty());
    for (const compute_capability& architecture :
         item.only.empty() ? architectures_of(kernel++) : item.only) {
      CAPTURE(item.path);
      CAPTURE(architecture.major);
      CAPTURE(architecture.minor);
      tune::program_source source = with_preamble(item.path, text, defines_of(item));
      source.options = item.options;
      const auto cubin = fake_cuda::compiler().compile_to_cubin(source, architecture);
      CHECK(tune::cuda::is_complete_cubin(cubin));
    }
  }
}

COMPILER_TEST_CASE("kernels that use the library compile for architectures from sm_75 on") {
  std::size_t kernel = 0;
  for (const tune::kernel_source& source :
       {library_kernels::types(), library_kernels::repeats(), library_kernels::transposes(),
        library_kernels::tiles(), library_kernels::storage(), library_kernels::words(),
        library_kernels::rankings(), library_kernels::scans()}) {
    for (const compute_capability& architecture : architectures_of(kernel++)) {
      CAPTURE(source.name);
      CAPTURE(architecture.major);
      CAPTURE(architecture.minor);
      const auto cubin = fake_cuda::compiler().compile_to_cubin(
          with_preamble(source.name, source.text, tune::defines().add("words_rounds", 4)),
          architecture);
      CHECK(tune::cuda::is_complete_cubin(cubin));
    }
  }
}

COMPILER_TEST_CASE("vectors of every type and width compile") {
  const tune::kernel_source source = library_kernels::vectors();
  CHECK(log_of(with_preamble(source.name, source.text)) == "");
}

COMPILER_TEST_CASE("every variant of a reduction compiles") {
  const tune::kernel_source source = library_kernels::reductions();
  CHECK(log_of(with_preamble(source.name, source.text)) == "");
}

COMPILER_TEST_CASE("a set that is reduced by shuffles alone takes no local memory") {
  for (const int size : {1, 2, 4, 8, 16, 32}) {
    const std::string text = library_kernels::replaced(R"(
#include "libtune/work_group_reduce.kernel"
WORK_GROUP_REDUCE(sum, double, @, a + b)
KERNEL REQD_WORK_GROUP_SIZE(@, 4, 1) void f(GLOBAL double* data) {
  static_assert(!sum_needs_scratch, "");
  data[get_global_id(0)] = sum(data[get_global_id(0)], get_local_id(0), 0);
})",
                                                       "@", std::to_string(size));
    CHECK(log_of(with_preamble("shuffles.kernel", text)) == "");
  }
}

COMPILER_TEST_CASE("a kernel that uses the library compiles with no warning but its own") {
  const std::string text = library_kernels::types().text + library_kernels::tiles().text +
                           "#define words_rounds 4\n" + library_kernels::words().text;
  const std::string log = log_of(with_preamble("bad.kernel", text + "KERNEL void f() { oops; }\n"));
  CHECK(log.find("oops") != std::string::npos);
  CAPTURE(log);
  CHECK(log.find("warning") == std::string::npos);
}

COMPILER_TEST_CASE("vector types, all the types of the dialect and its functions compile") {
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

COMPILER_TEST_CASE("the kernel of the README's example compiles") {
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

COMPILER_TEST_CASE("a long is 64 bits wide") {
  const std::string text = "static_assert(sizeof(long) == 8 && sizeof(ulong) == 8, \"\");\n";
  CHECK_NOTHROW(fake_cuda::compiler().compile_to_cubin(with_preamble("long.kernel", text), {8, 0}));
}

COMPILER_TEST_CASE("what does not compile says where") {
  const std::string log = log_of(with_preamble("bad.kernel", "KERNEL void f() {\n  oops;\n}\n"));
  CHECK(log.find("bad.kernel(2)") != std::string::npos);
  CHECK(log.find("oops") != std::string::npos);
}

COMPILER_TEST_CASE("what does not compile says where, also after an include and within one") {
  const std::string text =
      "#include \"libtune/transpose_tile.kernel\"\nKERNEL void f() {\n  oops;\n}\n";
  CHECK(log_of(with_preamble("bad.kernel", text)).find("bad.kernel(3)") != std::string::npos);
  const std::string log = log_of(with_preamble(
      "fine.kernel", "#include \"libtune/transpose_tile.kernel\"\nKERNEL void f() {}\n",
      tune::defines().add("diagonal_tile_row", "4")));
  CHECK(log.find("libtune/transpose_tile.kernel(") != std::string::npos);
  CHECK(log.find("fine.kernel(") == std::string::npos);
}

COMPILER_TEST_CASE("an option that the compiler does not know is an error that names it") {
  tune::program_source source = with_preamble("fine.kernel", "KERNEL void f() {}\n");
  source.options = {"--no-such-option"};
  CHECK(log_of(source).find("--no-such-option") != std::string::npos);
  source.options = {"--minimal=false", "--use_fast_math", "-std=c++20"};
  CHECK(log_of(source) == "");
}

COMPILER_TEST_CASE("macros of options and include paths reach the compiler") {
  tune::program_source source = with_preamble(
      "options.kernel", "#include \"conformance.kernel\"\nstatic_assert(extra == 4, \"\");\n",
      tune::defines().add("factor", 1).add("reverse_group", 8));
  source.options = {"-Dextra=4", "-I" LIBTUNE_SOURCE_DIR "/tests/conformance"};
  CHECK(log_of(source) == "");
}

COMPILER_TEST_CASE("a kernel that needs more than the minimal language gets it") {
  const std::string text =
      "KERNEL void f(cudaTextureObject_t t, GLOBAL float* a) {\n"
      "  a[0] = tex1Dfetch<float>(t, 0);\n}\n";
  CHECK(log_of(with_preamble("texture.kernel", text)) == "");
}

COMPILER_TEST_CASE("code is made for the device, or what is newest of what it runs") {
  CHECK(fake_cuda::compiler().architecture_for({9, 0}) == "sm_90");
  CHECK(fake_cuda::compiler().architecture_for({8, 9}) == "sm_89");
  CHECK(fake_cuda::compiler().architecture_for({9, 9}) == "sm_90");
  CHECK(fake_cuda::compiler().architecture_for({77, 0}) == "sm_770");
}

TEST_CASE("a compiler is ready with its version, or says why it is not") {
  const tune::cuda::nvrtc& compiler = fake_cuda::compiler();
  CHECK(compiler.absence().empty() == (compiler.version() >= 12000));
}
