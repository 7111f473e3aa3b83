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

#include "libtune/base/log.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/compile/compile.hpp"

#include "count_differences.kernel.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t work_group = 256;
constexpr std::size_t groups = 512;

/// An array as rows of one pitch; the outer axes are merged into one.
struct row_layout {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t pitch = 1;
};

// Empty if padding between outer axes stands in the way.
std::optional<row_layout> as_rows(const array_layout& layout) {
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

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

template <class T>
const char* integer_name() {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1: return is_signed ? "signed char" : "uchar";
    case 2: return is_signed ? "short" : "ushort";
    case 4: return is_signed ? "int" : "uint";
    default: return is_signed ? "long" : "ulong";
  }
}

// Empty for types whose comparison the kernel does not know.
std::optional<defines> macros_for(element_type type) {
  const auto known = type.dtype();
  if (!known) return std::nullopt;
  defines macros;
  macros.add("wgs", static_cast<int>(work_group));
  bool supported = true;
  visit_dtype(*known, [&]<class T>() {
    if constexpr (is_complex<T>) {
      macros.add("complex_part", sizeof(T) == 8 ? "float" : "double");
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      macros.add("real", 1).add("element", std::is_same_v<T, float> ? "float" : "double");
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      macros.add("integral", 1).add("element", integer_name<T>());
    } else {
      supported = false;
    }
  });
  return supported ? std::optional(macros) : std::nullopt;
}

// The answer with the padding of the result.
std::vector<std::byte> padded_as(const array_layout& wanted, const array_layout& layout,
                                 const void* elements, const row_layout& to) {
  std::vector<std::byte> bytes(wanted.bytes());
  const std::size_t element = layout.element_bytes();
  const row_layout from = *as_rows(layout);
  for (std::uint64_t row = 0; row < to.rows; ++row) {
    std::memcpy(bytes.data() + row * to.pitch * element,
                static_cast<const std::byte*>(elements) + row * from.pitch * element,
                to.columns * element);
  }
  return bytes;
}

}  // namespace

struct device_comparison::prepared {
  context place;
  array_layout layout;
  row_layout rows;
  tune::buffer expected;
  tune::buffer counts;
  tune::kernel kernel;
};

device_comparison::device_comparison(const array_layout& layout,
                                     std::shared_ptr<const void> elements, const tolerance& allowed)
    : layout_(layout), elements_(std::move(elements)), allowed_(allowed) {}

device_comparison::~device_comparison() = default;

std::optional<std::size_t> device_comparison::count_mismatches(command_queue& queue,
                                                               const device_array& got) {
  const std::lock_guard lock(mutex_);
  const bool worth_it = layout_.bytes() >= least_bytes;
  if (!worth_it || (given_up_ && *given_up_ == queue.context())) return std::nullopt;
  try {
    if (!prepare(queue, got.layout())) return std::nullopt;
    return count(queue, got);
  } catch (const std::exception& failure) {
    log(log_level::debug,
        fmt::format("results are compared on the host, for device '{}' cannot: {}",
                    queue.device().name(), failure.what()));
    prepared_.reset();
    given_up_ = queue.context();
    return std::nullopt;
  }
}

bool device_comparison::prepare(command_queue& queue, const array_layout& layout) {
  const context place = queue.context();
  if (prepared_ && prepared_->place == place && prepared_->layout == layout) {
    return true;
  }
  const auto rows = as_rows(layout);
  const auto macros = macros_for(layout.type());
  if (!rows || !as_rows(layout_) || !macros) return false;
  const program made =
      compile(place, {"count_differences.kernel", std::string(embedded::count_differences_kernel)},
              *macros);
  prepared_.reset();  // its memory may be needed
  prepared_ =
      std::make_unique<prepared>(prepared{place, layout, *rows, place.create_buffer(layout.bytes()),
                                          place.create_buffer(groups * sizeof(std::uint32_t)),
                                          made.create_kernel("count_differences")});
  const std::vector<std::byte> expected = padded_as(layout, layout_, elements_.get(), *rows);
  queue.write(prepared_->expected, expected.data(), expected.size());
  return true;
}

std::size_t device_comparison::count(command_queue& queue, const device_array& got) {
  const row_layout& rows = prepared_->rows;
  prepared_->kernel.set_arguments(prepared_->expected, got.buffer(), prepared_->counts, rows.rows,
                                  rows.columns, rows.pitch, allowed_.absolute, allowed_.relative);
  queue.enqueue(prepared_->kernel, {{groups * work_group}, {work_group}});
  std::array<std::uint32_t, groups> counts{};
  queue.read(prepared_->counts, counts.data(), sizeof counts);
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace tune::detail
