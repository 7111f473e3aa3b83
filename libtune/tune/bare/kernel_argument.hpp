// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a bare kernel is called with: arrays of the host or the device, and values.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/operation/slot.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/verify/answer.hpp"

namespace tune {

/// One argument of a bare kernel. in, out and inout make those that are arrays; values that can be
/// copied as bytes, numbers and structs, are arguments as they are.
struct kernel_argument {
  /// An array, which becomes a slot of the operation.
  struct array {
    element_type type;      ///< of its elements
    tune::shape size;       ///< without padding, which it never has
    bool is_output = true;  ///< the kernel writes to it, so that its contents are a result
    /// Sets the contents of the slot of this name; empty: it has none before the kernel runs.
    std::function<void(workload&, const std::string&)> fill{};
  };

  std::string name;  ///< of the slot; empty: "argument_0" and so on
  std::optional<tune::kernel_argument::array> as_array{};  ///< empty: a value
  std::vector<std::byte> bytes{};                          ///< of a value
};

namespace detail {

/// A range whose elements lie in a row and may be those of an array; arrays of fixed size are
/// values.
template <class Range>
concept host_range = requires(const Range& range) {
  { std::size(range) } -> std::convertible_to<std::size_t>;
  requires element<std::remove_cvref_t<decltype(*std::data(range))>>;
};

template <host_range Range>
using element_of = std::remove_cvref_t<decltype(*std::data(std::declval<const Range&>()))>;

/// A copy of the elements.
template <host_range Range>
host_array<element_of<Range>> to_host_array(const Range& range, const shape& size) {
  const auto wrapped =
      host_array<element_of<Range>>::wrap_const({std::data(range), std::size(range)}, size);
  return host_array<element_of<Range>>(wrapped);
}

template <element T>
kernel_argument array_argument(host_array<T> contents, std::string name, bool is_output) {
  const shape size = contents.size();
  auto kept = std::make_shared<const host_array<T>>(std::move(contents));
  return {std::move(name),
          kernel_argument::array{
              element_type::of<T>(), size, is_output,
              [kept](workload& work, const std::string& slot) { work.set(slot, *kept); }},
          {}};
}

template <host_range Range>
kernel_argument array_argument(const Range& range, std::string name, bool is_output) {
  return array_argument(to_host_array(range, {std::size(range)}), std::move(name), is_output);
}

kernel_argument array_argument(const device_array& contents, std::string name, bool is_output);

/// A copy of an answer that is kept: of a range, an array of one axis.
template <host_range Range>
auto keep_answer(const Range& range) {
  return std::make_shared<const host_array<element_of<Range>>>(
      to_host_array(range, {std::size(range)}));
}
template <element T>
auto keep_answer(const host_array<T>& expected) {
  return std::make_shared<const host_array<T>>(expected);
}

/// A copy in another shape of as many elements.
template <element T>
host_array<T> shaped(const host_array<T>& from, const shape& size) {
  if (from.size() == size) return from;
  const auto wrapped = host_array<T>::wrap_const({from.data(), from.size().elements()}, size);
  return host_array<T>(wrapped);
}

/// A candidate of a parameter as a value.
template <class Candidate>
value to_candidate(const Candidate& candidate) {
  if constexpr (std::same_as<Candidate, bool>) {
    return candidate;
  } else if constexpr (std::integral<Candidate>) {
    return static_cast<std::int64_t>(candidate);
  } else if constexpr (std::floating_point<Candidate>) {
    return static_cast<double>(candidate);
  } else {
    return std::string(candidate);
  }
}

/// An argument as it stands in a list: an array of the host or the device is one that the kernel
/// reads and writes.
template <class T>
kernel_argument to_argument(const T& given) {
  if constexpr (std::same_as<T, kernel_argument>) {
    return given;
  } else if constexpr (requires { array_argument(given, std::string(), true); }) {
    return array_argument(given, {}, true);
  } else {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "an argument of a kernel is an array (tune::in, out, inout), or a value that can "
                  "be copied as bytes");
    kernel_argument made;
    made.bytes.resize(sizeof(T));
    std::memcpy(made.bytes.data(), &given, sizeof(T));
    return made;
  }
}

}  // namespace detail

/// An array that a bare kernel reads: a vector, span or host_array, whose elements are copied now,
/// or a device_array, whose elements are copied, on the device, when the kernel is tuned or run.
/// @param name  of the slot of the operation; empty: "argument_0" and so on
template <class Array>
requires requires(const Array& array) { detail::array_argument(array, std::string(), false); }
kernel_argument in(const Array& contents, std::string name = {}) {
  return detail::array_argument(contents, std::move(name), false);
}

/// An array that a bare kernel reads and writes, or of which it writes a part: it has these
/// contents before a checked run. Parameters as for in.
template <class Array>
requires requires(const Array& array) { detail::array_argument(array, std::string(), true); }
kernel_argument inout(const Array& contents, std::string name = {}) {
  return detail::array_argument(contents, std::move(name), true);
}

/// An array that a bare kernel writes, all of it: of the shape of this one, whose contents do not
/// matter. Before a checked run it is filled with what is NaN to floats.
template <class Array>
requires requires(const Array& array) { detail::array_argument(array, std::string(), true); }
kernel_argument out(const Array& like, std::string name = {}) {
  if constexpr (detail::host_range<Array>) {
    return {
        std::move(name),
        kernel_argument::array{element_type::of<detail::element_of<Array>>(), {std::size(like)}},
        {}};
  } else {
    return {std::move(name), kernel_argument::array{like.layout().type(), like.size()}, {}};
  }
}

/// The same by its element type and shape: tune::out<float>({rows, columns}).
template <element T>
kernel_argument out(const shape& size, std::string name = {}) {
  return {std::move(name), kernel_argument::array{element_type::of<T>(), size}, {}};
}

}  // namespace tune
