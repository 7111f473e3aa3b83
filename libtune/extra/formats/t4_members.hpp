// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/json.hpp"
#include "libtune/base/value.hpp"

/// The parts of the readers and the writer of T4. They throw argument_error with the error of a
/// file.
namespace tune::detail::t4 {

constexpr double written_unit = 1e6;  // nanoseconds in the unit of the written times
constexpr std::string_view measured = "measured";

[[noreturn]] void refuse_t4(const std::string& reason);

/// A document with the array "results".
input parse_t4(std::string_view text);
const input& member_of(const input& object, const char* name);
std::string text_member(const input& object, const char* name);

/// The word of T4 for an outcome, and the outcome of a word.
std::string_view invalidity_of(std::string_view outcome);
std::string_view outcome_of(std::string_view invalidity);

/// True for the measurement of the time of a run, as Kernel Tuner and KTT call it.
bool is_time_name(const std::string& name);
/// The text of a member; empty if it is missing.
std::string text_or_nothing(const input& object, const char* name);
/// The member of an object; an empty array if it is missing.
input list_or_nothing(const input& object, const char* name);

/// The nanoseconds in the file's unit of time: that of its metadata, else that of its measured
/// times, in which KTT writes all its times, else a millisecond.
double unit_of(const input& document);
/// The nanoseconds of a unit of time; empty for other words.
std::optional<double> nanoseconds_of(std::string_view unit);
/// The runs of a result, in nanoseconds, without those that are not finite.
std::vector<double> samples_from(const input& times, double unit);
/// A parameter. @param kind  the kind of its field; empty: inferred from the value
value value_from(const input& item, std::optional<value_kind> kind);

}  // namespace tune::detail::t4
