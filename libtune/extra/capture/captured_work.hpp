// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The captured runs that one key tunes.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/capture/capture_reader.hpp"
#include "libtune/extra/capture/captured_frame.hpp"

namespace tune::detail {

/// One run of an operation: of a call, or of an operation inside of a captured sequence.
struct captured_work {
  capture_reader file;                  ///< keeps the frame and the call
  const captured_frame* frame;          ///< of the file
  const captured_call* call;            ///< of the frame
  std::vector<std::size_t> path;        ///< the children from the call's operation to this one
  const captured_operation_form* form;  ///< of this operation
  std::string function;                 ///< the name of its autotuner
  std::vector<named_value> key;         ///< the key that tunes it
  std::string digest;  ///< of the operation without its tuning, and of the contents that it gets
  double weight = 0;   ///< the number of frames that these contents stand for
  std::set<const captured_frame*> frames{};  ///< captured with these contents
};

/// The parameters without those of the tuning, "tuning.<field>".
std::vector<named_value> without_tuning(const std::vector<named_value>& parameters);
/// The fields of the tuning, with their values.
std::vector<named_value> tuning_of(const std::vector<named_value>& parameters);
/// The parameters with another tuning.
std::vector<named_value> with_tuning(std::vector<named_value> parameters,
                                     const std::vector<named_value>& tuning);

/// The name of the inputs of a frame in a workload: "frame 17"; if that is taken, with the time of
/// the frame, for frames of several runs of a program: "frame 17 of 20260131T120000.000123".
std::string name_of_inputs(const captured_frame& frame,
                           const std::function<bool(const std::string&)>& is_taken);

/// True if two keys have the same fields and values, in any order.
bool is_same_key(std::vector<named_value> a, std::vector<named_value> b);

/// All runs of some files whose key is known. Equal contents of equal operations are one run, with
/// the sum of their weights.
/// @param left_out  gets a line for each kind of run whose key is unknown
std::vector<captured_work> find_work(const std::vector<capture_reader>& files,
                                     std::set<std::string>& left_out);

/// The inputs that some runs are, as they are stored with a result.
std::string inputs_text(const std::vector<captured_work>& runs);

}  // namespace tune::detail
