// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/kept_peaks.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/roofline_probe.hpp"
#include "libtune/tune/engine/search_run.hpp"
#include "libtune/tune/engine/step_gate.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

/// The strategy's name and its options, and the seeds that it tries first.
struct search_plan {
  std::string strategy;
  strategy_options told;
  std::vector<std::size_t> seeds{};
  /// The number of seeds after which the search may stop; empty: it continues.
  std::optional<std::size_t> enough{};
  search_seeds said{};
};

/// True if the number of configurations is given.
bool is_counted(const tuning_options& options) {
  return (options.budget && options.budget->trials) || options.search.max_count ||
         options.search.max_fraction;
}

bool is_limited(const tuning_options& options) {
  return is_counted(options) || (options.budget && options.budget->time);
}

std::optional<double> if_finite(double loss) {
  return std::isfinite(loss) ? std::optional(loss) : std::nullopt;
}

/// The expected loss of an end after this many seeds.
search_seeds say_of(const known_losses& losses, std::size_t seeds) {
  search_seeds said{.tried = seeds, .judges = losses.judges};
  if (seeds == 0 || losses.after.empty()) return said;
  const seed_loss& loss = losses.after[std::min(seeds, losses.after.size()) - 1];
  said.expected_loss = if_finite(loss.expected);
  said.loss_bound = if_finite(loss.bound);
  return said;
}

/// The number of seeds after which nine of ten searches are known to lose no more than this.
std::optional<std::size_t> find_enough(const known_losses& losses, std::size_t seeds,
                                       double within) {
  for (std::size_t i = 0; i < std::min(seeds, losses.after.size()); ++i) {
    if (losses.after[i].bound <= within) return i + 1;
  }
  return std::nullopt;
}

std::optional<double> good_enough(const tuning_options& options) {
  const bool is_by_time = !options.goal || options.goal->is_time();
  return is_by_time && options.budget ? options.budget->within : std::nullopt;
}

search_plan plan_search(const search_problem& problem, const tuning_options& options,
                        const device& device, const prior_knowledge& known,
                        std::size_t taken_over) {
  search_plan plan{options.strategy, options.search};
  plan.seeds = seeds_of(known, problem, device);
  plan.said = say_of(known.losses, plan.seeds.size());
  if (const auto within = good_enough(options)) {
    plan.enough = find_enough(known.losses, plan.seeds.size(), *within);
  }
  for (const std::size_t number : plan.seeds) plan.told.warm_start.push_back(number);
  for (const std::size_t number : closest_to_priors(known, problem)) {
    plan.told.warm_start.push_back(number);
  }
  for (const std::size_t number : problem.first) plan.told.warm_start.push_back(number);
  // A given number of trials is made in full.
  if (!plan.told.early_end) plan.told.early_end = !is_counted(options);
  if (!plan.strategy.empty()) return plan;
  const default_search chosen = choose_search(
      problem.space.size(), is_limited(options) ? search_limit::given : search_limit::none);
  plan.strategy = chosen.strategy;
  // The trials of an unfinished search count as a part of the effort.
  if (!is_limited(options)) plan.told.max_count = std::max(chosen.most, taken_over);
  return plan;
}

/// The text of the sources: "8 keys of this device and 2 of others of its maker".
std::string text_of_sources(const known_losses& losses) {
  std::string of_here = fmt::format("{} keys of this device", losses.here);
  std::string of_others = fmt::format("{} of other devices of its maker", losses.elsewhere);
  if (losses.elsewhere == 0) return of_here;
  return losses.here == 0 ? of_others : of_here + " and " + of_others;
}

/// The text of a loss: "1.2 % on average and less than 4 % in nine of ten cases, as 12 whole
/// searches say".
std::string text_of_loss(const search_seeds& said) {
  if (!said.expected_loss && !said.loss_bound) {
    return said.judges == 0 ? std::string("an unknown amount, without a similar search")
                            : std::string("an unknown amount");
  }
  std::string text;
  if (said.expected_loss) text = fmt::format("{:.2g} % on average", 100 * *said.expected_loss);
  if (said.loss_bound) {
    text += fmt::format("{}{:.2g} % at most in nine of ten cases", text.empty() ? "" : " and ",
                        100 * *said.loss_bound);
  } else {
    text += ", and an unknown amount at most";
  }
  return text + fmt::format(", as {} similar searches say", said.judges);
}

void tell_of_seeds(const search_plan& plan, const known_losses& losses,
                   const tuning_options& options, const tuning_subject& subject) {
  if (plan.seeds.empty()) return;
  std::string text = fmt::format(
      "{}: the search begins with {} seeds from {}; if it stopped there it would lose {}",
      describe(subject), plan.seeds.size(), text_of_sources(losses), text_of_loss(plan.said));
  if (const auto within = good_enough(options)) {
    text += plan.enough
                ? fmt::format("; {:g} % is good enough: it stops after {} of them", 100 * *within,
                              *plan.enough)
                : fmt::format("; that is not within {:g} %, so it continues", 100 * *within);
  }
  log(log_level::info, text);
}

std::optional<std::chrono::nanoseconds> time_left(const tuning_options& options,
                                                  const spent_budget& spent) {
  if (!options.budget || !options.budget->time) return std::nullopt;
  return std::max(std::chrono::nanoseconds(0), *options.budget->time - spent.time);
}

// With more memory now, they are tried again.
void erase_short_of_memory(std::vector<trial>& trials, const detail::memory_quota& now) {
  std::erase_if(trials, [&](const trial& item) {
    return is_short_of_memory(item) &&
           find_metric(item.metrics, memory_limit_metric)->value < static_cast<double>(now.limit());
  });
}

// A trial with both a time and a reason gives the metrics that failed.
std::optional<std::string> unknown_metrics(const std::vector<trial>& trials) {
  const auto failed = [](const trial& item) { return item.score && !item.reason.empty(); };
  const auto count = std::ranges::count_if(trials, failed);
  if (count == 0) return std::nullopt;
  return std::to_string(count) + " trials lack a metric, the first because " +
         std::ranges::find_if(trials, failed)->reason;
}

/// The seeds that have ended a search. Their number was chosen by the bound, so the bound applies.
search_seeds said_at_stop(const search_plan& plan, const known_losses& losses,
                          const tuning_options& options) {
  search_seeds said = say_of(losses, *plan.enough);
  said.loss_bound = good_enough(options);
  said.stopped = true;
  return said;
}

/// Adds the doubts for users of a search, and logs it.
void add_doubts(search_finished_event& finished, const tuning_subject& subject,
                const compile_service& service) {
  if (const auto count = std::ranges::count_if(finished.trials, is_short_of_memory)) {
    finished.doubts.push_back(
        std::to_string(count) +
        " configurations were not measured, because there was too little device memory; with more "
        "(LIBTUNE_TUNING_MEMORY) LIBTUNE_MODE=resume tries them again");
  }
  if (auto doubt = unknown_metrics(finished.trials)) {
    finished.doubts.push_back(*std::move(doubt));
  }
  for (const std::string& doubt : finished.doubts) {
    log(log_level::warning, describe(subject) + ": " + doubt);
  }
  // This has been logged, once for all searches.
  if (const std::string why = service.shortcoming(); !why.empty()) {
    finished.doubts.push_back("programs were compiled in this process, one after the other: " +
                              why);
  }
}

search_started_event started_event(const search_problem& problem, const tuning_subject& subject,
                                   const tuning_options& options, const search_plan& plan,
                                   const strategy& strategy, std::size_t taken_over) {
  search_started_event started{.subject = subject,
                               .strategy = plan.strategy,
                               .combinations = problem.space.cartesian_size(),
                               .configurations = problem.space.size(),
                               .planned = std::max(strategy.remaining(), taken_over),
                               .removals = problem.space.removals(),
                               .taken_over = taken_over,
                               .goal = options.goal.value_or(tuning_goal{})};
  if (options.budget && options.budget->trials) {
    started.planned = std::min(started.planned, taken_over + *options.budget->trials);
  }
  return started;
}

search_finished_event finished_event(const search_run& run, const search_started_event& started,
                                     std::optional<std::size_t> best,
                                     std::chrono::nanoseconds elapsed,
                                     const detail::memory_quota* memory) {
  return {.subject = started.subject,
          .trials = run.trials(),
          .best = best,
          .elapsed = elapsed,
          .end = run.end(),
          .doubts = run.doubts(),
          .times = run.times(),
          .goal = started.goal,
          .memory_budget_bytes = memory != nullptr ? memory->limit() : 0,
          .memory_held_bytes = memory != nullptr ? memory->most_held() : 0};
}

/// Adds the test default to a list that lacks it if the bits of the others are compared with its
/// bits: it is tried in any case, and must not take the place of another one.
void add_reference(std::vector<std::size_t>& shortlist, const search_problem& problem,
                   const tuning_subject& subject, const tuning_goal& goal) {
  if (shortlist.empty() || !goal.same_bits || subject.test_default.empty() || !problem.find) return;
  const auto reference = problem.find(subject.test_default);
  if (!reference || std::ranges::find(shortlist, *reference) != shortlist.end()) return;
  shortlist.insert(shortlist.begin(), *reference);
}

}  // namespace

trial run_search(const search_problem& problem, const tuning_subject& subject, const device& device,
                 const tuning_options& options,
                 std::span<const std::shared_ptr<observer>> observers, const wall_clock& now,
                 compile_service& service, const std::function<prior_knowledge()>& read_prior,
                 std::vector<std::size_t> shortlist, const step_hooks& hooks) {
  const auto start = now();
  add_reference(shortlist, problem, subject, options.goal.value_or(tuning_goal{}));
  const prior_knowledge known = read_prior ? read_prior() : prior_knowledge{};
  std::vector<trial> earlier = trials_to_resume(known.unfinished, problem, subject);
  if (hooks.memory != nullptr) erase_short_of_memory(earlier, *hooks.memory);
  search_plan plan{"shortlist", {}};
  std::unique_ptr<strategy> strategy;
  if (shortlist.empty()) {
    plan = plan_search(problem, options, device, known, earlier.size());
    tell_of_seeds(plan, known.losses, options, subject);
    strategy = make_strategy(plan.strategy, problem.space, plan.told);
  } else {
    // Trials outside of the list do not compete, and do not count as a part of it.
    const std::unordered_set<std::size_t> listed(shortlist.begin(), shortlist.end());
    std::erase_if(earlier, [&](const trial& taken) { return !listed.contains(taken.index); });
    strategy = make_shortlist(problem.space, shortlist);
  }
  search_started_event started =
      started_event(problem, subject, options, plan, *strategy, earlier.size());
  started.budget_left = time_left(options, known.spent);
  started.covers = shortlist.empty() && strategy->covers();
  if (strategy->remaining() == 0) throw empty_space_error(started);
  detail::notify(observers, started);

  const metric_sources registered = detail::registered_sources();
  const trial_judge judge(options.goal.value_or(tuning_goal{}),
                          {&problem.metrics, &registered, &options.metrics});
  step_hooks watched = hooks;
  watched.judge = &judge;
  const detail::restored_device afterwards(device.info());
  search_run run({problem, subject, device, options, observers, now, service, strategy->learns(),
                  watched, known.spent, judge});
  run.resume(earlier, known.goes_on);
  if (plan.enough) run.stop_after({plan.seeds.data(), *plan.enough});
  run.run(*strategy, started.planned, to_known_failures(known.compile_failures, known.denied));
  if (!run.best() && is_whole(run.end())) run.retry_remembered();

  const std::optional<std::size_t> best = run.best();
  const detail::memory_quota* const memory = hooks.memory.get();
  // The search is not complete: with more memory it continues.
  if (const auto want = std::ranges::find_if(run.trials(), is_short_of_memory);
      !best && memory != nullptr && want != run.trials().end()) {
    throw too_little_memory_error(subject, memory->reach_at_refusal(), want->reason);
  }
  tuning_event end = finished_event(run, started, best, now() - start, memory);
  auto& finished = std::get<search_finished_event>(end);
  finished.space = outline_of(problem.space);
  finished.seeds =
      run.has_stopped_after_seeds() ? said_at_stop(plan, known.losses, options) : plan.said;
  add_doubts(finished, subject, service);
  detail::notify(observers, end);
  if (!best) throw tuning_failed_error(subject, finished.trials);
  return finished.trials[*best];
}

}  // namespace tune

namespace tune::detail {
namespace {

// A limit of device time is stretched, because the time is spent in slices. A peak, which needs
// long copies, cannot be measured beside an application.
void stretch(tuning_options& options, const step_gate& gate) {
  if (!options.budget) return;
  options.budget->within.reset();
  if (!options.budget->time) return;
  const double longest = 1e18;  // ns
  const double ns = static_cast<double>(options.budget->time->count()) * gate.stretch();
  options.budget->time = std::chrono::nanoseconds(std::llround(std::min(ns, longest)));
}

std::shared_ptr<search_inputs> inputs_of(const session_state& session,
                                         const search_problem& problem) {
  if (problem.space.size() == 0) return nullptr;
  return open_doors().find_inputs(session.context, own_name(session.subject.function),
                                  session.subject.arguments, problem.configuration(0));
}

search_problem with_inputs(search_problem problem, std::shared_ptr<search_inputs> inputs) {
  if (inputs == nullptr) return problem;
  problem.generate = [generate = problem.generate, configuration = problem.configuration,
                      inputs = std::move(inputs)](std::size_t index) -> measure {
    measure made = generate(index);
    return made ? inputs->extend(std::move(made), configuration(index)) : std::move(made);
  };
  return problem;
}

// A search that checks every result does not resume the trials of one that did not.
const char* suffix_of(const tuning_options& options) {
  if (judges_results(options.goal.value_or(tuning_goal{}))) return "";
  switch (options.verify.value_or(result_check::every)) {
    case result_check::every: break;
    case result_check::finalists: return "/finalists";
    case result_check::none: return "/unchecked";
  }
  return "";
}

}  // namespace

std::size_t run(session_state& session, session_search search) {
  tuning_options& with = search.decided.options;
  const auto inputs = inputs_of(session, search.problem);
  const search_problem problem = with_inputs(search.problem, inputs);
  const tuning_goal goal = with.goal.value_or(tuning_goal{});
  if (judges_results(goal) && with.verify.value_or(result_check::every) != result_check::every) {
    log(log_level::info, fmt::format("{}: the goal '{}' judges the results, so those of all "
                                     "configurations are checked",
                                     describe(session.subject), to_string(goal)));
  }
  if (step_gate* const gate = session.hooks.gate) {
    gate->measure_on(session.context);
    stretch(with, *gate);
  } else {
    open_doors().add_probes(with.metrics, search.problem.metrics, goal, session.context);
    with.metrics.probes.push_back(std::make_shared<roofline_probe>(
        session.context, keep_peaks_in(session.peaks, session.context.device().identity())));
  }
  const auto read_prior = [&]() -> prior_knowledge {
    if (!session.read_prior) return {};
    prior_knowledge known =
        session.read_prior({.space = space_fingerprint(problem) + suffix_of(with),
                            .compiler = session.context.compiler_identity(),
                            .library_version = std::string(library_version()),
                            .stage = search.stage,
                            .inputs = inputs ? inputs->text() : std::string()});
    if (!search.ends_after_seeds) known.losses = {};
    return known;
  };
  session.hooks.memory = session.context.impl()->quota();
  session.hooks.programs = search.programs;
  session.hooks.is_warm = search.is_warm;
  const auto service =
      make_compile_service(compile_pool::shared(), session.context, with.compile_time);
  if (search.shortlist.empty() && !search.decided.sources.empty()) {
    log(log_level::info, describe(session.subject) + " is searched with " + search.decided.sources);
  }
  const trial best =
      run_search(problem, session.subject, session.context.device(), with, with.observers,
                 session.now, *service, read_prior, search.shortlist, session.hooks);
  session.best_score = best.score;
  return best.index;
}

}  // namespace tune::detail
