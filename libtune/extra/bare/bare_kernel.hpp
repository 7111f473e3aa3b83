// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/extra/bare/bare_operation.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/extra/bare/kernel_argument.hpp"
#include "libtune/kernel/kernel_source.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/trial.hpp"
#include "libtune/verify/answer.hpp"

namespace tune {

class tuned_kernel;

/// Reads a kernel's text from a file, now. @throws argument_error if it cannot be read
kernel_source kernel_file(const std::string& path);

/// The text of a bare kernel: a text, a file (kernel_file), or a function that makes the text of a
/// configuration.
class kernel_text {
 public:
  /// Makes the text of a configuration.
  using function = std::function<std::string(const configuration&)>;

  /// A text, which messages call by the name of the kernel.
  kernel_text(const char* text) : kernel_text(std::string(text)) {}  // NOLINT: a text is one
  /// The same.
  kernel_text(std::string text);  // NOLINT: likewise
  /// A text with a name, such as that of kernel_file.
  kernel_text(kernel_source source) : made_(std::move(source)) {}  // NOLINT: likewise
  /// A function of the configuration.
  template <std::invocable<const configuration&> Function>
  kernel_text(Function made) : made_(function(std::move(made))) {}  // NOLINT: likewise

  /// The text of a configuration.
  /// @param at    the configuration
  /// @param name  of the kernel, for a text that has no name
  kernel_source of(const configuration& at, const std::string& name) const;

 private:
  std::variant<kernel_source, function> made_;
};

/// A kernel that is described while the program runs, tuned without an operation, a template or a
/// key of its own:
///
///   tune::bare_kernel kernel({.name = "diffuse",
///                             .source = tune::kernel_file("diffusion.cu"),
///                             .problem_size = {4096, 4096}});
///   kernel.parameter("block_size_x", {16, 32, 48, 64, 128});
///   kernel.parameter("block_size_y", {2, 4, 8, 16, 32});
///   kernel.parameter("tile_size_x", {1, 2, 4});
///   kernel.divide_grid_x({"block_size_x", "tile_size_x"});
///   kernel.restrict("block_size_x * block_size_y <= 1024");
///   kernel.arguments(tune::out(field, "u_new"), tune::in(field, "u"), 0.225F);
///   kernel.answer(0, expected, {.absolute = 1e-6});
///   const tune::tuned_kernel best = kernel.tune(context);
///
/// The text is compiled as tune::compile does, after macros for the parameters, those that define
/// adds, kernel_tuner (1), and grid_size_x, _y and _z where the text mentions them: CUDA C++ and
/// OpenCL C as they are, or the portable dialect of libtune's kernels. A parameter with
/// "loop_unroll_factor" in its name is for `#pragma unroll NAME`; 0 takes such lines out. On CUDA
/// the kernel need not be extern "C", and its name may be an instance of a template.
///
/// A value: copies share what they have until one is changed. Changing it is for one thread; const
/// functions are thread-safe. A library that is to find its result again, in other processes and
/// with keys of its own, has a kernel_tuner, or an operation.
class bare_kernel {
 public:
  /// The name, text and size of a kernel.
  struct definition {
    /// In the text. On CUDA also a C++ expression: the names of parameters between < and > become
    /// their values, and so does an expression in braces anywhere: "reduce<float,
    /// {block_size_x * 2}>".
    std::string name;
    kernel_text source;  ///< its text, before macros and preamble
    /// Work items along x, y and z, before they are divided by what a work group does.
    std::vector<quantity> problem_size;
    std::vector<kernel_header> headers{};  ///< texts that the source includes by their names
    std::vector<std::string> flags{};      ///< for the device's own compiler
  };
  /// The name, the version and the key under which results are remembered, as those of autotuners.
  struct identity {
    std::string name;     ///< names the database table
    int version = 0;      ///< results of other versions are not used
    configuration key{};  ///< what the best configuration depends on, beside the device
  };

  using predicate = std::function<bool(const configuration&)>;  ///< true: it is allowed
  /// Returns nothing if the results are right, else what is wrong with them.
  using verifier = std::function<std::optional<std::string>(const kernel_results&)>;
  /// Measures an operation that has been bound and is run on the queue; see make_measure.
  using measuring_function =
      std::function<measure(tuning_command_queue, std::shared_ptr<bare_operation>)>;

  /// @throws argument_error if there is no name, or not one to three problem sizes
  explicit bare_kernel(definition defined);

  /// Adds a parameter with its candidates: whole or real numbers, bools or texts, which become a
  /// macro of this name. Whole numbers among real ones become real; candidates of several types
  /// otherwise cannot be remembered. The last one added varies fastest. Those named
  /// graphics_clock_mhz, memory_clock_mhz and power_limit_w are no macros: the configuration runs
  /// with these settings of the device (device_settings), zero for as they are.
  /// @throws argument_error if the name is taken or cannot be that of a macro, there are no
  ///         candidates, one comes twice, or a whole one among real ones is none exactly
  template <class Candidate>
  bare_kernel& parameter(std::string name, std::initializer_list<Candidate> candidates) {
    return parameter(std::move(name), std::vector<Candidate>(candidates));
  }
  /// The same with the elements of a range.
  template <class Range>
  bare_kernel& parameter(std::string name, const Range& candidates) {
    std::vector<value> values;
    for (const auto& candidate : candidates) values.push_back(detail::to_candidate(candidate));
    return add_parameter(std::move(name), std::move(values));
  }

  /// Allows only configurations for which an expression over the parameters holds, such as
  /// "32 <= block_size_x * block_size_y <= 1024". @throws argument_error if it is none
  bare_kernel& restrict(const std::string& condition);
  /// The same by a function.
  /// @param allows       returns true for configurations that may stay
  /// @param description  for messages; empty: "restriction 1" and so on
  /// @param reads        the parameters that it reads; empty: all, which makes large spaces slow
  bare_kernel& restrict(predicate allows, std::string description = {},
                        std::vector<std::string> reads = {});

  /// Lets only those configurations run for whose compiled kernels an expression over the figures
  /// holds, such as "registers <= 64 and occupancy >= 0.25" (libtune/tune/README.md lists them). A
  /// figure that the driver does not tell forbids nothing. @throws argument_error as above
  bare_kernel& limit(const std::string& condition);

  /// Divides the problem along x by the product of these, rounded up: that is the number of work
  /// groups. Without a call it is divided by the extent of the work group; by nothing, {}, the
  /// problem size is the number of work groups.
  bare_kernel& divide_grid_x(std::vector<quantity> divisors);
  bare_kernel& divide_grid_y(std::vector<quantity> divisors);  ///< the same along y
  bare_kernel& divide_grid_z(std::vector<quantity> divisors);  ///< the same along z
  /// Renames the parameters that are the extents of the work group: block_size_x, block_size_y and
  /// block_size_z. A name may also be that of a macro (define), or a number. Where there are no
  /// parameters or macros of the names block_size_x to _z, or a name is empty, the extents are 256,
  /// 1 and 1. Any other name is an error when the kernel is tuned or made.
  bare_kernel& work_group(std::string x, std::string y = {}, std::string z = {});
  /// Gives each work group so many bytes of dynamic local memory (nd_range::local_memory_bytes).
  bare_kernel& local_memory(quantity bytes);
  /// Adds a macro. @throws argument_error if the name is that of a parameter, or no macro's
  bare_kernel& define(const std::string& name, value text);
  /// Adds a macro whose text depends on the configuration.
  bare_kernel& define(const std::string& name, std::function<value(const configuration&)> text);

  /// Sets what the kernel is called with, in its order: kernel_argument (in, out, inout, texture,
  /// sampler), arrays, values.
  template <class... Arguments>
  bare_kernel& arguments(const Arguments&... given) {
    return set_arguments({detail::to_argument(given)...});
  }
  /// The same when their number is known at run time only.
  bare_kernel& set_arguments(std::vector<kernel_argument> given);

  /// Fills a __constant__ or __device__ variable of a CUDA kernel before it runs
  /// (program::variable). The elements are copied now. In OpenCL the table is an argument.
  /// @param name    of the variable, at file scope
  /// @param values  no more than it has
  template <detail::host_range Range>
  bare_kernel& constant(std::string name, const Range& values) {
    return add_constant(std::move(name),
                        std::as_bytes(std::span(std::data(values), std::size(values))));
  }

  /// Sets the contents that an array has to have after a run: a range, or a host_array. Arguments
  /// without an answer are not compared. @throws argument_error if the argument is no array, of
  /// another type or size, or has an answer already
  template <class Expected>
  requires requires(const Expected& expected) { detail::keep_answer(expected); }
  bare_kernel& answer(std::size_t argument, const Expected& expected,
                      const tolerance& allowed = {}) {
    auto kept = detail::keep_answer(expected);
    return add_answer(
        argument, kept->layout().type(), kept->size(),
        [kept, allowed](tune::answer& to, const std::string& name, const shape& size) {
          to.add(name, detail::shaped(*kept, size), allowed);
        });
  }
  /// The same with contents that a function makes when they are needed.
  template <detail::contents_function Function>
  bare_kernel& answer(std::size_t argument, Function make, const tolerance& allowed = {}) {
    return add_answer(argument, element_type::of<detail::element_made_by<Function>>(), {},
                      [make = std::move(make), allowed](tune::answer& to, const std::string& name,
                                                        const shape& size) {
                        to.add(name, detail::shaped(*detail::keep_answer(make()), size), allowed);
                      });
  }
  /// Decides by a function whether the results of a run are right, beside the answers.
  bare_kernel& verify(verifier decides);
  /// A second run need not give the same bits; see tune::answer::nondeterministic.
  bare_kernel& nondeterministic();
  /// Declares the useful work of a run (measure::work), whatever the configuration: trials have the
  /// metrics "gbs", "gflops" and "of_peak", and a budget may ask to come "within 5 %" of the
  /// device.
  ///   kernel.work({.bytes = 2.0 * sizeof(float) * n * n});
  /// @throws argument_error if a number is negative or not finite
  bare_kernel& work(declared_work of_a_run);
  /// Measures by a function instead of device times. What its measure declares as work goes before
  /// the work that is declared here.
  bare_kernel& measure_by(measuring_function measures);

  /// Adds a figure to each trial: an expression over the parameters, "time" (the median in ns) and
  /// other figures (tune::metric_value), such as metric("gflops", "8 * 4096 * 4096 / time"). tune
  /// refuses a parameter with the name of a metric or of a figure that is read here, by a limit or
  /// by the goal, and a metric with the name of a statistic of the samples ("time").
  /// @throws argument_error if it is none
  bare_kernel& metric(std::string name, const std::string& formula, std::string unit = {});
  /// Sets what the search makes best, as LIBTUNE_OBJECTIVE is written: "max gflops, power <= 100".
  /// The application and the environment may set another goal. @throws argument_error if it is none
  bare_kernel& goal(const std::string& text);
  /// Gives the search a strategy, limits and checks where neither the application nor the
  /// environment does.
  bare_kernel& search(search_defaults defaults);
  /// Declares a configuration that works on every device: for tests, and for the mode "default".
  /// Without it that is the first configuration of the space.
  bare_kernel& test_default(configuration works);
  /// Remembers results in the tuning database under a name, a version and a key, and looks there
  /// first: everything that an autotuner does. The search runs in a child process only for a
  /// kernel_tuner, which a child can find.
  bare_kernel& remember(identity as);

  /// The configurations that a search chooses from. @throws argument_error for a restriction that
  /// reads what is no parameter
  search_space space() const;

  /// Finds the best configuration on a context's device, with the context's options, and compiles
  /// it. What is wrong with all configurations alike, such as a name that is no parameter, a
  /// problem size of zero, or an argument that the kernel does not take, ends the search at the
  /// first.
  /// @throws what tuning_session::tune and, if it is remembered, an autotuner throw; argument_error
  tuned_kernel tune(const context& context) const;
  /// The same with other options.
  tuned_kernel tune(const context& context, const tuning_options& options) const;

  /// Compiles one configuration, also for a device that only compiles (compile_targets).
  /// @throws as instantiate
  program compile(const context& context, const configuration& at) const;
  /// Makes the operation of one configuration: any values, also such as are no candidates.
  /// Parameters with one candidate may be left out. @throws argument_error if others are;
  /// build_error, device_error
  bare_operation instantiate(const command_queue& queue, const configuration& at) const;
  /// Compiles one configuration, runs it once on the arguments' contents, and returns what it has
  /// left. Waits for its end. @throws as instantiate; error if it writes out of bounds
  kernel_results run(const context& context, const configuration& at) const;

 private:
  friend class kernel_tuner;

  bare_kernel& add_constant(std::string name, std::span<const std::byte> bytes);
  bare_kernel& add_parameter(std::string name, std::vector<value> candidates);
  bare_kernel& divide_grid(std::size_t axis, std::vector<quantity> divisors);
  bare_kernel& add_answer(std::size_t argument, element_type type, const std::optional<shape>& size,
                          std::function<void(tune::answer&, const std::string&, const shape&)> add);
  configuration complete(const configuration& given) const;
  detail::kernel_description& change();

  std::shared_ptr<detail::kernel_description> about_;
};

/// The result of tuning a bare kernel: its best configuration, compiled. A handle; thread-safe.
class tuned_kernel {
 public:
  /// For bare_kernel.
  tuned_kernel(std::shared_ptr<const detail::kernel_description> of, tune::program compiled,
               configuration best, std::vector<trial> trials);

  /// The values of the best configuration.
  const configuration& best() const noexcept { return best_; }
  /// Its median time in this search; empty if there was none, because the result was found.
  std::optional<run_time> time() const noexcept;
  /// Every configuration that the search tried, with its figures; none if the result was found.
  const std::vector<trial>& trials() const noexcept { return trials_; }
  /// The program of the best configuration.
  const tune::program& program() const noexcept { return program_; }

  /// Makes an operation of it, which nothing is bound to. @throws device_error
  bare_operation instantiate(const command_queue& queue) const;
  /// Runs it once on the contents of the arguments; see bare_kernel::run.
  kernel_results run(const context& context) const;

 private:
  std::shared_ptr<const detail::kernel_description> about_;
  tune::program program_;
  configuration best_;
  std::vector<trial> trials_;
};

/// A bare kernel for each key, remembered under a name and a version. Make it a static object
/// outside of functions: then searches run in child processes (serve_if_worker), which find it by
/// its name and call its function again.
///
///   const tune::kernel_tuner diffuse("app.diffuse", 1, [](const tune::configuration& key) {
///     tune::bare_kernel kernel({...});
///     ...
///     return kernel;
///   });
///   const tune::tuned_kernel best = diffuse(context, {{"n", 4096}});
///
/// Immutable, so thread-safe.
class kernel_tuner {
 public:
  /// Describes the kernel for a key. It may depend on the key, the environment and files alone.
  using function = std::function<bare_kernel(const configuration& key)>;

  /// @param name       names the database table
  /// @param version    results of other versions are not used
  /// @param describes  describes the kernel of a key
  /// @param example    a key, by which `tunedb pretune` knows the fields of keys; without one it
  ///                   does not know this tuner
  /// @throws argument_error if the name or the version cannot be those of an autotuner
  kernel_tuner(std::string name, int version, function describes,
               std::optional<configuration> example = std::nullopt);
  ~kernel_tuner();
  kernel_tuner(const kernel_tuner&) = delete;
  kernel_tuner& operator=(const kernel_tuner&) = delete;

  /// Describes the kernel of a key and tunes it, with the context's options.
  /// @throws what the function, with the name of the tuner and the key, and bare_kernel::tune throw
  tuned_kernel operator()(const context& context, const configuration& key = {}) const;
  /// The same with other options.
  tuned_kernel operator()(const context& context, const configuration& key,
                          const tuning_options& options) const;

 private:
  bare_kernel describe(const configuration& key) const;

  std::string name_;
  int version_;
  function describes_;
};

}  // namespace tune
