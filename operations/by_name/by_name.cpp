// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/by_name/by_name.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <span>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "operations/fft/fft.hpp"
#include "operations/fill/fill.hpp"
#include "operations/gemm/gemm.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/transpose/transpose.hpp"

namespace tune::operations {
namespace {

using stage = parameter_stage;

std::vector<parameter_description> make_descriptions() {
  const value whole_columns = std::int64_t{8192};
  const std::string any;  // an empty default
  return {
      {"fill", stage::key, "type", "float32", "the type of the elements"},
      {"fill", stage::size, "shape", {}, "the extents of the array, such as '64x1024'"},
      {"fill", stage::setting, "value", std::int64_t{0}, "what every element becomes"},
      {"transpose", stage::key, "type", "float32", "the type of the elements"},
      {"transpose", stage::size, "rows", {}, "of src"},
      {"transpose", stage::size, "columns", {}, "of src"},
      {"hreduce", stage::key, "type", "float32", "the type of the elements"},
      {"hreduce", stage::key, "operation", "sum",
       "'sum', 'min', 'max', or an expression of a and b with its identity"},
      {"hreduce", stage::key, "identity", any, "of an expression: its neutral element"},
      {"hreduce", stage::key, "definitions", any, "of an expression: text before the kernel"},
      {"hreduce", stage::key, "columns", whole_columns, "about how many a row has, to tune for"},
      {"hreduce", stage::size, "rows", {}, "of src"},
      {"hreduce", stage::size, "columns", {}, "of src"},
      {"hreduce", stage::size, "begin", std::int64_t{0}, "the first column that is reduced"},
      {"hreduce", stage::size, "end", std::int64_t{-1}, "the column past the last; -1: all"},
      {"maskedsum", stage::key, "use_amplitudes", false, "adds |x| in place of x"},
      {"maskedsum", stage::key, "columns", whole_columns, "about how many src has, to tune for"},
      {"maskedsum", stage::size, "rows", {}, "of src"},
      {"maskedsum", stage::size, "columns", {}, "of src"},
      {"fft", stage::key, "size", {}, "the extents of the real side's array, the batch first"},
      {"fft", stage::key, "axes", std::int64_t{1}, "how many axes are transformed, the last ones"},
      {"fft", stage::key, "src", "complex64", "the type of the elements before"},
      {"fft", stage::key, "dest", "complex64", "the type of the elements after"},
      {"fft", stage::key, "direction", any, "'forward' or 'inverse'; empty: by the types"},
      {"gemm", stage::key, "input", "float32", "the type of A and B"},
      {"gemm", stage::key, "output", "float32", "the type of C"},
      {"gemm", stage::key, "a", "row_major", "the layout of A, m x k; or column_major"},
      {"gemm", stage::key, "b", "row_major", "the layout of B, k x n"},
      {"gemm", stage::key, "c", "row_major", "the layout of C, m x n"},
      {"gemm", stage::key, "m", "16..8192", "the range that is tuned for"},
      {"gemm", stage::key, "n", "16..8192", "the range that is tuned for"},
      {"gemm", stage::key, "k", "16..8192", "the range that is tuned for"},
      {"gemm", stage::size, "m", {}, "rows of A and C"},
      {"gemm", stage::size, "n", {}, "columns of B and C"},
      {"gemm", stage::size, "k", {}, "columns of A, rows of B"},
      {"gemm", stage::setting, "alpha", 1.0, "the factor of A B"},
      {"gemm", stage::setting, "beta", 0.0, "the factor of C before"},
  };
}

/// All parameters of one stage: given values and defaults.
class given_parameters {
 public:
  given_parameters(std::string_view operation, stage at, const configuration& given)
      : operation_(operation) {
    std::vector<std::string> known;
    for (const parameter_description& each : describe_parameters()) {
      if (each.operation != operation || each.stage != at) continue;
      known.push_back(each.name);
      if (given.has(each.name)) {
        values_.set(each.name, given.at(each.name));
      } else if (std::holds_alternative<std::monostate>(each.default_value)) {
        throw argument_error(fmt::format("the operation '{}' needs the parameter '{}': {}",
                                         operation, each.name, each.meaning));
      } else {
        values_.set(each.name, each.default_value);
      }
    }
    for (const named_value& each : given.values()) {
      if (std::ranges::find(known, each.name) != known.end()) continue;
      throw argument_error(fmt::format(
          "the operation '{}' has no parameter '{}' here; it has {}", operation, each.name,
          known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
  }

  std::size_t count(std::string_view name) const {
    const std::int64_t number = values_[name];
    if (number >= 0) return static_cast<std::size_t>(number);
    throw argument_error(
        fmt::format("'{}' of the operation '{}' is {}, less than zero", name, operation_, number));
  }
  std::int64_t number(std::string_view name) const { return values_[name]; }
  bool is_true(std::string_view name) const { return values_[name] != 0; }
  const std::string& text(std::string_view name) const { return values_.text(name); }

  dtype type(std::string_view name) const { return dtype_from_name(text(name)); }
  shape extents(std::string_view name) const {
    std::vector<std::size_t> made;
    if (const auto* written = std::get_if<std::string>(&values_.at(name))) {
      const char* at = written->data();
      const char* const end = at + written->size();
      while (true) {
        std::size_t extent = 0;
        const auto [stop, failure] = std::from_chars(at, end, extent);
        if (failure != std::errc{} || (stop != end && *stop != 'x')) {
          throw argument_error(
              fmt::format("'{}' of the operation '{}' is '{}', no extents such as "
                          "'64x1024'",
                          name, operation_, *written));
        }
        made.push_back(extent);
        if (stop == end) break;
        at = stop + 1;
      }
    } else {
      made.push_back(count(name));
    }
    return shape(std::span<const std::size_t>(made));
  }
  template <class T>
  T as(std::string_view name) const {
    return value_traits<T>::from_value(values_.at(name));
  }

 private:
  std::string operation_;
  configuration values_;
};

double real_number(std::string_view name, const value& v) {
  if (const auto* natural = std::get_if<std::uint64_t>(&v)) return static_cast<double>(*natural);
  return configuration({{std::string(name), v}}).number(name);
}

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
    } else if constexpr (detail::complex_number<T>) {
      element = T(static_cast<typename T::value_type>(real_number("value", v)));
    } else if constexpr (std::is_floating_point_v<T>) {
      element = static_cast<T>(real_number("value", v));
    } else {
      element = T(static_cast<float>(real_number("value", v)));
    }
    std::memcpy(bytes.data(), &element, sizeof(element));
  });
  return bytes;
}

[[noreturn]] void throw_no_setting(std::string_view operation, std::string_view name) {
  std::vector<std::string> known;
  for (const parameter_description& each : describe_parameters()) {
    if (each.operation == operation && each.stage == stage::setting) known.push_back(each.name);
  }
  throw argument_error(
      fmt::format("the operation '{}' has no setting '{}'; it has {}", operation, name,
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

template <class Operation>
operation_by_name without_settings(std::string_view name, Operation&& made) {
  return {std::make_unique<Operation>(std::forward<Operation>(made)),
          [name](std::string_view setting, const value&) { throw_no_setting(name, setting); }};
}

class fill_by_name final : public template_by_name {
 public:
  fill_by_name(const context& context, const given_parameters& key)
      : type_(key.type("type")), made_(context, type_) {}

  std::vector<named_value> tuning() const override { return to_values(made_.tuning()); }
  operation_by_name instantiate(const command_queue& queue,
                                const configuration& sizes) const override {
    const given_parameters given("fill", stage::size, sizes);
    auto made = std::make_unique<fill>(made_.instantiate(queue, given.extents("shape")));
    auto set = [of = made.get(), type = type_](std::string_view name, const value& v) {
      if (name != "value") throw_no_setting("fill", name);
      of->set_value_bytes(element_bytes(type, v));
    };
    return {std::move(made), std::move(set)};
  }

 private:
  dtype type_;
  fill_template made_;
};

class transpose_by_name final : public template_by_name {
 public:
  transpose_by_name(const context& context, const given_parameters& key)
      : made_(context, key.type("type")) {}

  std::vector<named_value> tuning() const override { return to_values(made_.tuning()); }
  operation_by_name instantiate(const command_queue& queue,
                                const configuration& sizes) const override {
    const given_parameters given("transpose", stage::size, sizes);
    return without_settings("transpose",
                            made_.instantiate(queue, given.count("rows"), given.count("columns")));
  }

 private:
  transpose_template made_;
};

class hreduce_by_name final : public template_by_name {
 public:
  hreduce_by_name(const context& context, const given_parameters& key)
      : made_(context, reduction_of(key), key.count("columns")) {}

  std::vector<named_value> tuning() const override { return to_values(made_.tuning()); }
  operation_by_name instantiate(const command_queue& queue,
                                const configuration& sizes) const override {
    const given_parameters given("hreduce", stage::size, sizes);
    const std::size_t columns = given.count("columns");
    const std::size_t end = given.number("end") == -1 ? columns : given.count("end");
    return without_settings("hreduce", made_.instantiate(queue, given.count("rows"), columns,
                                                         {given.count("begin"), end}));
  }

 private:
  static reduction reduction_of(const given_parameters& key) {
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

  hreduce_template made_;
};

class maskedsum_by_name final : public template_by_name {
 public:
  maskedsum_by_name(const context& context, const given_parameters& key)
      : made_(context, key.is_true("use_amplitudes"), key.count("columns")) {}

  std::vector<named_value> tuning() const override { return to_values(made_.tuning()); }
  operation_by_name instantiate(const command_queue& queue,
                                const configuration& sizes) const override {
    const given_parameters given("maskedsum", stage::size, sizes);
    return without_settings("maskedsum",
                            made_.instantiate(queue, given.count("rows"), given.count("columns")));
  }

 private:
  maskedsum_template made_;
};

class fft_by_name final : public template_by_name {
 public:
  fft_by_name(const context& context, const given_parameters& key)
      : made_(context, description_of(key)) {}

  std::vector<named_value> tuning() const override { return to_values(made_.tuning()); }
  operation_by_name instantiate(const command_queue& queue,
                                const configuration& sizes) const override {
    static_cast<void>(given_parameters("fft", stage::size, sizes));
    return without_settings("fft", made_.instantiate(queue));
  }

 private:
  static element_type type_of(const std::string& name) {
    if (name == "complex_half") return element_type::of<complex_half>();
    return dtype_from_name(name);
  }
  static fft_description description_of(const given_parameters& key) {
    fft_description made{.size = key.extents("size"), .axes = key.count("axes")};
    made.src = type_of(key.text("src"));
    made.dest = type_of(key.text("dest"));
    if (!key.text("direction").empty()) made.direction = key.as<fft_direction>("direction");
    return made;
  }

  fft_template made_;
};

class gemm_by_name final : public template_by_name {
 public:
  gemm_by_name(const context& context, const given_parameters& key)
      : made_(context, gemm_key{.input = key.type("input"),
                                .output = key.type("output"),
                                .a = key.as<gemm_layout>("a"),
                                .b = key.as<gemm_layout>("b"),
                                .c = key.as<gemm_layout>("c"),
                                .m = key.as<size_range>("m"),
                                .n = key.as<size_range>("n"),
                                .k = key.as<size_range>("k")}) {}

  std::vector<named_value> tuning() const override { return to_values(made_.tunings().front()); }
  operation_by_name instantiate(const command_queue& queue,
                                const configuration& sizes) const override {
    const given_parameters given("gemm", stage::size, sizes);
    auto made = std::make_unique<gemm>(
        made_.instantiate(queue, given.count("m"), given.count("n"), given.count("k")));
    auto set = [of = made.get(), alpha = 1.0F, beta = 0.0F](std::string_view name,
                                                            const value& v) mutable {
      if (name != "alpha" && name != "beta") throw_no_setting("gemm", name);
      (name == "alpha" ? alpha : beta) = static_cast<float>(real_number(name, v));
      of->set_factors(alpha, beta);
    };
    return {std::move(made), std::move(set)};
  }

 private:
  gemm_template made_;
};

using maker = std::shared_ptr<const template_by_name> (*)(const context&, const given_parameters&);

template <class Template>
std::shared_ptr<const template_by_name> make(const context& context, const given_parameters& key) {
  return std::make_shared<Template>(context, key);
}

constexpr std::array<std::pair<std::string_view, maker>, 6> makers{{
    {"fill", make<fill_by_name>},
    {"transpose", make<transpose_by_name>},
    {"hreduce", make<hreduce_by_name>},
    {"maskedsum", make<maskedsum_by_name>},
    {"fft", make<fft_by_name>},
    {"gemm", make<gemm_by_name>},
}};

}  // namespace

std::string_view parameter_stage_name(parameter_stage stage) noexcept {
  constexpr std::array<std::string_view, 3> names{"key", "size", "setting"};
  return names[static_cast<std::size_t>(stage)];
}

const std::vector<parameter_description>& describe_parameters() {
  static const detail::never_destroyed<std::vector<parameter_description>> all(make_descriptions());
  return *all;
}

std::shared_ptr<const template_by_name> make_template(const context& context,
                                                      std::string_view operation,
                                                      const configuration& key) {
  for (const auto& [name, make_it] : makers) {
    if (name == operation) return make_it(context, given_parameters(name, stage::key, key));
  }
  std::vector<std::string_view> names;
  names.reserve(makers.size());
  for (const auto& each : makers) names.push_back(each.first);
  throw argument_error(
      fmt::format("no operation '{}' can be made by name; the names are "
                  "{}",
                  operation, fmt::join(names, ", ")));
}

}  // namespace tune::operations
