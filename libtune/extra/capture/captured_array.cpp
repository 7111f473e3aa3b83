// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/captured_array.hpp"

#include <cstring>
#include <fmt/format.h>
#include <type_traits>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/base/visit_dtype.hpp"

namespace tune::detail {
namespace {

/// An array with the captured layout: the given one, or a copy of it.
device_array with_captured_layout(command_queue& queue, const device_array& from,
                                  const array_layout& layout) {
  if (from.layout() == layout) return from;
  const device_array copy(queue.context(), layout);
  copy.copy_from(queue, from);
  return copy;
}

/// The indices of an element, whose number counts the padding, too; empty in the padding.
std::optional<shape> place_of(const array_layout& layout, std::size_t number) {
  std::vector<std::size_t> indices(layout.size().rank());
  for (std::size_t axis = indices.size(); axis-- > 0;) {
    indices[axis] = number % layout.padded()[axis];
    number /= layout.padded()[axis];
    if (indices[axis] >= layout.size()[axis]) return std::nullopt;
  }
  return shape(indices);
}

std::string element_text(element_type type, const std::byte* bytes) {
  const std::string digits = to_hex(std::span(bytes, type.bytes()));
  if (!type.dtype()) return "0x" + digits;
  return visit_dtype(*type.dtype(), [&]<class T>() -> std::string {
    T element{};
    std::memcpy(&element, bytes, sizeof element);
    if constexpr (complex_number<T>) {
      return fmt::format("{} + {}i (0x{})", element.real(), element.imag(), digits);
    } else if constexpr (std::is_floating_point_v<T>) {
      return fmt::format("{} (0x{})", element, digits);
    } else if constexpr (std::is_integral_v<T>) {
      return fmt::format("{}", +element);
    } else {
      return fmt::format("{} (0x{})", static_cast<float>(element), digits);
    }
  });
}

/// Counts the differing elements of an array whose parts arrive one after the other.
class difference_count {
 public:
  explicit difference_count(const array_layout& layout) : layout_(layout) {}

  /// @param offset  of both parts in the array, which need not begin with an element
  void compare(std::size_t offset, std::span<const std::byte> got,
               std::span<const std::byte> wanted) {
    if (std::memcmp(got.data(), wanted.data(), got.size()) == 0) return;
    const std::size_t bytes = layout_.element_bytes();
    for (std::size_t i = 0; i < got.size();) {
      const std::size_t element = (offset + i) / bytes;
      const std::size_t next = std::min(got.size(), (element + 1) * bytes - offset);
      const bool same = std::memcmp(got.data() + i, wanted.data() + i, next - i) == 0;
      if (!same && element != last_) note(element);
      i = next;
    }
  }

  std::size_t count() const noexcept { return count_; }
  std::size_t first() const noexcept { return first_; }

 private:
  void note(std::size_t element) {
    last_ = element;
    if (!place_of(layout_, element)) return;
    if (count_++ == 0) first_ = element;
  }

  array_layout layout_;
  std::size_t count_ = 0;
  std::size_t first_ = 0;
  std::size_t last_ = static_cast<std::size_t>(-1);
};

}  // namespace

array_layout captured_layout(const captured_slot& captured, element_type type) {
  if (type.name() != captured.type) {
    throw type_error(fmt::format("the slot '{}' holds elements of {}, and was captured with {}",
                                 captured.name, type.name(), captured.type));
  }
  const array_layout layout(type, captured.size, captured.padded);
  if (layout.bytes() <= captured.bytes) return layout;
  throw argument_error(fmt::format("the slot '{}' has {} bytes in the file, and needs {}",
                                   captured.name, captured.bytes, layout.bytes()));
}

void write_contents(command_queue& queue, const buffer& to, const capture_reader& from,
                    const captured_contents& contents) {
  from.read(contents, [&](std::size_t offset, std::span<const std::byte> bytes) {
    const std::size_t room = to.size_bytes() > offset ? to.size_bytes() - offset : 0;
    const std::size_t count = std::min(bytes.size(), room);
    if (count > 0) queue.write(to, bytes.data(), count, offset);
  });
}

void set_array(command_queue& queue, const device_array& to, const captured_slot& captured,
               const capture_reader& from, const captured_contents& contents) {
  const array_layout layout = captured_layout(captured, to.type());
  if (layout.bytes() == 0) return;
  if (to.layout() == layout) return write_contents(queue, to.buffer(), from, contents);
  const device_array original(queue.context(), layout);
  write_contents(queue, original.buffer(), from, contents);
  to.copy_from(queue, original);
  queue.finish();
}

device_array make_array(command_queue& queue, const captured_slot& captured,
                        const capture_reader& from, const captured_contents& contents) {
  std::optional<dtype> type;
  try {
    type = dtype_from_name(captured.type);
  } catch (const error&) {
    throw argument_error(fmt::format(
        "the slot '{}' holds elements of the application's own type {}; make the operation by "
        "make_again, and bind it by bind_captured",
        captured.name, captured.type));
  }
  device_array made(queue.context(), captured_layout(captured, *type));
  set_array(queue, made, captured, from, contents);
  return made;
}

std::optional<std::string> array_difference(command_queue& queue, const device_array& got,
                                            const captured_slot& captured,
                                            const capture_reader& from,
                                            const captured_contents& contents) {
  const array_layout layout = captured_layout(captured, got.type());
  if (layout.bytes() == 0) return std::nullopt;
  const device_array result = with_captured_layout(queue, got, layout);
  difference_count differences(layout);
  std::vector<std::byte> part;
  std::size_t first_in_part = layout.bytes();
  std::string texts;
  from.read(contents, [&](std::size_t offset, std::span<const std::byte> wanted) {
    if (offset >= layout.bytes()) return;
    wanted = wanted.first(std::min(wanted.size(), layout.bytes() - offset));
    part.resize(wanted.size());
    queue.read(result.buffer(), part.data(), part.size(), offset);
    const std::size_t before = differences.count();
    differences.compare(offset, part, wanted);
    if (before > 0 || differences.count() == 0) return;
    first_in_part = differences.first() * layout.element_bytes();
    const bool is_whole =
        first_in_part >= offset && first_in_part + layout.element_bytes() <= offset + wanted.size();
    if (!is_whole) return;
    const std::size_t at = first_in_part - offset;
    texts = fmt::format(" is {}, and was {}", element_text(layout.type(), part.data() + at),
                        element_text(layout.type(), wanted.data() + at));
  });
  if (differences.count() == 0) return std::nullopt;
  return fmt::format("{} of {} elements differ; the first, at {}{}", differences.count(),
                     layout.size().elements(), to_string(*place_of(layout, differences.first())),
                     texts.empty() ? ", lies across two chunks" : texts);
}

}  // namespace tune::detail
