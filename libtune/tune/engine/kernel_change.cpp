// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/kernel_change.hpp"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/kernel/expected_program.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/error.hpp"

namespace tune {

void watch_for_kernel_change(const context& context,
                             const std::shared_ptr<const tuning_layers>& layers,
                             const function_identity& function, const tuning_subject& subject,
                             const record& found) {
  const auto digests = [layers, function, arguments = subject.arguments,
                        found]() -> std::vector<std::string> {
    const auto origin = layers->origin(function, arguments, found);
    // Another libtune may have another preamble, which is a part of every program.
    if (!origin || origin->search.library_version != library_version()) return {};
    return origin->programs;
  };
  const auto differs = [subject = describe(subject), database = found.database] {
    warn_once(fmt::format(
        "the kernel of {} has changed since the result in '{}' was measured; raise the version of "
        "the autotune function, or tune again (LIBTUNE_MODE=force)",
        subject, database));
  };
  expect_program(context, {.configuration = found.values,
                           .key = subject.arguments,
                           .digests = digests,
                           .differs = differs});
}

}  // namespace tune
