// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Results on a server that machines share: a real one, which this program starts. Machines are
// databases of their own.
#include "libtune/extra/shared/shared_store.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/seal.hpp"
#include "libtune/extra/ahead/group_work.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/extra/shared/push_queue.hpp"
#include "libtune/extra/shared/shared_results.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/store/files/store_url.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/error.hpp"
#include "tests/extra/shared/postgresql_server.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/scale.hpp"
#ifdef LIBTUNE_TUNEDB
#include "tests/tunedb/run_tunedb.hpp"
#endif

namespace shared_store_test {

namespace fs = std::filesystem;
using sample::counted_autotuner;
using sample::fastest;
using sample::scale_key;
using sample::scale_tuning;
using tune::shared_results;
using tune::shared_store;
using tune::shared_store_error;
using tune::store_fault;
using tune::testing::captured_errors;
using tune::testing::postgresql_server;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

/// A database of its own on the server, with the tables; each test case has another.
struct store_place {
  store_place() : server(postgresql_server::shared()) {
    if (server == nullptr) {
      tune::testing::skip(
          "PostgreSQL's initdb and postgres are not installed (the package postgresql)");
      return;
    }
    server->start();
    static int number = 0;
    name = "store_" + std::to_string(++number);
    server->sql("postgres", "CREATE DATABASE " + name);
    url = url_of("owner");
  }

  explicit operator bool() const { return server != nullptr; }
  std::string url_of(const std::string& role) const {
    return server->url(name, role) + "&connect_timeout=60";  // a busy machine answers late
  }
  shared_store open(const std::string& as = "owner") const {
    const std::string address = url_of(as);
    return {address, tune::find_store_driver(address), {}};
  }
  void sql(const std::string& statement) const { server->sql(name, statement); }

  postgresql_server* server;
  std::string name;
  std::string url;
};

struct filled_place : store_place {
  filled_place() {
    if (server != nullptr) open().init({}, {});
  }
};

/// A machine: a database of its own, and a process that has found nothing yet.
struct machine {
  machine(const std::string& store, const char* access)
      : url("LIBTUNE_SHARED_DB", store.empty() ? nullptr : store.c_str()),
        pushes("LIBTUNE_SHARED_DB_ACCESS", access) {
    tune::record_memory::shared().forget_all();
  }

  std::string pulled() const { return tune::pulled_database_of(path); }
  std::size_t waiting() const {
    return tune::push_queue(tune::push_queue::path_beside(path)).names().size();
  }

  test_mode_guard mode{test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  scoped_environment url;
  scoped_environment pushes;
};

tune::context context_of(const std::string& name = "device one",
                         const std::string& driver = "1.0") {
  return sample::make_device(name, driver).device().create_context();
}

tune::function_identity function_of(const std::string& name) {
  return {.name = name,
          .version = 0,
          .key_fields = tune::describe_fields<scale_key>(),
          .value_fields = tune::describe_fields<scale_tuning>()};
}

tune::record_key key_of(const tune::context& context, int size = 64) {
  return {tune::to_values(scale_key{size}), context.device().identity()};
}

/// Returns the content that a machine pushes after the tuning of a key.
tune::function_content content_of(const std::string& name, double score_ns = 2010, int size = 64) {
  const tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const auto context = context_of();
  tune::tuning_database database(path);
  const auto function = function_of(name);
  const auto key = key_of(context, size);
  const auto search = database.begin_search(function, key, {.library_version = "0.1.0"});
  database.add_trial(search, {.configuration = tune::to_values(fastest),
                              .outcome = "measured",
                              .samples_ns = {score_ns},
                              .score_ns = score_ns});
  database.finish_search(search, "found");
  database.store(function, key, tune::to_values(fastest), score_ns);
  return tune::shared_content(tune::database_reader(path).read_key(function, key)).value();
}

store_fault fault_of(const auto& use) {
  try {
    use();
  } catch (const shared_store_error& failure) {
    return failure.fault();
  }
  FAIL("nothing was thrown");
  return {};
}

TEST_CASE("a store is made once, whoever asks for it again") {
  const store_place place;
  if (!place) return;
  auto store = place.open();
  CHECK(fault_of([&] { store.state(); }) == store_fault::unfit);
  store.init({}, {});
  store.init({}, {});
  const auto state = store.state();
  CHECK(state.version == shared_store::present_version);
  CHECK(state.results == 0);
  CHECK(state.user == "owner");
  CHECK(state.may_push);
}

TEST_CASE("what one machine has found is pushed, and another pulls it in place of a search") {
  const filled_place place;
  if (!place) return;
  const auto context = context_of();
  {
    const machine first(place.url, "push");
    counted_autotuner counted("shared.found");
    CHECK(counted.autotune(context) == fastest);
    CHECK(counted.searches == 1);
    CHECK(first.waiting() == 0);
    CHECK_FALSE(fs::exists(first.pulled()));
  }
  CHECK(place.open().state().results == 1);
  const machine second(place.url, nullptr);
  counted_autotuner counted("shared.found");
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.searches == 0);
  CHECK(fs::exists(second.pulled()));
  // The user's database is left as it was, and the search came along.
  CHECK_FALSE(
      tune::tuning_database(second.path).find(function_of("shared.found"), key_of(context)));
  const auto content = tune::database_reader(second.pulled()).read(function_of("shared.found"));
  REQUIRE(content.searches.size() == 1);
  CHECK(content.searches[0].trials.size() == 6);
  const auto source =
      tune::find_source(second.pulled(), function_of("shared.found"), key_of(context));
  REQUIRE(source);
  CHECK(source->store == "postgresql://owner@/" + place.name);
  CHECK(source->pushed_by == "owner");
  CHECK_FALSE(source->pushed_from.empty());
  CHECK_FALSE(tune::find_source(second.pulled(), function_of("shared.other"), key_of(context)));
  // What was pulled is found without the server.
  place.server->kill();
  tune::record_memory::shared().forget_all();
  captured_errors errors;
  CHECK(counted.autotune(context) == fastest);
  CHECK(counted.searches == 0);
  CHECK(errors.count("shared store") == 0);
}

/// Tunes keys ahead, with what does not search but counts. Without the child it has no trials, and
/// is the slowest.
struct counted_pretuning {
  explicit counted_pretuning(const machine& here) { options.tuning.database = here.path; }

  std::vector<tune::pretuning_result> run(const std::string& name, const tune::context& context) {
    const auto search = [this](const tune::remote_task&) -> tune::tuned_values {
      ++searches;
      return {tune::to_values(scale_tuning{.wgs = 1}), tune::run_time(9999)};
    };
    const std::vector<tune::pretuning_item> items{{function_of(name), key_of(context).arguments}};
    const std::vector<tune::device> devices{context.device()};
    return tune::pretune_with(search, items, devices, options);
  }

  tune::pretuning_options options;
  std::atomic<int> searches = 0;
};

TEST_CASE("a key that the store has is not tuned ahead again, but brought into the database") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.ahead"));
  const machine here(place.url, nullptr);
  const auto context = context_of();
  counted_pretuning ahead(here);
  const auto results = ahead.run("shared.ahead", context);
  REQUIRE(results.size() == 1);
  CHECK(results[0].state == tune::pretuning_state::present);
  CHECK(results[0].values == tune::to_values(fastest));
  CHECK(ahead.searches == 0);
  // The file alone may be shipped.
  tune::tuning_database shipped(here.path);
  const auto found = shipped.find(function_of("shared.ahead"), key_of(context));
  REQUIRE(found);
  CHECK(found->values == tune::to_values(fastest));
  CHECK(shipped.trials(function_of("shared.ahead"), key_of(context)).size() == 1);
  // To force is to search anyway.
  ahead.options.force = true;
  CHECK(ahead.run("shared.ahead", context)[0].state == tune::pretuning_state::tuned);
  CHECK(ahead.searches == 1);
}

TEST_CASE("what the store has for other devices, or not at all, is tuned ahead") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.ahead_elsewhere"));
  const machine here(place.url, nullptr);
  counted_pretuning ahead(here);
  const auto newer = context_of("device one", "2.0");
  CHECK(ahead.run("shared.ahead_elsewhere", newer)[0].state == tune::pretuning_state::tuned);
  CHECK(ahead.searches == 1);
  place.server->kill();
  captured_errors errors;
  CHECK(ahead.run("shared.ahead_away", newer)[0].state == tune::pretuning_state::tuned);
  CHECK(ahead.searches == 2);
  CHECK(errors.count("shared store") == 1);
}

TEST_CASE("without the right to, a machine pushes nothing, and neither does one that only pulls") {
  const filled_place place;
  if (!place) return;
  const machine only_pulls(place.url, nullptr);
  counted_autotuner counted("shared.only_pulled");
  CHECK(counted.autotune(context_of()) == fastest);
  CHECK(counted.searches == 1);
  CHECK(place.open().state().results == 0);
  CHECK(only_pulls.waiting() == 0);
}

TEST_CASE("a role that only reads pulls; that it cannot push costs one warning") {
  const store_place place;
  if (!place) return;
  place.sql("CREATE ROLE reader_of_" + place.name + " LOGIN");
  const std::string reader = "reader_of_" + place.name;
  place.open().init({reader}, {});
  place.open().push(content_of("shared.read"));
  CHECK_FALSE(place.open(reader).state().may_push);
  const machine here(place.url_of(reader), "push");
  const auto context = context_of();
  captured_errors errors;
  counted_autotuner pulled("shared.read");
  CHECK(pulled.autotune(context) == fastest);
  CHECK(pulled.searches == 0);
  CHECK(errors.count("cannot be used") == 0);
  for (const char* name : {"shared.refused", "shared.refused_too"}) {
    counted_autotuner counted(name);
    CHECK(counted.autotune(context) == fastest);
  }
  CHECK(errors.count("permission denied") == 1);
  CHECK(errors.count("LIBTUNE_SHARED_DB_ACCESS=pull") == 1);
}

TEST_CASE("a role that may write pushes") {
  const store_place place;
  if (!place) return;
  const std::string writer = "writer \"of\" " + place.name;
  place.sql("CREATE ROLE \"writer \"\"of\"\" " + place.name + "\" LOGIN");
  place.open().init({}, {writer});
  const std::string user = "writer%20%22of%22%20" + place.name;
  CHECK(place.open(user).state().may_push);
  CHECK(place.open(user).push(content_of("shared.written")) == tune::push_outcome::stored);
}

TEST_CASE("a promotion replaces a faster result, with its reason, user, host and time") {
  const filled_place place;
  if (!place) return;
  auto store = place.open();
  const auto faster = content_of("shared.promoted", 1000);
  const auto slower = content_of("shared.promoted", 2000);
  REQUIRE(store.push(faster) == tune::push_outcome::stored);
  REQUIRE(store.push(slower) == tune::push_outcome::kept);
  store.promote(slower, "the shared one does not work: crashed");
  const auto found = store.find(slower.function, key_of(context_of()));
  REQUIRE(found.size() == 1);
  CHECK(found[0].document == tune::to_json_document({.functions = {slower}}));
  store.withdraw(slower.function, key_of(context_of()), tune::to_values(fastest),
                 "5 % slower \xe2\x82\xac" + std::string(9999, 'x'));
  const auto decisions = store.decisions(9);
  REQUIRE(decisions.size() == 2);
  CHECK_FALSE(decisions[0].is_promoted);
  CHECK(decisions[0].reason.size() == 4096);
  CHECK(decisions[1].is_promoted);
  CHECK(decisions[1].function == "shared.promoted__0");
  CHECK(decisions[1].arguments == "size=64");
  CHECK(decisions[1].device == "device one");
  CHECK(decisions[1].reason == "the shared one does not work: crashed");
  CHECK(decisions[1].made_by == "owner");
  CHECK_FALSE(decisions[1].made_from.empty());
  CHECK(decisions[1].made_at.ends_with("Z"));
  CHECK(store.decisions(1).size() == 1);
}

TEST_CASE("decisions are signed by the server, never changed by writers, and not made by readers") {
  const filled_place place;
  if (!place) return;
  const std::string reader = "deciding_reader_" + place.name;
  const std::string writer = "deciding_writer_" + place.name;
  for (const std::string& role : {reader, writer}) place.sql("CREATE ROLE " + role + " LOGIN");
  place.open().init({reader}, {writer});
  const auto content = content_of("shared.decided");
  CHECK_THROWS_AS(place.open(reader).promote(content, "no"), shared_store_error);
  CHECK(place.open(reader).decisions(9).empty());
  CHECK(place.open().find(content.function, key_of(context_of())).empty());
  place.open(writer).promote(content, "yes");
  CHECK(place.open(reader).decisions(9).at(0).made_by == writer);
  place.sql("SET ROLE " + writer +
            "; INSERT INTO libtune.decision (function, key, device, arguments, device_name, "
            "configuration, decision, reason, made_from, made_by) VALUES ('f', 'k', 'd', 'a', 'n', "
            "'c', 'withdrawn', 'r', 'h', 'somebody')");
  CHECK(place.open(reader).decisions(9).at(0).made_by == "owner");  // the login
  CHECK_FALSE(
      place.server->try_sql(place.name, "SET ROLE " + writer + "; DELETE FROM libtune.decision"));
  CHECK_FALSE(place.server->try_sql(
      place.name, "SET ROLE " + writer + "; UPDATE libtune.decision SET reason = 'none'"));
}

TEST_CASE("a store without the table of decisions names the command that makes it") {
  const filled_place place;
  if (!place) return;
  place.sql("DROP TABLE libtune.decision");
  auto store = place.open();
  REQUIRE(store.push(content_of("shared.older")) == tune::push_outcome::stored);
  try {
    store.promote(content_of("shared.older"), "new");
    FAIL("it has no table");
  } catch (const shared_store_error& failure) {
    CHECK(std::string(failure.what()).find("tunedb share init") != std::string::npos);
  }
  store.init({}, {});
  store.promote(content_of("shared.older"), "new");
  CHECK(store.decisions(9).size() == 1);
}

TEST_CASE("the server signs a result, whatever a writer says") {
  const store_place place;
  if (!place) return;
  const std::string mallory = "mallory_" + place.name;
  place.sql("CREATE ROLE " + mallory + " LOGIN");
  place.open().init({}, {mallory});
  place.open().init({}, {mallory});
  const auto content = content_of("shared.signed");
  REQUIRE(place.open().push(content) == tune::push_outcome::stored);
  place.sql("SET SESSION AUTHORIZATION " + mallory +
            "; UPDATE libtune.result SET pushed_by = 'alice', pushed_at = '2020-01-01'");
  const auto found = place.open().find(content.function,
                                       {content.results[0].arguments, content.results[0].device()});
  REQUIRE(found.size() == 1);
  CHECK(found[0].pushed_by == mallory);
  CHECK_FALSE(found[0].pushed_at.starts_with("2020"));
}

TEST_CASE("all results are visited once each, however many there are") {
  const filled_place place;
  if (!place) return;
  auto store = place.open();
  store.push(content_of("shared.many"));
  place.sql(
      "INSERT INTO libtune.result SELECT function, key, 'device ' || n, arguments, device_name || "
      "n, device_version, score_ns, tuned_at, document, pushed_by, pushed_from, now() FROM "
      "libtune.result, generate_series(1, 199) n");
  std::set<std::string> devices;
  std::size_t visits = 0;
  store.for_each([&](const tune::shared_result& one) {
    devices.insert(one.device);
    ++visits;
    static_cast<void>(store.state());  // a visit may use the store
  });
  CHECK(visits == 200);
  CHECK(devices.size() == 200);
}

TEST_CASE("a result of another device is pulled for a nearest match") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.nearest"));
  const auto newer = context_of("device one", "2.0");
  {
    const machine exact(place.url, nullptr);
    counted_autotuner counted("shared.nearest");
    CHECK(counted.autotune(newer) == fastest);
    CHECK(counted.searches == 1);
  }
  const machine here(place.url, nullptr);
  const scoped_environment nearest("LIBTUNE_MATCH", "nearest");
  counted_autotuner counted("shared.nearest");
  CHECK(counted.autotune(newer) == fastest);
  CHECK(counted.searches == 0);
}

TEST_CASE("the mode cached pulls too, and fails where the store has nothing") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.cached"));
  const machine here(place.url, "push");
  const scoped_environment cached("LIBTUNE_MODE", "cached");
  counted_autotuner counted("shared.cached");
  CHECK(counted.autotune(context_of()) == fastest);
  CHECK_FALSE(fs::exists(here.path));
  CHECK_THROWS_AS(counted.autotune(context_of(), {.size = 128}), tune::not_tuned_error);
}

TEST_CASE("of two results for a key the store keeps the faster one, of a goal the later one") {
  const filled_place place;
  if (!place) return;
  auto store = place.open();
  CHECK(store.push(content_of("shared.kept", 2000)) == tune::push_outcome::stored);
  CHECK(store.push(content_of("shared.kept", 3000)) == tune::push_outcome::kept);
  CHECK(store.push(content_of("shared.kept", 1000)) == tune::push_outcome::stored);
  CHECK(store.push(content_of("shared.kept..max_gflops", 2000)) == tune::push_outcome::stored);
  auto later = content_of("shared.kept..max_gflops", 3000);
  later.results[0].columns["tuned_at"] = std::string("2999-01-01T00:00:00Z");
  CHECK(store.push(later) == tune::push_outcome::stored);
  CHECK(store.state().results == 2);
}

TEST_CASE("only what libtune has measured is pushed") {
  auto content = content_of("shared.measured");
  CHECK(tune::shared_content(content));
  auto unmeasured = content;
  unmeasured.results[0].columns.erase("score_ns");
  CHECK_FALSE(tune::shared_content(unmeasured));
  auto imported = content;
  imported.searches[0].columns["library_version"] = std::string();
  CHECK_FALSE(tune::shared_content(imported));
  auto without_search = content;
  without_search.searches.clear();
  CHECK_FALSE(tune::shared_content(without_search));
  auto prior = content;
  prior.results[0].columns["device_api"] = std::string(tune::prior_api);
  CHECK_FALSE(tune::shared_content(prior));
}

TEST_CASE("of many trials the best go along, and the one that won") {
  auto content = content_of("shared.many");
  auto& trials = content.searches[0].trials;
  trials[0].columns["score_ns"] = 9999.0;  // the winner, after a second look
  for (int i = 0; i < 200; ++i) {
    auto other = trials[0];
    other.configuration = tune::to_values(scale_tuning{.wgs = 1000 + i});
    other.columns["score_ns"] = 3000.0 + i;
    trials.push_back(other);
  }
  const auto cut = tune::shared_content(content);
  REQUIRE(cut);
  CHECK(cut->searches[0].trials.size() == 33);
  CHECK(cut->searches[0].trials[0].configuration == tune::to_values(fastest));
}

TEST_CASE("a server that is away costs one warning, and results wait until it is back") {
  const filled_place place;
  if (!place) return;
  place.server->kill();
  const machine here(place.url, "push");
  const auto context = context_of();
  captured_errors errors;
  for (const char* name : {"shared.away", "shared.away_too"}) {
    counted_autotuner counted(name);
    CHECK(counted.autotune(context) == fastest);
    CHECK(counted.searches == 1);
  }
  CHECK(errors.count("is away") == 1);
  CHECK(here.waiting() == 2);
  place.server->start();
  // Another process, which has not met the fault.
  shared_results next(place.url, here.path, true);
  next.push(function_of("shared.away"), key_of(context), false);
  CHECK(here.waiting() == 0);
  CHECK(place.open().state().results == 2);
}

/// A socket where libpq looks for a server, which accepts nothing.
class silent_server {
 public:
  silent_server() : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    (folder_ / ".s.PGSQL.5432").string().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(socket_, 8) == 0);
  }
  ~silent_server() { ::close(socket_); }
  silent_server(const silent_server&) = delete;
  silent_server& operator=(const silent_server&) = delete;

  std::string url(const std::string& options) const {
    return "postgresql://owner@/base?host=" + folder_.path().string() + options;
  }

 private:
  tune::testing::temporary_directory folder_;
  int socket_;
};

TEST_CASE("a URL says how long its server is waited for") {
  const silent_server server;
  const auto waited = [&](const std::string& options) {
    const std::string url = server.url(options);
    constexpr std::chrono::milliseconds little{20};
    shared_store store(url, tune::find_store_driver(url), {.connect = little, .answer = little});
    try {
      store.state();
    } catch (const shared_store_error& failure) {
      return std::string(failure.what());
    }
    return std::string("it answered");
  };
  const std::string given = waited("&connect_timeout=1");
  CHECK_MESSAGE(given.find("within 1000 ms") != std::string::npos, given);
  const std::string none = waited("&connect_timeout=0");
  CHECK_MESSAGE(none.find("within 20 ms") != std::string::npos, none);
  const std::string absent = waited("");
  CHECK_MESSAGE(absent.find("within 20 ms") != std::string::npos, absent);
}

TEST_CASE(
    "a connection that the server has closed is made again, and one that it cannot is a fault") {
  const filled_place place;
  if (!place) return;
  auto store = place.open();
  store.push(content_of("shared.again"));
  place.server->kill();
  CHECK(fault_of([&] { store.state(); }) == store_fault::away);
  place.server->start();
  CHECK(store.state().results == 1);
  place.server->kill();
  place.server->start();
  CHECK(store.state().results == 1);
}

TEST_CASE("tables of another version are read if they allow that, and never written") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.version"));
  place.sql("UPDATE libtune.meta SET value = '2' WHERE name = 'version'");
  auto store = place.open();
  CHECK(store.find(function_of("shared.version"), key_of(context_of())).size() == 1);
  CHECK(fault_of([&] { store.push(content_of("shared.version", 1)); }) == store_fault::unfit);
  place.sql("UPDATE libtune.meta SET value = '2' WHERE name = 'oldest_reader'");
  CHECK(fault_of([&] { place.open().state(); }) == store_fault::unfit);
  // To a program that is a warning.
  const machine here(place.url, nullptr);
  captured_errors errors;
  counted_autotuner counted("shared.version");
  CHECK(counted.autotune(context_of()) == fastest);
  CHECK(counted.searches == 1);
  CHECK(errors.count("its tables have version 2") == 1);
}

TEST_CASE("a bad row is reported and passed over") {
  const filled_place place;
  if (!place) return;
  auto store = place.open();
  store.push(content_of("shared.bad"));
  const auto add = [&](const std::string& device, const std::string& document) {
    place.sql(
        "INSERT INTO libtune.result SELECT function, key, '" + device +
        "', arguments, device_name, device_version, score_ns, tuned_at, " + document +
        ", pushed_by, pushed_from, now() FROM libtune.result WHERE device_name = 'device one' "
        "LIMIT 1");
  };
  add("a", "'junk'");
  add("b", "'{}'");
  add("c", "replace(document, 'shared.bad', 'shared.other')");
  add("d", "replace(document, '\"size\": 64', '\"size\": 65')");
  add("e", "replace(document, 'score_ns', 'score_of')");
  add("f", "replace(document, '\"device_clock_mhz\": ', '\"device_clock_mhz\": -1')");
  const machine here(place.url, nullptr);
  captured_errors errors;
  counted_autotuner counted("shared.bad");
  CHECK(counted.autotune(context_of()) == fastest);
  CHECK(counted.searches == 0);
  CHECK(errors.count("not JSON") == 1);
  CHECK(errors.count("format") >= 1);
  CHECK(errors.count("another name") == 1);
  CHECK(errors.count("another key") == 1);
  CHECK(errors.count("exactly one measured result") == 1);
  CHECK(errors.count("device_clock_mhz") == 1);
}

TEST_CASE("a result that the store does not take is dropped, and those behind it are pushed") {
  const filled_place place;
  if (!place) return;
  const tune::testing::temporary_directory folder;
  const tune::push_queue queue((folder / "queue").string());
  auto endless = content_of("shared.endless");
  endless.results[0].columns["score_ns"] = 1e308;
  auto document = tune::to_json_document({.functions = {endless}});
  document.replace(document.find("1e+308"), 6, "-5.000");
  CHECK(queue.add(document));
  CHECK(queue.add("{}"));
  CHECK(queue.add(tune::to_json_document({.functions = {content_of("shared.behind_it")}})));
  CHECK(queue.names().size() == 3);
  std::vector<std::string> reasons;
  auto store = place.open();
  const auto report =
      push_all(store, queue, [&](const std::string& reason) { reasons.push_back(reason); });
  CHECK(report.stored == 1);
  CHECK(report.dropped == 2);
  CHECK(reasons.size() == 2);
  CHECK(queue.names().empty());
}

TEST_CASE("a queue keeps equal documents once, and none whose content has changed") {
  const tune::testing::temporary_directory folder;
  const tune::push_queue queue((folder / "queue").string());
  CHECK(queue.names().empty());
  CHECK(queue.add("one"));
  CHECK(queue.add("one"));
  REQUIRE(queue.names().size() == 1);
  CHECK(queue.read(queue.names()[0]) == "one");
  std::ofstream(fs::path(queue.path()) / queue.names()[0]) << "two";
  CHECK(queue.read(queue.names()[0]).empty());
  queue.remove(queue.names()[0]);
  CHECK(queue.names().empty());
}

TEST_CASE("programs that push the same key at the same time leave the best of all") {
  const filled_place place;
  if (!place) return;
  std::vector<std::thread> programs;
  std::atomic<int> failures = 0;
  for (int number = 0; number < 4; ++number) {
    programs.emplace_back([&, number] {
      try {
        auto store = place.open();
        for (int i = 0; i < 10; ++i) store.push(content_of("shared.both", 1000 + i * 4 + number));
      } catch (const std::exception&) {
        ++failures;
      }
    });
  }
  for (std::thread& each : programs) each.join();
  CHECK(failures == 0);
  auto store = place.open();
  CHECK(store.state().results == 1);
  const auto found = store.find(function_of("shared.both"), key_of(context_of()));
  REQUIRE(found.size() == 1);
  const auto content = tune::from_json_document(found[0].document);
  CHECK(content.functions[0].results[0].score_ns() == 1000);
}

TEST_CASE("threads that miss the same key ask once") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.threads"));
  const machine here(place.url, nullptr);
  counted_autotuner counted("shared.threads");
  const auto context = context_of();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { counted.autotune(context); });
  }
  for (std::thread& each : threads) each.join();
  CHECK(counted.searches == 0);
}

TEST_CASE("a key that the store lacks is asked for once") {
  const filled_place place;
  if (!place) return;
  const machine here(place.url, nullptr);
  shared_results store(place.url, here.path, false);
  const auto context = context_of();
  CHECK_FALSE(store.pull(function_of("shared.once"), key_of(context)).any);
  place.open().push(content_of("shared.once"));
  CHECK_FALSE(store.pull(function_of("shared.once"), key_of(context)).any);
  shared_results next(place.url, here.path, false);
  CHECK(next.pull(function_of("shared.once"), key_of(context)).any);
}

TEST_CASE("where what was pulled cannot be kept, it is used all the same") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.unkept"));
  const machine here(place.url, nullptr);
  fs::create_directory(here.pulled());  // no database
  counted_autotuner counted("shared.unkept");
  CHECK(counted.autotune(context_of()) == fastest);
  CHECK(counted.searches == 0);
}

TEST_CASE("a sealed thread asks nobody, in either mode") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.sealed"));
  const machine here(place.url, "push");
  shared_results store(place.url, here.path, true);
  const tune::testing::scoped_seal sealed(tune::seal_mode::counts);
  CHECK_FALSE(store.pull(function_of("shared.sealed"), key_of(context_of())).any);
}

TEST_CASE("a lock is all that counts where there is one") {
  const filled_place place;
  if (!place) return;
  place.open().push(content_of("shared.locked"));
  const machine here(place.url, nullptr);
  const scoped_environment lock("LIBTUNE_LOCK", (here.folder / "none.lock").c_str());
  counted_autotuner counted("shared.locked");
  CHECK_THROWS_AS(counted.autotune(context_of()), tune::not_locked_error);
}

TEST_CASE("a password is in no message") {
  const filled_place place;
  if (!place) return;
  if (!place.server->try_sql(place.name, "CREATE ROLE guest LOGIN PASSWORD 'right'")) {
    place.sql("ALTER ROLE guest PASSWORD 'right'");
  }
  const std::string url = place.server->url(place.name, "guest:wr0ng-s3cret");
  const machine here(url, nullptr);
  captured_errors errors;
  counted_autotuner counted("shared.password");
  CHECK(counted.autotune(context_of()) == fastest);
  CHECK(errors.count("password authentication failed") == 1);
  CHECK(errors.count("guest@") >= 1);
  CHECK(errors.count("s3cret") == 0);
}

TEST_CASE("a URL for people has no password, however it is written") {
  using tune::shown_url;
  CHECK(shown_url("postgresql://user:secret@host:5432/base?sslmode=require") ==
        "postgresql://user@host:5432/base");
  CHECK(shown_url("postgres://host/base") == "postgres://host/base");
  CHECK(shown_url("postgresql://user@/base?host=/tmp&password=secret") ==
        "postgresql://user@/base");
  for (const char* url :
       {"postgresql://user:sec/ret@host/base", "postgresql://user:sec?ret@host/base",
        "postgresql://user:sec@ret@host/base", "postgresql://user:secret", "secret",
        "postgresql://:secret@host", "http://user:secret@host/base",
        "postgresql://user:sec#ret@host/base", "postgresql://host/base?password=secret",
        "postgresql://user:12?34@host/base"}) {
    CAPTURE(url);
    const std::string shown = shown_url(url);
    CAPTURE(shown);
    CHECK(shown.find("sec") == std::string::npos);
    CHECK(shown.find("12") == std::string::npos);
  }
}

TEST_CASE("a URL that cannot be read is an error without its password") {
  const scoped_environment variable("LIBTUNE_SHARED_DB", "http://user:secret@host/base");
  try {
    tune::resolve_settings({});
    FAIL("it was read");
  } catch (const tune::environment_error& failure) {
    CHECK(std::string(failure.what()).find("secret") == std::string::npos);
    CHECK(failure.variable() == "LIBTUNE_SHARED_DB");
  }
  const scoped_environment none("LIBTUNE_SHARED_DB", nullptr);
  const scoped_environment system("LIBTUNE_SYSTEM_DB", "postgresql://user:secret@host/base");
  CHECK_THROWS_WITH_AS(tune::resolve_settings({}), doctest::Contains("LIBTUNE_SHARED_DB"),
                       tune::environment_error);
}

/// Threads with databases and connections of their own, as machines have: each meets a key for the
/// first time. Returns their tunings.
std::vector<scale_tuning> meet_a_key(const std::vector<tune::tuning_options>& machines,
                                     const counted_autotuner& counted) {
  const test_mode_guard mode{test_mode::off};
  std::vector<std::unique_ptr<scoped_environment>> unset;
  for (const char* name : {"LIBTUNE_DB", "LIBTUNE_SYSTEM_DB", "LIBTUNE_MODE", "LIBTUNE_MATCH",
                           "LIBTUNE_SHARED_DB", "LIBTUNE_SHARED_DB_ACCESS"}) {
    unset.push_back(std::make_unique<scoped_environment>(name, nullptr));
  }
  const auto context = context_of();
  std::vector<scale_tuning> found(machines.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    threads.emplace_back(
        [&, i] { found[i] = counted.autotune(context, {.size = 64}, machines[i]); });
  }
  for (std::thread& each : threads) each.join();
  return found;
}

TEST_CASE("machines that meet a key at the same time search once, and have one result") {
  const filled_place place;
  if (!place) return;
  const tune::testing::temporary_directory folder;
  const counted_autotuner counted("shared.ranks");
  std::vector<tune::tuning_options> machines;
  for (int i = 0; i < 4; ++i) {
    const std::string path = (folder / ("tuning" + std::to_string(i) + ".db")).string();
    machines.push_back({.database = path, .shared_store = place.url, .push_results = true});
  }
  const auto found = meet_a_key(machines, counted);
  CHECK(counted.searches == 1);
  for (const scale_tuning& each : found) CHECK(tune::to_values(each) == tune::to_values(found[0]));
}

TEST_CASE("a right to search that another machine has is waited for, and not for ever") {
  const filled_place place;
  if (!place) return;
  const tune::testing::temporary_directory folder;
  shared_results one(place.url, (folder / "one.db").string(), true);
  shared_results other(place.url, (folder / "other.db").string(), true);
  const auto key = key_of(context_of());
  const auto function = function_of("shared.right");
  const auto claim = [&](shared_results& by, int ms, const tune::wait_look& look) {
    return by.claim(function, key, std::chrono::milliseconds(ms), look);
  };
  int looked = 0;
  const auto count = [&](auto) { ++looked; };
  {
    const auto first = claim(one, 1, count);
    CHECK(first.right);
    CHECK(claim(one, 1, count).right);  // of the same machine
    const auto late = claim(other, 1, count);
    CHECK_FALSE(late.right);
    CHECK(late.is_late);
    struct left {};
    CHECK_THROWS_AS(claim(other, 60'000, [](auto) { throw left{}; }), left);
    CHECK(claim(other, 150, count).is_late);
    CHECK(looked > 0);
  }
  CHECK(claim(other, 1, count).right);
  shared_results reader(place.url, (folder / "reader.db").string(), false);
  const auto none = claim(reader, 60'000, count);
  CHECK_FALSE(none.right);
  CHECK_FALSE(none.is_late);
}

TEST_CASE("options name the store as the environment does, which counts more") {
  const scoped_environment none("LIBTUNE_SHARED_DB", nullptr);
  const scoped_environment no_access("LIBTUNE_SHARED_DB_ACCESS", nullptr);
  CHECK(tune::resolve_settings({}).shared_store.empty());
  const tune::tuning_options options{.shared_store = "postgresql://one/base", .push_results = true};
  CHECK(tune::resolve_settings(options).shared_store == "postgresql://one/base");
  CHECK(tune::resolve_settings(options).push_results);
  const scoped_environment url("LIBTUNE_SHARED_DB", "postgresql://two/base");
  const scoped_environment access("LIBTUNE_SHARED_DB_ACCESS", "pull");
  CHECK(tune::resolve_settings(options).shared_store == "postgresql://two/base");
  CHECK_FALSE(tune::resolve_settings(options).push_results);
}

TEST_CASE("a plug-in that is missing is an error that names it") {
  shared_store store("postgresql://host/base", "/no/such/libtune_postgresql.so", {});
  CHECK_THROWS_WITH_AS(store.state(), doctest::Contains("/no/such/libtune_postgresql.so"),
                       shared_store_error);
}

#ifdef LIBTUNE_TUNEDB
tune::testing::ended tunedb(const std::string& arguments) {
  return tune::testing::tunedb(arguments + " 2>&1");
}

TEST_CASE("tunedb share makes a store, pushes, shows and pulls") {
  const store_place place;
  if (!place) return;
  const machine here(place.url, nullptr);
  CHECK(tunedb("share status").code == 1);
  CHECK(tunedb("share init").code == 0);
  {
    const scoped_environment alone("LIBTUNE_SHARED_DB", nullptr);
    counted_autotuner counted("shared.by_command");
    counted.autotune(context_of());
    counted.autotune(context_of(), {.size = 128});
    CHECK(tunedb("share push").code == 2);
  }
  const tune::testing::ended pushed = tunedb("share push '" + place.url + "'");
  CHECK(pushed.code == 0);
  CHECK(pushed.output.find("2 results stored") != std::string::npos);
  CHECK(tunedb("share status").output.find("2 results of 1 functions") != std::string::npos);
  const std::string other = (here.folder / "other.db").string();
  CHECK(tunedb("--db '" + other + "' share pull").code == 0);
  CHECK(tune::tuning_database(other).find(function_of("shared.by_command"), key_of(context_of())));
  CHECK(tunedb("--db '" + other + "' share pull --json").output.find("\"results_kept\": 2") !=
        std::string::npos);
  place.sql("UPDATE libtune.result SET document = 'junk'");
  CHECK(tunedb("--db '" + other + "' share pull").code == 5);
}

TEST_CASE("tunedb shows no password") {
  const scoped_environment url("LIBTUNE_SHARED_DB", "postgresql://user:s3cret@/base?host=/none");
  for (const char* command : {"env", "env --json", "share status", "share pull", "path --all"}) {
    CAPTURE(command);
    CHECK(tunedb(command).output.find("s3cret") == std::string::npos);
  }
  for (const char* command : {"path", "path --all", "list", "missed"}) {
    CAPTURE(command);
    const auto refused = tunedb(std::string("--db postgresql://user:s3cret@host/base ") + command);
    CHECK(refused.code == 1);
    CHECK(refused.output.find("s3cret") == std::string::npos);
  }
}
#endif

}  // namespace shared_store_test
