// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_attempt.hpp"

#include <algorithm>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/kernel_figures.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/step_gate.hpp"
#include "libtune/tune/engine/stopwatch.hpp"
#include "libtune/tune/engine/trial_failure.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/error.hpp"

namespace tune {

namespace {

// Compilers that prepare for launches (PoCL) distinguish small from large ones, and this size is
// unknown.
std::vector<nd_range> launches_of(const resources& asked) {
  const work_size group{asked.work_group[0], asked.work_group[1], asked.work_group[2]};
  if (group.total() == 0) return {};
  constexpr std::size_t large = 65536;
  return {nd_range{group, group}, nd_range{{group.x * large, group.y, group.z}, group}};
}

// What the first run of a program finds in no cache takes about a hundredth of this.
constexpr std::chrono::milliseconds long_run{2};

/// Further inputs (search_inputs) use the programs of the author again.
std::vector<std::string> without_repeats(const std::vector<std::string>& all) {
  std::vector<std::string> once;
  for (const std::string& each : all) {
    if (std::ranges::find(once, each) == once.end()) once.push_back(each);
  }
  return once;
}

// The race tolerates the rest of the warm-up.
constexpr std::chrono::milliseconds longest_warm_up{250};

}  // namespace

const step_hooks& trial_attempt::no_hooks() {
  static const detail::never_destroyed<step_hooks> nothing;
  return *nothing;
}

trial_attempt::trial_attempt(const search_problem& problem, std::size_t index, const device& device,
                             const measure_settings& settings, const wall_clock& now,
                             const step_hooks& hooks)
    : problem_(problem), device_(device), settings_(settings), now_(now), hooks_(hooks) {
  result_.index = index;
}

void trial_attempt::fail(outcome why, std::string reason) {
  release();
  result_.outcome = why;
  result_.reason = std::move(reason);
  result_.samples = {};
  result_.score.reset();
  stage_ = stage::over;
}

// Runs a step and turns any exception into an outcome. Returns true without an exception.
bool trial_attempt::attempt(outcome device_failed, const std::function<void()>& step) {
  const detail::memory_quota* const quota = hooks_.memory.get();
  const std::size_t refusals = quota != nullptr ? quota->refusals() : 0;
  try {
    step();
    return true;
  } catch (const detail::memory_reclaimed&) {
    release();
    throw;
  } catch (const tuning_stopped_error&) {  // thrown at the gate
    release();
    throw;
  } catch (const common_mistake&) {
    release();
    throw;
  } catch (...) {
    trial_failure failure = describe_thrown(device_failed, hooks_.device_works);
    ran_out_of_memory_ = failure.is_of_memory;
    if (failure.why == outcome::out_of_memory) {
      note_that_process_lives();
    } else if (failure.is_of_memory && quota != nullptr && quota->refusals() != refusals) {
      // The memory limit of the search decides if the configuration is at fault.
      set_metric(result_.metrics,
                 {memory_limit_metric, static_cast<double>(quota->reach_at_refusal()), "B"});
    }
    fail(failure.why, std::move(failure.reason));
  }
  return false;
}

// A trial without programs would count as lost with its process (is_incident).
void trial_attempt::note_that_process_lives() {
  if (result_.programs.empty()) result_.programs.emplace_back(compile_scope::unknown_program);
}

// Like attempt, for a step that may end the process.
bool trial_attempt::announced(step_kind kind, std::uint64_t launches,
                              const std::function<void()>& step) {
  const double each = one_run_ ? one_run_->count() : 0.0;
  std::optional<gate_passage> through;
  if (hooks_.gate != nullptr) {
    through.emplace(hooks_, kind, runs_are_long_ && kind != step_kind::generate);
  }
  const watchdog_scope now(hooks_, {.kind = kind,
                                    .index = result_.index,
                                    .configuration = result_.configuration,
                                    .launches = launches,
                                    .expected = run_time(each * static_cast<double>(launches))});
  if (kind != step_kind::generate && !set_device()) return false;
  const outcome device_failed =
      kind == step_kind::generate ? outcome::failed : outcome::launch_failed;
  return attempt(device_failed, step);
}

bool trial_attempt::set_device() {
  try {
    detail::open_doors().setter().set(device_.info(), prepared_.settings());
    return true;
  } catch (const error& refused) {
    fail(outcome::skipped, refused.what());
    return false;
  }
}

void trial_attempt::remember(const std::string& configuration, const known_failures& known) {
  if (const auto denied = known.denied.find(configuration); denied != known.denied.end()) {
    fail(denied->second.outcome, denied->second.text);
  } else if (const auto failure = known.configurations.find(configuration);
             failure != known.configurations.end()) {
    fail(outcome::compile_failed, failure->second);
  } else {
    return;
  }
  result_.origin = trial_origin::cached;
}

void trial_attempt::admit(const known_failures& known) {
  known_ = &known;
  attempt(outcome::failed, [&] {
    const stopwatch watch(now_, result_.elapsed);
    result_.configuration = problem_.configuration(result_.index);
    if (const auto asked = problem_.needs(result_.index)) {
      if (auto broken = find_broken_limit(*asked, device_.limits())) {
        fail(outcome::over_limit, "it needs " + std::move(*broken));
        return;
      }
      launches_ = launches_of(*asked);
    }
    if (known.configurations.empty() && known.denied.empty()) return;
    remember(canonical_text(result_.configuration), known);
  });
}

void trial_attempt::generate_prebuilt(const program_finder& find) {
  if (!awaited_.is_given_up()) {
    compile_scope::rules rules{.prebuilt = &awaited_.ready()};
    if (find) {
      rules.find_missing = [&](const wanted_program& missing) -> const prebuilt_program* {
        auto found = find(missing);
        return found ? &awaited_.add(missing.digest, *std::move(found)) : nullptr;
      };
    }
    generate_with(std::move(rules));
  }
  if (awaited_.is_given_up()) generate();
}

void trial_attempt::generate_with(compile_scope::rules rules) {
  const bool is_prebuilt = rules.prebuilt != nullptr;
  rules.known_failures = known_ != nullptr ? &known_->programs : nullptr;
  rules.loaded = hooks_.programs;
  rules.keeps_no_binaries = true;
  if (const step_listener* const listener = hooks_.listener) {
    rules.listener = [listener](bool begins) {
      (*listener)(begins ? step_event(compile_begin{}) : step_event(compile_end{}));
    };
  }
  compile_scope scope(std::move(rules));
  const stopwatch preparing(now_, result_.preparation);
  const stopwatch elapsing(now_, result_.elapsed);
  const bool generated = announced(step_kind::generate, 0, [&] {
    if (hooks_.judge != nullptr) hooks_.judge->before_compile(result_);
    prepared_ = problem_.generate(result_.index);
    if (prepared_) prepared_.cache(settings_.cache);
  });
  std::optional<wanted_program> wanted = scope.take_wanted();
  result_.programs = without_repeats(scope.programs());
  programs_ = scope.take_made();
  if (result_.outcome == outcome::out_of_memory) note_that_process_lives();
  if (wanted) {
    wanted->launches = launches_;
    retry();
    return awaited_.want(*std::move(wanted), scope.found());
  }
  if (result_.outcome == outcome::compile_failed) {
    if (scope.refused_known()) result_.origin = trial_origin::cached;
    // The author's code may have replaced the compiler's exception by another one.
    if (is_prebuilt) result_.outcome = outcome_of(scope.last_status());
  }
  if (!generated) return;
  if (!prepared_) {
    fail(outcome::skipped, prepared_.why_skipped());
    return;
  }
  if (!attempt(outcome::failed, [&] { add_figures(); })) return;
  if (auto reason = problem_.why_not ? problem_.why_not(result_.metrics) : std::nullopt) {
    fail(outcome::skipped, *std::move(reason));
  } else {
    stage_ = stage::ready;
    note_generated();
  }
}

void trial_attempt::add_figures() {
  const auto asked = problem_.needs ? problem_.needs(result_.index) : std::nullopt;
  for (metric& item : kernel_figures(programs_, asked)) {
    set_metric(result_.metrics, std::move(item));
  }
}

void trial_attempt::note_generated() {
  const declared_work& work = prepared_.work();
  result_.work = work;
  if (work.flops > 0) set_metric(result_.metrics, {"flops", work.flops, "FLOP"});
  if (work.bytes > 0) set_metric(result_.metrics, {"bytes", work.bytes, "B"});
  if (hooks_.judge == nullptr) return;
  hooks_.judge->after_compile(result_);
  if (auto broken = hooks_.judge->why_not_run(result_)) fail(outcome::unfit, *std::move(broken));
}

void trial_attempt::try_out(const slow_test& is_slow) {
  const stopwatch elapsing(now_, result_.elapsed);
  announced(step_kind::first_run, 1, [&] {
    first_runs(is_slow, [&](const check_steps& steps) {
      if (auto wrong = prepared_.run_checked(steps)) fail(outcome::wrong_result, std::move(*wrong));
    });
    if (!over()) note_checked();
  });
}

void trial_attempt::note_checked() {
  for (metric& figure : prepared_.figures()) set_metric(result_.metrics, std::move(figure));
  if (hooks_.judge == nullptr) return;
  auto broken = hooks_.judge->why_not_run(result_);
  if (!broken) broken = hooks_.judge->why_other_bits(result_);
  if (broken) fail(outcome::unfit, *std::move(broken));
}

void trial_attempt::warm_up(const slow_test& is_slow) {
  const stopwatch elapsing(now_, result_.elapsed);
  announced(step_kind::run, 1, [&] {
    first_runs(is_slow,
               [&](const check_steps& steps) { steps.run ? steps.run() : prepared_.run(); });
  });
}

void trial_attempt::first_runs(const slow_test& is_slow,
                               const std::function<void(const check_steps&)>& make) {
  check_steps steps{.between = [this] {
    if (hooks_.gate == nullptr) return;
    gate_passage::divide(hooks_, step_kind::first_run, runs_are_long_);
  }};
  steps.reports_bits = hooks_.judge != nullptr && hooks_.judge->compares_bits();
  std::vector<run_time> times;
  if (is_slow) {
    steps.run = [&] { times.push_back(take(1, 1).front()); };
    // The accuracy is that of all inputs, also of slow configurations: for the Pareto front.
    const bool needs_all = hooks_.judge != nullptr && hooks_.judge->names_accuracy();
    if (!needs_all) steps.is_enough = [&] { return is_slow(times.back()); };
  }
  make(steps);
  if (times.empty() || over()) return;
  const bool are_long = std::ranges::all_of(times, [](run_time one) { return one >= long_run; });
  if (are_long || (times.size() == 1 && is_slow(times.front()))) first_times_ = std::move(times);
}

void trial_attempt::warm_up_device() {
  if (hooks_.gate != nullptr) return;  // the application keeps it warm
  const stopwatch elapsing(now_, result_.elapsed);
  announced(step_kind::run, 1,
            [&] { tune::warm_up(prepared_, {.time_limit = longest_warm_up}, now_); });
}

void trial_attempt::release() {
  try {
    prepared_ = measure(nullptr);
    programs_.clear();
  } catch (...) {  // thrown by an author's destructor; the attempt is over
  }
}

void trial_attempt::retry() {
  release();
  first_times_.clear();
  stage_ = stage::waiting;
  ran_out_of_memory_ = false;
  result_.outcome = outcome::skipped;
  result_.reason.clear();
  std::erase_if(result_.metrics,
                [](const metric& figure) { return figure.name == memory_limit_metric; });
}

}  // namespace tune
