// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "libtune/device/context.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/extra/deadline/frame_record.hpp"
#include "libtune/extra/deadline/pipeline_contest.hpp"
#include "libtune/extra/deadline/pipeline_space.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// A pipeline that is built of a configuration and runs frames. Implemented by the application;
/// used by one thread.
class tuned_pipeline {
 public:
  tuned_pipeline() = default;
  virtual ~tuned_pipeline() = default;
  tuned_pipeline(const tuned_pipeline&) = delete;
  tuned_pipeline& operator=(const tuned_pipeline&) = delete;

  /// Runs frames under a load and returns their record. All frames have ended on return. The source
  /// of the input is a virtual one, captured frames, or the real one.
  virtual frame_record run(const pipeline_load& load) = 0;
  /// Takes another configuration without being built again. False if it cannot: some knob needs
  /// another pipeline.
  virtual bool change(const configuration& /*to*/) { return false; }
};

/// Builds a pipeline of a configuration. It compiles, allocates and warms up: its first frames are
/// as fast as later ones. An exception excludes the configuration.
using pipeline_maker = std::function<std::unique_ptr<tuned_pipeline>(const configuration& knobs)>;

/// A run of a contest, for reports.
struct pipeline_run {
  const configuration& knobs;            ///< its configuration
  const pipeline_load& load;             ///< its load
  const frame_record* record = nullptr;  ///< null: it could not be built or run
};

/// The tuning of the kernels of the pipelines, if the context's options allow it.
enum class kernel_turns : std::uint8_t {
  /// First the knobs, with the kernels' stored results and defaults; then the kernels of the three
  /// best configurations; then these three and that set by hand compete again.
  after_knobs,
  when_built,  ///< with each pipeline, before it runs
  never,       ///< kernels without a stored result have their defaults
};

/// The effort for a pipeline.
struct pipeline_options {
  contest_settings contest{};       ///< time and tolerance
  std::size_t configurations = 96;  ///< of more, as many are chosen at random, and those near them
  std::size_t built = 3;            ///< at most this many pipelines exist at once; at least 1
  kernel_turns kernels = kernel_turns::after_knobs;     ///< the tuning of the pipelines' kernels
  std::function<void(const pipeline_run&)> listener{};  ///< called after each run
};

/// The result for a pipeline.
struct tuned_knobs {
  configuration knobs{};  ///< the best configuration
  /// The highest rate that it has kept, in units per second; for a goal at a rate, this rate. 0: no
  /// configuration has kept the deadline, and these are the knobs set by hand.
  double rate = 0;
  contest_result contest{};  ///< empty if the result was stored
};

/// Finds the best knobs of a pipeline, or returns those that are stored for its name, version, key,
/// goal and device. A call in a test returns the knobs set by hand, unless tuning is forced.
/// Nothing else should use the device and the thread's core meanwhile.
/// @param context  of the pipelines; its options apply to their kernels and to the lookup
/// @throws as an autotuner; argument_error for a space without knobs and as find_best_pipeline;
///         tuning_failed_error if no configuration could be built and run
tuned_knobs tune_pipeline(const context& context, const pipeline_space& knobs,
                          const pipeline_goal& goal, const pipeline_maker& make,
                          const pipeline_options& options = {});

}  // namespace tune
