// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"

namespace tune {

/// The reason for the capture of a frame. The names are stored in files: never rename one.
enum class capture_reason : std::uint8_t {
  asked,          ///< by capture::request
  each_nth,       ///< by capture_options::each_nth
  over_deadline,  ///< by capture_options::deadline
};

/// "asked", "each_nth" or "over_deadline".
std::string_view capture_reason_name(capture_reason reason) noexcept;

/// The bytes of a slot in a file: the numbers of its chunks, in order.
struct captured_contents {
  std::vector<std::uint32_t> chunks;  ///< into the file's table of chunks

  friend bool operator==(const captured_contents&, const captured_contents&) = default;
};

/// A slot of an operation at the time of its run.
struct captured_slot {
  std::string name;         ///< of the slot, as in operation::slots()
  std::string type{};       ///< the name of the element type; empty for an alias, which has none
  shape size{};             ///< the shape without padding; rank 0 for an alias
  shape padded{};           ///< the shape with its padding
  std::uint64_t bytes = 0;  ///< the bytes of the padded array, or of an alias
  /// The name of the earlier slot of this operation that was bound to the same memory; empty for
  /// memory of its own. Only the earlier slot has contents.
  std::string shares{};
  bool changed = false;  ///< true if the run changed the contents
  /// The contents before the run. Empty if the pipeline declared that the operation overwrites
  /// them.
  std::optional<captured_contents> before{};
  std::optional<captured_contents> after{};  ///< the contents after the run, if it changed them
};

/// Slots of a sequence that share memory.
struct captured_join {
  std::string name;                ///< the name of the compound or alias
  bool is_alias = false;           ///< true for an alias
  std::vector<std::string> slots;  ///< as "child:slot"

  friend bool operator==(const captured_join&, const captured_join&) = default;
};

/// An operation without its contents: what is needed to make it again.
struct captured_operation_form {
  std::string type;                        ///< its class in C++, "tune::operations::transpose"
  std::vector<named_value> parameters{};   ///< operation::parameters()
  std::string function{};                  ///< the name of its autotuner, as tuned_by declares it
  std::vector<named_value> key{};          ///< the key of that autotuner
  std::vector<std::string> child_names{};  ///< of a sequence, in the order of running
  std::vector<captured_operation_form> children{};  ///< in the same order
  std::vector<captured_join> joins{};               ///< of a sequence: compounds, then aliases
};

/// One run of an operation in a frame.
struct captured_call {
  std::string name;  ///< the name given to capture::add
  captured_operation_form form{};
  std::string function{};          ///< the name of its autotune function; empty if unknown
  std::vector<named_value> key{};  ///< the key of that function
  std::vector<captured_slot> slots{};
};

/// A frame of a pipeline: the operations in the order of their runs.
struct captured_frame {
  std::uint64_t number = 0;  ///< counted from the first call of capture::begin
  capture_reason reason{};   ///< the policy that kept it
  std::string pipeline{};    ///< the name of the capture
  /// The number of frames that it stands for: those since the previous captured one.
  double weight = 1;
  std::chrono::system_clock::time_point time{};        ///< of its begin, exact to a microsecond
  std::optional<std::chrono::nanoseconds> duration{};  ///< from its begin to its end, if it was
                                                       ///< watched
  device_identity device{};                            ///< the device of the first operation
  std::string backend{};                               ///< its API: "CUDA", "OpenCL"
  std::string version{};                               ///< the version of libtune that captured it
  std::vector<captured_call> calls{};
};

}  // namespace tune
