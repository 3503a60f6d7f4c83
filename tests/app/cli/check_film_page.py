#!/usr/bin/env python3
"""check_film_page.py PROGRAM: steps through the pages of `headscope record` in headless Chromium, by button, by key, by
playing, and without scripts. Exits with 77 if there is no Chromium (Debian: chromium)."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTH, HEIGHT, STAGES = 640, 480, 11

# Reports the visible steps, the controls, the scroll position and the width of the picture.
SEEN = """
const seen = () => ({
  steps: [...document.querySelectorAll(".step")].flatMap((s, i) => getComputedStyle(s).display === "none" ? [] : [i + 1]),
  controls: getComputedStyle(document.getElementById("nav")).display !== "none",
  back: !document.getElementById("back").disabled, next: !document.getElementById("next").disabled,
  play: document.getElementById("play").textContent, count: document.getElementById("count").textContent,
  scrolled: scrollY, address: location.hash });
const press = id => document.getElementById(id).click();
const key = (name, more = {}) => document.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, ...more }));
const rest = seconds => new Promise(go => setTimeout(go, 1000 * seconds));
addEventListener("load", async () => {
  const told = {};
  const tell = name => told[name] = seen();
  try {
    await rest(0.5);
    ACTS
  } catch (fault) {
    told.fault = String(fault);
  }
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify(told);
  document.body.append(result);
});
"""


def browse(page, *options):
    """Runs headless Chromium with these options; the last one is the address."""
    return subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
                           f"--user-data-dir={page.with_name('profile')}", *options],
                          capture_output=True, text=True, timeout=120)  # fmt: skip


def act(page, acts, address="", scripts=True):
    """Returns the reports of these acts in a page, by name."""
    text = page.read_text(encoding="utf-8")
    if not scripts:
        text = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    copy = page.with_name("acted.html")
    copy.write_text(text.replace("</body>", f"<script>{SEEN.replace('ACTS', acts)}</script></body>"), encoding="utf-8")
    done = browse(page, "--window-size=700,500", "--virtual-time-budget=60000", "--dump-dom",
                  copy.as_uri() + address)  # fmt: skip
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.S)
    assert found, (done.returncode, done.stderr[-500:], done.stdout[-300:])
    told = json.loads(html.unescape(found[1]))
    assert "fault" not in told, told["fault"]
    return told


def check(page):
    told = act(page, """
        tell("opened");
        told.pictures = [...document.images].map(i => i.naturalWidth);
        press("next"); tell("next");
        press("back"); tell("back");
        key("ArrowRight"); key("ArrowRight"); tell("right");
        key("ArrowLeft"); tell("left");
        key(" "); tell("space");
        key("ArrowRight", { ctrlKey: true }); tell("control");
        key("End"); tell("end");
        key("Home"); tell("home");
        press("play"); tell("playing");
        await rest(0.75); tell("played on");
        press("play"); await rest(2); tell("paused");
        press("play"); await rest(20); tell("played to the end");
    """)  # fmt: skip
    assert told.pop("pictures") == [WIDTH] * STAGES
    at = {"opened": 1, "next": 2, "back": 1, "right": 3, "left": 2, "space": 3, "control": 3, "end": STAGES, "home": 1,
          "playing": 1, "played on": 2, "paused": 2, "played to the end": STAGES}  # fmt: skip
    assert list(told) == list(at)
    for name, step in at.items():
        playing = name in ("playing", "played on")
        wanted = {"steps": [step], "controls": True, "back": step > 1, "next": step < STAGES,
                  "play": "Pause" if playing else "Play", "count": f"{step} of {STAGES}", "scrolled": 0,
                  "address": f"#step-{step}"}  # fmt: skip
        assert told[name] == wanted, (name, told[name], wanted)
    for address, step in [("#step-5", 5), ("#step-99", 1), ("#nav", 1)]:
        opened = act(page, 'tell("opened");', address)["opened"]
        assert (opened["steps"], opened["scrolled"]) == ([step], 0), (address, opened)
    plain = act(page, 'tell("opened");', scripts=False)["opened"]
    assert plain["steps"] == list(range(1, STAGES + 1)) and not plain["controls"], plain
    # On paper all steps are printed below each other.
    paper = page.with_name("paper.pdf")
    browse(page, f"--print-to-pdf={paper}", page.as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) >= STAGES // 2, "steps are missing on paper"


def main():
    if CHROMIUM is None:
        print("skipped: there is no Chromium (Debian: chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        page = pathlib.Path(name) / "film.html"
        subprocess.run([PROGRAM, "record", "The cat sat down", "--stages", "--size", f"{WIDTH}x{HEIGHT}", "--rest", "0.5",
                        "-o", page], check=True)  # fmt: skip
        check(page)
    print("the page of a film steps as it should")


main()
