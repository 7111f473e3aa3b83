// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/katsdpsigproc_operations.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>

#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"
#include "libtune/tune/autotuner_core.hpp"

namespace tune::cli {
namespace {

using row = katsdpsigproc_row;

value number(std::size_t n) { return static_cast<std::int64_t>(n); }

/// The value of a column with a whole number above zero.
value count_of(const row& from, const std::string& column) {
  const std::int64_t n = integer_of(from, column);
  if (n > 0) return n;
  throw argument_error(fmt::format("column {} holds {}, which counts nothing", column, n));
}

/// The size of an element: of a dtype, or of Python's own types.
std::size_t element_bytes(const row& from) {
  const std::string name = text_of(from, "arg_dtype");
  if (name == "bool" || name == "bool_") return 1;
  if (name == "int" || name == "float") return 8;
  if (name == "complex") return 16;
  return dtype_bytes(dtype_from_name(name));
}

/// The classes of array widths in the operations here.
std::vector<value> width_classes() {
  std::vector<value> classes;
  for (std::size_t columns = 128; columns <= 65536; columns *= 2) {
    classes.push_back(number(columns));
  }
  return classes;
}

/// Both orders, for an array whose order is a part of the key here but not there.
std::vector<value> either_order() {
  return {std::string("channel_major"), std::string("baseline_major")};
}

/// An expression, with "a+b" written as in sum_of.
std::string expression(const std::string& text) {
  std::string dense = text;
  std::erase(dense, ' ');
  return dense == "a+b" ? "a + b" : text;
}

counterpart translate_fill(const row& from) {
  return {.key = {{"element_bytes", {number(element_bytes(from))}}},
          .tuning = {{"wgs", count_of(from, "value_wgs")}}};
}

// There a reduction is tuned for one width, here for classes of widths.
counterpart translate_hreduce(const row& from) {
  return {
      .key = {{"type", {text_of(from, "arg_dtype")}},
              {"element_bytes", {number(element_bytes(from))}},
              {"operation", {expression(text_of(from, "arg_op"))}},
              {"identity", {text_of(from, "arg_identity")}},
              {"definitions", {text_of(from, "arg_extra_code")}},
              {"columns", width_classes()}},
      .tuning = {{"wgsx", count_of(from, "value_wgsx")}, {"wgsy", count_of(from, "value_wgsy")}}};
}

// There a group of block x block items transposes a tile of block * vtx by block * vty elements,
// and the groups process the tiles diagonally. Tiles here are square.
counterpart translate_transpose(const row& from) {
  const std::int64_t block = std::get<std::int64_t>(count_of(from, "value_block"));
  const std::int64_t across = std::get<std::int64_t>(count_of(from, "value_vtx"));
  const std::int64_t down = std::get<std::int64_t>(count_of(from, "value_vty"));
  return {.key = {{"element_bytes", {number(element_bytes(from))}}},
          .tuning = {{"block_x", block},
                     {"block_y", block},
                     {"tile", block * std::max(across, down)},
                     {"walk", std::string("diagonal")}}};
}

// There one item adds a column, so the width of a group is its size.
counterpart translate_maskedsum(const row& from) {
  return {.key = {{"use_amplitudes", {truth_of(from, "arg_use_amplitudes")}},
                  {"columns", width_classes()}},
          .tuning = {{"wgsx", count_of(from, "value_size")}, {"wgsy", std::int64_t{1}}}};
}

// There the ranks are found bit by bit, among values in registers.
counterpart translate_percentile5(const row& from) {
  return {.key = {{"max_columns", {count_of(from, "arg_max_columns")}},
                  {"is_amplitude", {truth_of(from, "arg_is_amplitude")}}},
          .tuning = {{"size", count_of(from, "value_size")},
                     {"rows", count_of(from, "value_wgsy")},
                     {"pass_bits", std::int64_t{1}},
                     {"keeps", true}}};
}

/// The use of flags by its name here. An older version used True and False.
std::string flag_use(const row& from) {
  const auto found = from.find("arg_use_flags");
  const std::string name =
      found != from.end() && std::holds_alternative<std::int64_t>(found->second)
          ? (truth_of(from, "arg_use_flags") ? "CHANNEL" : "NONE")
          : text_of(from, "arg_use_flags");
  if (name == "NONE") return "no_flags";
  if (name == "CHANNEL") return "channel_flags";
  if (name == "FULL") return "full_flags";
  throw argument_error("there is no use of flags called '" + name + "'");
}

counterpart translate_background(const row& from) {
  return {.key = {{"width", {count_of(from, "arg_width")}},
                  {"is_amplitude", {truth_of(from, "arg_is_amplitude")}},
                  {"flag_use", {flag_use(from)}},
                  {"order", either_order()}},
          .tuning = {{"wgs", count_of(from, "value_wgs")}}};
}

/// The class of a spectrum's length: a quarter of a power of two.
value length_class(const row& from, const std::string& column) {
  const auto channels = static_cast<std::size_t>(std::get<std::int64_t>(count_of(from, column)));
  const std::size_t wanted = std::clamp<std::size_t>(channels, 256, 65536);
  const std::size_t step = std::max<std::size_t>(64, std::bit_floor(wanted) / 4);
  return number((wanted + step - 1) / step * step);
}

// There a group has one baseline, as it has here if a baseline's channels are contiguous.
counterpart translate_noise(const row& from) {
  return {.key = {{"channels", {length_class(from, "arg_max_channels")}},
                  {"order", {std::string("baseline_major")}}},
          .tuning = {{"wgsx", count_of(from, "value_wgsx")}, {"wgsy", std::int64_t{1}}}};
}

// There a group has one baseline; here each 32 of its items have one. The numbers of channels
// differ.
counterpart translate_threshold(const row& from) {
  const std::int64_t items = std::get<std::int64_t>(count_of(from, "value_wgs"));
  return {.key = {{"n_windows", {count_of(from, "arg_n_windows")}}, {"order", either_order()}},
          .tuning = {{"wgsy", std::max<std::int64_t>(1, items / 32)}}};
}

}  // namespace

std::vector<katsdpsigproc_translation> operation_translations() {
  const std::string rfi = "katsdpsigproc_rfi_device_";
  return {
      {"katsdpsigproc_fill_FillTemplate_autotune", 0, "operations.fill_template.autotune",
       translate_fill},
      {"katsdpsigproc_reduce_HReduceTemplate_autotune", 0, "operations.hreduce_template.autotune",
       translate_hreduce},
      {"katsdpsigproc_transpose_TransposeTemplate_autotune", 1,
       "operations.transpose_template.autotune", translate_transpose},
      {"katsdpsigproc_maskedsum_MaskedSumTemplate_autotune", 1,
       "operations.maskedsum_template.autotune", translate_maskedsum},
      {"katsdpsigproc_percentile_Percentile5Template_autotune", 8,
       "operations.percentile5_template.autotune", translate_percentile5},
      {rfi + "BackgroundMedianFilterDeviceTemplate_autotune", 4,
       "operations.rfi.background_median_filter_template.autotune", translate_background},
      {rfi + "NoiseEstMADTDeviceTemplate_autotune", 0,
       "operations.rfi.noise_estimate_template.autotune", translate_noise},
      {rfi + "ThresholdSumDeviceTemplate_autotune", 0,
       "operations.rfi.threshold_sum_template.autotune", translate_threshold},
  };
}

std::vector<translation_target> registered_targets() {
  std::vector<translation_target> targets;
  for (const autotuner_core* function : registered_autotuners()) {
    targets.push_back({function->identity(), function->test_default()});
  }
  return targets;
}

}  // namespace tune::cli
