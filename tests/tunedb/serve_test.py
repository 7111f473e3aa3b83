# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""serve_test.py TUNEDB REPORT_SAMPLE: asks tunedb serve, and lets a browser follow it where there is one."""

import http.client
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

import browser


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(one) for one in what))


def ask(port, path="/", method="GET", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host="Host" in (headers or {}))
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def check_page(port):
    status, headers, page = ask(port)
    check(status == 200 and b"data-kind=\"live\"" in page, status)
    policy = headers["content-security-policy"]
    for wanted in ("default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"):
        check(wanted in policy, policy)
    check("unsafe" not in policy, policy)
    check(headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store", headers)
    check(headers["cross-origin-resource-policy"] == "same-origin", headers)
    check("access-control-allow-origin" not in headers, headers)
    status, headers, page = ask(port, method="HEAD")
    check(status == 200 and page == b"" and int(headers["content-length"]) > 100000, status, headers)


def check_refusals(port):
    for host in ("example.com", f"example.com:{port}", "localhost.example.com", "127.0.0.1.example.com",
                 "localhost:80@example.com", "", "192.168.0.1"):
        for path in ("/", "/data.json"):
            status, _, text = ask(port, path, headers={"Host": host})
            check(status in (400, 403) and b"libtune report" not in text, host, status)
    for host in ("localhost", f"127.0.0.1:{port}", f"[::1]:{port}"):
        check(ask(port, headers={"Host": host})[0] == 200, host)
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        status, headers, _ = ask(port, method=method)
        check(status == 405 and headers.get("allow") == "GET, HEAD", method, status)
    check(ask(port, "/../etc/passwd")[0] == 404)
    check(ask(port, "/tuning.db")[0] == 404)


def check_data(port, sample, database):
    status, headers, text = ask(port, "/data.json")
    check(status == 200 and len(json.loads(text)["searches"]) == 1, status)
    mark = headers["etag"]
    check(ask(port, "/data.json", headers={"If-None-Match": mark})[0] == 304)
    subprocess.run([sample, database, "20"], check=True)
    status, headers, text = ask(port, "/data.json", headers={"If-None-Match": mark})
    check(status == 200 and len(json.loads(text)["searches"]) == 2 and headers["etag"] != mark, status)


def check_port(tunedb, database, port):
    """A port that is taken is refused, and the other addresses of this machine are not listened on."""
    other = subprocess.run([tunedb, "serve", database, "--port", str(port)], capture_output=True, text=True, timeout=60)
    check(other.returncode == 1 and "--port" in other.stderr, other.stderr)
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError:
        return
    if address.startswith("127."):
        return
    try:
        socket.create_connection((address, port), 2).close()
    except OSError:
        return
    raise AssertionError("listens on " + address)


def follow(path, port, sample, database):
    """The page shows a search that is stored while it is open, and asks its own server alone."""
    with browser.Browser(path) as page:
        page.open(f"http://localhost:{port}/")
        before = page.evaluate("report.searches.length")
        subprocess.run([sample, database, "30"], check=True)
        page.wait(f"report.searches.length === {before + 1}")
        page.wait("document.documentElement.dataset.updates >= 1")
        check("Live" in page.evaluate("document.getElementById('live').textContent"))
        check(page.errors() == [], page.errors())
        others = [url for url in page.requests() if not url.startswith(f"http://localhost:{port}/")]
        check(others == [], others)


def main():
    tunedb, sample = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        database = str(pathlib.Path(name) / "tuning.db")
        subprocess.run([sample, database, "50"], check=True)
        server = subprocess.Popen([tunedb, "serve", database], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        address = server.stdout.readline()
        if not address:
            problem = server.stderr.read()
            check("was built without" in problem, problem)
            print("skipped:", problem)
            return 77
        try:
            port = int(address.strip().rstrip("/").rsplit(":", 1)[1])
            check_page(port)
            check_refusals(port)
            check_data(port, sample, database)
            check_port(tunedb, database, port)
            if browser.find_browser():
                follow(browser.find_browser(), port, sample, database)
            else:
                print("not followed by a browser: there is no Chromium")
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(60)
        check(code == 0, "ended with", code, server.stderr.read())
    return 0


if __name__ == "__main__":
    sys.exit(main())
