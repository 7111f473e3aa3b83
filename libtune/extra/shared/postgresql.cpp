// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The plug-in libtune_postgresql.so: PostgreSQL through libpq. It uses only declarations of
// libtune, and is loaded for shared stores of postgresql://.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <libpq-fe.h>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/shared/sql_driver.hpp"

namespace {

using tune::detail::sql_driver;
using tune::detail::sql_fault;
using tune::detail::sql_outcome;
using clock = std::chrono::steady_clock;

void put(sql_fault& fault, std::string_view state, std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const auto copy = [](std::string_view from, auto& to) {
    const std::size_t count = std::min(from.size(), sizeof to - 1);
    std::memcpy(to, from.data(), count);
    to[count] = '\0';
  };
  copy(state, fault.state);
  copy(text, fault.text);
}

class deadline {
 public:
  explicit deadline(int wait_ms) : end_(clock::now() + std::chrono::milliseconds(wait_ms)) {}

  /// Waits for the socket. @returns false if the time is over
  bool wait(int socket, bool to_write) const {
    ::pollfd one{.fd = socket,
                 .events = static_cast<short>(to_write ? POLLIN | POLLOUT : POLLIN),
                 .revents = 0};
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end_ - clock::now()).count();
      if (left <= 0) return false;
      const int found = ::poll(&one, 1, static_cast<int>(left));
      if (found > 0) return true;
      if (found < 0 && errno != EINTR) return false;
    }
  }

 private:
  clock::time_point end_;
};

struct finisher {
  void operator()(PGconn* one) const { PQfinish(one); }
};
using connection = std::unique_ptr<PGconn, finisher>;

// For an unreadable URL, libpq repeats it in its message, including the password.
bool can_be_read(const char* url) {
  char* message = nullptr;
  PQconninfoOption* options = PQconninfoParse(url, &message);
  PQfreemem(message);
  const bool read = options != nullptr;
  PQconninfoFree(options);
  return read;
}

void* connect(const char* url, int wait_ms, sql_fault* fault) {
  if (!can_be_read(url)) {
    put(*fault, "", "the URL is none that libpq can read: postgresql://user@host:port/database");
    return nullptr;
  }
  const std::array<const char*, 4> names{"dbname", "fallback_application_name", "client_encoding",
                                         nullptr};
  const std::array<const char*, 4> values{url, "libtune", "UTF8", nullptr};
  connection made(PQconnectStartParams(names.data(), values.data(), 1));
  if (!made) {
    put(*fault, "", "there is no memory for a connection");
    return nullptr;
  }
  PQsetNoticeProcessor(
      made.get(), [](void*, const char*) {}, nullptr);
  const deadline end(wait_ms);
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(made.get()) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
         next != PGRES_POLLING_FAILED) {
    if (!end.wait(PQsocket(made.get()), next == PGRES_POLLING_WRITING)) {
      char text[80];
      std::snprintf(text, sizeof text, "the server has not answered within %d ms", wait_ms);
      put(*fault, "", text);
      return nullptr;
    }
    next = PQconnectPoll(made.get());
  }
  if (next != PGRES_POLLING_OK || PQsetnonblocking(made.get(), 1) != 0) {
    put(*fault, "", PQerrorMessage(made.get()));
    return nullptr;
  }
  return made.release();
}

/// A statement under way.
class run_under_way {
 public:
  run_under_way(PGconn* at, int wait_ms, sql_fault& fault)
      : at_(at), end_(wait_ms), fault_(fault) {}

  bool send(const char* statement, int count, const char* const* values) {
    if (PQsendQueryParams(at_, statement, count, nullptr, values, nullptr, nullptr, 0) != 1) {
      return fail(PQerrorMessage(at_));
    }
    PQsetSingleRowMode(at_);
    for (int left = 1; left != 0;) {
      left = PQflush(at_);
      if (left < 0) return fail(PQerrorMessage(at_));
      if (left > 0 && !(end_.wait(PQsocket(at_), true) && PQconsumeInput(at_) == 1)) {
        return fail("the server accepts no more data");
      }
    }
    return true;
  }

  /// Receives the next result; null after the last. @returns false if the connection is lost
  bool receive(PGresult*& result) {
    while (PQisBusy(at_) == 1) {
      if (!end_.wait(PQsocket(at_), false)) return fail("the server has not answered in time");
      if (PQconsumeInput(at_) != 1) return fail(PQerrorMessage(at_));
    }
    result = PQgetResult(at_);
    return true;
  }

 private:
  bool fail(const char* text) {
    put(fault_, "", text);
    return false;
  }

  PGconn* at_;
  deadline end_;
  sql_fault& fault_;
};

void hand_over(const PGresult* result, std::vector<const char*>& texts,
               void (*row)(void*, int, const char* const*), void* to) {
  const int columns = PQnfields(result);
  texts.resize(static_cast<std::size_t>(columns));
  for (int at = 0; at < PQntuples(result); ++at) {
    for (int i = 0; i < columns; ++i) {
      texts[static_cast<std::size_t>(i)] =
          PQgetisnull(result, at, i) == 1 ? nullptr : PQgetvalue(result, at, i);
    }
    row(to, columns, texts.data());
  }
}

sql_outcome run(void* connection, const char* statement, int count, const char* const* values,
                int wait_ms, void (*row)(void*, int, const char* const*), void* to,
                sql_fault* fault) {
  auto* const at = static_cast<PGconn*>(connection);
  run_under_way call(at, wait_ms, *fault);
  if (!call.send(statement, count, values)) return sql_outcome::lost;
  sql_outcome outcome = sql_outcome::done;
  std::vector<const char*> texts;
  while (true) {
    PGresult* next = nullptr;
    if (!call.receive(next)) return sql_outcome::lost;
    if (next == nullptr) break;
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(next, &PQclear);
    const ExecStatusType status = PQresultStatus(next);
    if (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK) {
      hand_over(next, texts, row, to);
    } else if (status != PGRES_COMMAND_OK) {
      const char* state = PQresultErrorField(next, PG_DIAG_SQLSTATE);
      const char* text = PQresultErrorField(next, PG_DIAG_MESSAGE_PRIMARY);
      put(*fault, state != nullptr ? state : "", text != nullptr ? text : PQerrorMessage(at));
      outcome = sql_outcome::refused;
    }
  }
  return PQstatus(at) == CONNECTION_OK ? outcome : sql_outcome::lost;
}

void disconnect(void* connection) { PQfinish(static_cast<PGconn*>(connection)); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const sql_driver* libtune_sql_driver() {
  static const std::string name = "libpq " + std::to_string(PQlibVersion() / 10000) + "." +
                                  std::to_string(PQlibVersion() % 10000);
  static const sql_driver driver{.version = sql_driver::present_version,
                                 .name = name.c_str(),
                                 .connect = connect,
                                 .run = run,
                                 .disconnect = disconnect};
  return &driver;
}
