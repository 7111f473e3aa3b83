// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/gemm/gemm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/gemm/reference.hpp"
#include "operations/workload.hpp"

#include "gemm.kernel.hpp"

namespace tune::operations {
namespace {

using instruction = gemm_instruction;
using layout = gemm_layout;

constexpr std::size_t warp_items = 32;
constexpr std::size_t least_part_of_k = 128;  // less is not worth sums of its own
constexpr std::size_t most_parts = 1024;
constexpr std::size_t most_sums = std::size_t{1} << 26;  // of all parts
constexpr std::size_t most_waves = 16;
constexpr std::size_t adding_items = 128;    // of a group of gemm_add_parts
constexpr std::size_t swizzle_bytes = 1024;  // that tensor tiles of wgmma are aligned to

/// A product as the kernel sees it, which makes the rows of C's array: where these are the columns
/// of C, it multiplies B, transposed, by A.
struct product {
  explicit product(const gemm_key& key)
      : is_turned(key.c == layout::column_major),
        a_along_k(is_turned ? key.b == layout::column_major : key.a == layout::row_major),
        b_along_k(is_turned ? key.a == layout::row_major : key.b == layout::column_major) {}

  bool is_turned;
  bool a_along_k;
  bool b_along_k;
};

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

bool is_one_of(std::size_t value, std::initializer_list<std::size_t> all) {
  return std::ranges::find(all, value) != all.end();
}

std::size_t parts_of(const gemm_tuning& t) noexcept {
  return (t.tile_m / t.part_m) * (t.tile_n / t.part_n);
}

std::size_t items_of(const gemm_tuning& t) noexcept {
  return parts_of(t) * (t.instruction == instruction::plain ? 1
                        : t.instruction == instruction::mma ? warp_items
                                                            : 4 * warp_items);
}

/// True if the parts of a tile divide it as the kernel's instruction needs them.
bool has_possible_parts(const gemm_tuning& t) {
  if (t.part_m == 0 || t.part_n == 0 || t.tile_m % t.part_m != 0 || t.tile_n % t.part_n != 0) {
    return false;
  }
  const std::size_t down = t.tile_m / t.part_m;
  const std::size_t across = t.tile_n / t.part_n;
  switch (t.instruction) {
    case instruction::plain:
      return is_one_of(t.part_m, {4, 8, 16}) && is_one_of(t.part_n, {4, 8, 16}) &&
             is_one_of(t.depth, {8, 16, 32}) &&
             (across % 8 == 0 ? down % 4 == 0 : across % 4 == 0 && down % 8 == 0) &&
             items_of(t) >= std::max(t.tile_m, t.tile_n) / 4;
    case instruction::mma:
      return is_one_of(t.part_m, {16, 32, 64}) && is_one_of(t.part_n, {16, 32, 64}) &&
             t.depth == 64 && t.tile_m >= 64 && t.tile_n >= 64;
    case instruction::wgmma:
      return is_one_of(t.part_m, {64, 128}) && is_one_of(t.part_n, {64, 128, 256}) &&
             t.part_m * t.part_n <= 64 * 256 && t.depth == 64 && t.stages >= 3;
  }
  return false;
}

void check_tuning(const gemm_key& key, const gemm_tuning& t) {
  const bool possible = std::has_single_bit(t.tile_m) && std::has_single_bit(t.tile_n) &&
                        t.tile_m >= 16 && t.tile_n >= 16 && t.tile_m <= 512 && t.tile_n <= 512 &&
                        t.stages >= 2 && t.stages <= 8 && t.resident > 0 && t.band > 0 &&
                        has_possible_parts(t) && items_of(t) >= warp_items && items_of(t) <= 1024;
  if (!possible) {
    throw argument_error(
        fmt::format("the tuning of gemm is impossible: {}; gemm.hpp says what its members may be",
                    to_string(to_values(t))));
  }
  if (t.instruction != instruction::plain && key.input != dtype::float16) {
    throw argument_error(
        "the tuning of gemm is impossible: tensor cores multiply inputs of float16 only");
  }
}

std::size_t local_memory_bytes(const gemm_key& key, const gemm_tuning& t) {
  if (t.instruction == instruction::plain) {
    const product as(key);
    const std::size_t rows = t.tile_m + (as.a_along_k ? 4 : 0) + t.tile_n + (as.b_along_k ? 4 : 0);
    return t.stages * t.depth * rows * sizeof(float);
  }
  // The sums of 16 rows of each warp come after the stages.
  const std::size_t sums = items_of(t) / warp_items * 16 * (t.part_n + 8) * sizeof(float);
  return std::max(t.stages * t.depth * (t.tile_m + t.tile_n) * 2 + swizzle_bytes, sums);
}

program build(const context& context, const gemm_key& key, const gemm_tuning& tuning) {
  const product as(key);
  // The program does not depend on it.
  gemm_tuning compiled = tuning;
  compiled.price = 0;
  defines macros(compiled);
  macros.add("a_along_k", as.a_along_k ? 1 : 0);
  macros.add("b_along_k", as.b_along_k ? 1 : 0);
  macros.add("half_input", key.input == dtype::float16 ? 1 : 0);
  macros.add("half_output", key.output == dtype::float16 ? 1 : 0);
  return compile(context, {"gemm.kernel", std::string(embedded::gemm_kernel)}, macros,
                 {.flags = tuning.instruction == instruction::wgmma
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

std::uint32_t checked_size(const char* name, std::size_t size) {
  if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw argument_error(fmt::format(
        "gemm cannot multiply matrices with {} = {}; it has to be less than 2^31", name, size));
  }
  return static_cast<std::uint32_t>(size);
}

std::size_t tile_count(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept {
  return divide_up(rows, t.tile_m) * divide_up(columns, t.tile_n);
}

/// So many products are made in the time that a sum of a part takes to be written and read again:
/// fitted to times of an H200, except for mma, which is taken to be between the others.
std::size_t products_per_sum(instruction of) noexcept {
  return of == instruction::wgmma ? 600 : of == instruction::mma ? 300 : 80;
}

/// The division of k with which whole waves of groups, and adding their sums, take the least time.
struct division {
  division(std::size_t compute_units, const gemm_tuning& t, std::size_t rows, std::size_t columns,
           std::size_t k)
      : part_of_k(round_up(k, t.depth)) {
    const std::size_t tiles = tile_count(t, rows, columns);
    const std::size_t at_once = compute_units * t.resident;
    if (t.price == 0 || tiles == 0 || 2 * tiles > most_waves * at_once) return;
    const std::size_t most =
        std::min({k / least_part_of_k, most_parts, most_sums / (rows * columns)});
    // All in steps of k of all groups that run at once.
    const double cost_of_sums = static_cast<double>(products_per_sum(t.instruction) * rows) *
                                static_cast<double>(columns) /
                                static_cast<double>(at_once * t.tile_m * t.tile_n);
    double least = static_cast<double>(divide_up(tiles, at_once) * k);
    for (std::size_t waves = 1; waves <= most_waves; ++waves) {
      const std::size_t count = std::min(waves * at_once / tiles, most);
      if (count < 2) continue;
      const std::size_t depth = round_up(divide_up(k, count), t.depth);
      const std::size_t made = divide_up(k, depth);
      const double cost = static_cast<double>(divide_up(tiles * made, at_once) * depth + t.price) +
                          static_cast<double>(made) * cost_of_sums;
      if (cost < least) {
        least = cost;
        part_of_k = depth;
        parts = made;
      }
      if (count == most) break;
    }
  }

  std::size_t part_of_k;
  std::size_t parts = 1;
};

// Rows of 16 bytes, which are copied at once, are several times as fast as others.
constexpr std::size_t copied_bytes = 16;

std::vector<dimension> dimensions_of(layout order, std::size_t rows, std::size_t columns,
                                     dtype type) {
  if (order == layout::column_major) std::swap(rows, columns);
  return {rows, dimension(columns, {.preferred = copied_bytes / dtype_bytes(type)})};
}

std::uint64_t row_stride(const io_slot& slot) { return slot.buffer().layout().padded()[1]; }

/// Numbers between -1 and 1, whose sequence a seed chooses.
class random_numbers {
 public:
  explicit random_numbers(std::uint32_t seed) : state_(seed) {}
  float operator()() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(static_cast<std::int32_t>(state_ >> 8) - (1 << 23)) * 0x1p-23F;
  }

 private:
  std::uint32_t state_;
};

template <class T>
host_array<T> random_array(const shape& size, std::uint32_t seed) {
  random_numbers next(seed);
  host_array<T> made(size);
  for (std::size_t i = 0; i < size.elements(); ++i) made.data()[i] = static_cast<T>(next());
  return made;
}

shape size_of(layout order, std::size_t rows, std::size_t columns) {
  return order == layout::column_major ? shape{columns, rows} : shape{rows, columns};
}

/// An array whose rows are padded as an operation pads its own.
device_array made_array(const context& context, dtype type, layout order, std::size_t rows,
                        std::size_t columns) {
  const shape size = size_of(order, rows, columns);
  dimension row(size[1], {.preferred = copied_bytes / dtype_bytes(type), .type = type});
  return {context, {type, size, {size[0], row.required_padded_size()}}};
}

/// Sets the elements of a matrix; they repeat after four million.
template <class T>
void set_elements(const command_queue& queue, const device_array& array, std::uint32_t seed) {
  const std::size_t bytes = array.layout().bytes();
  const auto numbers =
      random_array<T>({std::min<std::size_t>(bytes / sizeof(T), std::size_t{1} << 22)}, seed);
  const std::size_t part = numbers.size().elements() * sizeof(T);
  if (part == 0) return;
  command_queue writer = queue;
  writer.write(array.buffer(), numbers.data(), part);
  repeat_first(writer, array, part);
  writer.finish();
}

/// Matrices and their product by the host.
template <class In, class Out>
struct host_product {
  host_array<In> a;
  host_array<In> b;
  host_array<Out> before;  // C, where it is read
  host_array<Out> c;
};

/// Returns the product of random matrices, which is computed once in a process, since a tuning for
/// ranges asks for the same ones at many sizes.
template <class In, class Out>
const host_product<In, Out>& product_by_host(const gemm_key& key, std::size_t m, std::size_t n,
                                             std::size_t k, float alpha, float beta) {
  struct all_products {
    std::mutex mutex;
    std::map<std::string, host_product<In, Out>> made;
  };
  static ::tune::detail::never_destroyed<all_products> all;
  const std::string name =
      fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(key.a), static_cast<int>(key.b),
                  static_cast<int>(key.c), m, n, k, alpha, beta);
  const std::lock_guard lock(all->mutex);
  const auto found = all->made.find(name);
  if (found != all->made.end()) return found->second;
  auto a = random_array<In>(size_of(key.a, m, k), 1);
  auto b = random_array<In>(size_of(key.b, k, n), 2);
  auto before = random_array<Out>(size_of(key.c, m, n), 3);
  auto c = before;
  gemm_on_host(key, alpha, beta, a, b, c);
  return all->made
      .emplace(name,
               host_product<In, Out>{std::move(a), std::move(b), std::move(before), std::move(c)})
      .first->second;
}

/// Matrices and their product by the host, with sizes that no tile divides.
class known_product {
 public:
  known_product(const command_queue& queue, const gemm_key& key, std::size_t m, std::size_t n,
                std::size_t k, float alpha, float beta)
      : key_(key), m_(m), n_(n), k_(k), alpha_(alpha), beta_(beta), work_(queue) {
    if (key.input == dtype::float32) {
      set<float, float>();
    } else if (key.output == dtype::float32) {
      set<float16, float>();
    } else {
      set<float16, float16>();
    }
  }

  std::optional<std::string> find_wrong(const program& built, const gemm_tuning& tuning) const {
    gemm op(work_.queue(), built, tuning, key_, m_, n_, k_);
    op.set_factors(alpha_, beta_);
    auto wrong = find_fault(op, work_, expected_);
    if (wrong) wrong = fmt::format("of {} x {} elements, sums of {}: {}", m_, n_, k_, *wrong);
    return wrong;
  }

 private:
  template <class In, class Out>
  void set() {
    const auto& known = product_by_host<In, Out>(key_, m_, n_, k_, alpha_, beta_);
    // Without contents c is NaN, which must not be read.
    if (beta_ != 0) work_.set("c", known.before);
    work_.set("a", known.a).set("b", known.b);
    expected_.add("c", known.c, gemm_tolerance(key_, k_));
  }

  gemm_key key_;
  std::size_t m_;
  std::size_t n_;
  std::size_t k_;
  float alpha_;
  float beta_;
  workload work_;
  answer expected_;
};

/// The compute capability of a CUDA device as 10 times the major number and the minor one; 0 for
/// others.
int cuda_generation(const device& device) {
  const auto has = device.info().hardware.compute_capability;
  if (device.info().language != kernel_language::cuda_cpp || !has) return 0;
  return static_cast<int>(has->major * 10 + has->minor);
}

/// An estimate of the registers of a work item.
std::size_t registers_of(const gemm_tuning& t) {
  switch (t.instruction) {
    case instruction::plain: return t.part_m * t.part_n + 2 * (t.part_m + t.part_n) + 32;
    case instruction::mma: return t.part_m * t.part_n / 32 + (t.part_m + t.part_n) / 4 + 40;
    case instruction::wgmma: return t.part_m * t.part_n / 128 + 40;
  }
  return 0;
}

void add_plain_candidates(space<gemm_tuning>& space, bool is_gpu) {
  using t = gemm_tuning;
  space.add(&t::instruction, {instruction::plain});
  if (!is_gpu) {
    space.add(&t::tile_m, {16, 32, 64});
    space.add(&t::tile_n, {16, 32, 64, 128});
    space.add(&t::part_m, {4, 8});
    space.add(&t::part_n, {4, 8});
    space.add(&t::depth, {8, 16});
    space.add(&t::price, {0, 256});
    return;
  }
  // Tall tiles are never better: rows of C follow each other in memory.
  space.add(&t::tile_m, {16, 32, 64, 128});
  space.add(&t::tile_n, {16, 32, 64, 128, 256});
  space.add(&t::part_m, {4, 8});
  space.add(&t::part_n, {4, 8, 16});
  space.add(&t::depth, {16, 32});
  space.add(&t::stages, {2, 3, 4});
  space.add(&t::resident, {1, 2, 4, 8});
  space.add(&t::price, {256});
  space.restrict(
      [](const t& c) {
        const std::size_t longer = std::max(c.part_m, c.part_n);
        return c.part_m * c.part_n <= 128 && longer <= 2 * std::min(c.part_m, c.part_n);
      },
      "parts that are nearly square, of 128 elements at most", &t::part_m, &t::part_n);
  space.restrict(
      [](const t& c) { return c.part_n < 16 || c.tile_m * c.tile_n == std::size_t{128} * 256; },
      "parts of 128 elements in the largest tiles", &t::tile_m, &t::tile_n, &t::part_n);
  // So did all that was fast on an H200.
  space.restrict(
      [](const t& c) {
        const std::size_t elements = c.part_m * c.part_n;
        const std::size_t items = items_of(c) * c.resident;
        return (items == 256 && elements > 16) || (items == 512 && elements < 128);
      },
      "as many items at once as registers allow", &t::tile_m, &t::tile_n, &t::part_m, &t::part_n,
      &t::resident);
  space.restrict([](const t& c) { return items_of(c) <= 256; }, "8 warps at most", &t::tile_m,
                 &t::tile_n, &t::part_m, &t::part_n);
  space.restrict(
      [](const t& c) {
        return c.depth == 32 ? c.stages == 2 : c.stages == (c.part_m * c.part_n < 64 ? 4 : 3);
      },
      "about as much on its way at any depth", &t::part_m, &t::part_n, &t::depth, &t::stages);
}

void add_tensor_candidates(space<gemm_tuning>& space) {
  using t = gemm_tuning;
  space.add(&t::instruction, {instruction::mma});
  space.add(&t::tile_m, {64, 128});
  space.add(&t::tile_n, {64, 128, 256});
  space.add(&t::part_m, {32, 64});
  space.add(&t::part_n, {32, 64});
  space.add(&t::depth, {64});
  space.add(&t::stages, {2, 3, 4});
  space.add(&t::resident, {1, 2, 3});
  space.add(&t::price, {0, 128, 512});
}

void add_hopper_candidates(space<gemm_tuning>& space) {
  using t = gemm_tuning;
  // By mma all was slower on an H200.
  space.add(&t::instruction, {instruction::wgmma});
  space.add(&t::tile_m, {64, 128, 256});
  space.add(&t::tile_n, {64, 128, 256});
  space.add(&t::part_m, {64});
  space.add(&t::part_n, {64, 128, 256});
  space.add(&t::depth, {64});
  space.add(&t::stages, {3, 4, 6});
  space.add(&t::resident, {1, 2, 3});
  space.add(&t::price, {160, 400});
  space.restrict(
      [](const t& c) {
        const std::size_t elements = c.tile_m * c.tile_n;
        const bool is_long = c.tile_m > 2 * c.tile_n || c.tile_n > 2 * c.tile_m;
        return !is_long && (elements > 128 * 128) == (c.resident == 1) &&
               (c.resident < 3 || elements == 64 * 64);
      },
      "one group at once with large tiles, several with others", &t::tile_m, &t::tile_n,
      &t::resident);
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
      part_of_k_(0),
      parts_(1),
      a_(add_slot("a", dimensions_of(key.a, m, k, key.input), key.input,
                  padding_policy::any_valid)),
      b_(add_slot("b", dimensions_of(key.b, k, n, key.input), key.input,
                  padding_policy::any_valid)),
      c_(add_slot("c", dimensions_of(key.c, m, n, key.output), key.output,
                  padding_policy::any_valid)) {
  const bool is_turned = product(key).is_turned;
  const std::size_t rows = is_turned ? n : m;
  const std::size_t columns = is_turned ? m : n;
  const division of_k(queue.device().limits().compute_units, tuning, rows, columns, k);
  part_of_k_ = static_cast<std::uint32_t>(of_k.part_of_k);
  parts_ = static_cast<std::uint32_t>(of_k.parts);
  const std::size_t groups = tile_count(tuning, rows, columns);
  const std::size_t adding = parts_ == 1 ? 0 : 16 * rows * divide_up(columns, 4);
  if (std::max(groups, divide_up(adding, adding_items)) >
      static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw argument_error(
        fmt::format("a product of {} x {} elements makes {} tiles, more than a launch can have "
                    "work groups; make a part of it at a time",
                    m, n, groups));
  }
  if (parts_ > 1) {
    add_parts_ = built.create_kernel("gemm_add_parts");
    partial_sums_ =
        add_slot<float>("partial_sums", {parts_, rows, dimension(columns, {.alignment = 4})});
  }
  const std::size_t items = items_of(tuning);
  range_ = {.global = {groups * items, parts_},
            .local = {items, 1},
            .local_memory_bytes = local_memory_bytes(key, tuning)};
}

void gemm::set_factors(float alpha, float beta) {
  if (alpha == alpha_ && beta == beta_) return;
  alpha_ = alpha;
  beta_ = beta;
  parameters_changed();
}

void gemm::do_run() {
  if (range_.global.x == 0) return;
  const bool is_turned = product(key_).is_turned;
  const io_slot& first = is_turned ? *b_ : *a_;
  const io_slot& second = is_turned ? *a_ : *b_;
  const std::uint32_t rows = is_turned ? n_ : m_;
  const std::uint32_t columns = is_turned ? m_ : n_;
  const io_slot& sums = partial_sums_ ? static_cast<const io_slot&>(**partial_sums_) : *c_;
  const std::uint64_t c_stride = row_stride(*c_);
  const std::uint64_t sums_stride =
      partial_sums_ ? sums.buffer().layout().padded()[2] : std::uint64_t{0};
  enqueue(kernel_, range_, *c_, first, second, sums, c_stride, row_stride(first),
          row_stride(second), sums_stride, rows, columns, k_, part_of_k_, alpha_, beta_);
  if (!add_parts_) return;
  // So that an item has 4 to 16 parts to add.
  const std::uint32_t sharers = parts_ >= 128 ? 16 : parts_ >= 32 ? 8 : parts_ >= 16 ? 4 : 1;
  const std::size_t items = rows * divide_up(columns, 4) * sharers;
  const nd_range adding{.global = {round_up(items, adding_items)}, .local = {adding_items}};
  enqueue(*add_parts_, adding, *c_, sums, c_stride, sums_stride, rows, columns, parts_, sharers,
          alpha_, beta_);
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

space<gemm_tuning> tuning_space(const gemm_key& key, const device& device) {
  using t = gemm_tuning;
  space<gemm_tuning> space;
  const int generation = cuda_generation(device);
  if (key.input == dtype::float16 && generation == 90) {
    add_hopper_candidates(space);
  } else if (key.input == dtype::float16 && generation >= 80) {
    add_tensor_candidates(space);
  } else {
    add_plain_candidates(space, device.kind() == device_kind::gpu);
  }
  space.restrict([](const t& c) { return has_possible_parts(c); },
                 "parts that the instruction can make", &t::instruction, &t::tile_m, &t::tile_n,
                 &t::part_m, &t::part_n, &t::depth, &t::stages);
  space.restrict(
      [](const t& c) {
        const std::size_t items = items_of(c);
        return items >= warp_items && items <= 512;
      },
      "1 to 16 warps", &t::instruction, &t::tile_m, &t::tile_n, &t::part_m, &t::part_n);
  const std::size_t registers = device.limits().registers_per_work_group;
  const std::size_t local_bytes = device.limits().max_dynamic_local_memory_bytes;
  space.restrict(
      [registers](const t& c) {
        const std::size_t needed = registers_of(c);
        return registers == 0 || (needed < 256 && needed * items_of(c) * c.resident <= registers);
      },
      "registers for the sums of all resident groups", &t::instruction, &t::tile_m, &t::tile_n,
      &t::part_m, &t::part_n, &t::resident);
  space.restrict([key, local_bytes](
                     const t& c) { return local_memory_bytes(key, c) * c.resident <= local_bytes; },
                 "local memory of the device for all resident groups", &t::instruction, &t::tile_m,
                 &t::tile_n, &t::depth, &t::stages, &t::resident);
  space.needs([key](const t& c) {
    return resources{.work_group = {items_of(c), 1, 1},
                     .dynamic_local_memory_bytes = local_memory_bytes(key, c)};
  });
  return space;
}

namespace {

/// Numbers that a product's time grows with: whole waves of groups and the last one, each by the
/// products of a compute unit and by their number; the sums of parts of k; the bytes of the
/// matrices.
cost_terms costs_of(const gemm_tuning& t, std::size_t compute_units, std::size_t rows,
                    std::size_t columns, std::size_t k) {
  // Numbers of about the same size, in which neither products nor groups are counted singly.
  constexpr double small = 1e-6;
  constexpr double some = 1e-2;
  const division of_k(compute_units, t, rows, columns, k);
  const std::size_t at_once = std::max<std::size_t>(compute_units * t.resident, 1);
  const std::size_t groups = tile_count(t, rows, columns) * of_k.parts;
  const std::size_t left = groups % at_once;
  const auto full = static_cast<double>(groups / at_once);
  const auto on_one = static_cast<double>(divide_up(left, std::max<std::size_t>(compute_units, 1)));
  const auto resident = static_cast<double>(t.resident);
  const double tile = small * static_cast<double>(t.tile_m * t.tile_n);
  const double products = tile * static_cast<double>(of_k.part_of_k);
  const double elements = small * static_cast<double>(rows) * static_cast<double>(columns);
  const double inputs = small * static_cast<double>(rows + columns) * static_cast<double>(k);
  const bool is_divided = of_k.parts > 1;
  return {full * resident * products,
          full * resident * tile / some,
          on_one * products,
          on_one * tile / some,
          left > 0 ? resident * products : 0,
          is_divided ? 1.0 : 0.0,
          is_divided ? elements * static_cast<double>(of_k.parts) : 0,
          elements,
          inputs,
          some * static_cast<double>(groups) * products};
}

}  // namespace

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
     .version = 0,
     .test = {},
     .features =
         [](std::span<const std::uint64_t> sizes) {
           const auto m = static_cast<double>(sizes[0]);
           const auto n = static_cast<double>(sizes[1]);
           return size_feature_list{m * n, std::min(m, n), std::max(m, n)};
         },
     .fits =
         [](const gemm_tuning&, std::span<const std::uint64_t> sizes) {
           return std::ranges::max(sizes) < (std::uint64_t{1} << 31);
         },
     .costs =
         [](const gemm_key& key, const gemm_tuning& tuning, const device_limits& limits) {
           const bool is_turned = product(key).is_turned;
           return [tuning, is_turned,
                   units = limits.compute_units](std::span<const std::uint64_t> sizes) {
             return costs_of(tuning, units, sizes[is_turned ? 1 : 0], sizes[is_turned ? 0 : 1],
                             sizes[2]);
           };
         },
     .limits = {},
     .goal = {}},
    [](tuning_session& session, const gemm_key& key, std::span<const std::uint64_t> sizes) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const auto m = static_cast<std::size_t>(sizes[0]);
      const auto n = static_cast<std::size_t>(sizes[1]);
      const auto k = static_cast<std::size_t>(sizes[2]);
      const declared_work work_of_run = work_of(key, m, n, k);
      // C is there twice, and its partial sums a few times.
      const std::size_t sums = std::min(16 * m * n, std::max(m * n, most_sums)) * sizeof(float);
      const auto bytes =
          static_cast<std::size_t>(work_of_run.bytes) + 2 * m * n * sizeof(float) + sums;
      static_cast<void>(session.fit_memory(bytes, bytes));
      const device_array a = made_array(context, key.input, key.a, m, k);
      const device_array b = made_array(context, key.input, key.b, k, n);
      if (key.input == dtype::float32) {
        set_elements<float>(queue, a, 1);
        set_elements<float>(queue, b, 2);
      } else {
        set_elements<float16>(queue, a, 1);
        set_elements<float16>(queue, b, 2);
      }
      const workload work(queue);
      const on_demand<std::vector<known_product>> known([=] {
        return std::vector{known_product(queue, key, 261, 150, 77, 1, 0),
                           known_product(queue, key, 70, 391, 1030, 1.5F, -0.5F)};
      });
      return session.tune(tuning_space(key, context.device()), [&](const gemm_tuning& tuning) {
        const program built = build(context, key, tuning);
        gemm op(queue, built, tuning, key, m, n, k);
        op.bind("a", a);
        op.bind("b", b);
        // What is measured is looked at as far as its bounds go.
        return make_measure(queue, std::move(op), work, answer()).work(work_of_run).check([=] {
          auto wrong = (*known)[0].find_wrong(built, tuning);
          return wrong ? wrong : (*known)[1].find_wrong(built, tuning);
        });
      });
    }};

}  // namespace tune::operations
