// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/distant_device.hpp"

#include <exception>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/child/tuner_child.hpp"
#include "libtune/child/tuning_failure.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::detail {
namespace {

constexpr std::chrono::milliseconds between_stops{20};

/// A placeholder for a device of another rank.
class named_device final : public device_interface {
 public:
  using device_interface::device_interface;

 private:
  std::shared_ptr<context_interface> do_create_context(context_options) const override {
    throw device_error("create_context", info().identity.name,
                       "it is a device of another rank, and runs nothing here",
                       device_failure::other);
  }
};

/// Passes the events of a search to the leading rank, and waits until its observers have received
/// them.
class fleet_observer final : public observer {
 public:
  using send_function = std::function<void(const tuner_message&)>;

  fleet_observer(send_function send, device_messages& messages)
      : send_(std::move(send)), messages_(messages) {}

  void on(const tuning_event& event) override {
    if (const auto* ended = std::get_if<search_finished_event>(&event)) {
      send_(winner_alone(*ended));
    } else {
      send_(event);
    }
    static_cast<void>(messages_.wait_for<acknowledgement>());
  }

 private:
  send_function send_;
  device_messages& messages_;
};

}  // namespace

// ---- messages

void device_messages::put(item message) {
  const std::lock_guard lock(mutex_);
  items_.push_back(std::move(message));
  changed_.notify_all();
}

void device_messages::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool device_messages::has_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::optional<device_messages::item> device_messages::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return ended_ || !items_.empty(); });
  if (items_.empty()) return std::nullopt;
  item first = std::move(items_.front());
  items_.pop_front();
  return first;
}

template <class Wanted>
std::optional<Wanted> device_messages::wait_for() {
  while (true) {
    auto next = take(std::chrono::seconds(1));
    if (!next) {
      if (has_ended()) return std::nullopt;
      continue;
    }
    auto* message = std::get_if<tuner_message>(&*next);
    if (message == nullptr) continue;
    if (auto* wanted = std::get_if<Wanted>(message)) return std::move(*wanted);
  }
}

tuner_message decode(const fleet_device_message& message) {
  tuner_message_reader reader;
  reader.append(message.message);
  auto decoded = reader.next();
  if (!decoded) throw wire_error("a part of a message");
  return *std::move(decoded);
}

// ---- the leading rank

distant_device::distant_device(rank_link& link, std::uint64_t place, const device_info& info,
                               std::string owner)
    : link_(link),
      place_(place),
      owner_(std::move(owner)),
      handle_(std::make_shared<named_device>(info)) {}

void distant_device::send(const tuner_message& message) {
  link_.send(fleet_device_message{.device = place_, .message = encode(message)});
}

tuned_values distant_device::tune(const remote_task& task) {
  const tuning_subject subject{.function = split_name(task.function.name).first,
                               .version = task.function.version,
                               .arguments = task.key,
                               .device = task.device.info()};
  tuning_request request{.function = task.function,
                         .key = task.key,
                         .options = task.options,
                         .context_options = task.context_options,
                         .choice = task.choice,
                         .testing = current_test_mode()};
  request.options.observers.clear();
  request.context_options.observers.clear();
  send(request);
  std::vector<trial> trials;
  for (bool stopping = false; true;) {
    if (!stopping && task.stop && task.stop()) {
      link_.send(fleet_stop{place_});
      stopping = true;
    }
    auto next = messages_.take(between_stops);
    if (!next) {
      if (!messages_.has_ended()) continue;
      if (stopping) throw tuning_stopped_error("it was ended; a later search continues it");
      throw device_lost_error(owner_ + " has been lost");
    }
    if (const auto* stopped = std::get_if<fleet_stopped>(&*next)) {
      throw tuning_stopped_error(stopped->reason);
    }
    auto& message = std::get<tuner_message>(*next);
    if (const auto* asked = std::get_if<prior_question>(&message)) {
      trials.clear();
      prior_knowledge known = task.read_prior ? task.read_prior(asked->search) : prior_knowledge{};
      for (const prior_answer& part : split(std::move(known))) send(part);
    } else if (auto* event = std::get_if<tuning_event>(&message)) {
      std::visit([&](auto& item) { item.subject = subject; }, *event);
      const auto* made = std::get_if<trial_event>(event);
      if (made != nullptr && made->stage != trial_stage::refined) trials.push_back(made->trial);
      notify(task.options.observers, *event);
      send(acknowledgement{});
    } else if (auto* made = std::get_if<tuning_result>(&message)) {
      return {std::move(made->values), made->score};
    } else if (const auto* failure = std::get_if<tuning_failure>(&message)) {
      throw_failure(*failure, subject, trials);
    } else {
      link_.close();  // a rank never sends this
    }
  }
}

// ---- the serving rank

served_device::served_device(served_device_setting setting)
    : setting_(std::move(setting)), thread_([this] { work(); }) {}

served_device::~served_device() { messages_.end(); }

void served_device::send(const tuner_message& message) const {
  setting_.link.send(fleet_device_message{.device = setting_.place, .message = encode(message)});
}

void served_device::take(const fleet_device_message& message) {
  tuner_message decoded = decode(message);
  // Reset here, because it arrives after every stop for earlier work.
  if (std::holds_alternative<tuning_request>(decoded)) stopping_ = false;
  messages_.put(std::move(decoded));
}

void served_device::work() {
  kept_child child;
  while (const auto request = messages_.wait_for<tuning_request>()) carry_out(*request, child);
}

void served_device::carry_out(const tuning_request& request, kept_child& child) {
  remote_task task{.function = request.function,
                   .key = request.key,
                   .device = setting_.device,
                   .options = request.options,
                   .context_options = request.context_options,
                   .choice = request.choice,
                   .children = setting_.children,
                   .kept = &child,
                   .peaks = setting_.database};
  for (tuning_options* options : {&task.options, &task.context_options}) {
    options->database = setting_.database;
    options->system_databases = setting_.system_databases;
  }
  task.options.observers.push_back(std::make_shared<fleet_observer>(
      [this](const tuner_message& message) { send(message); }, messages_));
  task.read_prior = [this](const search_identity& search) {
    send(prior_question{search});
    prior_knowledge whole;
    for (bool more = true; more;) {
      auto part = messages_.wait_for<prior_answer>();
      if (!part) break;
      more = part->more;
      append(whole, std::move(part->known));
    }
    return whole;
  };
  task.stop = [this] { return stopping_ || messages_.has_ended() || setting_.is_ended(); };
  try {
    const tuning_scope scope(
        tuning_name(setting_.database,
                    search_name(task.function, record_key{task.key, setting_.device.identity()})));
    tuned_values made = setting_.tune(task);
    send(tuning_result{std::move(made.values), made.score});
  } catch (const tuning_stopped_error& stopped) {
    // A rank that leaves is lost: another rank does its key.
    if (setting_.is_ended()) return setting_.link.close();
    setting_.link.send(fleet_stopped{setting_.place, stopped.what()});
  } catch (...) {
    send(describe_failure(std::current_exception()));
  }
}

}  // namespace tune::detail
