#!/usr/bin/env python3
"""check_handout.py PROGRAM: uses the page of `headscope lesson handout` in headless Chromium: map, keys, questions, tables,
paper. Exits with 77 if there is no Chromium (Debian: chromium)."""
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

# Collects errors before any other script runs.
ERRORS = """<script>
const faults = [];
addEventListener("error", event => faults.push(String(event.message)));
console.error = (...words) => faults.push(words.join(" "));
</script>"""
# Milliseconds are real: no virtual time is used.
ACTS = """{
const all = selector => [...document.querySelectorAll(selector)], one = selector => document.querySelector(selector);
const cell = (i, j) => one(`.w td[data-i="${i}"][data-j="${j}"]`);
const over = cell => cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
const key = name => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
const card = () => one("#arithmetic").hidden ? null :
  [...one("#arithmetic").querySelectorAll("tr")].map(row => [...row.cells].map(c => c.textContent).filter(t => t));
const chip = text => all(".chip").find(button => button.textContent.trim() === text);
addEventListener("load", () => {
  const told = {};
  try {
    ACTS
  } catch (fault) {
    faults.push(String(fault.stack));
  }
  told.faults = faults;
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify(told);
  document.body.append(result);
});
}"""


# A lesson with a question of each kind, in a step whose canvas does not show the weights.
LESSON = """---
id: six-kinds
title: Six kinds of question
minutes: 5
difficulty: beginner
preset: first-lesson
sentence: The cat sat down
reading:
- {title: Attention Is All You Need, by: Vaswani et al., year: 2017, url: "https://arxiv.org/abs/1706.03762", level: advanced, why: The paper.}
---

## Scores and questions
```step
stage: scores
row: sat
```
The [[softmax]] of a row of scores is a row of weights, one for each word of the sentence.

```claim
says: A row adds up to 1
source: Vaswani et al. 2017, section 3.2.1
```

```question
id: number
kind: number
question: Which weight does **cat** get?
answer: weights[0][sat, cat]
mistakes:
- {answer: "scores[0][sat, cat]", why: That is a score.}
show: {stage: weights, head: 1}
after: "It is {{weights[0][sat, cat]}}."
```

> [!when done("number")] Now you know the weight.

```question
id: shape
kind: shape
question: Which shape has X?
answer: [T, D]
mistakes:
- {answer: [T, T], why: That is the map.}
```

```question
id: cell
kind: cell
question: Which weight of sat is the largest?
among: weights[0][sat, :]
answer: largest
mistakes:
- {answer: "weights[0][sat, sat]", why: It does not read itself.}
```

```question
id: token
kind: token
question: Which word comes first?
answer: The
mistakes:
- {answer: cat, why: It is the second.}
```

```question
id: tokens
kind: token
many: true
question: Which words have three letters and a small initial?
answer: [cat, sat]
```

```question
id: order
kind: order
question: Order them.
items:
- {text: one, value: 1}
- {text: three, value: 3}
- {text: two, value: 2}
```

```question
id: choice
kind: choice
question: What divides the scores?
choices:
- {text: The root of dk., why: "Yes, 2 here.", right: true}
- {text: "The width, dk.", why: That is 4.}
- {text: Nothing., why: Then it would be 8.55.}
```

```quiz
question: What does a row of weights add up to?
choices:
- {text: To 1., why: Softmax., right: true}
- {text: To the number of words., why: No.}
- {text: To anything., why: Scores do.}
```
"""


def browse(page, *options):
    return subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
                           f"--user-data-dir={page.with_name('profile')}", *options],
                          capture_output=True, text=True, timeout=120)  # fmt: skip


def act(page, acts, size="1200,900"):
    """Returns what these acts report, by name; none of them may cause an error."""
    text = page.read_text(encoding="utf-8").replace("<style>", ERRORS + "<style>", 1)
    copy = page.with_name("acted.html")
    copy.write_text(text.replace("</body>", f"<script>{ACTS.replace('ACTS', acts)}</script></body>"), encoding="utf-8")
    done = browse(page, f"--window-size={size}", "--dump-dom", copy.as_uri())
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.S)
    assert found, (done.returncode, done.stderr[-500:], done.stdout[-300:])
    told = json.loads(html.unescape(found[1]))
    assert told["faults"] == [], told["faults"]
    return told


def handout(folder, lesson, *options):
    page = folder / f"{lesson}.html"
    subprocess.run([PROGRAM, "lesson", "handout", lesson, *options, "-o", page], check=True)
    return page


def check_map(page):
    told = act(page, """
        const begun = performance.now();
        over(cell(2, 1));
        told.card = card();
        told.took = performance.now() - begun;
        // One outline is around the row of weights.
        const box = element => { const { left, right, top } = element.getBoundingClientRect(); return [left, right, top]; };
        const row = [box(cell(2, 0))[0], box(cell(2, 3))[1], box(cell(2, 0))[2]];
        told.ringed = all(".ring").filter(ring => box(ring).every((edge, n) => Math.abs(edge - row[n]) < 4)).length;
        told.title = one("#arithmetic h3").textContent;
        told.cell = cell(2, 1).textContent;
        one(".w td[tabindex='0']").focus();
        told.start = [document.activeElement.dataset.i, document.activeElement.dataset.j];
        key("ArrowDown"); key("End"); key("ArrowLeft");
        told.at = [document.activeElement.dataset.i, document.activeElement.dataset.j];
        told.said = one("#said").textContent;
        key("Escape");
        told.escaped = card();
        one('.chip[data-head="1"]').click();
        told.head = [one(".w").getAttribute("aria-label"), cell(2, 1).textContent, document.activeElement.dataset.head];
        chip("both").click();
        told.both = all(".w").length;
        chip("The dog ran down").click();
        told.words = [...one(".w thead").querySelectorAll("th")].map(th => th.textContent);
        told.pressed = all('.chip[aria-pressed="true"]').map(button => button.textContent.trim());
        told.dead = all("button:not([disabled])").filter(button => !(button.matches(
          ".chip, .choice, .cell, .give, .next, .again, [data-scene], [type=submit]"))).length;
        told.unnamed = all("button, input, table, section").filter(e => !(e.textContent.trim() ||
          e.closest("label") || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby"))).length;
    """)  # fmt: skip
    assert told["took"] < 200 and told["ringed"] == 1, (told["took"], told["ringed"])
    assert told["title"].startswith("“sat” looks at “cat”"), told["title"]
    assert told["cell"] == "0.86", told["cell"]
    rows = told["card"]
    assert [row[0] for row in rows[:4]] == ["3.80 × 2.04", "1.08 × 0.42", "0.48 × 0.71", "0.01 × 0.33"], rows
    # The printed terms add up to the printed score, digit by digit.
    digits = [row[1].replace("−", "-") for row in rows[:5]]
    decimals = len(digits[4].split(".")[1])
    units = [round(float(number) * 10**decimals) for number in digits]
    assert rows[4][0] == "score" and sum(units[:4]) == units[4], rows
    assert rows[5] == ["÷ √4", "4.27"], rows
    assert rows[-1][-1].startswith("0.86"), rows
    assert told["at"] == [str(int(told["start"][0]) + 1), "2"], told
    assert "looks at" in told["said"], told["said"]
    assert told["escaped"] is None and told["both"] == 2, told
    assert told["head"] == ["Attention weights, head 1", "0.83", "1"], told["head"]
    assert told["words"] == ["The", "dog", "ran", "down"], told["words"]
    assert "The dog ran down" in told["pressed"] and "both" in told["pressed"], told["pressed"]
    assert told["dead"] == 0 and told["unnamed"] == 0, told


def check_quiz(page):
    told = act(page, """
        const shown = () => all(".question").findIndex(question => !question.hidden);
        told.first = [shown(), all(".question").filter(question => !question.hidden).length];
        const first = all(".question")[0], choices = [...first.querySelectorAll(".choice")];
        const wrong = choices.find(choice => !choice.hasAttribute("data-right"));
        const right = choices.find(choice => choice.hasAttribute("data-right"));
        const line = () => first.querySelector(".told").firstChild.textContent;
        wrong.click(); told.wrong = line(); told.why = !wrong.parentElement.querySelector(".why").hidden;
        wrong.click(); told.again = line();
        right.click(); told.right = line();
        first.querySelector(".next").click(); told.next = shown();
        all(".question").at(-1).querySelector(".again").click();
        told.restarted = [shown(), all(".choices .right, .choices .wrong").length];
    """)  # fmt: skip
    assert told["first"] == [0, 1], told
    assert told["wrong"] == "Not quite. 1 try." and told["why"], told
    assert told["again"] == "Not quite. 1 try.", told  # the same choice counts once
    assert told["right"] == "Right. 2 tries." and told["next"] == 1 and told["restarted"] == [0, 0], told


def check_questions(page):
    told = act(page, """
        const home = name => all(".asked")[data.questions.findIndex(key => key.id === name)];
        const said = name => home(name).querySelector(".told").textContent;
        const type = (name, text) => {
          home(name).querySelector("input").value = text;
          home(name).querySelector("[type=submit]").click();
          return said(name);
        };
        const press = (name, answer) => {
          home(name).querySelector(`[data-answer="${answer}"], [data-item="${answer}"]`).click();
          return said(name);
        };
        const check = name => { home(name).querySelector("[type=submit]").click(); return said(name); };
        // Before any answer: neither the map nor the text has the weights.
        told.veiled = [cell(2, 1).textContent, one("#veiled").hidden];
        over(cell(2, 1));
        told.card = one("#arithmetic").textContent;
        told.read = document.body.innerText;
        told.aside = one("[data-when-done]").hidden;
        const begun = performance.now();
        type("number", "much");
        told.took = performance.now() - begun;
        told.number = [type("number", "much"), type("number", "8.55"), type("number", "0.1")];
        home("number").querySelector("input").focus();
        told.number.push(type("number", "0,86"));
        told.focus = document.activeElement === home("number").querySelector(".told");
        told.shown = one('.chip[data-head="1"]').getAttribute("aria-pressed");
        told.aside_after = one("[data-when-done]").hidden;
        told.shape = [type("shape", "wide"), type("shape", "4 x 4"), type("shape", "8 x 4"), type("shape", "(4, 8, 1)")];
        home("shape").querySelector(".give").click();
        told.shape.push(said("shape"), home("shape").querySelector(".kind").textContent);
        told.cell = [press("cell", 2), press("cell", 0), press("cell", 1)];
        told.token = [press("token", 1), press("token", 0)];
        told.tokens = [check("tokens"), (press("tokens", 1), check("tokens")), (press("tokens", 0), check("tokens")),
                       (press("tokens", 0), press("tokens", 2), check("tokens"))];
        told.order = [check("order"), (press("order", 2), press("order", 1), press("order", 3), check("order")),
                      (press("order", 1), press("order", 1), check("order"))];
        told.choice = [press("choice", 3), press("choice", 1)];
        told.marks = all(".asked .choices li").filter(li => li.matches(".right, .wrong")).map(li => li.className);
        chip("1").click();
        told.unveiled = [cell(2, 1).textContent, one("#veiled").hidden];
        told.open = all(".asked:not(.done)").length;
        told.buttons = all(".asked button").filter(button => button.offsetParent && !button.disabled).map(button => button.textContent);
        told.term = [one("a.term").title, one(one("a.term").getAttribute("href")).textContent];
        told.source = one(".step .source").textContent;
        told.reading = one("#reading-title").parentElement.querySelector("a").href;
    """)  # fmt: skip
    assert told["veiled"] == ["?", False] and "0.86" not in told["read"], told
    assert "8.549" in told["card"] and "0.86" not in told["card"], told["card"]
    assert told["number"] == ["Type a number, such as 0.25.", "Not yet. Your number is too large.That is a score.",
                              "Not yet. Your number is too small.",
                              "Your answer: 0,86It is 0.86.Show it in the map"], told["number"]  # fmt: skip
    assert told["took"] < 200, told["took"]
    assert told["focus"] and told["shown"] == "true", told
    assert [told["aside"], told["aside_after"]] == [True, False], told
    assert told["shape"] == ["Type the sizes, such as 3 x 5.", "Not yet. At least one size is different.That is the map.",
                             "Not yet. The sizes are right; their order is not.",
                             "Not yet. The shape has another number of axes.", "The answer: 4 × 8", "Answer shown"], told["shape"]  # fmt: skip
    assert told["cell"] == ["Not yet. This cell is 0.08, and another one is larger.It does not read itself.",
                            "Not yet. This cell is 0.03, and another one is larger.",
                            "Your answer: weights[0][sat, cat] = 0.86"], told["cell"]  # fmt: skip
    assert told["token"] == ["Not yet.It is the second.", "Your answer: The"], told["token"]
    assert told["tokens"] == ["Choose words of the sentence, then check.", "Not yet. At least one word is missing.",
                              "Not yet. 1 of your words does not belong.", "Your answer: cat, sat"], told["tokens"]  # fmt: skip
    assert told["order"] == ["Choose all items, from the largest to the smallest.", "Not yet. Only the first one is right.",
                             "Your answer: three > two > one"], told["order"]  # fmt: skip
    assert told["choice"] == ["Not quite.Then it would be 8.55.", ""], told["choice"]
    assert sorted(told["marks"]) == ["right", "wrong"], told["marks"]
    # Once all questions are answered, the map has its numbers, and no button of a question is left over.
    assert told["open"] == 0 and told["unveiled"] == ["0.86", True], told
    assert told["buttons"] == ["Show it in the map"], told["buttons"]
    assert told["term"][0].startswith("The function that turns numbers") and told["term"][1].startswith("Softmax"), told
    assert told["source"] == "Source: Vaswani et al. 2017, section 3.2.1", told["source"]
    assert told["reading"] == "https://arxiv.org/abs/1706.03762", told["reading"]


def check_table(page):
    told = act(page, """
        const form = all(".fill")[0], inputs = [...form.querySelectorAll("input")];
        const check = values => {
          inputs.forEach((input, i) => { input.value = values[i]; input.dispatchEvent(new Event("input")); });
          form.querySelector("button[type=submit]").click();
          return [form.querySelector(".told").textContent, inputs.filter(i => i.classList.contains("wrong")).length];
        };
        // Until the table is filled in, the map of its step does not show what it asks for.
        one("#step-chips").children[Number(form.closest(".step").id.slice(5)) - 1].click();
        told.hidden = cell(0, 0).textContent;
        told.empty = check(["", "", "", ""]);
        told.one = check(["5", "1", "", ""]);
        told.all = check(["5", "0", "0,0", " 0 "]);
        told.give = form.querySelector(".give").hidden;
        const row = all(".fill").pop(), number = () => cell(1, 1).textContent;
        chip("1").click();
        told.row = [number()];
        row.querySelector("input").focus();
        told.row.push(number());
        row.querySelector(".give").click();
        told.row.push(number(), row.querySelector(".told").textContent);
    """)  # fmt: skip
    assert told["hidden"] == "?" and told["give"], told
    assert told["row"][0] == told["row"][2] != "?" and told["row"][1] == "?", told
    assert told["row"][3] == "Answer shown", told
    assert told["empty"] == ["0 of 4 right.", 0], told
    assert told["one"] == ["1 of 4 right.", 1], told
    assert told["all"] == ["All 4 right.", 0], told


def check_paper(page):
    paper = page.with_name("paper.pdf")
    browse(page, "--no-pdf-header-footer", f"--print-to-pdf={paper}", page.as_uri())
    pages = len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))
    assert 4 <= pages <= 16, f"{pages} pages on paper"


def check_narrow(page):
    told = act(page, """
        told.page = document.documentElement.scrollWidth;
        told.room = innerWidth;
    """, "500,800")  # fmt: skip
    assert told["page"] <= told["room"], told


def main():
    if CHROMIUM is None:
        print("skipped: there is no Chromium (Debian: chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "six-kinds.md").write_text(LESSON, encoding="utf-8")
        check_questions(handout(folder, "six-kinds", "--lessons", folder))
        first = handout(folder, "first-lesson")
        check_map(first)
        check_quiz(first)
        check_narrow(first)
        by_hand = handout(folder, "by-hand")
        check_table(by_hand)
        check_paper(by_hand)
        for lesson in ("one-head", "cross-attention", "masks", "two-heads-that-copy", "variants", "reading-attention"):
            page = handout(folder, lesson, "--language", "de")
            told = act(page, """
                all("button[data-scene]").forEach(button => button.click());
                all(".chip").length;
                told.language = document.documentElement.lang;
                told.cells = all(".w td[data-i]").length;
                all(".give").forEach(button => button.click());
                told.left = all(".asked").filter(one => !one.matches(".done") || one.matches(".earned")).length;
                told.answers = all(".asked .verdict").every(line => /^Die Antwort: ./.test(line.textContent));
            """)  # fmt: skip
            assert told["language"] == "de" and told["cells"] > 0, (lesson, told)
            assert told["left"] == 0 and told["answers"], (lesson, told)
    print("the handouts work as they should")


main()
