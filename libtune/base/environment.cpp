// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/environment.hpp"

#include <array>
#include <cassert>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"

namespace tune {
namespace {

constexpr std::array variables{
    environment_variable{"LIBTUNE_DEVICE", "index", "the best device",
                         "which device to use, counted over all backends"},
    environment_variable{"CUDA_DEVICE", "index", "any",
                         "which CUDA device to use where LIBTUNE_DEVICE is unset"},
    environment_variable{"PYOPENCL_CTX", "platform or platform:device", "any",
                         "which OpenCL device to use where neither of these is set"},
    environment_variable{"LIBTUNE_DB", "path", "libtune/tuning.db in the user's cache folder",
                         "the tuning database"},
    environment_variable{
        "LIBTUNE_DB_ACCESS", "private, shared", "private",
        "whether a group may write the database, and system databases may be anybody's"},
    environment_variable{"LIBTUNE_SYSTEM_DB", "paths with : between them", "none",
                         "tuning databases to look in after that one, which are only read"},
    environment_variable{"LIBTUNE_SHARED_DB", "URL such as postgresql://user@host/database", "none",
                         "a database that machines share, for results that those before lack"},
    environment_variable{"LIBTUNE_SHARED_DB_ACCESS", "pull, push", "pull",
                         "whether results that are found here are also pushed to that one"},
    environment_variable{"LIBTUNE_LOCK", "path", "none",
                         "a lock (tunedb lock), whose results alone are used; what it lacks fails"},
    environment_variable{"LIBTUNE_MISSED", "path, off", "the database's path and -missed",
                         "the file in which keys without a result are noted, for tunedb missed"},
    environment_variable{"LIBTUNE_MATCH", "exact, nearest, verify", "exact",
                         "whether a result of another driver or device may be used"},
    environment_variable{"LIBTUNE_MODE", "tune, resume, cached, default, force, behind", "tune",
                         "what happens when the database has no result"},
    environment_variable{"LIBTUNE_BUDGET",
                         "limits such as 30 s, 200 trials, target 85 us, within 5 %", "no limit",
                         "what one search may cost, with commas between limits"},
    environment_variable{"LIBTUNE_GOOD_ENOUGH", "percent such as 5%", "that of the budget",
                         "how far from the best a search may end, where that is known; it lifts no "
                         "other limit"},
    environment_variable{
        "LIBTUNE_READY", "a time such as 60 s, or off", "no limit",
        "how long all searches of a program together may hold it up; keys that are "
        "left use the nearest result or the default, and are tuned behind it if "
        "it can"},
    environment_variable{"LIBTUNE_OBJECTIVE", "goals such as min time, or max gflops, power <= 100",
                         "that of the author",
                         "what a search minimises or maximises; results of each goal are apart"},
    environment_variable{
        "LIBTUNE_STRATEGY", "name", "by the size of the space",
        "the strategy of searches: exhaustive, random, local, genetic, model, near, or "
        "one of the program's own"},
    environment_variable{"LIBTUNE_EARLY_END", "on, off", "on",
                         "whether a strategy may end a search when it expects no more gain"},
    environment_variable{"LIBTUNE_TUNING_MEMORY", "bytes such as 2 GiB, or a part such as 10 %",
                         "what is free less a reserve",
                         "how much of the device's memory a tuning may hold"},
    environment_variable{"LIBTUNE_WAIT", "seconds", "600",
                         "how long to wait for others that tune the same, measure on the device or "
                         "keep the database; where there is a budget, no longer than that"},
    environment_variable{"LIBTUNE_ISOLATION", "automatic, on, off", "automatic",
                         "whether searches run in a child process; on: fail where they cannot"},
    environment_variable{"LIBTUNE_TRIAL_TIME", "seconds", "10",
                         "how long a configuration may keep a child process busy, at least"},
    environment_variable{"LIBTUNE_SHARE", "percent", "5",
                         "the part of the device's time that tuning behind a running program may "
                         "use"},
    environment_variable{"LIBTUNE_SLICE", "microseconds", "1000, on a CPU 50000",
                         "how long tuning behind a running program may use the device at once"},
    environment_variable{"LIBTUNE_SLACK", "percent", "20",
                         "by how much the frames of a running program may be late before what is "
                         "tuned behind it slows down"},
    environment_variable{"LIBTUNE_CACHE", "path, off",
                         "libtune/programs in the user's cache folder",
                         "the folder where compiled programs are kept"},
    environment_variable{"LIBTUNE_WORKERS", "number", "by the cores and memory there are",
                         "how many helper processes compile at once; 0: none, compile in the "
                         "process itself"},
    environment_variable{"LIBTUNE_WORKER", "path", "the program itself, or libtune-worker",
                         "the helper program that compiles"},
    environment_variable{"LIBTUNE_METRICS", "energy, counters, all", "none",
                         "what a search measures of its finalists besides what its goal needs"},
    environment_variable{"LIBTUNE_NVML", "path", "libnvidia-ml.so.1",
                         "the library that reads and sets energy and clocks of NVIDIA devices"},
    environment_variable{
        "LIBTUNE_CAPTURE",
        "a folder, then such as each 1000, over 5 ms, on request, frames 4, bytes 2 GiB", "none",
        "where programs that allow it write captured frames, and which; a folder "
        "alone: each 100th frame, four at most"},
    environment_variable{"LIBTUNE_INPUTS", "a file of captured frames, or a folder of them", "none",
                         "contents that searches check and time configurations with, where an "
                         "operation says which key tunes it"},
    environment_variable{
        "LIBTUNE_METRICS_FILE",
        "a file whose name ends in .prom, then such as each 15 s, program receiver", "none",
        "where programs that allow it write metrics of their state for node_exporter, and how "
        "often"},
    environment_variable{"LIBTUNE_REPORT", "path", "none",
                         "a page of HTML about searches, written while they run by tunedb"},
    environment_variable{
        "LIBTUNE_LOG", "debug, info, warning, error, off", "info",
        "how much is logged to standard error; at info a long search logs its progress "
        "after 2 s, 4 s, 8 s and so on"},
};

[[maybe_unused]] bool is_in_table(std::string_view name) {
  for (const environment_variable& variable : variables) {
    if (variable.name == name) return true;
  }
  // The system defines these variables for the user's folders; they are not settings of libtune.
  return name == "HOME" || name == "XDG_CACHE_HOME" || name == "XDG_RUNTIME_DIR";
}

}  // namespace

std::span<const environment_variable> environment_variables() noexcept { return variables; }

std::optional<std::string> read_environment(const char* name) {
  assert(is_in_table(name) && "add the variable to the table");
  const char* text = ::secure_getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return text;
}

std::optional<std::size_t> read_environment_index(const char* name) {
  const std::optional<std::string> text = read_environment(name);
  if (!text) return std::nullopt;
  std::size_t index = 0;
  const char* end = text->data() + text->size();
  const auto [stop, failure] = std::from_chars(text->data(), end, index);
  if (failure != std::errc{} || stop != end) {
    throw environment_error(name, *text, "a non-negative integer");
  }
  return index;
}

void detail::throw_unknown_choice(const char* name, const std::string& given,
                                  const std::string& choices) {
  throw environment_error(name, given, "one of " + choices);
}

std::string_view library_version() noexcept { return LIBTUNE_VERSION; }

}  // namespace tune
