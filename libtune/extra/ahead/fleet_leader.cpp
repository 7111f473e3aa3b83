// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/ahead/distant_device.hpp"
#include "libtune/extra/ahead/fleet_call.hpp"
#include "libtune/extra/ahead/rank_silence.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

// For a thread that is joined at the end.
constexpr std::chrono::milliseconds between_short_looks{10};
// Listing functions and opening devices takes seconds; a database may be large.
constexpr std::chrono::minutes longest_answer{2};

/// Waits for a message of one type from a rank, and drops others.
/// @param watch  null: the rank has no heartbeat yet
/// @returns empty if the rank is lost or silent for too long, or this one is stopped
template <class Wanted>
std::optional<Wanted> wait_for(rank_link& link, const fleet_call& call,
                               silence_watch* watch = nullptr) {
  const auto until = rank_link::clock::now() + longest_answer;
  while (!link.is_lost() && !call.is_stopped()) {
    auto message = link.next(rank_link::clock::now() + between_looks);
    if (message) {
      if (auto* wanted = std::get_if<Wanted>(&*message)) return std::move(*wanted);
    } else if (rank_link::clock::now() >= until) {
      link.close();
    } else if (watch != nullptr) {
      watch->look();
    }
  }
  return std::nullopt;
}

/// Another rank, with its devices that work for this one.
struct served_rank {
  served_rank(std::size_t number, rank_link& connection, fleet_hello said)
      : rank(number), link(connection), hello(std::move(said)) {}

  std::size_t rank;
  rank_link& link;
  fleet_hello hello;
  std::vector<std::unique_ptr<distant_device>> devices{};
  std::jthread receiver{};
  bool shares_database = false;  ///< shares the database of this rank

  std::string name() const { return fmt::format("rank {}", rank); }
  /// Returns a watch of its answers.
  silence_watch watch(const fleet_call& call) const {
    return {link,
            fmt::format("{} (process {} of {})", name(), hello.process,
                        hello.machine.substr(hello.machine.find('/') + 1)),
            call.longest_silence};
  }
  void receive(const fleet_call& call, const std::stop_token& ended);
};

void served_rank::receive(const fleet_call& call, const std::stop_token& ended) {
  silence_watch silence = watch(call);
  const auto device_of = [this](std::uint64_t place) {
    return std::ranges::find(devices, place, [](const auto& each) { return each->place(); });
  };
  while (!ended.stop_requested() && !link.is_lost()) {
    auto message = link.next(rank_link::clock::now() + between_short_looks);
    if (!message) {
      silence.look();
      continue;
    }
    try {
      if (const auto* work = std::get_if<fleet_device_message>(&*message)) {
        const auto found = device_of(work->device);
        if (found != devices.end()) (*found)->messages().put(decode(*work));
      } else if (auto* stopped = std::get_if<fleet_stopped>(&*message)) {
        const auto found = device_of(stopped->device);
        if (found != devices.end()) (*found)->messages().put(std::move(*stopped));
      } else if (std::holds_alternative<fleet_farewell>(*message)) {
        call.ranks.is_left_out = true;
      }
    } catch (const wire_error& invalid) {
      log(log_level::error, name() + " is given up: " + invalid.what());
      link.close();
    }
  }
  if (!link.is_lost()) return;
  log(log_level::warning,
      fmt::format("{} has been lost: its connection is closed. What it was tuning starts again on "
                  "other devices",
                  name()));
  for (const auto& device : devices) device->messages().end();
}

/// Sends finished keys to ranks with other databases while the rest is tuned, so that the loss of
/// the leading rank loses no result. Uses a small part of the time only. Informs all ranks when no
/// key is left.
class news_sender final : public pretuning_listener {
 public:
  /// All references must outlive it. @param to  the links of ranks that do not share the database
  news_sender(const fleet_call& call, std::vector<rank_link*> all, std::vector<rank_link*> to)
      : call_(call), all_(std::move(all)), to_(std::move(to)) {
    if (!to_.empty()) thread_ = std::jthread([this](const std::stop_token& end) { work(end); });
  }

  void planned(std::size_t count) override {
    left_ = count;
    to_listener(&pretuning_listener::planned, count);
  }
  void began(std::size_t number, const tuning_subject& subject) override {
    to_listener(&pretuning_listener::began, number, subject);
  }
  void lost(std::size_t number, const std::string& reason) override {
    to_listener(&pretuning_listener::lost, number, reason);
  }
  void progressed(std::size_t number, const search_progress& progress) override {
    to_listener(&pretuning_listener::progressed, number, progress);
  }
  void ended(std::size_t number, const pretuning_result& result) override {
    to_listener(&pretuning_listener::ended, number, result);
    if (--left_ == 0) {
      for (rank_link* link : all_) link->send(fleet_assignment{});
    }
    const std::lock_guard lock(mutex_);
    if (!to_.empty()) finished_.push_back(result.subject);
  }

 private:
  template <class Function, class... Arguments>
  void to_listener(Function function, const Arguments&... arguments) {
    if (call_.options.listener != nullptr) (call_.options.listener->*function)(arguments...);
  }
  void work(const std::stop_token& end);
  void send(const std::vector<tuning_subject>& subjects) const;

  const fleet_call& call_;
  std::vector<rank_link*> all_;
  std::vector<rank_link*> to_;
  std::size_t left_ = 0;  // keys
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<tuning_subject> finished_;
  std::jthread thread_;
};

fleet_question question_for(std::span<const pretuning_item> items,
                            std::span<const device_identity> kinds) {
  fleet_question question;
  std::set<std::string> tables;
  for (const pretuning_item& item : items) {
    if (tables.insert(table_name(item.function)).second) {
      question.functions.push_back(item.function);
    }
    for (const device_identity& kind : kinds) {
      if (item.device && *item.device != kind) continue;
      question.keys.push_back(content_key(item.function, item.key, kind));
    }
  }
  return question;
}

void news_sender::work(const std::stop_token& end) {
  using clock = std::chrono::steady_clock;
  constexpr int part = 20;  // the divisor of the time that sending may take
  clock::duration pause = std::chrono::seconds(1);
  std::unique_lock lock(mutex_);
  while (!end.stop_requested()) {
    changed_.wait_for(lock, end, pause, [] { return false; });
    if (end.stop_requested() || finished_.empty()) continue;
    const auto subjects = std::exchange(finished_, {});
    lock.unlock();
    const auto begin = clock::now();
    send(subjects);
    pause = std::max<clock::duration>(std::chrono::seconds(1), part * (clock::now() - begin));
    lock.lock();
  }
}

// A failure here costs nothing, because the end sends everything again.
void news_sender::send(const std::vector<tuning_subject>& subjects) const {
  try {
    std::vector<pretuning_item> items;
    for (const tuning_subject& subject : subjects) {
      for (const pretuning_item& item : call_.items) {
        if (own_name(item.function.name) != own_name(subject.function)) continue;
        if (item.function.version != subject.version || item.key != subject.arguments) continue;
        items.push_back(item);
        items.back().device = subject.device.identity;
      }
    }
    std::vector<device_identity> kinds;
    for (const pretuning_item& item : items) {
      if (std::ranges::find(kinds, *item.device) == kinds.end()) kinds.push_back(*item.device);
    }
    const fleet_content news{.content = call_.database.read(question_for(items, kinds)),
                             .replaces = true};
    for (rank_link* link : to_) link->send(news);
  } catch (const std::exception& failure) {
    log(log_level::warning, std::string("finished keys are not sent yet: ") + failure.what());
  }
}

/// The work of the leading rank.
class leading {
 public:
  explicit leading(const fleet_call& call) : call_(call) {}

  std::vector<pretuning_result> run();

 private:
  void meet_ranks();
  void assign_devices();
  void vote();
  std::vector<pretuning_result> tune_all();
  void spread();
  void dismiss(const std::vector<pretuning_result>& results);
  tuned_values tune(const remote_task& task);
  std::vector<fleet_content> ask_others(const fleet_question& question);
  template <class Call>
  void for_others(const Call& call);

  const fleet_call& call_;
  std::vector<std::unique_ptr<served_rank>> ranks_;
  std::vector<device> devices_;  // devices of all ranks
  std::size_t children_ = 1;     // number that share the cores of this machine
  fleet_question question_;      // asks for the keys
};

std::vector<pretuning_result> leading::run() {
  meet_ranks();
  std::vector<rank_link*> links;
  for (const auto& rank : ranks_) links.push_back(&rank->link);
  const rank_heartbeat alive(std::move(links), call_.longest_silence);
  assign_devices();
  if (devices_.empty()) throw no_device_error("no rank has a device to tune on");
  vote();
  auto results = tune_all();
  if (call_.ranks.is_left_out) return results;
  spread();
  dismiss(results);
  return results;
}

void leading::meet_ranks() {
  for (std::size_t rank = call_.ranks.rank + 1; rank < call_.ranks.links.size(); ++rank) {
    rank_link& link = *call_.ranks.links[rank];
    if (link.is_lost()) continue;
    if (auto hello = wait_for<fleet_hello>(link, call_)) {
      ranks_.push_back(std::make_unique<served_rank>(rank, link, *std::move(hello)));
      const fleet_hello& said = ranks_.back()->hello;
      ranks_.back()->shares_database =
          said.machine == this_machine() && said.database == call_.database.place();
    } else if (!call_.is_stopped()) {
      log(log_level::warning, fmt::format("rank {} has been lost before it began", rank));
    }
  }
}

void leading::assign_devices() {
  std::vector<rank_devices> all{call_.own()};
  for (const auto& rank : ranks_) all.push_back({rank->hello.machine, rank->hello.devices});
  const auto places = divide_devices(all);
  std::map<std::string, std::size_t> at_machine;
  for (std::size_t i = 0; i < all.size(); ++i) at_machine[all[i].machine] += places[i].size();
  for (const std::size_t place : places[0]) devices_.push_back(call_.devices[place]);
  children_ = at_machine[all[0].machine];
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    served_rank& rank = *ranks_[i];
    for (const std::size_t place : places[i + 1]) {
      rank.devices.push_back(std::make_unique<distant_device>(
          rank.link, place, rank.hello.devices[place], rank.name()));
      devices_.push_back(rank.devices.back()->handle());
    }
    rank.link.send(fleet_assignment{.devices = {places[i + 1].begin(), places[i + 1].end()},
                                    .children = at_machine[rank.hello.machine]});
  }
}

template <class Call>
void leading::for_others(const Call& call) {
  for (const auto& rank : ranks_) {
    if (!rank->shares_database) call(*rank);
  }
}

// Sends to all ranks before it receives, so that they read their databases in parallel.
std::vector<fleet_content> leading::ask_others(const fleet_question& question) {
  std::vector<fleet_content> answers;
  for_others([&](served_rank& rank) { rank.link.send(question); });
  for_others([&](served_rank& rank) {
    silence_watch silence = rank.watch(call_);
    if (auto answer = wait_for<fleet_content>(rank.link, call_, &silence)) {
      call_.database.merge(answer->content, merge_winner::better);
      answers.push_back(*std::move(answer));
    }
  });
  return answers;
}

// A key that any rank has is present for all.
void leading::vote() {
  std::vector<device_identity> kinds;
  for (const device_group& group : group_devices(devices_)) kinds.push_back(group.info().identity);
  question_ = question_for(call_.items, kinds);
  ask_others(question_);
}

tuned_values leading::tune(const remote_task& task) {
  for (const auto& rank : ranks_) {
    for (const auto& device : rank->devices) {
      if (device->handle() == task.device) return device->tune(task);
    }
  }
  remote_task here = task;
  here.children = std::min(here.children, children_);
  return call_.tune(here);
}

std::vector<pretuning_result> leading::tune_all() {
  for (const auto& rank : ranks_) {
    rank->receiver = std::jthread(
        [this, rank = rank.get()](const std::stop_token& end) { rank->receive(call_, end); });
  }
  const auto is_lost = [this](const device& asked) {
    return std::ranges::any_of(ranks_, [&](const auto& rank) {
      return std::ranges::any_of(rank->devices, [&](const auto& device) {
        return device->handle() == asked && device->is_lost();
      });
    });
  };
  std::vector<rank_link*> all;
  std::vector<rank_link*> others;
  for (const auto& rank : ranks_) all.push_back(&rank->link);
  for_others([&](served_rank& rank) { others.push_back(&rank.link); });
  news_sender news(call_, std::move(all), std::move(others));
  pretuning_options options = call_.options;
  options.listener = &news;
  options.ranks = nullptr;
  options.stop = [this] { return call_.is_stopped(); };
  auto results = pretune_with([this](const remote_task& task) { return tune(task); }, call_.items,
                              devices_, options, call_.refuses, is_lost);
  for (const auto& rank : ranks_) rank->receiver.request_stop();
  for (const auto& rank : ranks_) rank->receiver = {};
  return results;
}

// Includes the results of nested tunings, on any rank.
void leading::spread() {
  const fleet_question inside{.keys = question_.keys, .new_ones = true};
  std::vector<fleet_content> news = ask_others(inside);
  if (std::ranges::all_of(ranks_, &served_rank::shares_database)) return;
  news.push_back({.content = call_.database.read(inside)});
  news.push_back({.content = call_.database.read(question_), .replaces = true});
  for_others([&](served_rank& rank) {
    for (const fleet_content& each : news) rank.link.send(each);
  });
}

// Their answer confirms that they have stored all.
void leading::dismiss(const std::vector<pretuning_result>& results) {
  for (const auto& rank : ranks_) rank->link.send(fleet_end{results});
  const auto patience = call_.is_stopped() ? std::chrono::milliseconds(500)
                                           : std::chrono::milliseconds(longest_answer);
  const auto until = rank_link::clock::now() + patience;
  for (const auto& rank : ranks_) {
    silence_watch silence = rank->watch(call_);
    for (bool ended = false; !ended && !rank->link.is_lost();) {
      const auto now = rank_link::clock::now();
      const auto message = rank->link.next(std::min(until, now + between_looks));
      if (!message) silence.look();
      ended = message ? std::holds_alternative<fleet_end>(*message) : now >= until;
    }
  }
}

}  // namespace

std::vector<pretuning_result> lead_ranks(const fleet_call& call) { return leading(call).run(); }

}  // namespace tune::detail
