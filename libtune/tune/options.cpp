// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/options.hpp"

#include "libtune/base/never_destroyed.hpp"

namespace tune {

void set_tuning_options(const context& context, tuning_options options) {
  context.attach(std::make_shared<const tuning_options>(std::move(options)));
}

std::shared_ptr<const tuning_options> tuning_options_of(const context& context) {
  if (auto attached = context.attachment<tuning_options>()) return attached;
  static const detail::never_destroyed<std::shared_ptr<const tuning_options>> nothing_said(
      std::make_shared<const tuning_options>());
  return *nothing_said;
}

}  // namespace tune
