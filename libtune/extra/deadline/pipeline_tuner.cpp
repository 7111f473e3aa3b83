// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/pipeline_tuner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <list>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/deadline/pipeline_result.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/search_course.hpp"
#include "libtune/tune/session.hpp"

namespace tune {
namespace {

/// The pipelines that exist: at most a few, the last used first.
class built_pipelines {
 public:
  built_pipelines(const pipeline_maker& make, std::size_t most) : make_(make), most_(most) {}

  void clear() { built_.clear(); }

  tuned_pipeline& of(const configuration& knobs) {
    const auto found = std::ranges::find_if(
        built_, [&](entry& each) { return each.knobs == knobs || each.pipeline->change(knobs); });
    if (found != built_.end()) {
      built_.splice(built_.begin(), built_, found);
    } else {
      while (built_.size() >= most_) built_.pop_back();
      auto made = make_(knobs);
      if (!made) throw argument_error("the maker of pipelines has returned none");
      built_.push_front({knobs, std::move(made)});
    }
    built_.front().knobs = knobs;
    return *built_.front().pipeline;
  }

 private:
  struct entry {
    configuration knobs;
    std::unique_ptr<tuned_pipeline> pipeline;
  };
  const pipeline_maker& make_;
  std::size_t most_;
  std::list<entry> built_;
};

class no_winner : public error {
 public:
  explicit no_winner(contest_result found)
      : error("no configuration of the pipeline has kept the deadline"), result(std::move(found)) {}
  contest_result result;
};

class pipeline_search {
 public:
  pipeline_search(const context& where, const pipeline_space& knobs, const pipeline_goal& goal,
                  const pipeline_maker& make, const pipeline_options& options)
      : context_(where),
        space_(knobs.space()),
        name_(knobs.identity().name),
        by_hand_(space_.find(knobs.by_hand().values()).value()),
        goal_(goal),
        options_(options),
        built_(make, std::max<std::size_t>(options.built, 1)) {}

  contest_result find() {
    const bool in_turns = options_.kernels == kernel_turns::after_knobs && tunes_kernels();
    const double finals = in_turns ? 0.25 : 0;
    contest_result found;
    {
      const kernels_as_they_are fixed(context_, options_.kernels != kernel_turns::when_built);
      found = compete(1 - finals);
    }
    if (in_turns) {
      built_.clear();  // they have untuned kernels
      found = contest(best_of(found, 3), finals);
    }
    const auto works = [](const contest_standing& each) { return !each.failed; };
    if (std::ranges::none_of(found.standings, works)) {
      throw error(
          fmt::format("no configuration of the pipeline '{}' on {} could be built and run; "
                      "the last failure: {}",
                      name_, context_.device().name(), last_failure_));
    }
    return found;
  }

  /// The last standing of each configuration in all contests.
  const std::vector<contest_standing>& standings() const noexcept { return standings_; }
  const std::string& last_failure() const noexcept { return last_failure_; }

  configuration knobs_of(std::size_t index) const { return configuration(space_.values(index)); }

 private:
  /// While it lives, kernels without a result get the nearest one or their default.
  class kernels_as_they_are {
   public:
    kernels_as_they_are(const context& where, bool is_on)
        : context_(where), before_(*tuning_options_of(where)), is_on_(is_on) {
      if (!is_on) return;
      tuning_options fixed = before_;
      fixed.mode = tuning_mode::defaults;
      set_tuning_options(context_, fixed);
    }
    ~kernels_as_they_are() {
      if (is_on_) set_tuning_options(context_, before_);
    }
    kernels_as_they_are(const kernels_as_they_are&) = delete;
    kernels_as_they_are& operator=(const kernels_as_they_are&) = delete;

   private:
    context context_;
    tuning_options before_;
    bool is_on_;
  };

  bool tunes_kernels() const {
    const auto mode = tuning_options_of(context_)->mode.value_or(tuning_mode::tune);
    return mode == tuning_mode::tune || mode == tuning_mode::resume || mode == tuning_mode::force;
  }

  /// All configurations compete; of a large space some, and then the neighbours of the best.
  contest_result compete(double part) {
    const std::size_t size = space_.size();
    std::vector<std::size_t> chosen{by_hand_};
    if (size <= options_.configurations) {
      for (std::size_t i = 0; i < size; ++i) {
        if (i != by_hand_) chosen.push_back(i);
      }
      std::ranges::sort(chosen);  // neighbours share pipelines
      return contest(chosen, part);
    }
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::size_t> any(0, size - 1);
    while (chosen.size() < std::max<std::size_t>(options_.configurations / 2, 1)) {
      const std::size_t one = any(random);
      if (std::ranges::find(chosen, one) == chosen.end()) chosen.push_back(one);
    }
    std::ranges::sort(chosen);
    const contest_result first = contest(chosen, 0.5 * part);
    return contest(with_neighbours(best_of(first, 3)), 0.5 * part);
  }

  std::vector<std::size_t> best_of(const contest_result& of, std::size_t count) const {
    std::vector<std::size_t> best;
    for (const contest_standing& each : of.standings) {
      if (best.size() < count && !each.failed) best.push_back(each.configuration);
    }
    if (std::ranges::find(best, by_hand_) == best.end()) best.push_back(by_hand_);
    return best;
  }

  std::vector<std::size_t> with_neighbours(std::vector<std::size_t> of) const {
    std::vector<std::size_t> all = of;
    const auto& knobs = space_.parameters();
    for (const std::size_t one : of) {
      for (std::size_t k = 0; k < knobs.size(); ++k) {
        auto values = space_.values(one);
        for (const value& candidate : knobs[k].candidates) {
          values[k].value = candidate;
          const auto near = space_.find(values);
          const bool is_new = near && std::ranges::find(all, *near) == all.end();
          if (is_new && all.size() < options_.configurations) all.push_back(*near);
        }
      }
    }
    std::ranges::sort(all);
    return all;
  }

  contest_result contest(const std::vector<std::size_t>& of, double part) {
    contest_settings settings = options_.contest;
    settings.budget *= part;
    contest_result found = find_best_pipeline(
        goal_, of, settings,
        [&](std::size_t index, const pipeline_load& load) { return run(knobs_of(index), load); });
    for (const contest_standing& each : found.standings) {
      const auto same =
          std::ranges::find(standings_, each.configuration, &contest_standing::configuration);
      if (same == standings_.end()) {
        standings_.push_back(each);
      } else {
        *same = each;
      }
    }
    return found;
  }

  std::optional<frame_record> run(const configuration& knobs, const pipeline_load& load) {
    std::optional<frame_record> record;
    try {
      record = built_.of(knobs).run(load);
    } catch (const std::exception& failure) {
      last_failure_ = failure.what();
      log(log_level::warning, fmt::format("the pipeline '{}' with {} has failed: {}", name_,
                                          to_string(knobs.values()), last_failure_));
      built_.clear();
    }
    if (options_.listener) options_.listener({knobs, load, record ? &*record : nullptr});
    return record;
  }

  context context_;
  search_space space_;
  std::string name_;
  std::size_t by_hand_;
  pipeline_goal goal_;
  const pipeline_options& options_;
  built_pipelines built_;
  std::vector<contest_standing> standings_;
  std::string last_failure_ = "none";
};

/// The figures of a configuration, as a trial; its score is the time for a unit of input at the
/// highest rate in time, or the latency.
trial to_trial(const contest_standing& of, const configuration& knobs, bool at_rate) {
  trial made;
  made.index = of.configuration;
  made.configuration = knobs.values();
  made.outcome = of.failed ? outcome::failed : outcome::measured;
  if (of.failed) made.reason = "it could not be built or run";
  made.configuration.push_back({detail::pipeline_rate_name, of.kept_rate});
  const double rate = of.kept_rate > 0 ? of.kept_rate : of.predicted_rate;
  const double ns = 1e9 * (at_rate ? of.value : 1 / rate);
  if (of.failed || !(ns > 0) || !std::isfinite(ns)) {
    if (!of.failed) made.outcome = outcome::unfit;
    if (made.reason.empty()) made.reason = "it has kept the deadline at no rate";
    return made;
  }
  made.score = run_time(ns);
  made.samples.add(*made.score);
  made.metrics = {{"throughput", of.throughput, "1/s"},
                  {"predicted_rate", of.predicted_rate, "1/s"},
                  {"kept_rate", of.kept_rate, "1/s"},
                  {"frames", static_cast<double>(of.frames), ""},
                  {"late_frames", static_cast<double>(of.late), ""}};
  if (std::isfinite(of.value)) made.metrics.push_back({"latency", 1e9 * of.value, "ns"});
  return made;
}

/// A contest in place of a search of kernels. Its configurations are reported, and stored, as the
/// trials of a search.
class contest_course final : public detail::search_course {
 public:
  contest_course(tuning_session& session, pipeline_search& search, contest_result& found,
                 bool at_rate)
      : search_course(session), search_(search), found_(found), at_rate_(at_rate) {}

  std::size_t search(const search_problem& problem, const search_defaults&) override {
    // Some only read the space, and leave by an exception.
    if (session().shortlist) session().shortlist(problem);
    if (session().read_prior) {
      static_cast<void>(session().read_prior({.space = space_fingerprint(problem),
                                              .compiler = session().context.compiler_identity(),
                                              .library_version = std::string(library_version())}));
    }
    const auto start = std::chrono::steady_clock::now();
    const auto& observers = session().options.observers;
    detail::notify(observers, search_started_event{.subject = session().subject,
                                                   .strategy = "contest",
                                                   .combinations = problem.space.cartesian_size(),
                                                   .configurations = problem.space.size(),
                                                   .planned = problem.space.size(),
                                                   .removals = problem.space.removals()});
    found_ = search_.find();
    search_finished_event end{.subject = session().subject, .trials = {}, .best = {}};
    for (const contest_standing& each : search_.standings()) {
      const trial made = to_trial(each, search_.knobs_of(each.configuration), at_rate_);
      detail::notify(observers, trial_event{.subject = session().subject, .trial = made});
      if (found_.has_winner && each.configuration == found_.standings.front().configuration) {
        end.best = end.trials.size();
      }
      end.trials.push_back(made);
    }
    end.elapsed = std::chrono::steady_clock::now() - start;
    end.space = outline_of(problem.space);
    detail::notify(observers, std::move(end));
    if (!found_.has_winner) throw no_winner(found_);
    return found_.standings.front().configuration;
  }

 private:
  pipeline_search& search_;
  contest_result& found_;
  bool at_rate_;
};

/// Configurations as a search problem; a result has the kept rate behind its knobs.
search_problem problem_of(const search_space& space) {
  const auto find = [space](std::vector<named_value> values) {
    std::erase_if(values,
                  [](const named_value& each) { return each.name == detail::pipeline_rate_name; });
    return space.find(values);
  };
  return {.space = space,
          .configuration = [space](std::size_t index) { return space.values(index); },
          .needs = [](std::size_t) { return std::optional(resources{}); },
          .generate = [](std::size_t) -> measure { return nullptr; },
          .find = find,
          .contains = [find](const std::vector<named_value>& of) { return find(of).has_value(); },
          .needs_of = [](const std::vector<named_value>&) { return std::optional(resources{}); }};
}

}  // namespace

tuned_knobs tune_pipeline(const context& context, const pipeline_space& knobs,
                          const pipeline_goal& goal, const pipeline_maker& make,
                          const pipeline_options& options) {
  const configuration by_hand = knobs.by_hand();
  tuned_knobs made;
  const std::vector<named_value> key = detail::pipeline_key(knobs, goal);
  const std::vector<named_value> defaults = detail::pipeline_values(by_hand, 0);

  detail::autotuner_parts parts;
  parts.name = knobs.identity().name;
  parts.version = knobs.identity().version;
  parts.key_fields = describe_values(key);
  parts.tuning_fields = describe_values(defaults);
  parts.test_default = defaults;
  parts.tunes = [&](tuning_session& session, const std::vector<named_value>&) {
    pipeline_search search(session.context(), knobs, goal, make, options);
    contest_result found;
    const contest_course course(session, search, found, goal.rate > 0);
    const std::size_t best = session.tune(problem_of(knobs.space()));
    made.contest = std::move(found);
    return detail::pipeline_values(search.knobs_of(best), made.contest.standings.front().kept_rate);
  };
  parts.check = [](const std::vector<named_value>&) {};
  parts.repeatable = true;
  // A child process knows neither the knobs nor the maker.
  tuning_options here = *tuning_options_of(context);
  here.isolation = isolation_mode::off;
  const auto core = detail::make_autotuner(std::move(parts));
  try {
    std::vector<named_value> values = detail::obtain_tuning(*core, context, key, &here);
    made.rate = std::get<double>(values.back().value);
    values.pop_back();
    made.knobs = configuration(std::move(values));
  } catch (const no_winner& failure) {
    made.knobs = by_hand;
    made.contest = failure.result;
  }
  return made;
}

}  // namespace tune
