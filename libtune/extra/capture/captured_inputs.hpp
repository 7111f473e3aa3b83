// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Captured frames as the inputs of searches: the door of the core that LIBTUNE_INPUTS opens.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/extra/capture/captured_work.hpp"
#include "libtune/extra/capture/configuration_inputs.hpp"
#include "libtune/tune/engine/doors.hpp"

namespace tune::detail {

/// The contents of a slot on the device, before and after a run.
struct loaded_slot {
  std::optional<device_array> before{};  ///< empty if the pipeline declared them
  std::optional<device_array> after{};   ///< empty if the run did not change them
  std::string shares{};                  ///< as in captured_slot; then it has no contents before
};
using loaded_run = std::map<std::string, loaded_slot, std::less<>>;

/// The captured contents for the searches of one key: loaded to the device once, for all
/// configurations.
///
/// The operation of a configuration is made again from the captured parameters, so it has the
/// captured shapes and scalars, and the captured results are its results. Runs are left out, with a
/// warning, if the operation cannot be made, has other slots, or if the captured tuning gives other
/// results here and now.
class captured_inputs final : public search_inputs {
 public:
  /// @param runs  of one key; with the tuning's fields of the search
  captured_inputs(const context& of, std::vector<captured_work> runs);
  ~captured_inputs() override;

  /// The number of different contents that were loaded.
  std::size_t loaded() const noexcept { return loaded_; }

  const std::string& text() const noexcept override { return text_; }
  measure extend(measure made, const std::vector<named_value>& configuration) override;

 private:
  struct group;

  std::vector<captured_work> load(const std::vector<captured_work>& runs);
  void require_room(const loaded_run& run);

  tuning_command_queue queue_;
  std::vector<group> groups_;
  std::size_t held_bytes_ = 0;
  std::size_t loaded_ = 0;
  std::string text_;
};

/// The contents that LIBTUNE_INPUTS has for a key; null without any. A file that cannot be read
/// causes a warning.
std::shared_ptr<search_inputs> find_captured_inputs(const context& of, const std::string& function,
                                                    const std::vector<named_value>& key,
                                                    const std::vector<named_value>& example);

}  // namespace tune::detail
