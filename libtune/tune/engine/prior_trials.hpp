// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/measure/timing/samples.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// Returns a trial in the form of the database.
stored_trial to_stored(const trial& finished);

/// Converts a trial of the database to one that a search resumes. Empty if its configuration is not
/// in the space, with all fields equal, or the stored columns contradict each other: a resumed
/// trial may only win by possible times.
std::optional<trial> from_stored(const stored_trial& stored, const search_problem& problem);

/// Returns the trials of an unfinished search that a new one for the same key may resume: the
/// latest of each configuration, in the order of the trials.
///
/// Empty if the kernel has changed since, with one warning. To detect that, the best of them is
/// generated up to its first tune::compile, and the digest of that program compared; nothing is
/// compiled. A change that appears only in other programs or configurations is not detected, nor
/// one of a kernel that is not compiled by tune::compile.
std::vector<trial> trials_to_resume(const std::vector<stored_trial>& stored,
                                    const search_problem& problem, const tuning_subject& subject);

/// Earlier times of configurations: of a search before its interruption, or of an earlier race. The
/// device may be faster or slower now, so they do not compare with present times. Some
/// configurations, the references, are measured again, the best first. The median ratio of their
/// times, now to then, is the change of the device (factor); it gives the remaining configurations
/// that may still win (rivals) and must be measured again, too. Takes numbers only, without a clock
/// or device.
class earlier_times {
 public:
  /// The number of references; but at most every fourth configuration, so that a search that is
  /// killed repeatedly makes progress.
  static constexpr std::size_t references = 5;
  /// The greatest number of configurations that are measured again. With more rivals, the best is
  /// close to the first.
  static constexpr std::size_t most = 64;

  /// Adds a configuration with its earlier time, and the lower bound of that time.
  void add(std::size_t configuration, run_time then, run_time least);
  /// Sets the least relative spread of the ratios that follows from the spread of the times; 0 if
  /// unknown.
  void expect_spread(double least) noexcept { least_spread_ = least; }
  /// Sets the factor that holds until a configuration has been measured again.
  void expect_factor(double factor) noexcept { factor_ = factor; }
  bool empty() const noexcept { return entries_.empty(); }

  /// Returns references to measure again, the best first; empty once enough have been measured. No
  /// configuration is named twice, by this or by next_rivals.
  std::vector<std::size_t> next_references();
  /// Returns rivals to measure again, the best first: they may be as fast as the leading one.
  /// @param leading  the least present time; empty: none is measured, and all are rivals
  /// @param count    the greatest number of rivals
  std::vector<std::size_t> next_rivals(std::optional<run_time> leading, std::size_t count);
  /// The references and rivals named so far.
  const std::vector<std::size_t>& named() const noexcept { return named_; }
  /// Notes the present time of a configuration that has been named; ignores others.
  void note(std::size_t configuration, run_time now);

  /// Returns the ratio of present to earlier times; 1, or the expected factor, before one is known.
  double factor() const noexcept { return factor_; }
  /// Returns the estimated present time of a configuration; empty for one that was not added.
  std::optional<run_time> estimate(std::size_t configuration) const;
  /// Returns the configurations that have not been named, with their estimated present times.
  earlier_times unnamed() const;

 private:
  struct entry {
    std::size_t configuration;
    run_time then;
    run_time least;
    std::optional<run_time> now{};
    bool named = false;
  };

  std::vector<std::size_t> name(std::size_t count, run_time bound);
  void learn();

  std::vector<entry> entries_;  // the best first
  std::vector<std::size_t> named_;
  std::size_t known_ = 0;  // configurations that have been measured again
  double factor_ = 1;
  double spread_ = 0;        // the spread of the quotients
  double least_spread_ = 0;  // the least; a few ratios may be closer by chance
};

/// Returns the times of resumed trials, at the level of the device at the start of their search.
/// @param cost  converts a time of a trial to its cost; empty: the time
earlier_times times_of(const std::vector<trial>& taken,
                       const std::function<run_time(const trial&, run_time)>& cost = {});

// The denylist: configurations that are not run again, because they ended the process that they ran
// in, or damaged the device's context. Each event is an incident: a trial like any other, which
// counts for the same key, function and version, device with its driver, compiler and libtune.
// `tunedb denylist` lists and clears them.

/// Incidents, each in a search of its own, after which a configuration is denied. A single one may
/// be chance.
inline constexpr std::size_t incidents_to_deny = 2;
/// incidents_to_deny for a search by force, which tries a denied configuration once more.
inline constexpr std::size_t incidents_to_deny_by_force = 3;

/// The words of the outcomes that an incident can have.
std::span<const std::string> incident_outcomes();

/// True if a configuration ended the process that it ran in, or damaged the device's context. A
/// compiler crash or timeout is not an incident, nor is a process without memory that survives. The
/// programs distinguish them: a trial that was lost with its process has no programs.
bool is_incident(const stored_trial& trial);
bool is_incident(const trial& trial);

/// The metric of a trial that failed for lack of device memory: the limit of the search at that
/// time, in bytes.
inline constexpr const char* memory_limit_metric = "memory_limit";

/// True for a trial that failed for lack of memory: it is tried again as soon as a search may hold
/// more.
bool is_short_of_memory(const trial& item);

/// Returns the first trial of each configuration with enough incidents; its message gives their
/// number, and the place of the list. @param incidents  the latest first; other trials are ignored
std::vector<stored_trial> denied_by(const std::vector<stored_trial>& incidents, std::size_t enough);

/// Appends the incidents of the databases below the user's that are not there yet, because one was
/// merged into the other.
void add_lower_incidents(std::vector<stored_trial>& incidents, const tuning_layers& layers,
                         const function_identity& function, const record_key& key,
                         const prior_query& query);

/// Reads the denylist of a key, and stores the incidents of configurations that are tried outside
/// of a search, such as the result of another device. They become trials of the unfinished search
/// for the key, else of a new one, which the next search resumes. An unusable database causes one
/// warning. Not thread-safe.
class incident_recorder final : public observer {
 public:
  /// @param database  null: nothing is stored
  incident_recorder(std::shared_ptr<tuning_database> database, function_identity function,
                    record_key key);

  /// Reads the denylist for a search; later trials belong to that search.
  /// @param layers  for incidents below the user's database; null: not searched
  prior_knowledge read_prior(const search_identity& search, const tuning_layers* layers = nullptr);

  void trial_finished(const tuning_subject& subject, const trial& finished) override;

 private:
  search_id search_to_add_to();

  std::shared_ptr<tuning_database> database_;
  function_identity function_;
  record_key key_;
  search_identity identity_;
};

}  // namespace tune
