// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The arguments of a bare kernel: arrays of the host or the device, and values.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/device/image.hpp"
#include "libtune/operation/slot.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/verify/answer.hpp"

namespace tune {

/// One argument of a bare kernel. in, out and inout make array arguments; values that can be copied
/// as bytes, numbers and structs, become arguments directly.
struct kernel_argument {
  /// An array, which becomes a slot of the operation.
  struct array {
    element_type type;      ///< the type of its elements
    tune::shape size;       ///< the extents without padding
    bool is_output = true;  ///< the kernel writes to it, so its contents are a result
    /// Sets the contents of the slot of this name; empty: the array has no contents before the run.
    std::function<void(workload&, const std::string&)> fill{};
  };

  /// An image, which the kernel reads.
  class pixels;

  std::string name;  ///< the name of the slot; empty: "argument_0" and so on
  std::optional<tune::kernel_argument::array> as_array{};  ///< empty for other arguments
  std::vector<std::byte> bytes{};                          ///< bytes of a value
  std::shared_ptr<const pixels> as_image{};                ///< null for other arguments
  bool is_sampler = false;  ///< the parameter is the sampler of that image, in OpenCL
};

/// The contents of an image, which all configurations of a context share. Thread-safe.
class kernel_argument::pixels {
 public:
  /// @throws argument_error if the number of bytes is not the image's
  pixels(const image_layout& layout, std::span<const std::byte> contents);

  /// The image in the queue's context, with its contents. @throws device_error
  image in(const command_queue& queue) const;

 private:
  image_layout layout_;
  std::vector<std::byte> contents_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<detail::buffer_interface> made_;  // the latest
};

namespace detail {

/// A copy of the elements, as an array of one axis.
template <host_range Range>
host_array<element_of<Range>> to_host_array(const Range& range) {
  return host_array<element_of<Range>>::copy_of({std::data(range), std::size(range)},
                                                {std::size(range)});
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
  return array_argument(to_host_array(range), std::move(name), is_output);
}

kernel_argument array_argument(const device_array& contents, std::string name, bool is_output);

/// A copy of an answer to keep: for a range, an array of one axis.
template <host_range Range>
auto keep_answer(const Range& range) {
  return std::make_shared<const host_array<element_of<Range>>>(to_host_array(range));
}
template <element T>
auto keep_answer(const host_array<T>& expected) {
  return std::make_shared<const host_array<T>>(expected);
}

/// @throws argument_error unless one shape may replace the other
void check_elements(const shape& given, const shape& wanted);

/// A copy in another shape of as many elements. @throws argument_error for another number
template <element T>
host_array<T> shaped(const host_array<T>& from, const shape& size) {
  if (from.size() == size) return from;
  check_elements(from.size(), size);
  return host_array<T>::copy_of({from.data(), from.size().elements()}, size);
}

/// A function that makes the contents of an array: a range or a host_array.
template <class Function>
concept contents_function = requires(const Function& make) {
  detail::keep_answer(make());
};

template <contents_function Function>
using element_made_by =
    std::remove_cvref_t<decltype(*detail::keep_answer(std::declval<const Function&>()())->data())>;

template <contents_function Function>
kernel_argument array_argument(const shape& size, Function make, std::string name, bool is_output) {
  return {std::move(name),
          kernel_argument::array{
              element_type::of<element_made_by<Function>>(), size, is_output,
              [size, make = std::move(make)](workload& work, const std::string& slot) {
                work.set(slot, shaped(*keep_answer(make()), size));
              }},
          {}};
}

/// Converts a candidate of a parameter to a value.
template <class Candidate>
value to_candidate(const Candidate& candidate) {
  if constexpr (std::same_as<Candidate, bool> || std::same_as<Candidate, value>) {
    return candidate;
  } else if constexpr (std::integral<Candidate>) {
    const auto whole = static_cast<std::int64_t>(candidate);
    if (candidate > Candidate{} && whole < 0) return static_cast<std::uint64_t>(candidate);
    return whole;
  } else if constexpr (std::floating_point<Candidate>) {
    return static_cast<double>(candidate);
  } else {
    return std::string(candidate);
  }
}

/// Converts an item of an argument list to an argument: an array of the host or the device becomes
/// one that the kernel reads and writes.
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

/// An array that a bare kernel reads: a vector, span or host_array, whose elements are copied at
/// once, or a device_array, whose elements are copied on the device for each tuning or run.
/// @param contents  the array
/// @param name      the name of the operation's slot; empty: "argument_0" and so on
template <class Array>
requires requires(const Array& array) { detail::array_argument(array, std::string(), false); }
kernel_argument in(const Array& contents, std::string name = {}) {
  return detail::array_argument(contents, std::move(name), false);
}

/// Like the above, with contents from a function, called on first use: never if the result is found
/// in the database.
///   tune::in({n, n}, [n] { return make_field(n); }, "u")
/// @param size  the array's shape
/// @param make  returns a range or a host_array of as many elements
/// @param name  as above
template <detail::contents_function Function>
kernel_argument in(const shape& size, Function make, std::string name = {}) {
  return detail::array_argument(size, std::move(make), std::move(name), false);
}

/// An array that a bare kernel reads and writes, or writes in part: it has these contents before a
/// checked run. Parameters as for in.
template <class Array>
requires requires(const Array& array) { detail::array_argument(array, std::string(), true); }
kernel_argument inout(const Array& contents, std::string name = {}) {
  return detail::array_argument(contents, std::move(name), true);
}

/// Like the above, with contents from a function, called on first use, as for in.
template <detail::contents_function Function>
kernel_argument inout(const shape& size, Function make, std::string name = {}) {
  return detail::array_argument(size, std::move(make), std::move(name), true);
}

/// An array that a bare kernel writes completely: it has the shape of this array, whose contents
/// are not used. Before a checked run it is filled with bytes that are NaN for floats.
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

/// Like the above with a shape, for lists with in and inout: the function only gives the type of
/// the elements, and is not called.
///   tune::out({n, n}, [n] { return make_field(n); }, "u_new")
template <detail::contents_function Function>
kernel_argument out(const shape& size, const Function&, std::string name = {}) {
  using made = detail::element_made_by<Function>;
  return {std::move(name), kernel_argument::array{element_type::of<made>(), size}, {}};
}

/// Like the above, by element type and shape: tune::out<float>({rows, columns}).
template <element T>
kernel_argument out(const shape& size, std::string name = {}) {
  return {std::move(name), kernel_argument::array{element_type::of<T>(), size}, {}};
}

/// An image that a bare kernel reads: a texture in CUDA, an image in OpenCL
/// (libtune/device/image.hpp). The elements are copied at once, and all configurations share the
/// copy.
/// @param elements  the elements of all pixels, x fastest, the channels of each together
/// @param layout    the form; its type is the type of the elements
/// @throws argument_error for another number of elements
template <detail::host_range Range>
kernel_argument texture(const Range& elements, image_layout layout) {
  layout.type = dtype_of<detail::element_of<Range>>;
  kernel_argument made;
  made.as_image = std::make_shared<const kernel_argument::pixels>(
      layout, std::as_bytes(std::span(std::data(elements), std::size(elements))));
  return made;
}

/// The sampler of an image, for an OpenCL kernel with a parameter of type sampler_t.
/// @param of  the image argument that texture() returned
inline kernel_argument sampler(const kernel_argument& of) {
  kernel_argument made = of;
  made.is_sampler = true;
  return made;
}

}  // namespace tune
