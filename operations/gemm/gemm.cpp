// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/gemm/gemm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <utility>

#include "libtune/device/cuda/interop.hpp"
#include "libtune/device/cuda/tensor_map.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/tune/error.hpp"
#include "operations/gemm/gemm_costs.hpp"
#include "operations/gemm/gemm_space.hpp"
#include "operations/gemm/tuning/gemm_workload.hpp"
#include "operations/workload.hpp"

#include "gemm.kernel.hpp"
#include "gemm_mma.kernel.hpp"
#include "gemm_pairs.kernel.hpp"
#include "gemm_plain.kernel.hpp"
#include "gemm_tensor.kernel.hpp"
#include "gemm_tf32.kernel.hpp"
#include "gemm_wgmma.kernel.hpp"
#include "gemm_words.kernel.hpp"

namespace tune::operations {
namespace {

using layout = gemm_layout;

constexpr std::size_t adding_items = 128;  // items in a group of gemm_add_parts
constexpr std::size_t most_sharers = 16;   // items that share the sums of four elements
constexpr std::size_t box = 64;            // rows, columns or k in one copy of the engine

void check_key(const gemm_key& key) {
  const bool possible = (key.input == dtype::float32 && key.output == dtype::float32) ||
                        (key.input == dtype::float16 &&
                         (key.output == dtype::float16 || key.output == dtype::float32));
  if (!possible) {
    throw argument_error(fmt::format(
        "gemm cannot make {} of {}; inputs and outputs are float32, or float16, or inputs are "
        "float16 and outputs float32",
        dtype_name(key.output), dtype_name(key.input)));
  }
}

std::string source_of(gemm_instruction instruction) {
  const auto joined = [](const auto&... parts) { return (std::string(parts) + ...); };
  using namespace embedded;  // NOLINT(google-build-using-namespace): the texts of the kernels
  switch (instruction) {
    case gemm_instruction::plain: return joined(gemm_kernel, gemm_words_kernel, gemm_plain_kernel);
    case gemm_instruction::tf32x3:
    case gemm_instruction::tf32:
      return joined(gemm_kernel, gemm_words_kernel, gemm_pairs_kernel, gemm_tf32_kernel);
    case gemm_instruction::mma:
      return joined(gemm_kernel, gemm_tensor_kernel, gemm_pairs_kernel, gemm_mma_kernel);
    case gemm_instruction::wgmma: break;
  }
  return joined(gemm_kernel, gemm_tensor_kernel, gemm_pairs_kernel, gemm_wgmma_kernel);
}

program build(const context& context, const gemm_key& key, const gemm_tuning& tuning) {
  const gemm_product as(key);
  // The program does not depend on this member.
  gemm_tuning compiled = tuning;
  compiled.price = 0;
  defines macros(compiled);
  macros.add("a_along_k", as.a_along_k ? 1 : 0);
  macros.add("b_along_k", as.b_along_k ? 1 : 0);
  macros.add("half_input", key.input == dtype::float16 ? 1 : 0);
  macros.add("half_output", key.output == dtype::float16 ? 1 : 0);
  return compile(context, {"gemm.kernel", source_of(tuning.instruction)}, macros,
                 {.flags = tuning.instruction == gemm_instruction::wgmma
                               ? std::vector<std::string>{"--gpu-architecture=sm_90a"}
                               : std::vector<std::string>{}});
}

program checked_build(const context& context, const gemm_key& key, const gemm_tuning& tuning) {
  check_key(key);
  check_tuning(key, tuning);
  const std::size_t has = context.device().limits().max_dynamic_local_memory_bytes;
  if (const std::size_t needed = local_memory_bytes(key, tuning); needed > has) {
    throw argument_error(
        fmt::format("the tuning of gemm is impossible on device '{}': {} needs {} bytes of local "
                    "memory, the device has {}; take one of tuning_space",
                    context.device().name(), to_string(to_values(tuning)), needed, has));
  }
  return build(context, key, tuning);
}

/// Returns the local memory of a group. On CUDA it is large enough that no more groups run on a
/// compute unit than the tuning says. Otherwise some units would have more whole tiles than others,
/// which would have parts.
std::size_t reserved_local_memory(const device& device, const gemm_key& key,
                                  const gemm_tuning& tuning) {
  const std::size_t needed = local_memory_bytes(key, tuning);
  if (cuda_generation(device) == 0) return needed;
  const std::size_t has = device.limits().max_dynamic_local_memory_bytes;
  return std::max(needed, round_up(has / (tuning.resident + 1) + 1, gemm_copied_bytes));
}

std::uint32_t checked_size(const char* name, std::size_t size) {
  if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw argument_error(fmt::format(
        "gemm cannot multiply matrices with {} = {}; it has to be less than 2^31", name, size));
  }
  return static_cast<std::uint32_t>(size);
}

std::vector<dimension> dimensions_of(layout order, std::size_t rows, std::size_t columns,
                                     dtype type) {
  if (order == layout::column_major) std::swap(rows, columns);
  return {rows, dimension(columns, {.preferred = gemm_copied_bytes / dtype_bytes(type)})};
}

std::uint64_t row_stride(const io_slot& slot) { return slot.buffer().layout().padded()[1]; }
std::size_t row_size(const io_slot& slot) { return slot.buffer().layout().size()[1]; }

/// Describes the given number of columns of an array of halves to the copy engine, in boxes with
/// swizzled rows.
cuda::tensor_map map_of(const io_slot& slot, std::size_t columns, std::size_t box_rows,
                        std::size_t box_columns) {
  const std::array size{slot.buffer().layout().size()[0], columns};
  const std::array padded{size[0], static_cast<std::size_t>(row_stride(slot))};
  const std::array boxes{box_rows, box_columns};
  return cuda::make_tensor_map(slot.buffer().buffer(), {.element_bytes = sizeof(float16),
                                                        .size = size,
                                                        .padded = padded,
                                                        .box = boxes,
                                                        .swizzle_bytes = sizeof(float16) * box});
}

}  // namespace

gemm::gemm(const command_queue& queue, const program& built, const gemm_tuning& tuning,
           const gemm_key& key, std::size_t m, std::size_t n, std::size_t k)
    : operation(queue),
      kernel_(built.create_kernel("gemm")),
      tuning_(tuning),
      key_(key),
      m_(checked_size("m", m)),
      n_(checked_size("n", n)),
      k_(checked_size("k", k)),
      a_(add_slot("a", dimensions_of(key.a, m, k, key.input), key.input,
                  padding_policy::any_valid)),
      b_(add_slot("b", dimensions_of(key.b, k, n, key.input), key.input,
                  padding_policy::any_valid)),
      c_(add_slot("c", dimensions_of(key.c, m, n, key.output), key.output,
                  padding_policy::any_valid)) {
  const bool is_turned = gemm_product(key).is_turned;
  const std::size_t rows = is_turned ? n : m;
  const std::size_t columns = is_turned ? m : n;
  const std::size_t units = std::max<std::size_t>(queue.device().limits().compute_units, 1);
  const gemm_division division(units, tuning, rows, columns, k);
  const std::size_t works =
      division.cluster == 1 ? division.works() : division.groups_of_clusters();
  // Groups with wgmma process several units of work each.
  const bool goes_on = tuning.instruction == gemm_instruction::wgmma && division.cluster == 1;
  const std::size_t groups = goes_on ? std::min(works, units * tuning.resident) : works;
  const std::size_t adding = most_sharers * division.divided() * division.sums_of_tile / 4;
  if (std::max(works, divide_up(adding, adding_items)) >
      static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw argument_error(
        fmt::format("a product of {} x {} elements makes {} tiles, more than a launch can have "
                    "work groups; make a part of it at a time",
                    m, n, division.tiles));
  }
  works_ = static_cast<std::uint32_t>(works);
  whole_ = static_cast<std::uint32_t>(division.whole);
  divided_ = static_cast<std::uint32_t>(division.divided());
  part_of_k_ = static_cast<std::uint32_t>(division.part_of_k);
  parts_ = static_cast<std::uint32_t>(division.parts);
  cluster_ = static_cast<std::uint32_t>(division.cluster);
  tiles_of_cluster_ = static_cast<std::uint32_t>(division.tiles_of_cluster);
  if (parts_ > 1) {
    // An item then adds at most four parts in sequence, for up to 64 parts.
    sharers_ = static_cast<std::uint32_t>(
        std::min(std::bit_ceil(divide_up(division.parts, 4)), most_sharers));
    add_parts_ = built.create_kernel("gemm_add_parts");
    partial_sums_ = add_slot<float>("partial_sums", unpadded({division.sums()}));
    const std::size_t adders = divided_ * (division.sums_of_tile / 4) * sharers_;
    adding_range_ = {
        .global = {round_up(adders, adding_items)}, .local = {adding_items}, .begins_early = true};
  }
  const std::size_t items = items_of(tuning);
  range_ = {.global = {groups * items},
            .local = {items},
            .local_memory_bytes = reserved_local_memory(queue.device(), key, tuning),
            .cluster = division.cluster * division.tiles_of_cluster};
}

void gemm::set_factors(float alpha, float beta) {
  if (alpha == alpha_ && beta == beta_) return;
  alpha_ = alpha;
  beta_ = beta;
  parameters_changed();
}

// If rows are not aligned the engine cannot copy them, and items do.
template <std::size_t Maps>
bool gemm::needs_maps(mapped_matrix<Maps>& matrix, const io_slot& slot) {
  const array_layout& layout = slot.buffer().layout();
  const std::uintptr_t address = cuda::native_handle(slot.buffer().buffer());
  const std::uint64_t stride = row_stride(slot);
  if (matrix.address == address && matrix.stride == stride) return false;
  matrix.address = address;
  matrix.stride = stride;
  matrix.is_possible = layout.size().elements() > 0 && address % gemm_copied_bytes == 0 &&
                       stride * sizeof(float16) % gemm_copied_bytes == 0;
  return matrix.is_possible;
}

void gemm::map_operand(mapped_operand& operand, const io_slot& slot, std::size_t extent,
                       bool along_k) const {
  if (!needs_maps(operand, slot)) return;
  const std::size_t whole_rows = extent < box ? 0 : box;
  const std::size_t whole_k = k_ < box ? 0 : box;
  const std::size_t last_rows = round_up(extent % box, 8);
  const std::size_t last_k = round_up(k_ % box, 16);
  const auto map = [&](std::size_t number, std::size_t rows, std::size_t k) {
    if (rows == 0 || k == 0) return;  // an empty box is invalid
    operand.maps.at(number) = map_of(slot, row_size(slot), along_k ? rows : k, along_k ? k : rows);
  };
  map(0, whole_rows, whole_k);
  map(1, last_rows, whole_k);
  map(2, whole_rows, last_k);
  map(3, last_rows, last_k);
}

// A warp has 16 rows. It writes whole words, even if the last one is not completely in C.
void gemm::map_result() {
  constexpr std::size_t word = gemm_copied_bytes / sizeof(float16);
  const std::size_t columns = row_size(*c_) / word * word;
  if (key_.output != dtype::float16 || !needs_maps(c_map_, *c_)) return;
  c_map_.is_possible = columns > 0;
  if (c_map_.is_possible) c_map_.maps[0] = map_of(*c_, columns, 16, box);
}

void gemm::do_run() {
  if (range_.global.x == 0) return;
  const bool is_turned = gemm_product(key_).is_turned;
  const io_slot& first = is_turned ? *b_ : *a_;
  const io_slot& second = is_turned ? *a_ : *b_;
  const std::uint32_t rows = is_turned ? n_ : m_;
  const std::uint32_t columns = is_turned ? m_ : n_;
  const io_slot& sums = partial_sums_ ? static_cast<const io_slot&>(**partial_sums_) : *c_;
  const std::uint64_t c_stride = row_stride(*c_);
  const auto launch = [&](const auto&... others) {
    enqueue(kernel_, range_, *c_, first, second, sums, c_stride, row_stride(first),
            row_stride(second), rows, columns, k_, whole_, std::max(divided_, 1U), part_of_k_,
            works_, alpha_, beta_, others...);
  };
  if (tuning_.instruction == gemm_instruction::wgmma) {
    const gemm_product as(key_);
    map_operand(first_maps_, first, rows, as.a_along_k);
    map_operand(second_maps_, second, columns, as.b_along_k);
    map_result();
    const bool has_maps = first_maps_.is_possible && second_maps_.is_possible;
    launch(cluster_, tiles_of_cluster_, std::uint32_t{has_maps}, std::uint32_t{c_map_.is_possible},
           first_maps_.maps, second_maps_.maps, c_map_.maps);
  } else {
    launch();
  }
  if (!add_parts_) return;
  enqueue(*add_parts_, adding_range_, *c_, sums, c_stride, rows, columns, whole_, divided_, parts_,
          sharers_, alpha_, beta_);
}

std::vector<named_value> gemm::do_parameters() const {
  return parameter_list()
      .add("input", key_.input)
      .add("output", key_.output)
      .add("a", key_.a)
      .add("b", key_.b)
      .add("c", key_.c)
      .add("shape", shape{m_, n_, k_})
      .add("alpha", alpha_)
      .add("beta", beta_)
      .add("parts", parts_)
      .add("cluster", cluster_)
      .add("tiles_of_cluster", tiles_of_cluster_)
      .add("divided_tiles", divided_)
      .add("tuning", tuning_);
}

gemm_template::gemm_template(const context& context, const gemm_key& key)
    : key_((check_key(key), key)), portfolio_(autotune.portfolio(context, key)) {
  tunings_ = portfolio_->tunings();
  for (const gemm_tuning& each : tunings_) {
    programs_.push_back(checked_build(context, key, each));
  }
}

gemm_template::gemm_template(const context& context, const gemm_key& key, const gemm_tuning& tuning)
    : key_(key), tunings_{tuning}, programs_{checked_build(context, key, tuning)} {}

gemm gemm_template::instantiate(const command_queue& queue, std::size_t m, std::size_t n,
                                std::size_t k) const {
  const std::size_t chosen = portfolio_ ? portfolio_->choose({m, n, k}) : 0;
  return {queue, programs_[chosen], tunings_[chosen], key_, m, n, k};
}

declared_work work_of(const gemm_key& key, std::size_t m, std::size_t n, std::size_t k) {
  const auto of = [](std::size_t rows, std::size_t columns, dtype type) {
    return static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(dtype_bytes(type));
  };
  return {.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
          .bytes = of(m, k, key.input) + of(k, n, key.input) + of(m, n, key.output)};
}

const ranged_autotuner<gemm_key, gemm_tuning> gemm_template::autotune{
    {.name = "operations.gemm_template.autotune",
     .version = 5,
     .test = {},
     .features = gemm_features,
     .fits =
         [](const gemm_tuning&, std::span<const std::uint64_t> sizes) {
           return std::ranges::max(sizes) < (std::uint64_t{1} << 31);
         },
     .costs = gemm_costs,
     .fallback = gemm_fallback,
     .limits = {.time = std::chrono::seconds(8)},
     .goal = {}},
    [](tuning_session& session, const gemm_key& key, std::span<const std::uint64_t> sizes) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const auto m = static_cast<std::size_t>(sizes[0]);
      const auto n = static_cast<std::size_t>(sizes[1]);
      const auto k = static_cast<std::size_t>(sizes[2]);
      declared_work work_of_run = work_of(key, m, n, k);
      const bool uses_tensor_units =
          key.input == dtype::float16 && cuda_generation(context.device()) >= 80;
      work_of_run.arithmetic = uses_tensor_units ? arithmetic::tensor_float16 : arithmetic::float32;
      // Memory for C twice, and its partial sums a few times.
      const std::size_t sums =
          std::min(16 * m * n, std::max(m * n, gemm_division::most_sums)) * sizeof(float);
      const auto bytes =
          static_cast<std::size_t>(work_of_run.bytes) + 2 * m * n * sizeof(float) + sums;
      require_memory(session, bytes);
      const device_array a = make_matrix(queue, key.input, key.a, m, k, 1);
      const device_array b = make_matrix(queue, key.input, key.b, k, n, 2);
      const workload work(queue);
      const on_demand<std::vector<known_gemm>> known([=] {
        return std::vector{known_gemm(queue, key, 261, 110, 77, 1, 0),
                           known_gemm(queue, key, 70, 391, 1030, 1.5F, -0.5F)};
      });
      return session.tune(tuning_space(key, context.device()), [&](const gemm_tuning& tuning) {
        const program built = build(context, key, tuning);
        gemm op(queue, built, tuning, key, m, n, k);
        op.bind("a", a);
        op.bind("b", b);
        declared_work of_tuning = work_of_run;
        if (is_tf32(tuning.instruction)) of_tuning.arithmetic = arithmetic::tensor_tf32;
        return make_checked_measure(queue, std::move(op), work, built, tuning, known)
            .work(of_tuning);
      });
    }};

namespace {
const remaker<gemm> remake_gemm{[](const command_queue& queue, const remade_parameters& from) {
  gemm_key key;
  key.input = from.type("input");
  key.output = from.type("output");
  key.a = from.get<gemm_layout>("a");
  key.b = from.get<gemm_layout>("b");
  key.c = from.get<gemm_layout>("c");
  const shape size = from.extents("shape");
  const auto tuning = from.get<gemm_tuning>("tuning");
  if (is_tf32(tuning.instruction)) key.precision = gemm_precision::tf32;
  gemm made =
      gemm_template(queue.context(), key, tuning).instantiate(queue, size[0], size[1], size[2]);
  made.set_factors(from.get<float>("alpha"), from.get<float>("beta"));
  return made;
}};
}  // namespace

}  // namespace tune::operations
