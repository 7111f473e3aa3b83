// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Templates whose tuning is swapped while a pipeline runs: docs/live.md. Not part of libtune.hpp.
//
//   tune::live_pipeline pipeline;
//   tune::live<turn_template> turns(pipeline, context, key);
//   auto turn = turns.instantiate(queue, [=](const turn_template& made, const auto& on) {
//     return made.instantiate(on, rows, columns);
//   });
//   turn->bind("src", input);
//   tune::seal();
//   while (running) {
//     turn.run();
//     pipeline.epoch();  // here another tuning may take over
//   }
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// The settings of a live_pipeline.
struct live_options {
  /// True to compare a candidate with the tuning in service before it is kept: some ten thousand
  /// epochs at most, a few hundred for a clear gain. The queues of instances then need profiling.
  /// False, or another goal than the least time: the result of the search is kept without a
  /// comparison.
  bool compare = true;
  /// Epochs of one block, in which one tuning serves; a comparison has pairs of blocks. The first
  /// epoch of a block is not timed. At least 2.
  std::size_t block_epochs = 8;
  /// The times of instances are taken in one of this many epochs, to watch for drift; 0: never. The
  /// queues of instances then need profiling.
  std::size_t watch_every = 64;
  /// True to run each new operation once on zeroed memory of its own, on a queue of libtune, before
  /// it may serve: drivers load much at the first launch.
  bool warm = true;
  /// True to refuse a candidate whose results have other bits than those of the tuning in service,
  /// so that the bits of an observation do not change. Before it serves, both run once on copies of
  /// the arrays of the instance, as they are at that time, on a queue of libtune; every slot is
  /// compared. A goal "same bits" (tuning_goal) asks a search for such candidates.
  bool same_bits = false;
  /// The temporary memory for these runs; null: from the context. Drivers may wait for the device
  /// when they allocate and release memory, so a pipeline that cannot afford that reserves memory
  /// (buffer_allocator).
  std::shared_ptr<allocator> scratch{};
  /// True to tune a key whose times have drifted again behind the application, as in the mode
  /// behind (docs/serve-now-tune-behind.md), once for each drift. The new result replaces the one
  /// in the database, and is compared like any other.
  bool tunes_again = false;
  /// Called for each drift, by a thread of libtune that is not sealed. May be empty.
  std::function<void(const live_event&)> drifted{};
};

/// The changes of a live_pipeline since it was made.
struct live_counts {
  std::size_t tried = 0;       ///< candidates that began to serve in turn
  std::size_t kept = 0;        ///< candidates that took over
  std::size_t taken_back = 0;  ///< candidates that were no better
  std::size_t refused = 0;     ///< candidates that could not be put into service
  std::size_t drifts = 0;      ///< drifts that were reported
};

/// The way in which an instance is run.
enum class live_run : std::uint8_t {
  enqueue,  ///< enqueues as operation::run does
  graph,    ///< launches a command graph, if the device has them (captured_operation)
};

namespace detail {

class live_core;
class live_key;
class live_node;

/// A key with its autotuner and template, without their types.
struct live_function {
  tune::context context;
  std::shared_ptr<const autotuner_core> function;
  std::vector<named_value> key;
  /// Makes the template for a tuning.
  std::function<std::shared_ptr<const void>(const std::vector<named_value>&)> make;
};

/// Makes an operation of templates, in the order of the lives, on a queue.
using live_maker = std::function<std::unique_ptr<operation>(std::span<const void* const> templates,
                                                            const command_queue& queue)>;

/// The parts of live that are independent of its types.
class live_base {
 protected:
  live_base(std::shared_ptr<live_core> core, live_function function);
  ~live_base();
  live_base(live_base&&) noexcept = default;

  const void* current() const noexcept;

 private:
  friend class live_instance_base;

  std::shared_ptr<live_core> core_;
  std::shared_ptr<live_key> key_;
};

/// The parts of live_instance that are independent of its types.
class live_instance_base {
 public:
  /// Enqueues the work, as operation::run or captured_operation::run, and at times a marker before
  /// and after it, whose times are read later. Allocates nothing itself.
  /// @throws the errors of the operation. Errors of a candidate are not passed on: the previous
  ///         operation runs at once in its place, and serves again. Commands that the candidate has
  ///         enqueued remain in effect (docs/live.md)
  void run();
  /// Calls run().
  void operator()() { run(); }

 protected:
  live_instance_base(const command_queue& queue, live_run how,
                     std::span<const live_base* const> lives, live_maker make);
  ~live_instance_base();
  live_instance_base(live_instance_base&&) noexcept = default;
  live_instance_base& operator=(live_instance_base&& other) noexcept;

  operation& current() const noexcept;
  void carry(std::function<void(const operation&, operation&)> state);

 private:
  void leave() noexcept;

  std::shared_ptr<live_core> core_;
  std::shared_ptr<live_node> node_;
};

template <class T>
struct autotuner_types;
template <class Key, class Tuning>
struct autotuner_types<autotuner<Key, Tuning>> {
  using key = Key;
  using tuning = Tuning;
};

}  // namespace detail

/// The lives and instances that are swapped together, at points that the application declares. One
/// candidate, of one key, is prepared and compared at a time. A thread of libtune, which is not
/// sealed, compiles candidates, makes and warms their operations, destroys replaced ones when the
/// device has finished with them, and uses the database.
///
/// A handle: copies refer to the same pipeline, and lives and instances are handles of it, too. One
/// thread at a time, the pipeline's, uses them all; look_again and counts are thread-safe.
/// The last handle waits for the thread to end: for a compilation under way, and for operations
/// that the device still runs. An observer or a function of live_options must not own a handle.
class live_pipeline {
 public:
  /// Starts the thread. @throws argument_error for invalid options; forked_process_error
  explicit live_pipeline(live_options options = {});
  /// For libtune's own tests only.
  explicit live_pipeline(std::shared_ptr<detail::live_core> core) noexcept
      : core_(std::move(core)) {}

  /// Declares a point between two frames at which tunings may be swapped. Earlier work finishes on
  /// the operations that enqueued it. Without a pending swap it costs one load. Never waits, takes
  /// no lock, allocates nothing and performs no call that a seal forbids.
  void epoch();

  /// Requests a lookup of results newer than the tunings in service, such as results that other
  /// processes store. The thread does it soon. Takes no lock.
  void look_again() noexcept;

  /// The changes so far.
  live_counts counts() const noexcept;

  /// For libtune's own code only.
  const std::shared_ptr<detail::live_core>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<detail::live_core> core_;
};

/// An operation in service. An epoch may replace it by the operation of a better tuning. A movable
/// handle. The new operation gets the arrays of the old one: if its slots do not accept them, for
/// their padding, say, it is refused.
template <std::derived_from<operation> Operation>
class live_instance : public detail::live_instance_base {
 public:
  /// For live::instantiate and make_live only.
  live_instance(const command_queue& queue, live_run how,
                std::span<const detail::live_base* const> lives, detail::live_maker make)
      : live_instance_base(queue, how, lives, std::move(make)) {}

  /// The operation that serves now, until the next epoch. In the form of a graph its queue belongs
  /// to libtune, so call run() of the instance.
  Operation& operator*() const noexcept { return static_cast<Operation&>(current()); }
  /// Like operator*, for members.
  Operation* operator->() const noexcept { return &**this; }

  /// Sets a function that copies the state of an operation beside its bindings, such as scalar
  /// arguments that are set while it serves, to another operation. epoch() calls it on the thread
  /// of the pipeline, for a candidate and after each change of operation::version; it must not
  /// allocate. Without one, the state that the maker sets remains.
  void carry(std::function<void(const Operation& from, Operation& to)> state) {
    live_instance_base::carry([state = std::move(state)](const operation& from, operation& to) {
      state(static_cast<const Operation&>(from), static_cast<Operation&>(to));
    });
  }
};

/// A template in a pipeline: made with the best known tuning for a key, and again with each better
/// tuning that is found while the pipeline runs. Tuning behind the application publishes it, or
/// live_pipeline::look_again finds it in the database.
///
/// A tuning that has lost in this pipeline, as a candidate or in service, is never tried again in
/// it.
template <class Template>
class live : public detail::live_base {
  using types = detail::autotuner_types<std::remove_cvref_t<decltype(Template::autotune)>>;

 public:
  /// The key of the autotuner.
  using key_type = typename types::key;
  /// The tuning of the autotuner.
  using tuning_type = typename types::tuning;

  /// Obtains the tuning, as a call of the autotuner does, and makes the template. Not on a sealed
  /// thread.
  /// @param pipeline  the pipeline whose epochs swap it
  /// @param context   of the template
  /// @param key       of the autotuner
  /// @param make      makes the template for a tuning; called on this thread, and later on one of
  ///                  libtune, so its references must be valid as long as the pipeline
  /// @throws the errors of the autotuner and of make
  live(const live_pipeline& pipeline, const tune::context& context, const key_type& key,
       std::function<Template(const tuning_type&)> make)
      : live_base(
            pipeline.core(),
            {.context = context,
             .function = Template::autotune.core_,
             .key = to_values(key),
             .make = [make = std::move(make)](
                         const std::vector<named_value>& values) -> std::shared_ptr<const void> {
               return std::make_shared<const Template>(make(from_values<tuning_type>(values)));
             }}) {}

  /// Like the above, for a template with the usual constructor.
  live(const live_pipeline& pipeline, const tune::context& context,
       const key_type& key = {}) requires
      std::constructible_from<Template, const tune::context&, const key_type&, const tuning_type&>
      : live(pipeline, context, key,
             [context, key](const tuning_type& tuning) { return Template(context, key, tuning); }) {
  }

  /// The template that serves now, until the next epoch.
  const Template& current() const noexcept {
    return *static_cast<const Template*>(live_base::current());
  }

  /// Creates the operation, and recreates it after each swap of the template.
  /// @param queue  the queue of the operation; with profiling (see live_options)
  /// @param make   returns the operation, made on the given queue and with nothing bound to it;
  ///               called on this thread, and later on one of libtune, so its references must be
  ///               valid as long as the pipeline
  /// @param how    directly, or by a graph
  /// @throws the errors of make; argument_error if the queue lacks the profiling that it needs
  template <class Make>
  auto instantiate(const command_queue& queue, Make make, live_run how = live_run::enqueue) const;
};

/// Creates an operation of several templates, such as a sequence, and recreates it after each swap
/// of one of them.
/// @param queue  as for live::instantiate
/// @param how    directly, or by a graph
/// @param make   returns the operation; called with the templates of the lives in their order, and
///               the queue; else as for live::instantiate
/// @param lives  of one pipeline
/// @throws the errors of make; argument_error if the lives are of several pipelines, or the queue
///         lacks the profiling that it needs
template <class Make, class... Templates>
auto make_live(const command_queue& queue, live_run how, Make make,
               const live<Templates>&... lives) {
  using made =
      std::remove_cvref_t<std::invoke_result_t<Make&, const Templates&..., const command_queue&>>;
  const detail::live_base* const all[] = {&lives...};  // NOLINT: an array of fixed size
  return live_instance<made>(
      queue, how, all,
      [make = std::move(make)](std::span<const void* const> templates, const command_queue& on) {
        return [&]<std::size_t... I>(std::index_sequence<I...>)->std::unique_ptr<operation> {
          return std::make_unique<made>(
              std::as_const(make)(*static_cast<const Templates*>(templates[I])..., on));
        }
        (std::index_sequence_for<Templates...>{});
      });
}

template <class Template>
template <class Make>
auto live<Template>::instantiate(const command_queue& queue, Make make, live_run how) const {
  return make_live(queue, how, std::move(make), *this);
}

}  // namespace tune
