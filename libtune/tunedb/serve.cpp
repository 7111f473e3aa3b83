// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "libtune/base/error.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/report_page.hpp"
#include "libtune/tunedb/report_source.hpp"

#ifdef LIBTUNE_HAS_HTTPLIB
#include <httplib.h>
#endif

namespace tune::cli {
namespace {

struct serve_options {
  int port = 0;
  report_choice choice{};
  std::string function{};
};

#ifdef LIBTUNE_HAS_HTTPLIB

constexpr const char* loopback = "127.0.0.1";
constexpr int threads = 4;

// A port that another program has must be an error: the library's own options share it.
void set_socket_options(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

httplib::Headers security_headers() {
  return {{"Content-Security-Policy", report_policy(page_kind::live) + "; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

void refuse(httplib::Response& response, int status, const char* reason) {
  response.status = status;
  response.set_content(std::string(reason) + "\n", "text/plain; charset=utf-8");
}

/// Refuses what is no look by a page of this server.
httplib::Server::HandlerResponse check(const httplib::Request& request,
                                       httplib::Response& response) {
  if (request.get_header_value_count("Host") != 1 ||
      !is_own_host(request.get_header_value("Host"))) {
    refuse(response, 403, "only requests to localhost are answered");
    return httplib::Server::HandlerResponse::Handled;
  }
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    refuse(response, 405, "this server is only looked at");
    return httplib::Server::HandlerResponse::Handled;
  }
  return httplib::Server::HandlerResponse::Unhandled;
}

void give_page(report_source& source, httplib::Response& response) {
  response.set_content(report_page(source.now()->text, page_kind::live),
                       "text/html; charset=utf-8");
}

void give_data(report_source& source, const httplib::Request& request,
               httplib::Response& response) {
  const auto state = source.now();
  const std::string mark = '"' + state->stamp + '"';
  response.set_header("ETag", mark);
  if (request.get_header_value("If-None-Match") == mark) {
    response.status = 304;
    return;
  }
  response.set_content(state->text, "application/json; charset=utf-8");
}

/// Runs give(); what the database says against it is the answer, and the next request tries again.
template <class Give>
void attempt(httplib::Response& response, Give give) {
  try {
    give();
  } catch (const std::exception& failure) {
    print(stderr, "tunedb: {}\n", failure.what());
    refuse(response, 503, "the database could not be read; tunedb serve says why");
  }
}

void add_routes(httplib::Server& server, report_source& source) {
  server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
  server.set_socket_options(set_socket_options);
  server.set_payload_max_length(1024);
  server.set_default_headers(security_headers());
  server.set_pre_routing_handler(check);
  server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
    attempt(response, [&] { give_page(source, response); });
  });
  server.Get("/data.json", [&](const httplib::Request& request, httplib::Response& response) {
    attempt(response, [&] { give_data(source, request, response); });
  });
}

int bind(httplib::Server& server, int port) {
  if (port == 0) {
    port = server.bind_to_any_port(loopback);
    if (port <= 0) throw error("no port of 127.0.0.1 is free");
  } else if (!server.bind_to_port(loopback, port)) {
    throw error(fmt::format(
        "port {} of 127.0.0.1 cannot be used: {}; give another with --port, or 0 for a free one",
        port, std::generic_category().message(errno)));
  }
  return port;
}

/// Serves until SIGINT or SIGTERM, which only one thread receives.
void serve(httplib::Server& server) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([&server, signals] {
    int received = 0;
    ::sigwait(&signals, &received);
    server.stop();
  }).detach();
  if (!server.listen_after_bind()) throw error("the server has ended");
}

void run(const invocation& shared, serve_options options) {
  report_choice& choice = options.choice;
  if (!options.function.empty()) choice.functions = {options.function};
  if (choice.databases.empty() || !shared.database.empty()) {
    choice.databases.insert(choice.databases.begin(), shared.database_path());
  }
  require_report_page();
  report_source source(std::move(choice));
  source.now();  // so that what is wrong is said at once
  // Both live until the process ends: the thread that waits for a signal refers to the server.
  static httplib::Server server;
  add_routes(server, source);
  const int port = bind(server, options.port);
  print("http://localhost:{}/\n", port);
  std::fflush(stdout);
  serve(server);
}

#else

void run(const invocation&, const serve_options&) {
  throw error(
      "this tunedb was built without cpp-httplib, which serves the page; install the package "
      "libcpp-httplib-dev of Debian or Ubuntu, configure again and build libtune");
}

#endif

}  // namespace

void add_serve(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<serve_options>();
  CLI::App* command = program.add_subcommand(
      "serve",
      "Gives the page of report to browsers of this machine, with data that follow the databases "
      "every few seconds, until a signal ends it. It listens on 127.0.0.1 alone, prints its "
      "address, and changes nothing; every user of this machine can read it");
  command
      ->add_option("DATABASE", options->choice.databases,
                   "Databases to show together, which are only read; without any, the one of --db")
      ->type_name("");
  command->add_option("--port", options->port, "Where to listen; 0, the default, is a free port")
      ->type_name("N")
      ->check(CLI::Range(0, 65535));
  command
      ->add_option("--function", options->function, "Only this function: a name, or NAME__VERSION")
      ->type_name("NAME");
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
