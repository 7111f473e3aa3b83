// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/session.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/tune/device_probes.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"
#include "libtune/tune/engine/device_control.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/guided_search.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/quick_comparison.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/engine/search_quota.hpp"
#include "libtune/tune/engine/step_gate.hpp"
#include "libtune/tune/engine/trial_failure.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
namespace {

// OpenCL has no word for a fault. What some drivers say in its place they say for other reasons
// too.
bool hides_faults(const device& device) {
  return device.info().backend == "OpenCL" && device.kind() == device_kind::gpu;
}

bool still_works(const context& context) {
  try {
    command_queue queue = context.create_command_queue();
    const buffer probe = context.create_buffer(sizeof(std::uint32_t));
    queue.zero(probe, sizeof(std::uint32_t));
    queue.finish();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// What is meant as a time of the device is spent in slices. Its peak, which takes long copies, is
// none beside an application at work.
void stretch(tuning_options& options, const step_gate& gate) {
  if (!options.budget) return;
  options.budget->within.reset();
  if (!options.budget->time) return;
  const double longest = 1e18;  // ns
  const double ns = static_cast<double>(options.budget->time->count()) * gate.stretch();
  options.budget->time = std::chrono::nanoseconds(std::llround(std::min(ns, longest)));
}

// A search that checks every result does not resume the trials of one that did not.
const char* suffix_of(result_check verify) {
  switch (verify) {
    case result_check::every: break;
    case result_check::finalists: return "/finalists";
    case result_check::none: return "/unchecked";
  }
  return "";
}

/// Keeps the trials of the search for the one that guides it.
class trial_keeper final : public observer {
 public:
  explicit trial_keeper(detail::guided_search& guide) : guide_(guide) {}
  void search_finished(const search_finished_event& event) override { guide_.keep(event.trials); }

 private:
  detail::guided_search& guide_;
};

/// True where a number of configurations is asked for.
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

/// The same problem, in which those configurations that must not be launched are skipped.
search_problem limited(search_problem problem,
                       std::function<bool(const std::vector<named_value>&)> may_run) {
  problem.generate = [generate = std::move(problem.generate), configuration = problem.configuration,
                      may_run = std::move(may_run)](std::size_t index) {
    return may_run(configuration(index)) ? generate(index) : measure(nullptr);
  };
  return problem;
}

// Such searches are many, and each is one of several that decide. Those that find what to compare
// need no final round; where configurations are compared, the result of the fastest is checked.
void guide(tuning_options& options, detail::guided_search& by, const search_problem& problem) {
  constexpr double tied = 0.01;
  constexpr int final_runs = 24;
  constexpr std::size_t live = 16;
  // Of device time: a second is half a million runs of what small sizes take.
  constexpr std::chrono::milliseconds patience{20};
  options.observers.push_back(std::make_shared<trial_keeper>(by));
  race_settings& race = options.race;
  race.indifference = std::max(race.indifference, tied);
  race.drift.patience = std::min<std::chrono::nanoseconds>(race.drift.patience, patience);
  race.drift.repeats = std::min(race.drift.repeats, 1);
  race.final_runs = by.guided().only.empty() ? 0 : std::min(race.final_runs, final_runs);
  if (!by.guided().only.empty()) {
    race.live = std::max(race.live, live);
    if (options.verify.value_or(result_check::every) == result_check::every) {
      options.verify = result_check::finalists;
    }
  }
  if (by.guided().near) options.budget.reset();
  if (by.guided().time && by.guided().only.empty()) {
    if (!options.budget) options.budget.emplace();
    auto& time = options.budget->time;
    time = std::min<std::chrono::nanoseconds>(time.value_or(*by.guided().time), *by.guided().time);
  }
  if (!by.guided().near) return;
  options.strategy = "near";
  options.search.max_count = by.guided().most_trials;
  options.search.max_fraction.reset();
  options.search.early_end = true;
  options.search.warm_start = numbers_of({*by.guided().near}, problem);
}

}  // namespace

struct tuning_session::state : detail::session_setup {
  explicit state(detail::session_setup setup) : session_setup(std::move(setup)) {}

  int searches = 0;  // that have started
  detail::guided_search* guide = nullptr;
  std::optional<run_time> best_score{};
};

tuning_session::tuning_session(const tune::context& context, tuning_subject subject,
                               const tuning_options& options)
    : tuning_session(detail::session_setup{
          .context = context, .subject = std::move(subject), .options = search_options(options)}) {}

tuning_session::tuning_session(detail::session_setup setup)
    : state_(std::make_unique<state>(std::move(setup))) {
  detail::refuse_if_forked([&] { return "tune '" + state_->subject.function + "'"; });
  step_hooks& hooks = state_->hooks;
  if (!hooks.device_works && hides_faults(context().device())) {
    hooks.device_works = [context = context()] { return still_works(context); };
  }
  if (!hooks.survives_faults) {
    hooks.survives_faults = [context = context()] { return still_works(context); };
  }
}

tuning_session::~tuning_session() = default;

const tune::context& tuning_session::context() const noexcept { return state_->context; }
const tuning_options& tuning_session::options() const noexcept { return state_->options; }
std::optional<run_time> tuning_session::best_score() const noexcept { return state_->best_score; }

const std::vector<named_value>& tuning_session::test_default_values() const {
  if (!state_->subject.test_default.empty()) return state_->subject.test_default;
  throw argument_error(
      "the session for '" + state_->subject.function + "' on device '" + context().device().name() +
      "' knows no test default, because no autotuner made it; name a configuration");
}

detail::guided_search::guided_search(tuning_session& session, course guided)
    : session_(session),
      guided_(std::move(guided)),
      outer_(std::exchange(session.state_->guide, this)) {}
// The time of one of many searches is not that of the result.
detail::guided_search::~guided_search() {
  session_.state_->guide = outer_;
  session_.state_->best_score.reset();
}

double detail::guided_search::stretch() const noexcept {
  const step_gate* const gate = session_.state_->hooks.gate;
  return gate != nullptr ? gate->stretch() : 1;
}

bool tuning_session::is_only_tried() const noexcept { return state_->only_listed; }

std::vector<std::size_t> tuning_session::shortlist(const search_problem& problem) const {
  const detail::guided_search* const guide = state_->guide;
  if (guide == nullptr) {
    return state_->shortlist ? state_->shortlist(problem) : std::vector<std::size_t>();
  }
  if (state_->shortlist && guide->guided().find) {
    bool knows = false;
    search_problem whole = problem;
    whole.parts = guide->guided().parts;
    whole.find = [&](const std::vector<named_value>& values) {
      const auto found = guide->guided().find(problem, values);
      knows = knows || found;
      return found;
    };
    auto listed = state_->shortlist(whole);
    if (state_->only_listed && !knows) {
      throw error("the search for " + describe(state_->subject) +
                  " cannot be divided, for it is one of many, at several sizes");
    }
    if (state_->only_listed) return listed;
  }
  if (guide->guided().only.empty()) return {};
  auto listed = numbers_of(guide->guided().only, problem);
  if (!listed.empty()) return listed;
  throw empty_space_error("none of the configurations to be compared is in the space of " +
                          describe(state_->subject));
}

std::size_t tuning_session::memory_budget() const {
  return detail::current_quota(context(), options().memory)->reach(*context().impl());
}

std::size_t tuning_session::fit_memory(std::size_t wanted, std::size_t least) const {
  const std::size_t budget = memory_budget();
  if (wanted <= budget) return wanted;
  if (least > budget) {
    throw too_little_memory_error(
        state_->subject, budget,
        "its arrays need " + std::to_string(least) + " bytes at the least");
  }
  warn_once(describe(state_->subject) + " is tuned on arrays of " + std::to_string(budget) +
            " bytes in place of " + std::to_string(wanted) +
            ", for a tuning may hold no more device memory now (LIBTUNE_TUNING_MEMORY)");
  return budget;
}

// One after the other they are one search of the session: what is denied is read once for all.
std::size_t tuning_session::compare(const search_problem& problem, const tuning_options& options) {
  detail::guided_search& guide = *state_->guide;
  detail::quick_memory& memory = *guide.guided().memory;
  if (memory.stage != state_->searches - 1) {
    memory.stage = state_->searches++;
    prior_knowledge known;
    if (state_->read_prior) {
      known = state_->read_prior({.space = space_fingerprint(problem) + "/quick",
                                  .compiler = context().compiler_identity(),
                                  .library_version = std::string(library_version()),
                                  .stage = *memory.stage});
    }
    memory.known = to_known_failures(known.compile_failures, known.denied);
  }
  state_->hooks.memory = context().impl()->quota();
  state_->hooks.programs = &memory.programs;
  const bool is_ahead = guide.guided().way == detail::guided_way::compile;
  std::unique_ptr<compile_service> own;
  std::unique_ptr<compile_service>& service = is_ahead ? memory.ahead : own;
  if (!service) {
    service = make_compile_service(compile_pool::shared(), context(), options.compile_time);
  }
  const std::vector<std::size_t> numbers = numbers_of(guide.guided().only, problem);
  const measure_settings measure = options.measure.value_or(measure_settings{});
  const tune::device device = context().device();
  const std::chrono::milliseconds limit = options.wait.value_or(default_wait);
  wait_report report(wait_cause::device, state_->subject, options.observers, limit);
  const device_lease turn(device.info(), limit,
                          [&](auto waited, auto holder) { report.look(waited, holder); });
  report.end();
  const detail::restored_device afterwards(device.info());
  const detail::quick_comparison::setting setting{
      .problem = problem,
      .subject = state_->subject,
      .device = device,
      .observers = options.observers,
      .measure = measure,
      .now = state_->now,
      .service = *service,
      .hooks = state_->hooks,
      .known = memory.known,
      .time = guide.guided().time,
      .checks = guide.guided().way == detail::guided_way::check &&
                options.verify.value_or(result_check::every) != result_check::none};
  // What has been compiled ahead goes to the cache of programs.
  if (memory.ahead) static_cast<void>(memory.ahead->deliver(std::chrono::steady_clock::now()));
  if (is_ahead) {
    detail::compile_ahead(setting, numbers);
    guide.keep({});
    return 0;
  }
  detail::quick_comparison comparison(setting);
  std::vector<trial> trials = comparison.run(numbers);
  memory.compiled = comparison.compiled();
  const auto cost = [](const trial& each) {
    return each.score.value_or(run_time(std::numeric_limits<double>::infinity()));
  };
  const auto best = std::ranges::min_element(trials, {}, cost);
  const bool has_best = best != trials.end() && best->score;
  const std::size_t number = has_best ? best->index : 0;
  if (!has_best) {
    tuning_failed_error failure(state_->subject, trials);
    guide.keep(std::move(trials));
    throw failure;
  }
  guide.keep(std::move(trials));
  return number;
}

std::size_t tuning_session::search(const search_problem& problem, const search_defaults& defaults) {
  std::optional<search_problem> own;
  if (state_->guide != nullptr && state_->guide->guided().may_run) {
    own = limited(problem, state_->guide->guided().may_run);
  }
  const search_problem& searched = own ? *own : problem;
  if (state_->guide != nullptr && state_->guide->guided().way != detail::guided_way::race) {
    const search_decision decided = decide(options(), defaults, state_->goal_of_author);
    // Of other goals than the time a race has the measurements.
    if (!decided.options.goal || decided.options.goal->is_time()) {
      return compare(searched, decided.options);
    }
  }
  const int stage = state_->searches++;
  // Before the service is made, because some lists only read the space and leave by an exception.
  const auto shortlist = this->shortlist(searched);
  search_decision decided = decide(options(), defaults, state_->goal_of_author);
  if (state_->guide != nullptr) {
    // A limit of their number says that not all of them are wanted.
    const bool is_small = searched.space.size() <= state_->guide->guided().most_kept;
    if (is_small && !is_counted(decided.options)) {
      state_->guide->keep_space(all_of(searched, context().device()));
    }
    guide(decided.options, *state_->guide, searched);
  }
  if (step_gate* const gate = state_->hooks.gate) {
    gate->measure_on(context());
    stretch(decided.options, *gate);
  } else {
    detail::add_device_probes(decided.options.metrics, searched.metrics,
                              decided.options.goal.value_or(tuning_goal{}), context());
  }
  const tuning_options& with = decided.options;
  const auto read_prior = [&]() -> prior_knowledge {
    if (!state_->read_prior) return {};
    prior_knowledge known =
        state_->read_prior({.space = space_fingerprint(searched) +
                                     suffix_of(with.verify.value_or(result_check::every)),
                            .compiler = context().compiler_identity(),
                            .library_version = std::string(library_version()),
                            .stage = stage});
    // What guides it wants all that it asks for.
    if (state_->guide != nullptr) known.losses = {};
    return known;
  };
  state_->hooks.memory = context().impl()->quota();
  state_->hooks.is_warm = state_->guide != nullptr && stage > 0;
  state_->hooks.programs = nullptr;
  if (state_->guide != nullptr && state_->guide->guided().memory != nullptr) {
    state_->hooks.programs = &state_->guide->guided().memory->programs;
  }
  const auto service = make_compile_service(compile_pool::shared(), context(), with.compile_time);
  const auto run = [&](const std::vector<std::size_t>& listed) {
    if (listed.empty() && !decided.sources.empty()) {
      log(log_level::info, describe(state_->subject) + " is searched with " + decided.sources);
    }
    const trial best =
        run_search(searched, state_->subject, context().device(), with, with.observers, state_->now,
                   *service, read_prior, listed, state_->hooks);
    state_->best_score = best.score;
    return best.index;
  };
  if (shortlist.empty() || state_->only_listed || state_->guide != nullptr) return run(shortlist);
  try {
    return run(shortlist);
  } catch (const tuning_failed_error& failure) {
    log(log_level::info, std::string("none of the listed configurations works, so the whole space "
                                     "is searched: ") +
                             failure.what());
    return run({});
  }
}

}  // namespace tune
