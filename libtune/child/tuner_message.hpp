// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages between a process and the child that tunes for it, over a socket pair. The child
// begins with a handshake; then it accepts or refuses each request. During tuning it sends events
// and questions, and waits for the answer if there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::detail {

/// The properties that identify a device to other processes of this machine.
struct device_address {
  std::string backend{};  ///< device_info::backend
  std::string platform{};
  std::string name{};
  std::string driver_version{};
  std::string pci_address{};  ///< empty if the API does not report it
  std::string uuid{};         ///< empty if the API does not report it
  std::size_t ordinal = 0;    ///< its index among those with the same properties
  /// If it is a part of this device, the argument of device::divide; else empty.
  std::vector<std::size_t> division{};
  std::size_t part = 0;  ///< the index of the part

  friend bool operator==(const device_address&, const device_address&) = default;
};

/// Returns the devices of a backend; none if there is no such backend. Drivers of other backends
/// are not loaded.
std::vector<device> devices_of(std::string_view backend);

/// Returns the address of a device among those of its backend; empty for other devices, such as a
/// fake one.
std::optional<device_address> address_of(const device& wanted, std::span<const device> all);

/// Returns the device at an address, or else the only one of the same name, platform and driver;
/// empty if not found. Each call makes a new part.
std::optional<device> find_device(const device_address& wanted, std::span<const device> all);

/// Returns the environment variables for another process that tunes on this device: it sees no
/// other card of NVIDIA, because the driver takes 0.2 s to open each. None if there is no other
/// one, or if the environment chooses a device by its index among all.
std::vector<std::string> variables_for(const device& wanted, std::span<const device> all);

/// Texts for messages: an address, and the addresses of all devices.
std::string describe(const device_address& address);
std::string describe_all(std::span<const device> all);

/// The version of the messages. The form of the handshake is the same in all versions.
constexpr std::uint32_t tuner_protocol = 10;

/// The longest message; a greater length is invalid.
constexpr std::uint64_t longest_tuner_message_bytes = std::uint64_t{1} << 28;

/// The environment variable that marks a process as a tuning child: it holds the process number of
/// its parent. It is not a setting, and is removed as soon as it has been read.
inline constexpr const char* tuner_variable = "LIBTUNE_TUNER_OF";

/// The exit status of a child whose end of the socket is closed or is another file.
inline constexpr int lost_link_status = 113;

// ---- to the child

/// Requests to run this autotune function for this key.
struct tuning_request {
  function_identity function{};
  std::vector<named_value> key{};
  device_address device{};
  tuning_options options{};          ///< options of the call; without observers
  tuning_options context_options{};  ///< options for nested calls without their own; no observers
  trial_choice choice{};
  test_mode testing = test_mode::off;
  outer_tunings around{};
  std::string peaks{};  ///< the path of the database that keeps the device's peaks; empty: none
};
/// Requests the list of autotune functions. Answered by a function_list.
struct list_request {};
/// Requests a check of values as a tuning of this function. Answered by a check_answer.
struct check_request {
  function_identity function{};
  std::vector<named_value> values{};
};
/// The answer to a prior_question, in as many messages as its size requires; the child joins them.
struct prior_answer {
  prior_knowledge known{};
  bool more = false;  ///< another message follows
};
/// Confirms that the observers have received the tuning_event.
struct acknowledgement {};

// ---- from the child

/// The first message of a child.
struct handshake {
  std::uint32_t protocol = tuner_protocol;
  std::string library{};  ///< library_version()
};
/// Confirms that the function and the device were found: the tuning begins.
struct acceptance {};
/// The request cannot be executed here, for a reason other than its configurations.
struct refusal {
  std::string reason{};
};
/// Asks for the prior results of a search, once for each search. Answered by a prior_answer.
struct prior_question {
  search_identity search{};
};
/// Sent instead of a step_end: the configuration has changed the process in a way that affects
/// later ones. The child waits for its end.
struct process_spoilt {
  std::string how{};
};
/// A line for the log.
struct log_line {
  log_level level = log_level::info;
  std::string text{};
};
/// The result of the function.
struct tuning_result {
  std::vector<named_value> values{};
  std::optional<run_time> score{};
};
/// The exception types that callers distinguish.
enum class failure_kind : std::uint8_t {
  other,
  argument,
  type,
  no_device,
  build,
  tuning_failed,
  empty_space,
  too_little_memory,
};
/// The exception of the function.
struct tuning_failure {
  failure_kind kind = failure_kind::other;
  std::string text{};
  std::string log{};  ///< the compiler's log
};
struct listed_function {
  function_identity function{};
  std::vector<named_value> test_default{};
};
struct function_list {
  std::vector<listed_function> functions{};
};
struct check_answer {
  std::string reason{};  ///< the reason why the values are no tuning; empty if they are one
};

/// Each tuning_event of a child is answered by an acknowledgement; step events are not. A
/// search_finished_event contains only the winner's trial, because the others have been sent
/// before. Subjects are sent without their device.
using tuner_message =
    std::variant<handshake, tuning_request, list_request, prior_answer, acknowledgement, acceptance,
                 refusal, prior_question, tuning_event, step_event, process_spoilt, log_line,
                 tuning_result, tuning_failure, function_list, check_request, check_answer>;

/// The end of a search in the form of the message: without the trials sent before.
search_finished_event winner_alone(search_finished_event event);

/// Returns the encoded bytes. @throws wire_error if the message is too long
std::vector<std::byte> encode(const tuner_message& message);

/// Splits prior results into messages; all except the last have more set. Trials that are too long
/// for one message are left out.
/// @param most_bytes  approximate size of the trials of one message
std::vector<prior_answer> split(prior_knowledge known,
                                std::uint64_t most_bytes = longest_tuner_message_bytes / 4);
/// Appends the content of the next message of a split.
void append(prior_knowledge& whole, prior_knowledge next);

/// Splits the received bytes into messages.
class tuner_message_reader {
 public:
  tuner_message_reader() noexcept;

  void append(std::span<const std::byte> bytes) { frames_.append(bytes); }
  /// Returns the next message; empty if it has not arrived completely.
  /// @throws wire_error if the received bytes are invalid; then nothing more can be read
  std::optional<tuner_message> next();

 private:
  frame_reader frames_;
};

// ---- the child's side (tuner_service.cpp)

/// Sends the handshake and executes requests until the other end of the socket closes; then ends
/// the process, without destructors. Later log lines of libtune go to the other end.
[[noreturn]] void serve_tuning(int socket);

}  // namespace tune::detail
