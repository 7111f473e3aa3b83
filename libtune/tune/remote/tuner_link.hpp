// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <optional>

#include "libtune/tune/remote/tuner_message.hpp"

namespace tune::detail {

/// A child's end of the conversation. A parent that is gone ends this process, at once: nobody is
/// left to work for, and a driver that hangs would keep anything else from happening. So does a
/// socket that is closed here or is something else by now, with lost_link_status. A copy of the
/// process, which fork has made, ends where it would speak. Any thread may send; one receives.
class tuner_link {
 public:
  /// @param socket  stays the caller's
  explicit tuner_link(int socket) noexcept;

  void send(const tuner_message& message) noexcept;
  /// The next message. What means nothing ends this process, too.
  tuner_message receive() noexcept;
  /// The same for an answer of one type.
  template <class Answer>
  Answer receive_answer() noexcept {
    tuner_message message = receive();
    auto* answer = std::get_if<Answer>(&message);
    if (answer == nullptr) leave();
    return std::move(*answer);
  }

 private:
  [[noreturn]] static void leave(int status = 0) noexcept;
  void leave_if_copy() const noexcept;

  int socket_;
  std::mutex sending_;
  tuner_message_reader reader_;
};

}  // namespace tune::detail
