// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/guided_search.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/extra/ranged/quick_comparison.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/step_gate.hpp"
#include "libtune/tune/engine/trial_failure.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

/// Keeps the trials of a search.
class trial_keeper final : public observer {
 public:
  explicit trial_keeper(std::vector<trial>& to) : to_(to) {}
  void search_finished(const search_finished_event& event) override { to_ = event.trials; }

 private:
  std::vector<trial>& to_;
};

/// True if the number of configurations is given.
bool is_counted(const tuning_options& options) {
  return (options.budget && options.budget->trials) || options.search.max_count ||
         options.search.max_fraction;
}

/// Returns all configurations that no limit of the device excludes.
std::vector<std::vector<named_value>> all_of(const search_problem& problem, const device& device) {
  std::vector<std::vector<named_value>> all;
  for (std::size_t index = 0; index < problem.space.size(); ++index) {
    const auto asked = problem.needs ? problem.needs(index) : std::nullopt;
    if (asked && find_broken_limit(*asked, device.limits())) continue;
    all.push_back(problem.configuration(index));
  }
  return all;
}

/// Returns the problem without configurations that must not be launched.
search_problem limited(search_problem problem,
                       std::function<bool(const std::vector<named_value>&)> may_run) {
  problem.generate = [generate = std::move(problem.generate), configuration = problem.configuration,
                      may_run = std::move(may_run)](std::size_t index) {
    return may_run(configuration(index)) ? generate(index) : measure(nullptr);
  };
  return problem;
}

}  // namespace

guided_search::guided_search(tuning_session& session, guided_course course)
    : search_course(session),
      course_(std::move(course)),
      test_default_of_session_(this->session().subject.test_default) {
  if (!course_.test_default.empty()) this->session().subject.test_default = course_.test_default;
}

guided_search::~guided_search() {
  session().subject.test_default = std::move(test_default_of_session_);
}

double guided_search::stretch() const noexcept {
  const step_gate* const gate = session().hooks.gate;
  return gate != nullptr ? gate->stretch() : 1;
}

std::size_t guided_search::search(const search_problem& problem, const search_defaults& defaults) {
  if (!course_.may_run) return search_allowed(problem, defaults);
  return search_allowed(limited(problem, course_.may_run), defaults);
}

std::size_t guided_search::search_allowed(const search_problem& problem,
                                          const search_defaults& defaults) {
  search_decision decided = decide(session().options, defaults, session().goal_of_author);
  if (course_.way != guided_way::race) {
    // For other goals than the time only a race has the measurements.
    if (!decided.options.goal || decided.options.goal->is_time()) {
      return compare(problem, decided.options);
    }
  }
  // A search needs all requested trials, even if the first of them are good.
  session_search next{.problem = problem,
                      .decided = std::move(decided),
                      .stage = session().searches++,
                      .ends_after_seeds = false};
  next.shortlist = shortlist(problem);
  // A limit of their number means that some are enough.
  const bool is_small = problem.space.size() <= course_.most_kept;
  if (is_small && !is_counted(next.decided.options)) {
    space_ = all_of(problem, session().context.device());
  }
  guide(next.decided.options, problem);
  next.is_warm = next.stage > 0;
  if (course_.memory != nullptr) next.programs = &course_.memory->programs;
  return run(session(), std::move(next));
}

std::vector<std::size_t> guided_search::shortlist(const search_problem& problem) const {
  if (session().shortlist && course_.find) {
    bool knows = false;
    search_problem whole = problem;
    whole.parts = course_.parts;
    whole.contains = nullptr;  // find alone knows the parts of a portfolio
    whole.needs_of = nullptr;
    whole.find = [&](const std::vector<named_value>& values) {
      const auto found = course_.find(problem, values);
      knows = knows || found;
      return found;
    };
    auto listed = session().shortlist(whole);
    if (is_only_tried() && !knows) {
      throw error(
          "the search for " + describe(session().subject) +
          " cannot try given configurations alone, because it is one of many, at several sizes");
    }
    if (is_only_tried()) return listed;
  }
  if (course_.only.empty()) return {};
  auto listed = numbers_of(course_.only, problem);
  if (!listed.empty()) return listed;
  throw empty_space_error("none of the configurations to be compared is in the space of " +
                          describe(session().subject));
}

// There are many such searches, and each is one of several that decide. Searches for candidates
// need no final round; comparisons check the result of the fastest.
void guided_search::guide(tuning_options& options, const search_problem& problem) {
  constexpr double tied = 0.01;
  constexpr int final_runs = 24;
  constexpr std::size_t live = 16;
  // Device time: a second is half a million runs of small sizes.
  constexpr std::chrono::milliseconds patience{20};
  const bool is_list = !course_.only.empty();
  options.observers.push_back(std::make_shared<trial_keeper>(trials_));
  race_settings& race = options.race;
  race.indifference = std::max(race.indifference, tied);
  race.drift.patience = std::min<std::chrono::nanoseconds>(race.drift.patience, patience);
  race.drift.repeats = std::min(race.drift.repeats, 1);
  race.final_runs = is_list ? std::min(race.final_runs, final_runs) : 0;
  if (is_list) {
    race.live = std::max(race.live, live);
    const bool judges = judges_results(options.goal.value_or(tuning_goal{}));
    if (!judges && options.verify.value_or(result_check::every) == result_check::every) {
      options.verify = result_check::finalists;
    }
  }
  if (course_.near) options.budget.reset();
  if (course_.time && !is_list) {
    if (!options.budget) options.budget.emplace();
    auto& time = options.budget->time;
    time = std::min<std::chrono::nanoseconds>(time.value_or(*course_.time), *course_.time);
  }
  if (!course_.near) return;
  options.strategy = "near";
  options.search.max_count = course_.most_trials;
  options.search.max_fraction.reset();
  options.search.early_end = true;
  options.search.warm_start = numbers_of({*course_.near}, problem);
}

// Consecutive comparisons are one search of the session: the denylist is read once for all.
void guided_search::read_failures(const search_problem& problem) {
  quick_memory& memory = *course_.memory;
  if (memory.stage == session().searches - 1) return;
  memory.stage = session().searches++;
  prior_knowledge known;
  if (session().read_prior) {
    known = session().read_prior({.space = space_fingerprint(problem) + "/quick",
                                  .compiler = session().context.compiler_identity(),
                                  .library_version = std::string(library_version()),
                                  .stage = *memory.stage});
  }
  memory.known = to_known_failures(known.compile_failures, known.denied);
}

std::size_t guided_search::compare(const search_problem& problem, const tuning_options& options) {
  read_failures(problem);
  quick_memory& memory = *course_.memory;
  session_state& of = session();
  of.hooks.memory = of.context.impl()->quota();
  of.hooks.programs = &memory.programs;
  const bool is_ahead = course_.way == guided_way::compile;
  std::unique_ptr<compile_service> own;
  std::unique_ptr<compile_service>& service = is_ahead ? memory.ahead : own;
  if (!service) {
    service = make_compile_service(compile_pool::shared(), of.context, options.compile_time);
  }
  const std::vector<std::size_t> numbers = numbers_of(course_.only, problem);
  const measure_settings measure = options.measure.value_or(measure_settings{});
  const tune::device device = of.context.device();
  const std::chrono::milliseconds limit = options.wait.value_or(default_wait);
  wait_report report(wait_cause::device, of.subject, options.observers, limit);
  const device_lease turn(device.info(), limit,
                          [&](auto waited, auto holder) { report.look(waited, holder); });
  report.end();
  const restored_device afterwards(device.info());
  const quick_comparison::setting setting{
      .problem = problem,
      .subject = of.subject,
      .device = device,
      .observers = options.observers,
      .measure = measure,
      .now = of.now,
      .service = *service,
      .hooks = of.hooks,
      .known = memory.known,
      .time = course_.time,
      .checks = course_.way == guided_way::check &&
                options.verify.value_or(result_check::every) != result_check::none};
  // Programs compiled ahead go to the cache of programs.
  if (memory.ahead) static_cast<void>(memory.ahead->deliver(std::chrono::steady_clock::now()));
  trials_.clear();
  if (is_ahead) {
    compile_ahead(setting, numbers);
    return 0;
  }
  quick_comparison comparison(setting);
  trials_ = comparison.run(numbers);
  memory.compiled = comparison.compiled();
  const auto cost = [](const trial& each) {
    return each.score.value_or(run_time(std::numeric_limits<double>::infinity()));
  };
  const auto best = std::ranges::min_element(trials_, {}, cost);
  if (best == trials_.end() || !best->score) throw tuning_failed_error(of.subject, trials_);
  return best->index;
}

}  // namespace tune::detail
