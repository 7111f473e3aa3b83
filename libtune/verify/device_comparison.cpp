// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/device_comparison.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/dtype.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/verify/comparison.hpp"
#include "libtune/verify/element_macros.hpp"

#include "count_differences.kernel.hpp"
#include "measure_errors.kernel.hpp"

namespace tune::detail {
namespace {

bool sums_squares(const tolerance& allowed) {
  return allowed.rule == tolerance_rule::signal_to_noise;
}

/// The number of words in an element for comparing bits; 0 if distances are compared.
std::size_t word_count(element_type type, const tolerance& allowed) {
  const bool by_bits =
      allowed.rule == tolerance_rule::exact || allowed.rule == tolerance_rule::ulps;
  const auto known = type.dtype();
  if (!known) {
    const std::size_t bytes = type.bytes();
    return bytes / (bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1);
  }
  return visit_dtype(*known, [&]<class T>() -> std::size_t {
    // For integers the comparison of distances is equivalent.
    if (!by_bits || std::is_integral_v<T>) return 0;
    return sizeof(T) / part_bytes<T>();
  });
}

defines macros_for(element_type type, const tolerance& allowed, std::size_t words) {
  defines macros;
  macros.add("wgs", static_cast<int>(work_group));
  if (words != 0) macros.add("bits_type", word_name(type.bytes() / words));
  if (allowed.nan_expected) macros.add("nan_expected", 1);
  if (sums_squares(allowed) && words == 0) macros.add("sum_squares", 1);
  if (const auto known = type.dtype()) {
    visit_dtype(*known, [&]<class T>() {
      if (words == 0) {
        add_number<T>(macros);
      } else {
        add_float_bits<T>(macros);
        if (allowed.rule == tolerance_rule::ulps) {
          macros.add("most_ulps", std::to_string(static_cast<std::uint64_t>(allowed.limit)) + "UL");
        }
      }
    });
  }
  return macros;
}

// The distance within which integers count as equal, for any rule.
tolerance as_distance(const tolerance& allowed) {
  if (allowed.rule == tolerance_rule::exact) return {.absolute = 0, .relative = 0};
  if (allowed.rule == tolerance_rule::ulps) return {.absolute = allowed.limit, .relative = 0};
  return allowed;
}

}  // namespace

std::optional<row_layout> row_layout::of(const array_layout& layout) {
  const shape& size = layout.size();
  const shape& padded = layout.padded();
  if (size.rank() == 0) return row_layout{};
  for (std::size_t axis = 1; axis + 1 < size.rank(); ++axis) {
    if (size[axis] != padded[axis]) return std::nullopt;
  }
  row_layout rows{.rows = 1, .columns = size[size.rank() - 1], .pitch = padded[size.rank() - 1]};
  for (std::size_t axis = 0; axis + 1 < size.rank(); ++axis) rows.rows *= size[axis];
  return rows;
}

struct array_comparer::prepared {
  context place;
  tune::buffer counts;
  tune::buffer squares;
  tune::kernel kernel;
};

array_comparer::array_comparer(element_type type, const tolerance& allowed)
    : type_(type), allowed_(allowed.for_type(type)), words_(word_count(type, allowed)) {}

array_comparer::~array_comparer() = default;
array_comparer::array_comparer(array_comparer&&) noexcept = default;
array_comparer& array_comparer::operator=(array_comparer&&) noexcept = default;

bool array_comparer::knows(const array_layout& layout) const {
  return row_layout::of(layout).has_value();
}

void array_comparer::prepare(command_queue& queue) {
  const context place = queue.context();
  if (prepared_ && prepared_->place == place) return;
  const program made =
      compile(place, {"count_differences.kernel", std::string(embedded::count_differences_kernel)},
              macros_for(type_, allowed_, words_));
  prepared_ = std::make_unique<prepared>(prepared{
      place, place.create_buffer(groups * sizeof(std::uint32_t)),
      place.create_buffer(2 * groups * sizeof(double)), made.create_kernel("count_differences")});
}

std::size_t array_comparer::count(command_queue& queue, const buffer& expected, const buffer& got,
                                  const array_layout& layout) {
  prepare(queue);
  const row_layout rows = *row_layout::of(layout);
  const std::uint64_t scale = std::max<std::size_t>(words_, 1);
  const std::uint64_t columns = rows.columns * scale;
  const std::uint64_t pitch = rows.pitch * scale;
  const tolerance distance = as_distance(allowed_);
  const bool squared = words_ == 0 && sums_squares(allowed_);
  kernel& kernel = prepared_->kernel;
  if (words_ != 0) {
    kernel.set_arguments(expected, got, prepared_->counts, rows.rows, columns, pitch);
  } else if (squared) {
    kernel.set_arguments(expected, got, prepared_->counts, rows.rows, columns, pitch,
                         *distance.absolute, *distance.relative, prepared_->squares);
  } else {
    kernel.set_arguments(expected, got, prepared_->counts, rows.rows, columns, pitch,
                         *distance.absolute, *distance.relative);
  }
  queue.enqueue(kernel, {{groups * work_group}, {work_group}});
  std::array<std::uint32_t, groups> counts{};
  queue.read(prepared_->counts, counts.data(), sizeof counts);
  const auto wrong = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  if (!squared || wrong != 0) return wrong;
  std::array<double, 2 * groups> squares{};
  queue.read(prepared_->squares, squares.data(), sizeof squares);
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i < squares.size(); i += 2) {
    signal += squares[i];
    noise += squares[i + 1];
  }
  return decibels_of(signal, noise) >= allowed_.limit ? 0 : layout.size().elements();
}

namespace {

std::vector<std::byte> read_back(command_queue& queue, const buffer& from, std::size_t bytes) {
  std::vector<std::byte> copy(bytes);
  if (bytes != 0) queue.read(from, copy.data(), bytes);
  return copy;
}

// Ignores the padding, and compares the bits of NaN like any others.
comparison compare_bits(const array_layout& layout, const void* before, const void* now) {
  return compare(layout, before, layout, now, tolerance::exact().allowing_nan());
}

// Returns the answer with the padding of the result.
std::vector<std::byte> padded_as(const array_layout& wanted, const array_layout& layout,
                                 const void* elements, const row_layout& to) {
  std::vector<std::byte> bytes(wanted.bytes());
  const std::size_t element = layout.element_bytes();
  const row_layout from = *row_layout::of(layout);
  for (std::uint64_t row = 0; row < to.rows; ++row) {
    std::memcpy(bytes.data() + row * to.pitch * element,
                static_cast<const std::byte*>(elements) + row * from.pitch * element,
                to.columns * element);
  }
  return bytes;
}

}  // namespace

bit_comparison::snapshot bit_comparison::keep(command_queue& queue, const device_array& array) {
  snapshot kept{.layout = array.layout()};
  const std::size_t bytes = array.layout().bytes();
  if (bytes >= array_comparer::least_bytes && row_layout::of(array.layout())) {
    try {
      const device_array copy(queue.context(), array.layout());
      copy.copy_from(queue, array);
      kept.on_device = copy.buffer();
      return kept;
    } catch (const std::exception& failure) {
      log(log_level::debug, fmt::format("a result is kept on the host, for device '{}' cannot: {}",
                                        queue.device().name(), failure.what()));
    }
  }
  kept.on_host = read_back(queue, array.buffer(), bytes);
  return kept;
}

std::optional<bool> bit_comparison::differ_on_device(command_queue& queue, const snapshot& before,
                                                     const device_array& now) {
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = now.type().bytes();
  try {
    auto found = comparers_.find(bytes);
    if (found == comparers_.end()) {
      array_comparer made(element_type::opaque(bytes), tolerance::exact());
      found = comparers_.emplace(bytes, std::move(made)).first;
    }
    return found->second.count(queue, *before.on_device, now.buffer(), before.layout) != 0;
  } catch (const std::exception& failure) {
    log(log_level::debug, fmt::format("bits are compared on the host, for device '{}' cannot: {}",
                                      queue.device().name(), failure.what()));
    return std::nullopt;
  }
}

bool bit_comparison::is_same(command_queue& queue, const snapshot& before,
                             const device_array& now) {
  if (before.layout != now.layout()) return false;
  if (before.on_device) return differ_on_device(queue, before, now) == false;
  const std::vector<std::byte> bytes = read_back(queue, now.buffer(), before.on_host.size());
  return compare_bits(before.layout, before.on_host.data(), bytes.data()).matches();
}

std::optional<std::string> bit_comparison::find_change(command_queue& queue, const snapshot& before,
                                                       const device_array& now) {
  if (before.on_device) {
    if (differ_on_device(queue, before, now) == false) return std::nullopt;
  }
  const std::size_t bytes = before.layout.bytes();
  const std::vector<std::byte> first =
      before.on_device ? read_back(queue, *before.on_device, bytes) : before.on_host;
  const std::vector<std::byte> second = read_back(queue, now.buffer(), bytes);
  const comparison compared = compare_bits(before.layout, first.data(), second.data());
  if (compared.matches()) return std::nullopt;
  return compared.describe();
}

namespace {

kernel make_error_kernel(const context& place, dtype type) {
  defines macros;
  macros.add("wgs", static_cast<int>(work_group));
  visit_dtype(type, [&]<class T>() {
    add_number<T>(macros);
    if constexpr (!std::is_integral_v<T>) {
      macros.add("word", word_name(part_bytes<T>()));
      macros.add("parts", static_cast<int>(sizeof(T) / part_bytes<T>()));
      add_float_bits<T>(macros);
    }
  });
  const program made = compile(
      place, {"measure_errors.kernel", std::string(embedded::measure_errors_kernel)}, macros);
  return made.create_kernel("measure_errors");
}

/// @param errors  its kernel, made on first use
accuracy measure_errors(command_queue& queue, const device_array& got, const buffer& expected,
                        std::optional<kernel>& errors) {
  const context place = queue.context();
  if (!errors) errors = make_error_kernel(place, *got.type().dtype());
  constexpr std::size_t figures = 5;
  const buffer found = place.create_buffer(groups * figures * sizeof(double));
  const row_layout rows = *row_layout::of(got.layout());
  errors->set_arguments(expected, got.buffer(), found, rows.rows, rows.columns, rows.pitch);
  queue.enqueue(*errors, {{groups * work_group}, {work_group}});
  std::array<double, groups * figures> all{};
  queue.read(found, all.data(), sizeof all);
  accuracy whole;
  for (auto own = all.begin(); own != all.end(); own += figures) {
    whole.add(accuracy({.elements = static_cast<std::uint64_t>(own[4]),
                        .signal = own[0],
                        .noise = own[1],
                        .largest = own[2],
                        .ulps = own[3]}));
  }
  return whole;
}

}  // namespace

struct device_comparison::prepared {
  context place;
  array_layout layout;
  tune::buffer expected;
  std::optional<tune::kernel> errors{};  // measures the accuracy
};

device_comparison::device_comparison(const array_layout& layout,
                                     std::shared_ptr<const void> elements, const tolerance& allowed)
    : layout_(layout), elements_(std::move(elements)), comparer_(layout.type(), allowed) {}

device_comparison::~device_comparison() = default;

std::optional<std::size_t> device_comparison::count_mismatches(command_queue& queue,
                                                               const device_array& got) {
  const std::lock_guard lock(mutex_);
  return on_device(queue, got, [&] {
    return comparer_.count(queue, prepared_->expected, got.buffer(), got.layout());
  });
}

std::optional<accuracy> device_comparison::measure(command_queue& queue, const device_array& got) {
  const std::lock_guard lock(mutex_);
  if (!layout_.type().dtype()) return std::nullopt;
  return on_device(queue, got, [&] {
    return measure_errors(queue, got, prepared_->expected, prepared_->errors);
  });
}

template <class Compare>
auto device_comparison::on_device(command_queue& queue, const device_array& got,
                                  const Compare& compare) -> std::optional<decltype(compare())> {
  const bool worth_it = layout_.bytes() >= array_comparer::least_bytes;
  if (!worth_it || (given_up_ && *given_up_ == queue.context())) return std::nullopt;
  if (!comparer_.knows(layout_) || !comparer_.knows(got.layout())) return std::nullopt;
  try {
    prepare(queue, got.layout());
    return compare();
  } catch (const std::exception& failure) {
    log(log_level::debug,
        fmt::format("results are compared on the host, for device '{}' cannot: {}",
                    queue.device().name(), failure.what()));
    prepared_.reset();
    given_up_ = queue.context();
    return std::nullopt;
  }
}

void device_comparison::prepare(command_queue& queue, const array_layout& layout) {
  const context place = queue.context();
  if (prepared_ && prepared_->place == place && prepared_->layout == layout) return;
  prepared_.reset();  // frees its memory first
  prepared_ = std::make_unique<prepared>(
      prepared{.place = place, .layout = layout, .expected = place.create_buffer(layout.bytes())});
  const std::vector<std::byte> expected =
      padded_as(layout, layout_, elements_.get(), *row_layout::of(layout));
  queue.write(prepared_->expected, expected.data(), expected.size());
}

}  // namespace tune::detail
