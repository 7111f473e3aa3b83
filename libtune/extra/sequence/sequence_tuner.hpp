// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/verify/answer.hpp"

namespace tune {

/// A tuning for each member of a sequence.
class member_tunings {
 public:
  /// The tuning of a member. @throws argument_error that lists the names, if no member has this
  /// name or its tuning has another type
  template <fielded Tuning>
  Tuning get(std::string_view member) const {
    return from_values<Tuning>(values(member));
  }
  /// Like get(), as values. @throws argument_error as above
  const std::vector<named_value>& values(std::string_view member) const;
  /// The names of the members, in the order in which they were added.
  std::vector<std::string> names() const;
  /// For sequence_tuner.
  void add(std::string member, std::vector<named_value> values);

 private:
  std::vector<std::pair<std::string, std::vector<named_value>>> all_;
};

/// Tunes the members of a sequence together: each member's own autotuner finds its finalists, the
/// few tunings that were best for it alone. Then whole sequences of finalists are compared, with
/// the caches and neighbours that each member has in the sequence. Otherwise it works like any
/// autotuner: the result is looked up first, and stored under the name, the version, the key and
/// the device; its values are the tunings of the members.
///
///   tune::sequence_tuner tuner({.name = "app.front", .key = {{"channels", channels}}});
///   tuner.member("gain", gain_template::autotune, {});
///   tuner.member("turn", transpose_template::autotune, turn_key);
///   const tune::member_tunings best =
///       tuner.tune(context, [&](const tune::tuning_command_queue& queue) {
///         tune::workload work(queue);  // once for a search
///         return [=](const tune::member_tunings& with) {
///           return tune::make_sequence_measure(queue, make_front(queue, with), work, answer);
///         };
///       });
///
/// The first configuration has the best tuning of each member, so the result is no slower than
/// that, within the precision of the measurement. Up to 64 combinations are all tried; of more, the
/// model chooses (strategy.hpp). The search runs in this process, because all that it compiles has
/// run before. Made and used by one thread.
class sequence_tuner {
 public:
  /// The identity of the result, and the effort.
  struct definition {
    std::string name;  ///< names the database table
    int version = 0;   ///< results of other versions are not used
    /// Sizes and other dependencies of the best tunings beside the members' keys.
    configuration key{};
    std::size_t finalists = 4;  ///< the most finalists of each member
  };
  /// Makes the sequence of these tunings and returns its measure, as the function of an autotuner
  /// does for a configuration. It may be called more than once for a configuration.
  using generator = std::function<measure(const member_tunings&)>;
  /// Called once for a search, with the queue to measure on: makes the state that all
  /// configurations share, and returns the generator of single configurations.
  using function = std::function<generator(const tuning_command_queue&)>;

  /// @throws argument_error if the name or the version is invalid for an autotuner, or the number
  /// of finalists is 0
  explicit sequence_tuner(definition defined);

  /// Adds a member. Its key, and the name and version of its autotuner, are a part of the key.
  /// @param name  the member's name in the tunings, such as the name of its child
  /// @param by    must outlive this
  /// @param key   the key of the member
  /// @throws argument_error if the name is taken or cannot be a column's name
  template <class Key, class Tuning>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
  sequence_tuner& member(std::string name, const autotuner<Key, Tuning>& by, const Key& key = {}) {
    return add(std::move(name), by.core_, to_values(key));
  }

  /// Finds the best tunings on a context's device, with the context's options, which apply to the
  /// tuning of the members too. @throws as an autotuner; argument_error without any member
  member_tunings tune(const context& context, const function& make) const;
  /// Like the above, with other options.
  member_tunings tune(const context& context, const function& make,
                      const tuning_options& options) const;

 private:
  struct member_function {
    std::string name;
    std::shared_ptr<const autotuner_core> core;
    std::vector<named_value> key;
  };

  sequence_tuner& add(std::string name, std::shared_ptr<const autotuner_core> core,
                      std::vector<named_value> key);
  std::vector<named_value> key() const;
  member_tunings from_texts(const std::vector<named_value>& values) const;
  std::vector<named_value> search(tuning_session& session, const function& make,
                                  const tuning_options& options) const;

  definition defined_;
  std::vector<member_function> members_;
};

/// Measures a sequence on the arrays of a workload and has it checked, as make_measure does for any
/// operation. If the device has command graphs, the sequence runs as one: a sample is then the time
/// from the start of its first command to the end of its last, with all gaps. Otherwise a sample is
/// the sum of the times of its commands.
measure make_sequence_measure(tuning_command_queue queue, operation_sequence sequence,
                              workload work, answer expected);

/// Measures one child of a sequence in place: the children before and after it run around each run
/// of it, and only its own commands count. For the search of an operation that is to be tuned for
/// its place in a sequence.
/// @param queue     of the sequence; all slots are bound, or can be
/// @param sequence  must live as long as the measure
/// @param child     the name of the child
/// @throws argument_error if the child is unknown
measure make_measure_in_place(tuning_command_queue queue,
                              std::shared_ptr<operation_sequence> sequence,
                              const std::string& child);

/// The time of a child of a sequence.
struct child_time {
  std::string name;     ///< the name of the child
  run_time alone{};     ///< run after itself, as in a tuning of its operation alone
  run_time in_place{};  ///< run between its neighbours
};

/// The times of a sequence by parts and as a whole. Each is a median.
struct sequence_times {
  std::vector<child_time> children{};  ///< children in the order of execution
  run_time whole{};  ///< the time of one run: as a command graph if supported, else the sum

  /// The sum of the children's times alone: the prediction of their own tunings for the whole.
  run_time alone() const noexcept;
  /// The sum of the children's times in place.
  run_time in_place() const noexcept;
};

/// Times a sequence on the present contents of its slots.
/// @param queue     of the sequence; nothing else uses it meanwhile
/// @param sequence  is run many times
/// @param settings  the effort for each of the figures
/// @throws device_error, argument_error
sequence_times time_sequence(const tuning_command_queue& queue,
                             const std::shared_ptr<operation_sequence>& sequence,
                             const measure_settings& settings = {});

}  // namespace tune
