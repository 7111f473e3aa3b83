// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a process and the child that tunes for it say to each other, over a socket of which each has
// one end. The child greets; then each request is accepted or refused. While it tunes, the child
// asks and tells, and waits for the answer to what has one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/base/value.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/trial_choice.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/remote/device_address.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::detail {

/// Another number is another language. The greeting's own form is for all versions.
constexpr std::uint32_t tuner_protocol = 2;

/// No message is longer; a length beyond it is nonsense.
constexpr std::uint64_t longest_tuner_message_bytes = std::uint64_t{1} << 28;

// ---- to the child

/// Run this autotune function for this key.
struct tuning_request {
  function_identity function{};
  std::vector<named_value> key{};
  device_address device{};
  tuning_options options{};          ///< of the call; without observers
  tuning_options context_options{};  ///< what calls without options use there; without observers
  trial_choice choice{};
  test_mode testing = test_mode::off;
  outer_tunings around{};
};
/// Say which autotune functions there are. Answered by a function_list.
struct list_request {};
/// Say whether these values are a tuning of this function. Answered by a check_answer.
struct check_request {
  function_identity function{};
  std::vector<named_value> values{};
};
/// The answer to a recall_question, in as many parts as its size makes necessary: the child puts
/// the trials of all together.
struct recall_answer {
  prior_knowledge known{};
  bool more = false;  ///< another part follows
};
/// The observers have heard of it: go on.
struct acknowledgement {};

// ---- from the child

struct tuner_greeting {
  std::uint32_t protocol = tuner_protocol;
  std::string library{};  ///< library_version()
};
/// The function and the device are here: it begins.
struct acceptance {};
/// It cannot be done here, for a reason that has nothing to do with its configurations.
struct refusal {
  std::string reason{};
};
/// What do earlier searches know? A recall_answer is waited for. One for each search.
struct recall_question {
  search_identity search{};
};
/// The calls of an observer, without their subject. An acknowledgement of each is waited for.
struct started_news {
  search_started_event event{};
};
struct taken_over_news {
  trial taken{};
};
struct trial_news {
  trial made{};
  bool refined = false;
};
struct progress_news {
  search_progress now{};
};
/// The trials have been told of; the winner by the number of its configuration.
struct finished_news {
  std::optional<std::size_t> best{};
  std::chrono::nanoseconds elapsed{0};
  search_end end = search_end::complete;
  std::vector<std::string> doubts{};
  search_times times{};
};
/// What follows may never end, until the step's end is told.
struct step_begin {
  search_step step{};
};
struct step_end {};
/// Within a step: a program is compiled on the spot.
struct compile_begin {};
struct compile_end {};
/// In place of a step's end: its configuration has changed the process so that those after it would
/// suffer. The child waits to be ended.
struct process_spoilt {
  std::string how{};
};
/// An autotune function is called inside of what is under way; what follows is of it, to its end.
struct inner_begin {
  nested_tuning inner{};
};
struct inner_search {
  search_identity search{};
};
struct inner_end {};
/// What a call inside has come to: see keep_made.
struct inner_result {
  std::string name{};
  std::vector<named_value> values{};
  bool for_process = false;
};
/// Others are waited for, for so long at most, until the end of the wait is told.
struct wait_begin {
  std::chrono::milliseconds limit{0};
};
struct wait_news {
  waiting_event event{};
};
struct wait_end {};
struct log_line {
  log_level level = log_level::info;
  std::string text{};
};
/// The function has returned.
struct tuning_result {
  std::vector<named_value> values{};
  std::optional<run_time> score{};
};
/// What the function has thrown, as far as callers tell it apart.
enum class failure_kind : std::uint8_t {
  other,
  argument,
  type,
  no_device,
  build,
  tuning_failed,
  empty_space,
};
struct tuning_failure {
  failure_kind kind = failure_kind::other;
  std::string text{};
  std::string log{};  ///< of a compiler
};
struct listed_function {
  function_identity function{};
  std::vector<named_value> test_default{};
};
struct function_list {
  std::vector<listed_function> functions{};
};

struct check_answer {
  std::string reason{};  ///< why they are none; empty if they are
};

using tuner_message =
    std::variant<tuner_greeting, tuning_request, list_request, recall_answer, acknowledgement,
                 acceptance, refusal, recall_question, started_news, taken_over_news, trial_news,
                 progress_news, finished_news, step_begin, step_end, compile_begin, compile_end,
                 process_spoilt, inner_begin, inner_search, inner_end, inner_result, wait_begin,
                 wait_news, wait_end, log_line, tuning_result, tuning_failure, function_list,
                 check_request, check_answer>;

/// The bytes to send. @throws wire_error if it is too long
std::vector<std::byte> encode(const tuner_message& message);

/// What a prior_knowledge is told in: parts that can be sent, the last of them without more. Trials
/// that alone would be too long are left out.
/// @param most_bytes  of the trials of a part, about
std::vector<recall_answer> divide(prior_knowledge known,
                                  std::uint64_t most_bytes = longest_tuner_message_bytes / 4);
/// Puts another part to those before.
void append(prior_knowledge& whole, prior_knowledge part);

/// Cuts what arrives into messages.
class tuner_message_reader {
 public:
  tuner_message_reader() noexcept;

  void append(std::span<const std::byte> bytes) { frames_.append(bytes); }
  /// The next message; empty if it has not arrived whole.
  /// @throws wire_error if what has arrived means nothing; then nothing more can be read
  std::optional<tuner_message> next();

 private:
  frame_reader frames_;
};

}  // namespace tune::detail
