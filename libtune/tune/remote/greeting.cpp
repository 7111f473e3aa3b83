// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/greeting.hpp"

#include <fmt/format.h>
#include <variant>

#include "libtune/base/library_version.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/tune/remote/remote_tuning.hpp"

namespace tune::detail {

void greet(tuner_child& child, std::chrono::milliseconds time) {
  const auto until = tuner_child::clock::now() + time;
  const auto message = child.next(until);
  if (!message) {
    const bool ended = child.has_ended();
    const auto end = child.finish(std::chrono::milliseconds(ended ? 500 : 0));
    throw tuner_unavailable_error(
        ended ? fmt::format("it ended before it greeted ({})", end.text)
              : fmt::format("it did not greet in {} ms; is serve_if_worker the first that its main "
                            "calls?",
                            time.count()));
  }
  const auto* greeting = std::get_if<tuner_greeting>(&*message);
  if (greeting == nullptr) throw wire_error("it does not greet");
  if (greeting->protocol == tuner_protocol && greeting->library == library_version()) return;
  throw tuner_unavailable_error(
      fmt::format("it is of libtune {}, not {}", greeting->library, library_version()));
}

}  // namespace tune::detail
