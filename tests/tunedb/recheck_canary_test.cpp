// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// tunedb recheck --canary, with a PostgreSQL server of the test's own.
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/extra/shared/postgresql_server.hpp"
#include "tests/tunedb/recheck_bench.hpp"

namespace recheck_canary_test {

using namespace tune::testing;
using isolated::flaw;
using nlohmann::json;
using key_type = isolated::sample_key;

/// A machine whose results are new for a store of its own.
struct canary_bench : recheck_bench {
  canary_bench() {
    if (server == nullptr) return;
    server->start();
    static int number = 0;
    const std::string name = "canary_" + std::to_string(++number);
    server->sql("postgres", "CREATE DATABASE " + name);
    url = server->url(name);
    REQUIRE(tunedb("share init '" + url + "'").code == 0);
  }

  bool is_ready() const {
    if (server == nullptr) skip("PostgreSQL's initdb and postgres are not installed");
    return server != nullptr && has_recheck_device();
  }
  /// Replaces the shared result of a key, as another machine would.
  void share(const key_type& key, int winner, const std::vector<int>& trials) const {
    store(key, winner, trials);
    REQUIRE(tunedb("share push '" + url + "'").code == 0);
  }
  json log_of() const { return tunedb_json("share log '" + url + "'"); }
  /// The n of the only shared result, as a new database gets it.
  int shared() const {
    const std::string other = (folder / "other.db").string();
    std::filesystem::remove(other);
    REQUIRE(tunedb("--db " + other + " share pull '" + url + "'").code == 0);
    const json all = tunedb_json("--db " + other + " show isolated.sample");
    return all["results"][0]["values"]["n"].get<int>();
  }

  postgresql_server* server = postgresql_server::shared();
  std::string url;
  struct with_url {
    explicit with_url(const std::string& url) : variable("LIBTUNE_SHARED_DB", url.c_str()) {}
    scoped_environment variable;
  };
};

TEST_CASE_FIXTURE(canary_bench, "a first result is promoted, and is then no longer new") {
  if (!is_ready()) return;
  const with_url named(url);
  store({}, 1, {1, 2});
  const ended first = recheck("--canary");
  CHECK(first.code == 0);
  CHECK(contains(first.output, "1 of 1 results are new"));
  CHECK(contains(first.output, "promoted: the store had no result"));
  CHECK(shared() == 1);
  const json log = log_of();
  REQUIRE(log.size() == 1);
  CHECK(log[0]["decision"] == "promoted");
  CHECK(log[0]["configuration"] == "n=1");
  CHECK(log[0]["reason"] == "the store had no result");
  CHECK(log[0]["made_by"] == "owner");
  const ended again = recheck("--canary");
  CHECK(again.code == 0);
  CHECK(contains(again.output, "0 of 1 results are new"));
  CHECK(log_of().size() == 1);
}

TEST_CASE_FIXTURE(canary_bench, "a better result replaces the shared one for all") {
  if (!is_ready()) return;
  const with_url named(url);
  share({}, 3, {3});
  store({}, 1, {1, 2});
  const json all = document("--canary");
  CHECK(all["results"][0]["decision"] == "promoted");
  CHECK(contains(all["results"][0]["decision_reason"].get<std::string>(), "200.0 % slower"));
  CHECK(shared() == 1);
}

TEST_CASE_FIXTURE(canary_bench,
                  "a slower result is withdrawn, and the shared one serves here too") {
  if (!is_ready()) return;
  const with_url named(url);
  share({}, 2, {2});
  store({}, 5, {5, 6});
  const ended run = recheck("--canary --json");
  CHECK(run.code == 10);
  CHECK(json::parse(run.output)["results"][0]["decision"] == "withdrawn");
  CHECK(shared() == 2);
  CHECK(stored({}) == 1);  // the test default is the fastest
  const json log = log_of();
  REQUIRE(log.size() == 1);
  CHECK(log[0]["decision"] == "withdrawn");
  CHECK(contains(log[0]["reason"].get<std::string>(), "slower than n=1"));
}

TEST_CASE_FIXTURE(canary_bench, "a wrong result is withdrawn, a wrong shared one replaced") {
  if (!is_ready()) return;
  const with_url named(url);
  const key_type crashing{.flaw = flaw::segfault, .bad = 3};
  share(crashing, 1, {1});
  store(crashing, 3, {3});
  CHECK(recheck("--canary").code == 9);
  CHECK(stored(crashing) == 1);
  CHECK(contains(log_of()[0]["reason"].get<std::string>(), "crashed"));
  const key_type other{.flaw = flaw::segfault, .bad = 1, .configurations = 9};
  share(other, 1, {1});
  store(other, 2, {2});
  const json all = document("--canary");
  REQUIRE(all["results"].size() == 1);
  CHECK(all["results"][0]["decision"] == "promoted");
  CHECK(contains(all["results"][0]["decision_reason"].get<std::string>(), "does not work"));
}

TEST_CASE_FIXTURE(canary_bench, "an equally good result leaves the shared one") {
  if (!is_ready()) return;
  const with_url named(url);
  share({}, 2, {2});
  store({}, 1, {1});
  const json all = document("--canary --within 150");
  CHECK(all["results"][0]["decision"] == "kept");
  CHECK(shared() == 2);
  CHECK(log_of().empty());
}

TEST_CASE_FIXTURE(canary_bench, "a decision that cannot be stored is reported, and ends with 6") {
  if (!is_ready()) return;
  const with_url named(url);
  store({}, 1, {1, 2});
  server->sql(url.substr(url.find("@/") + 2, url.find('?') - url.find("@/") - 2),
              "DROP TABLE libtune.decision");
  const ended run = recheck("--canary");
  CHECK(run.code == 6);
  CHECK(contains(run.output, "not promoted"));
  CHECK(contains(run.output, "tunedb share init"));
}

TEST_CASE_FIXTURE(recheck_bench, "without a store there is no canary") {
  const scoped_environment none("LIBTUNE_SHARED_DB", nullptr);
  if (!has_recheck_device()) return;
  store({}, 1, {1});
  const ended run = recheck("--canary");
  CHECK(run.code == 2);
  CHECK(contains(run.output, "LIBTUNE_SHARED_DB"));
}

}  // namespace recheck_canary_test
