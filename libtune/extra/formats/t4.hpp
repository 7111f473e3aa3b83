// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/formats/foreign_search.hpp"
#include "libtune/extra/maintenance/database_content.hpp"

namespace tune {

/// One search in Kernel Tuner's results format, T4 1.0.0. Times are in milliseconds, with 15
/// digits.
///
/// A result has the trial's configuration, samples ("runtimes"), score (the measurement "time"),
/// the time until its first sample ("compilation"), its date, its outcome ("invalidity", and a
/// measurement "outcome" if that is more precise) and its reason. "metadata" has under "libtune"
/// the function, the key, the device, the dates and the stored result in the form of
/// to_json_document. Columns without a form in T4, such as digests of programs, are omitted;
/// to_json_document and back_up_database have exact forms.
/// @param one  a function with one search, and only results for its key
std::string to_t4_text(const function_content& one);

/// True if to_t4_text wrote the file.
bool is_own_t4(std::string_view text);

/// The search of a file from to_t4_text. @throws argument_error
function_content from_own_t4_text(std::string_view text);

/// The search of a file of another program, and its best configuration by the file's objective as
/// the result or prior. The schema's members are enough: a file may lack measurements, timestamps
/// and the time of compilation, and KTT's own names are known. Times are in the unit of the
/// metadata, or of the measured times.
/// @throws argument_error that names the error of the file
function_content from_t4_text(std::string_view text, const foreign_subject& subject);

}  // namespace tune
