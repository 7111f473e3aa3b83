// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "operations/by_name/makers/makers.hpp"
#include "operations/fill/fill.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/percentile5/percentile5.hpp"
#include "operations/transpose/transpose.hpp"

namespace tune::operations::makers {
namespace {

using stage = parameter_stage;

constexpr std::int64_t about_columns = 8192;

/// A number as a whole number; empty if it is not whole, or too large for the type.
template <class T>
std::optional<T> whole_number(const value& v) {
  if (const auto* truth = std::get_if<bool>(&v)) return static_cast<T>(*truth);
  if (const auto* whole = std::get_if<std::int64_t>(&v)) {
    return std::in_range<T>(*whole) ? std::optional(static_cast<T>(*whole)) : std::nullopt;
  }
  if (const auto* natural = std::get_if<std::uint64_t>(&v)) {
    return std::in_range<T>(*natural) ? std::optional(static_cast<T>(*natural)) : std::nullopt;
  }
  const auto* real = std::get_if<double>(&v);
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (real == nullptr || std::trunc(*real) != *real || std::abs(*real) > exact) return std::nullopt;
  return whole_number<T>(static_cast<std::int64_t>(*real));
}

/// A number as an element of a type. @throws type_error if the type cannot hold it
std::vector<std::byte> element_bytes(dtype type, const value& v) {
  std::vector<std::byte> bytes(dtype_bytes(type));
  visit_dtype(type, [&]<class T>() {
    T element{};
    if constexpr (std::is_integral_v<T>) {
      const auto whole = whole_number<T>(v);
      if (!whole) {
        throw type_error(fmt::format("{} is no value of {}", to_string(v), dtype_name(type)));
      }
      element = *whole;
    } else if constexpr (tune::detail::complex_number<T>) {
      element = T(static_cast<typename T::value_type>(real_of("value", v)));
    } else if constexpr (std::is_floating_point_v<T>) {
      element = static_cast<T>(real_of("value", v));
    } else {
      element = T(static_cast<float>(real_of("value", v)));
    }
    std::memcpy(bytes.data(), &element, sizeof(element));
  });
  return bytes;
}

reduction reduction_of(const given_parameters& key) {
  const dtype type = key.type("type");
  const std::string& operation = key.text("operation");
  if (operation == "sum") return sum_of(type);
  if (operation == "min") return min_of(type);
  if (operation == "max") return max_of(type);
  if (!key.text("identity").empty()) {
    return {type, operation, key.text("identity"), key.text("definitions")};
  }
  throw argument_error(
      fmt::format("the reduction '{}' is an expression, and has no identity: "
                  "give its neutral element, or use 'sum', 'min' or 'max'",
                  operation));
}

/// Adds the shape of src.
operation_maker& add_shape(operation_maker& to) {
  return to.add(stage::size, "rows", {}, "of src").add(stage::size, "columns", {}, "of src");
}

/// Adds the shape of src and a range of its columns.
operation_maker& add_range(operation_maker& to, const char* done) {
  return add_shape(to)
      .add(stage::size, "begin", std::int64_t{0}, fmt::format("the first column that is {}", done))
      .add(stage::size, "end", std::int64_t{-1}, "the column past the last; -1: all");
}

/// Makes an operation for a range of columns.
template <class Template>
operation_by_name over_range(const Template& made, const command_queue& queue,
                             const given_parameters& size) {
  const std::size_t columns = size.count("columns");
  const std::size_t end = size.number("end") == -1 ? columns : size.count("end");
  return without_settings(
      made.instantiate(queue, size.count("rows"), columns, {size.count("begin"), end}));
}

/// Makes an operation for rows and columns.
template <class Template>
operation_by_name over_all(const Template& made, const command_queue& queue,
                           const given_parameters& size) {
  return without_settings(made.instantiate(queue, size.count("rows"), size.count("columns")));
}

}  // namespace

operation_maker fill() {
  return operation_maker("fill")
      .add(stage::key, "type", "float32", "the type of the elements")
      .add(stage::size, "shape", {}, "the extents of the array, such as '64x1024'")
      .add(stage::setting, "value", std::int64_t{0}, "what every element becomes")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return fill_template(in, key.type("type"));
          },
          [](const fill_template& made, const command_queue& queue, const given_parameters& size) {
            return with_settings(
                made.instantiate(queue, size.extents("shape")),
                [](operations::fill& of, std::string_view, const value& v) {
                  of.set_value_bytes(element_bytes(*of.slot("data").type().dtype(), v));
                });
          });
}

operation_maker transpose() {
  operation_maker made("transpose");
  made.add(stage::key, "type", "float32", "the type of the elements");
  return add_shape(made).made_by(
      [](const context& in, const given_parameters& key) {
        return transpose_template(in, key.type("type"));
      },
      over_all<transpose_template>);
}

operation_maker hreduce() {
  const std::string any;  // an empty default
  operation_maker made("hreduce");
  made.add(stage::key, "type", "float32", "the type of the elements")
      .add(stage::key, "operation", "sum",
           "'sum', 'min', 'max', or an expression of a and b with its identity")
      .add(stage::key, "identity", any, "of an expression: its neutral element")
      .add(stage::key, "definitions", any, "of an expression: text before the kernel")
      .add(stage::key, "columns", about_columns, "about how many a row has, to tune for");
  return add_range(made, "reduced")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return hreduce_template(in, reduction_of(key), key.count("columns"));
          },
          over_range<hreduce_template>);
}

operation_maker maskedsum() {
  operation_maker made("maskedsum");
  made.add(stage::key, "use_amplitudes", false, "adds |x| in place of x")
      .add(stage::key, "columns", about_columns, "about how many src has, to tune for");
  return add_shape(made).made_by(
      [](const context& in, const given_parameters& key) {
        return maskedsum_template(in, key.is_true("use_amplitudes"), key.count("columns"));
      },
      over_all<maskedsum_template>);
}

operation_maker percentile5() {
  operation_maker made("percentile5");
  made.add_fields<percentile5_key>(
      stage::key, {{"max_columns", "about how many a row has, to tune for"},
                   {"is_amplitude", "src is float32; else absolute values of complex64"}});
  return add_range(made, "ranked")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return percentile5_template(in, key.count("max_columns"), key.is_true("is_amplitude"));
          },
          over_range<percentile5_template>);
}

}  // namespace tune::operations::makers
