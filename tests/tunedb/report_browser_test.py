# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""report_browser_test.py TUNEDB REPORT_SAMPLE [--many | PICTURES]: opens reports in a real browser.

Ends with 77, which ctest shows as skipped, where there is no Chromium or tunedb has no page. With --many, only one of
100,000 trials. PICTURES is a folder for screenshots at two widths, light and dark."""

import json
import pathlib
import subprocess
import sys
import tempfile

import browser


def run(*arguments):
    return subprocess.run(arguments, check=True, capture_output=True, text=True)


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(one) for one in what))


def points(page, figure):
    return int(page.evaluate(f"document.querySelector('#{figure} canvas').dataset.points"))


def check_quiet(page, url):
    check(page.errors() == [], "errors:", page.errors())
    check(page.requests() == [url.split("#")[0]] or page.requests() == [url], "requests:", page.requests())


def check_figures(page, url):
    """Every picture has its points, and what comes from the database stays text."""
    page.open(url + "#search=0")
    check_quiet(page, url + "#search=0")
    search = "report.searches[0]"
    measured = page.evaluate(f"{search}.score.filter((v) => v !== null).length")
    check(0 < measured < 400, "measured:", measured)
    for figure in ("convergence", "configurations", "parallel", "roofline"):
        check(points(page, figure) == measured, figure, points(page, figure), measured)
    failed = int(page.evaluate("document.querySelector('#convergence canvas').dataset.failed"))
    check(failed == 400 - measured, "failed:", failed)
    samples = page.evaluate(f"{search}.finalists.reduce((n, one) => n + one.samples.length, 0)")
    check(points(page, "finalists") == samples, "samples:", points(page, "finalists"), samples)
    check(points(page, "time") == 400 + measured, "timeline:", points(page, "time"))
    check(points(page, "comparison") == 4, "compared:", points(page, "comparison"))
    check(page.evaluate("document.querySelectorAll('#effects section').length") == 6)
    check(page.evaluate("document.querySelectorAll('#reasons tbody tr').length") == 3)
    check("</script><script>alert(1)</script>" in page.evaluate("document.querySelector('#reasons').textContent"))
    check(page.evaluate("document.querySelectorAll('img, b, i').length") == 0, "text became HTML")
    check(page.evaluate("document.scripts.length") == 3, "text became a script")
    check(page.evaluate("document.querySelectorAll('#searches tbody tr').length") == 6)


def check_filter(page, url):
    """Conditions in the address, in the field, by the buttons and by a brush."""
    page.open(url + "#search=0&filter=" + "block_size_x%3D32%7C64%3B%20time%3C%3D80%20us")
    check(page.errors() == [], page.errors())
    wanted = page.evaluate(
        "(() => { const s = report.searches[0]; const p = s.parameters.find(({name}) => name === 'block_size_x');"
        "return s.score.filter((v, i) => v !== null && v <= 80000 && [32, 64].includes(p.values[p.index[i]])).length; })()")
    check(wanted > 0 and points(page, "configurations") == wanted, "kept:", points(page, "configurations"), wanted)
    check(page.evaluate("Number(document.getElementById('filter-count').dataset.count)") == wanted)
    check(page.evaluate("document.querySelectorAll('#parallel .selection:not([style*=none])').length") == 2)
    page.evaluate("document.getElementById('clear').click()")
    check(points(page, "configurations") > wanted and "filter" not in page.evaluate("location.hash"))
    page.evaluate("document.getElementById('filter').value = 'nothing=1';"
                  "document.getElementById('controls').requestSubmit()")
    check(page.evaluate("document.getElementById('filter').getAttribute('aria-invalid')") == "true")
    check("nothing" in page.evaluate("document.getElementById('filter-count').textContent"))
    page.evaluate("document.getElementById('clear').click();"
                  "document.getElementById('parallel').scrollIntoView({behavior: 'instant'})")
    box = page.evaluate("(() => { const b = document.querySelector('#parallel .brush .overlay').getBoundingClientRect();"
                        "return [b.left, b.top + b.height / 2, b.width]; })()")
    page.drag((box[0] + 4, box[1]), (box[0] + box[2] / 2, box[1]))
    page.wait("state.filter.startsWith('block_size_x=8|16|32|64')")
    page.evaluate("document.querySelector('#reasons button').click()")
    check(page.evaluate("state.filter").startswith("outcome="))
    check(page.errors() == [], page.errors())


def check_keyboard(page, url):
    """The keys move through the points; every picture has a name, and what it shows as a table."""
    page.open(url + "#search=0")
    page.evaluate("document.querySelector('#convergence .picture').focus()")
    page.key("ArrowRight")
    best = page.wait("document.querySelector('#convergence .readout').textContent")
    page.key("ArrowRight")
    second = page.wait(f"(() => {{ const t = document.querySelector('#convergence .readout').textContent;"
                       f"return t === {json.dumps(best)} ? '' : t; }})()")
    page.resize(1000, 900)
    page.wait("document.querySelector('#convergence canvas').clientWidth < 1000")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    kept = page.evaluate("document.querySelector('#convergence .readout').textContent")
    check(kept == second, "a narrower window shows", kept, "in place of", second)
    page.resize(1440, 900)
    check(best.startswith("trial ") and second.startswith("trial ") and best != second, best, second)
    nameless = page.evaluate("[...document.querySelectorAll('.picture')].filter((p) => !p.getAttribute('aria-label')).length")
    check(nameless == 0, "pictures without a name:", nameless)
    bare = page.evaluate("[...document.querySelectorAll('figure')].filter((f) => f.querySelector('canvas')"
                         " && !f.querySelector('details, table')).map((f) => f.id)")
    check(bare == [], "pictures without a table:", bare)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.wait("document.querySelectorAll('#configurations tbody tr').length > 100")
    unlabelled = page.evaluate("[...document.querySelectorAll('select, input')].filter((e) => !e.labels.length).length")
    check(unlabelled == 0, "fields without a label:", unlabelled)
    check(page.errors() == [], page.errors())


def check_choices(page, url):
    """Another search, other axes and other colours, which the address keeps."""
    page.open(url + "#search=1&x=registers&y=gbs&clock=trial&theme=dark")
    check(page.errors() == [], page.errors())
    check(page.evaluate("document.documentElement.dataset.theme") == "dark")
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    check(page.evaluate("document.getElementById('x-axis').value") == "registers")
    page.evaluate("document.querySelectorAll('#searches tbody a')[2].click()")
    check(page.evaluate("location.hash").startswith("#search=2"))
    page.evaluate("const t = document.getElementById('theme'); t.value = 'light'; t.dispatchEvent(new Event('change'))")
    check(page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != dark)
    for width in (480, 1440):
        page.resize(width, 900)
        page.wait(f"document.querySelector('#convergence canvas').clientWidth <= {width}")
        check(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
              "wider than", width)


def check_many(page, folder, tunedb, sample):
    """A hundred thousand trials."""
    database, report = folder / "many.db", folder / "many.html"
    run(sample, str(database), "100000")
    run(tunedb, "report", str(report), str(database))
    size = report.stat().st_size
    check(size < 15_000_000, "bytes:", size)
    ready = int(page.open(report.as_uri()))
    check(page.errors() == [], page.errors())
    check(points(page, "configurations") > 50000)
    print(f"100,000 trials: {size} bytes, drawn {ready} ms after the page was asked for")


def take_pictures(page, url, folder):
    for width in (480, 1440):
        for dark in (False, True):
            page.resize(width, 900, dark)
            page.open(url)
            page.screenshot(str(pathlib.Path(folder) / f"report-{width}-{'dark' if dark else 'light'}.png"))


def main():
    tunedb, sample = sys.argv[1:3]
    path = browser.find_browser()
    if path is None:
        print("skipped: there is no Chromium; install the package chromium")
        return 77
    many = "--many" in sys.argv
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(sample, str(folder / "one.db"), "400", "4")
        run(sample, str(folder / "two.db"), "150", "2")
        report = folder / "report.html"
        made = subprocess.run([tunedb, "report", str(report), str(folder / "one.db"), str(folder / "two.db")],
                              capture_output=True, text=True)
        if "node-d3" in made.stderr:
            print("skipped:", made.stderr)
            return 77
        check(made.returncode == 0, made.stderr)
        with browser.Browser(path) as page:
            page.resize(1440, 900)
            if many:
                check_many(page, folder, tunedb, sample)
                return 0
            for test in (check_figures, check_filter, check_keyboard, check_choices):
                test(page, report.as_uri())
            if len(sys.argv) > 3:
                take_pictures(page, report.as_uri(), sys.argv[3])
    return 0


if __name__ == "__main__":
    sys.exit(main())
