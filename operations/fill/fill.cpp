// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fill/fill.hpp"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <type_traits>
#include <vector>

#include "libtune/base/visit_dtype.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/storage_type.hpp"
#include "operations/workload.hpp"

#include "fill.kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t longest_word_bytes = 16;

// A single load or store must have a size that is a power of two.
bool has_word(const fill_key& key, std::size_t vector) {
  return std::has_single_bit(vector) && std::has_single_bit(key.element_bytes) &&
         vector <= longest_word_bytes / key.element_bytes;
}

program build(const context& context, const fill_key& key, const fill_tuning& tuning) {
  require_possible(is_group(tuning.wgs) && is_unrolled(tuning.items) &&
                       (tuning.vector == 1 || has_word(key, tuning.vector)),
                   "fill", tuning,
                   "a group has 1 to 4096 items, and an item 1 to 64 words; a word of several "
                   "elements has 2, 4, 8 or 16 bytes");
  const std::string types = storage_type("element", key.element_bytes) +
                            storage_type("word", tuning.vector * key.element_bytes);
  return compile(context, {"fill.kernel", types + std::string(embedded::fill_kernel)},
                 defines(tuning));
}

/// An odd size, to test the end of an array too.
const shape odd_size{4099};

std::vector<std::byte> test_value(std::size_t bytes) {
  std::vector<std::byte> value(bytes);
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<std::byte>(i + 1);
  return value;
}

/// An element as a number, or as its bytes in hexadecimal for other types.
/// A number of any floating-point type, exactly.
template <class T>
double number_of(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    return number;
  } else {
    return static_cast<float>(number);
  }
}

value to_value(element_type type, std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) text += fmt::format("{:02x}", std::to_integer<int>(each));
  if (!type.dtype() || type == dtype::complex64 || type == dtype::complex128) return text;
  return visit_dtype(*type.dtype(), [&]<class T>() -> value {
    if constexpr (sizeof(T) <= sizeof(double) && !tune::detail::complex_number<T>) {
      T number{};
      std::memcpy(&number, bytes.data(), sizeof(T));
      if constexpr (std::is_integral_v<T>)
        return value_traits<T>::to_value(number);
      else
        return number_of(number);
    }
    return text;
  });
}

answer expected_of_odd_size(command_queue queue, const fill_key& key) {
  const device_array right(queue.context(), {element_type::opaque(key.element_bytes), odd_size});
  const std::vector<std::byte> value = test_value(key.element_bytes);
  std::vector<std::byte> bytes;
  while (bytes.size() < right.layout().bytes()) {
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  queue.write(right.buffer(), bytes.data(), bytes.size());
  answer expected;
  expected.add("data", queue, right, tolerance::exact());
  return expected;
}

std::optional<std::string> find_wrong_byte(const workload& work, const answer& expected,
                                           const program& built, const fill_key& key,
                                           const fill_tuning& tuning) {
  fill op(work.queue(), built, tuning, element_type::opaque(key.element_bytes), odd_size);
  op.set_value_bytes(test_value(key.element_bytes));
  return find_fault(op, work, expected);
}

}  // namespace

fill::fill(const command_queue& queue, const program& built, const fill_tuning& tuning,
           element_type type, const shape& size)
    : operation(queue),
      kernel_(built.create_kernel("fill")),
      tuning_(tuning),
      data_(add_slot("data", {size.begin(), size.end()}, type, padding_policy::any_valid)),
      word_(tuning.vector * type.bytes()) {}

void fill::set_value(element_type type, const void* value) {
  if (type != data_->type()) {
    throw type_error(fmt::format("fill writes elements of {}, and the value is of {}",
                                 data_->type().name(), type.name()));
  }
  set_value_bytes({static_cast<const std::byte*>(value), type.bytes()});
}

void fill::set_value_bytes(std::span<const std::byte> value) {
  if (value.size() != data_->type().bytes()) {
    throw argument_error(fmt::format("an element of {} has {} bytes, not {}", data_->type().name(),
                                     data_->type().bytes(), value.size()));
  }
  for (std::size_t at = 0; at < word_.size(); at += value.size()) {
    std::memcpy(word_.data() + at, value.data(), value.size());
  }
  parameters_changed();
}

void fill::do_run() {
  const device_array& data = data_->buffer();
  const std::size_t bytes = data.layout().bytes();
  if (bytes == 0) return;
  const std::size_t element_bytes = data.type().bytes();
  const std::uint64_t words = bytes / word_.size();
  const auto rest = static_cast<std::uint32_t>(bytes % word_.size() / element_bytes);
  const std::size_t groups = divide_up(words + (rest != 0 ? 1 : 0), tuning_.wgs * tuning_.items);
  const std::span<const std::byte> word(word_);
  enqueue(kernel_, {{groups * tuning_.wgs}, {tuning_.wgs}}, data_, word, word.first(element_bytes),
          words, rest);
}

std::vector<named_value> fill::do_parameters() const {
  return parameter_list()
      .add("type", data_->type())
      .add("shape", data_->required_layout().size())
      .add("value", to_value(data_->type(), std::span(word_).first(data_->type().bytes())))
      .add("tuning", tuning_);
}

fill_template::fill_template(const context& context, element_type type,
                             const std::optional<fill_tuning>& tuning)
    : type_(type),
      tuning_(tuning ? *tuning : autotune(context, {type.bytes()})),
      program_(build(context, {type.bytes()}, tuning_)) {}

fill fill_template::instantiate(const command_queue& queue, const shape& size) const {
  return {queue, program_, tuning_, type_, size};
}

space<fill_tuning> tuning_space(const fill_key& key) {
  std::vector<std::size_t> vectors{1};
  for (std::size_t n = 2; has_word(key, n); n *= 2) vectors.push_back(n);
  space<fill_tuning> space;
  space.add(&fill_tuning::wgs, {64, 128, 256, 512, 1024});
  space.add(&fill_tuning::vector, vectors);
  space.add(&fill_tuning::items, {1, 2, 4, 8});
  space.needs([](const fill_tuning& t) { return resources{.work_group = {t.wgs, 1, 1}}; });
  return space;
}

const autotuner<fill_key, fill_tuning> fill_template::autotune{
    {.name = "operations.fill_template.autotune", .version = 0, .test = {}},
    [](tuning_session& session, const fill_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const auto type = element_type::opaque(key.element_bytes);
      const shape size{workload_bytes(session) / key.element_bytes};
      workload work(queue);
      const workload odd(queue);
      const answer expected = expected_of_odd_size(queue, key);
      const declared_work written{.bytes =
                                      static_cast<double>(size.elements() * key.element_bytes)};
      return session.tune(tuning_space(key), [&](const fill_tuning& tuning) {
        const program built = build(context, key, tuning);
        fill op(queue, built, tuning, type, size);
        // The measured operation is checked for writes out of bounds only.
        return make_measure(queue, std::move(op), work, answer()).work(written).check([=] {
          return find_wrong_byte(odd, expected, built, key, tuning);
        });
      });
    }};

namespace {
/// The bytes of the element whose value to_value returned.
std::vector<std::byte> bytes_of(dtype type, const value& from) {
  std::vector<std::byte> bytes(dtype_bytes(type));
  visit_dtype(type, [&]<class T>() {
    if constexpr (tune::detail::complex_number<T>) {
      const std::string digits = value_traits<std::string>::from_value(from);
      for (std::size_t i = 0; i < bytes.size() && 2 * i + 1 < digits.size(); ++i) {
        bytes[i] = static_cast<std::byte>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
      }
    } else {
      T number{};
      if constexpr (std::is_integral_v<T>) {
        number = value_traits<T>::from_value(from);
      } else if constexpr (std::is_floating_point_v<T>) {
        number = static_cast<T>(value_traits<double>::from_value(from));
      } else {
        number = T(static_cast<float>(value_traits<double>::from_value(from)));
      }
      std::memcpy(bytes.data(), &number, sizeof(number));
    }
  });
  return bytes;
}

const remaker<fill> remake_fill{[](const command_queue& queue, const remade_parameters& from) {
  const dtype type = from.type("type");
  fill made = fill_template(queue.context(), type, from.get<fill_tuning>("tuning"))
                  .instantiate(queue, from.extents("shape"));
  made.set_value_bytes(bytes_of(type, from.at("value")));
  return made;
}};

const tuned_by<fill> fill_is_tuned{fill_template::autotune, [](const remade_parameters& from) {
                                     return fill_key{element_type(from.type("type")).bytes()};
                                   }};
}  // namespace

}  // namespace tune::operations
