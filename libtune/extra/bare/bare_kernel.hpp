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
#include "libtune/operation/input_set.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/trial.hpp"
#include "libtune/verify/answer.hpp"

namespace tune {

class tuned_kernel;

/// Reads a kernel's text from a file at once. @throws argument_error if it cannot be read
kernel_source kernel_file(const std::string& path);

/// The text of a bare kernel: a text, a file (kernel_file), or a function that makes the text of a
/// configuration.
class kernel_text {
 public:
  /// Makes the text of a configuration.
  using function = std::function<std::string(const configuration&)>;

  /// A text; messages use the name of the kernel for it.
  kernel_text(const char* text) : kernel_text(std::string(text)) {}  // NOLINT: a text is one
  /// A text; messages use the name of the kernel for it.
  kernel_text(std::string text);  // NOLINT: likewise
  /// A text with a name, such as one from kernel_file.
  kernel_text(kernel_source source) : made_(std::move(source)) {}  // NOLINT: likewise
  /// A function of the configuration.
  template <std::invocable<const configuration&> Function>
  kernel_text(Function made) : made_(function(std::move(made))) {}  // NOLINT: likewise

  /// The text of a configuration.
  /// @param at    the configuration
  /// @param name  the name of the kernel, for a text without a name
  kernel_source of(const configuration& at, const std::string& name) const;

 private:
  std::variant<kernel_source, function> made_;
};

/// A kernel that is described at run time, and tuned without an operation, a template or a key of
/// its own:
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
/// The text is compiled as by tune::compile, after macros for the parameters, the macros of
/// define(), kernel_tuner (1), and grid_size_x, _y and _z if the text mentions them. It is CUDA
/// C++, OpenCL C or the portable dialect of libtune's kernels. A parameter with
/// "loop_unroll_factor" in its name is for `#pragma unroll NAME`; 0 removes such lines. On CUDA the
/// kernel need not be extern "C", and its name may be an instance of a template.
///
/// A value: copies share their state until one is changed. One thread at a time may change it;
/// const functions are thread-safe. A library that looks up its result in other processes, with
/// keys of its own, needs a kernel_tuner or an operation.
class bare_kernel {
 public:
  /// The name, text and size of a kernel.
  struct definition {
    /// The name of the kernel in the text. On CUDA also a C++ expression: the names of parameters
    /// between < and > are replaced by their values, and so is any expression in braces:
    /// "reduce<float, {block_size_x * 2}>".
    std::string name;
    kernel_text source;  ///< its text, before macros and preamble
    /// Work items along x, y and z, before the division by the work of a work group. The whole part
    /// of a text counts.
    std::vector<quantity> problem_size;
    std::vector<kernel_header> headers{};  ///< texts that the source includes by their names
    std::vector<std::string> flags{};      ///< flags for the device's own compiler
  };
  /// The name, the version and the key under which results are stored, as for autotuners.
  struct identity {
    std::string name;     ///< names the database table
    int version = 0;      ///< results of other versions are not used
    configuration key{};  ///< the key of the best configuration, beside the device
  };

  using predicate = std::function<bool(const configuration&)>;  ///< true: it is allowed
  /// Returns empty for right results, else a description of the fault.
  using verifier = std::function<std::optional<std::string>(const kernel_results&)>;
  /// Measures a bound operation on the queue; see make_measure.
  using measuring_function =
      std::function<measure(tuning_command_queue, std::shared_ptr<bare_operation>)>;

  /// @throws argument_error without a name, or without one to three problem sizes
  explicit bare_kernel(definition defined);

  /// Adds a parameter with its candidates: whole or real numbers, bools or texts. It becomes a
  /// macro of this name. Whole numbers among real ones become real; other mixtures of types cannot
  /// be stored as results. The last parameter added varies fastest. The names graphics_clock_mhz,
  /// memory_clock_mhz and power_limit_w are not macros: the configuration runs with these settings
  /// of the device (device_settings); zero keeps the present setting.
  /// @throws argument_error if the name is taken or invalid for a macro, the candidates are empty,
  ///         one comes twice, or a whole one among real ones has no exact real value
  template <class Candidate>
  bare_kernel& parameter(std::string name, std::initializer_list<Candidate> candidates) {
    return parameter(std::move(name), std::vector<Candidate>(candidates));
  }
  /// Like the above, with the elements of a range.
  template <class Range>
  bare_kernel& parameter(std::string name, const Range& candidates) {
    std::vector<value> values;
    for (const auto& candidate : candidates) values.push_back(detail::to_candidate(candidate));
    return add_parameter(std::move(name), std::move(values));
  }

  /// Allows only configurations that fulfil an expression over the parameters, such as "32 <=
  /// block_size_x * block_size_y <= 1024". @throws argument_error for an invalid expression
  bare_kernel& restrict(const std::string& condition);
  /// Restricts configurations by a function.
  /// @param allows       returns true for allowed configurations
  /// @param description  for messages; empty: "restriction 1" and so on
  /// @param reads        the parameters that it reads; empty: all, which makes large spaces slow
  bare_kernel& restrict(predicate allows, std::string description = {},
                        std::vector<std::string> reads = {});

  /// Allows only configurations whose compiled kernels fulfil an expression over the figures, such
  /// as "registers <= 64 and occupancy >= 0.25" (libtune/tune/README.md lists them). A figure that
  /// the driver does not give forbids nothing. @throws argument_error as above
  bare_kernel& limit(const std::string& condition);

  /// Divides the problem size along x by the product of these, rounded up, to get the number of
  /// work groups. The whole part of each text counts (quantity::whole_part): "block_size_x / 2" is
  /// 20 for 41. The default divisor is the extent of the work group. With an empty list, {}, the
  /// problem size is the number of work groups.
  bare_kernel& divide_grid_x(std::vector<quantity> divisors);
  bare_kernel& divide_grid_y(std::vector<quantity> divisors);  ///< like divide_grid_x, along y
  bare_kernel& divide_grid_z(std::vector<quantity> divisors);  ///< like divide_grid_x, along z
  /// Sets the names of the parameters for the extents of the work group, by default block_size_x,
  /// block_size_y and block_size_z. A name may also be a macro's (define), or a number. An
  /// empty name, or a missing default parameter or macro, stands for the extents 256, 1 and 1. Any
  /// other unknown name is an error of tune() or instantiate().
  bare_kernel& work_group(std::string x, std::string y = {}, std::string z = {});
  /// Sets the bytes of dynamic local memory for each work group (nd_range::local_memory_bytes).
  bare_kernel& local_memory(quantity bytes);
  /// Adds a macro. @throws argument_error if a parameter has the name, or it is invalid for a
  /// macro
  bare_kernel& define(const std::string& name, value text);
  /// Adds a macro whose text depends on the configuration.
  bare_kernel& define(const std::string& name, std::function<value(const configuration&)> text);

  /// Sets the arguments of the kernel, in order: kernel_argument (in, out, inout, texture,
  /// sampler), arrays, values.
  template <class... Arguments>
  bare_kernel& arguments(const Arguments&... given) {
    return set_arguments({detail::to_argument(given)...});
  }
  /// Like arguments(), for a number of arguments known only at run time.
  bare_kernel& set_arguments(std::vector<kernel_argument> given);

  /// Fills a __constant__ or __device__ variable of a CUDA kernel before it runs
  /// (program::variable). The elements are copied at once. In OpenCL the table is an argument.
  /// @param name    the name of the variable, at file scope
  /// @param values  at most as many as its elements
  template <detail::host_range Range>
  bare_kernel& constant(std::string name, const Range& values) {
    return add_constant(std::move(name),
                        std::as_bytes(std::span(std::data(values), std::size(values))));
  }

  /// Sets the expected contents of an array after a run: a range, or a host_array. Arguments
  /// without an answer are not compared. @throws argument_error if the argument is not an array,
  /// has another type or size, or has an answer already
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
  /// Like the above, with contents from a function, called on first use.
  template <detail::contents_function Function>
  bare_kernel& answer(std::size_t argument, Function make, const tolerance& allowed = {}) {
    return add_answer(argument, element_type::of<detail::element_made_by<Function>>(), {},
                      [make = std::move(make), allowed](tune::answer& to, const std::string& name,
                                                        const shape& size) {
                        to.add(name, detail::shaped(*detail::keep_answer(make()), size), allowed);
                      });
  }
  /// Takes the results of another kernel, such as a plain one, as the answers for the arrays of out
  /// and inout that have none: for the contents of the arguments and for those of vary().
  /// @param trusted  has the same arguments in the same order
  /// @param at       its configuration; parameters with one candidate may be omitted
  /// @throws argument_error if parameters are missing
  bare_kernel& reference(const bare_kernel& trusted, const configuration& at = {},
                         const tolerance& allowed = {});
  /// Runs each configuration also on other contents of some arguments, made from the given ones
  /// (input_kind), and compares with the results of reference(); without one, only writes out of
  /// bounds are found.
  /// @param arguments  arrays with contents: data, rather than offsets or counts that have to be in
  /// a range
  /// @throws argument_error if one is no array with contents
  bare_kernel& vary(const std::vector<std::size_t>& arguments,
                    const std::vector<input_kind>& kinds);
  /// Runs each configuration also with arrays that begin at odd multiples of this many bytes; see
  /// workload::vary_alignment. @throws argument_error unless it is a power of two
  bare_kernel& vary_alignment(std::size_t bytes);
  /// Sets a function that checks the results of a run, in addition to the answers.
  bare_kernel& verify(verifier decides);
  /// Declares that a second run may give other bits; see tune::answer::nondeterministic.
  bare_kernel& nondeterministic();
  /// Gives each configuration with right results the figures of its accuracy; see
  /// tune::answer::report_accuracy. A goal may name them: "min time, snr >= 60 dB".
  bare_kernel& report_accuracy();
  /// Gives each configuration with right results a digest of them; see tune::answer::report_bits.
  bare_kernel& report_bits();
  /// Declares the useful work of a run (measure::work), the same for each configuration: trials
  /// have the metrics "gbs", "gflops" and "of_peak", and a budget may ask to come "within 5 %" of
  /// the device's peak.
  ///   kernel.work({.bytes = 2.0 * sizeof(float) * n * n});
  /// @throws argument_error if a number is negative or not finite
  bare_kernel& work(declared_work of_a_run);
  /// Declares the useful work by expressions over the parameters, the names of the key (remember),
  /// the macros of define(), and the problem size: problem_size_x, _y and _z. A later name on this
  /// list gives way to an earlier one. tune() refuses unknown names.
  ///   kernel.work("2.0 * n * m * k", "4.0 * (n * k + k * m + n * m)", arithmetic::float32);
  /// @param flops  operations; a multiply-add is two. 0: not declared
  /// @param bytes  read and written. 0: not declared
  /// @param by     the units that do all of the operations
  /// @throws argument_error for an invalid expression
  bare_kernel& work(quantity flops, quantity bytes, arithmetic by = arithmetic::undeclared);
  /// Measures by a function instead of device times. The work that its measure declares replaces
  /// the work declared here.
  bare_kernel& measure_by(measuring_function measures);

  /// Adds a figure to each trial: an expression over the parameters, "time" (the median in ns) and
  /// other figures (tune::metric_value), such as metric("gflops", "8 * 4096 * 4096 / time"). tune()
  /// refuses a parameter with the name of a metric or of a figure that a formula, a limit or the
  /// goal reads, and a metric with the name of a statistic of the samples ("time").
  /// @throws argument_error for an invalid expression
  bare_kernel& metric(std::string name, const std::string& formula, std::string unit = {});
  /// Sets the goal of the search, in the form of LIBTUNE_OBJECTIVE: "max gflops, power <= 100". The
  /// application and the environment may set another goal. @throws argument_error for an invalid
  /// goal
  bare_kernel& goal(const std::string& text);
  /// Gives the search a strategy, limits and checks, unless the application or the environment
  /// does.
  bare_kernel& search(search_defaults defaults);
  /// Declares a configuration that works on every device: for tests, and for the mode "default".
  /// The default is the first configuration of the space.
  bare_kernel& test_default(configuration works);
  /// Stores results in the tuning database under a name, a version and a key, and looks there
  /// first, as an autotuner does. The search runs in a child process only for a kernel_tuner, which
  /// a child can find.
  bare_kernel& remember(identity as);

  /// The space of the search. @throws argument_error for a restriction that reads an unknown
  /// parameter
  search_space space() const;

  /// Finds the best configuration on a context's device, with the context's options, and compiles
  /// it. An error that all configurations share, such as an unknown parameter, a problem size of
  /// zero, or a wrong argument, ends the search at the first configuration.
  /// @throws the errors of tuning_session::tune and, with remember(), of an autotuner;
  ///         argument_error
  tuned_kernel tune(const context& context) const;
  /// Like the above, with other options.
  tuned_kernel tune(const context& context, const tuning_options& options) const;

  /// Compiles one configuration, also for a device that only compiles (compile_targets).
  /// @throws as instantiate
  program compile(const context& context, const configuration& at) const;
  /// Makes the operation of one configuration, with any values, even other values than candidates.
  /// Parameters with one candidate may be omitted. @throws argument_error if others are missing;
  /// build_error, device_error
  bare_operation instantiate(const command_queue& queue, const configuration& at) const;
  /// Compiles one configuration, runs it once on the contents of the arguments, and returns the
  /// resulting arrays. Waits for the end of the run. @throws as instantiate; error if it writes out
  /// of bounds
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
  /// For bare_kernel only.
  tuned_kernel(std::shared_ptr<const detail::kernel_description> of, tune::program compiled,
               configuration best, std::vector<trial> trials);

  /// The values of the best configuration.
  const configuration& best() const noexcept { return best_; }
  /// Its median time in this search; empty if the result came from the database.
  std::optional<run_time> time() const noexcept;
  /// Every configuration that the search tried, with its figures; empty for a result of the
  /// database.
  const std::vector<trial>& trials() const noexcept { return trials_; }
  /// The program of the best configuration.
  const tune::program& program() const noexcept { return program_; }

  /// Makes an operation of it, with nothing bound. @throws device_error
  bare_operation instantiate(const command_queue& queue) const;
  /// Runs it once on the contents of the arguments; see bare_kernel::run.
  kernel_results run(const context& context) const;

 private:
  std::shared_ptr<const detail::kernel_description> about_;
  tune::program program_;
  configuration best_;
  std::vector<trial> trials_;
};

/// A bare kernel for each key, with results stored under a name and a version. Make it a static
/// object outside of functions: then searches run in child processes (serve_if_worker), which find
/// it by its name and call its function again.
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
  /// Describes the kernel for a key. It may depend only on the key, the environment and files.
  using function = std::function<bare_kernel(const configuration& key)>;

  /// @param name       names the database table
  /// @param version    results of other versions are not used
  /// @param describes  describes the kernel of a key
  /// @param example    a key that shows `tunedb pretune` the fields of keys; without it that
  ///                   command
  ///                   does not list this tuner
  /// @throws argument_error if the name or the version is invalid for an autotuner
  kernel_tuner(std::string name, int version, function describes,
               std::optional<configuration> example = std::nullopt);
  ~kernel_tuner();
  kernel_tuner(const kernel_tuner&) = delete;
  kernel_tuner& operator=(const kernel_tuner&) = delete;

  /// Describes the kernel of a key and tunes it, with the context's options.
  /// @throws the errors of the function, with the name of the tuner and the key, and of
  ///         bare_kernel::tune
  tuned_kernel operator()(const context& context, const configuration& key = {}) const;
  /// Like the above, with other options.
  tuned_kernel operator()(const context& context, const configuration& key,
                          const tuning_options& options) const;

 private:
  bare_kernel describe(const configuration& key) const;

  std::string name_;
  int version_;
  function describes_;
};

}  // namespace tune
