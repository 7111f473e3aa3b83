// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The space of a tuner, and functions of the caller that it calls for its configurations: the size
// of a launch, figures, observers, restrictions that read some parameters.
#include <array>
#include <fmt/format.h>
#include <mutex>

#include "libtune/base/error.hpp"
#include "libtune/bindings/c/handles.hpp"

struct libtune_observed {
  tune::bare_operation& operation;
};

namespace tune::c_api {
namespace {

/// The size of the launch of the latest configuration, because several quantities come from one
/// call.
class launch_sizes {
 public:
  explicit launch_sizes(callback<libtune_launch_function> by) : by_(by) {}

  libtune_launch of(const configuration& at) {
    const std::lock_guard lock(mutex_);
    if (latest_ && latest_->first == at) return latest_->second;
    const value_list values(at.values());
    libtune_launch made{{1, 1, 1}, {1, 1, 1}, 0};
    clear_last_error();
    const libtune_status status = by_.function(by_.user, values.data(), values.size(), &made);
    if (status != LIBTUNE_OK) throw_failed(status, "the function of the launch failed");
    latest_.emplace(at, made);
    return made;
  }

 private:
  callback<libtune_launch_function> by_;
  std::mutex mutex_;
  std::optional<std::pair<configuration, libtune_launch>> latest_;
};

void launch_by(libtune_tuner& of, callback<libtune_launch_function> by) {
  const auto sizes = std::make_shared<launch_sizes>(by);
  const auto groups = [sizes](std::size_t axis) {
    return quantity([sizes, axis](const configuration& at) {
      return static_cast<double>(sizes->of(at).groups[axis]);
    });
  };
  of.redefine([&](bare_kernel::definition& defined) {
    defined.problem_size = {groups(0), groups(1), groups(2)};
  });
  of.add([sizes](bare_kernel& kernel) {
    const std::array names{"launched_extent_x", "launched_extent_y", "launched_extent_z"};
    for (std::size_t axis = 0; axis < names.size(); ++axis) {
      kernel.define(names[axis], [sizes, axis](const configuration& at) {
        return value(static_cast<std::int64_t>(sizes->of(at).extents[axis]));
      });
    }
    kernel.work_group(names[0], names[1], names[2]);
    kernel.divide_grid_x({}).divide_grid_y({}).divide_grid_z({});
    kernel.local_memory([sizes](const configuration& at) {
      return static_cast<double>(sizes->of(at).local_memory_bytes);
    });
  });
}

double figure_by(callback<libtune_metric_function> by, const trial& of) {
  const value_list values(of.configuration);
  value_store store;
  std::vector<double> samples;
  for (const run_time each : of.samples.times()) samples.push_back(each.count());
  std::vector<libtune_named_value> figures{{"time", store.keep(value(metric_value(of, "time")))},
                                           {"samples", store.keep(std::move(samples))}};
  for (const metric& each : of.metrics) {
    figures.push_back({store.keep(each.name), store.keep(value(each.value))});
  }
  double made = 0;
  clear_last_error();
  const libtune_status status =
      by.function(by.user, values.data(), values.size(), figures.data(), figures.size(), &made);
  if (status != LIBTUNE_OK) throw_failed(status, "the function of a figure failed");
  return made;
}

/// Calls a function of the caller once for each configuration, before its first timed run. A search
/// may make the operation of a configuration several times.
class observing_probe final : public probe {
 public:
  explicit observing_probe(callback<libtune_observe_function> by) : by_(by) {}

  void add(const std::shared_ptr<bare_operation>& made) {
    const std::lock_guard lock(mutex_);
    const std::string name = to_string(made->configuration().values());
    if (!observed_.contains(name)) waiting_[name] = made;
  }

  void before_runs(const trial& of, int /*runs*/) override {
    const auto operation = take(to_string(of.configuration));
    if (!operation) return;
    const value_list values(of.configuration);
    libtune_observed handle{*operation};
    clear_last_error();
    const libtune_status status = by_.function(by_.user, values.data(), values.size(), &handle);
    if (status != LIBTUNE_OK) throw_failed(status, "the function that observes failed");
  }

 private:
  std::shared_ptr<bare_operation> take(const std::string& configuration) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.extract(configuration);
    if (!found) return nullptr;
    observed_.insert(configuration);
    return found.mapped().lock();
  }

  callback<libtune_observe_function> by_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<bare_operation>> waiting_;
  std::set<std::string> observed_;
};

}  // namespace
}  // namespace tune::c_api

using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;
using tune::c_api::text_of;

libtune_status libtune_tuner_restrict_reading(libtune_tuner* tuner,
                                              libtune_restriction_function function, void* user,
                                              const char* description, const char* const* reads,
                                              size_t count) {
  return guarded([&] {
    if (function == nullptr) throw tune::argument_error("the function of a restriction is null");
    if (count == 0) throw tune::argument_error("a restriction reads one parameter at least");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      names.push_back(text_of(&required((&required(reads, "the names"))[i], "a name")));
    }
    const auto allows = [function, user](const tune::configuration& at) {
      const tune::c_api::value_list values(at.values());
      int allowed = 0;
      tune::c_api::clear_last_error();
      const libtune_status status = function(user, values.data(), values.size(), &allowed);
      if (status == LIBTUNE_OK) return allowed != 0;
      tune::c_api::throw_failed(status, "the function of a restriction failed");
    };
    required(tuner, "the tuner")
        .add([allows, text = text_of(description), names](tune::bare_kernel& kernel) {
          kernel.restrict(allows, text, names);
        });
  });
}

libtune_status libtune_tuner_metric_by(libtune_tuner* tuner, const char* name, const char* unit,
                                       libtune_metric_function function, void* user) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    if (function == nullptr) throw tune::argument_error("the function of a figure is null");
    tune::computed_metric made{.name = text_of(&required(name, "the name of a figure")),
                               .compute =
                                   [function, user](const tune::trial& trial) {
                                     return tune::c_api::figure_by({function, user}, trial);
                                   },
                               .unit = text_of(unit)};
    std::vector<tune::metric> trial_run;
    set_metric(trial_run, {.name = made.name});  // throws if invalid
    of.computed.push_back(std::move(made));
  });
}

libtune_status libtune_tuner_launch_by(libtune_tuner* tuner, libtune_launch_function function,
                                       void* user) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    if (function == nullptr) throw tune::argument_error("the function of the launch is null");
    tune::c_api::launch_by(of, {function, user});
  });
}

libtune_status libtune_tuner_observe_by(libtune_tuner* tuner, libtune_observe_function function,
                                        void* user) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    if (function == nullptr) throw tune::argument_error("the function that observes is null");
    const auto observes = std::make_shared<tune::c_api::observing_probe>(
        tune::c_api::callback<libtune_observe_function>{function, user});
    of.add([observes](tune::bare_kernel& kernel) {
      kernel.measure_by([observes](tune::tuning_command_queue queue,
                                   const std::shared_ptr<tune::bare_operation>& made) {
        observes->add(made);
        return make_measure(std::move(queue), std::function<void()>([made] { made->run(); }));
      });
    });
    of.observes = observes;
  });
}

libtune_status libtune_observed_start(libtune_observed* observed) {
  return guarded([&] { required(observed, "what is observed").operation.run(); });
}

libtune_status libtune_observed_finish(libtune_observed* observed) {
  return guarded([&] { required(observed, "what is observed").operation.queue().finish(); });
}

libtune_status libtune_tuner_begin_with(libtune_tuner* tuner,
                                        const libtune_named_value* configuration, size_t count) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    auto values = tune::c_api::to_values(configuration, count);
    if (!of.kernel.space().find(values)) {
      throw tune::argument_error(to_string(values) + " is not in the space of '" + of.defined.name +
                                 "', so the search cannot begin with it");
    }
    of.begin_with.push_back(std::move(values));
  });
}

libtune_status libtune_tuner_size(const libtune_tuner* tuner, size_t* size) {
  return guarded([&] {
    required(size, "the place for the size") = required(tuner, "the tuner").kernel.space().size();
  });
}

libtune_status libtune_tuner_space(const libtune_tuner* tuner, libtune_table** table) {
  return giving(table, [&] {
    const tune::search_space space = required(tuner, "the tuner").kernel.space();
    tune::c_api::table_builder made;
    for (const tune::parameter& each : space.parameters()) made.reserve(each.name);
    for (std::size_t i = 0; i < space.size(); ++i) {
      made.begin_row();
      for (const tune::named_value& v : space.values(i)) made.set(v.name, v.value);
    }
    std::move(made).give(table);
  });
}
