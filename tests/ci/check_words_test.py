#!/usr/bin/env python3
"""Tests .ci/check_words: sentences with and without findings, the readers of each language, exceptions and titles."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
CI = pathlib.Path(__file__).resolve().parent.parent.parent / ".ci"
sys.path.insert(0, str(CI))
loader = importlib.machinery.SourceFileLoader("check_words", str(CI / "check_words"))
check_words = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_words", loader))
loader.exec_module(check_words)
import prose as prose_module  # noqa: E402

PATTERNS = check_words.read_patterns()
# Pattern, kind of prose (see prose.Prose), sentence.
FOUND = [
    ("what-definition", "d", "What is shown until a layer has been read: rows of another set."),
    ("what-definition", "c", "What has to pass before a change lands: layers, format, sizes and translations."),
    ("whether-definition", "d", "Whether the printed terms add up to the printed total."),
    ("how-definition", "d", "How a row finds the cells that its cell reads."),
    ("how-definition", "d", "Which numbers the atlas shows."),
    ("where-definition", "d", "Where the model of a project is kept."),
    ("that-definition", "d", "Those that the vocabulary has."),
    ("that-definition", "d", "Such a text."),
    ("of-definition", "d", "Of the leak sanitizer; null without it."),
    ("fronted-of", "d", "Makes the map. Of the same expert the numbers before stay."),
    ("stands", "c", "U+FFFD stands in place of control characters."),
    ("lies", "m", "{} lies at bytes {} to {} of {} bytes of data; the file is cut short"),
    ("goes-on", "d", "Goes on with what goes on by itself, up to `now`."),
    ("goes-before", "d", "Neither the model, the inputs nor the edits may go before it."),
    ("behind", "h", "a second text, put behind TEXT in the form for two texts"),
    ("beside", "d", "The label of what remains beside the first key."),
    ("of-before", "d", "Closes the popup that was opened in the frame before."),
    ("in-front", "d", "A text gets a blank in front."),
    ("comes-about", "m", "Point at a cell to see how it came about"),
    ("is-no", "m", "This weight is no finite number."),
    ("is-no", "m", "is no size such as 4GB or 1500MB"),
    ("is-no", "c", "Biases that the model does not have are none."),
    ("room", "d", "The rooms of core."),
    ("stop", "d", "The stops of the stage strip."),
    ("canvas-page", "d", "Parts shared by the pages of weights."),
    ("desk", "d", "The same with edits, as the desk was asked."),
    ("writer", "m", "Largest of all writers"),
    ("stream", "d", "What the heads add to the stream."),
    ("held", "m", "out[l][h] · (u[{}] − mean u), direct path, norms held"),
    ("switched-off", "m", "Each head is switched off alone, and the whole model runs again."),
    ("gain", "m", "side by side, each times its gain"),
    ("share", "d", "Each head's share of an output cell."),
    ("reading", "d", "The reading in focus: the difference, or the mean."),
    ("made-head", "d", "empty: nothing but a made head"),
    ("looked-at", "m", "nothing that they were computed from is known: they can be looked at, not changed"),
    ("spoken-of", "d", "The cell that outlines and inspector speak of."),
    ("let-go", "d", "When is a picture let go that was kept from frame to frame?"),
    ("give-away", "c", "of so few, none is given away"),
    ("tell", "d", "A line above the title that tells how the weights are filtered."),
    ("tell", "c", "The format is told in assets/manual/project-file.md."),
    ("anew", "m", "Draw anew with the next seed"),
    ("given-up", "d", "The document is saved elsewhere or given up."),
    ("takes-over", "d", "The reason of what takes over."),
    ("faulty", "d", "Reports a faulty line."),
    ("board", "m", "show or hide the board beside the stages"),
    ("walk", "m", "→ and ← walk from stage to stage."),
    ("dealt", "m", "The same W columns dealt to {} heads of width {}"),
    ("gives-way", "d", "In a small window the canvas gives way to one open panel."),
    ("exclamation", "m", "The file was saved!"),
    ("please", "m", "please choose another file"),
    ("british", "d", "The colour of a neighbour is normalised."),
]
# Sentences without any finding, and the kind of prose.
NOT_FOUND = [
    ("d", "Returns the input cells that output cell `at` depends on. A span may refer to an alias."),
    ("d", "Computes on a device and falls back to the CPU after a device error."),
    ("d", "Registry of caches that can release memory on demand."),
    ("d", "Thread pool. Workers spin for 0.1 ms before they block."),
    ("d", "The model, inputs and edits must outlive this object."),
    ("d", "Advances animations and generation to `now`. Returns true while any is active."),
    ("m", "Weights loaded from {} are read-only because their inputs are not available."),
    ("m", "Unsaved changes will be lost."),
    ("m", "This weight is not finite (NaN or infinity)."),
    ("m", "is not a valid size (for example 4GB or 1500MB)"),
    ("m", "Hover over a cell to see how it was computed. Use → and ← to move between stages."),
    ("c", "There is no key left, and the row is no longer masked; the result is no better."),
    ("m", "What is a head?"),
    ("m", "What the head reads"),
    ("d", "When all heads are shown, orders them by number instead of by focus."),
    ("d", "Where the old tensor is in use, `tensor` becomes a copy."),
    ("d", "Stops a run that was not finished."),
    ("c", "The button that stops the runs."),
    ("d", "A stack that stands for the identity, or that stands out."),
    ("d", "Heads whose score lies in [low, high]."),
    ("d", "The height of the color behind a word."),
    ("d", "A safetensors file beside it."),
    ("c", "The parts that the writers of all formats need."),
    ("c", "The residual stream, and the same stream of normal numbers."),
    ("d", "The stops of a color map."),
    ("d", "The key that is held down."),
    ("m", "a run of {} GFLOP or more gains from a graphics processor"),
    ("d", "A standard deviation with gain 1."),
    ("c", "Kernels that share memory, and query heads that share keys."),
    ("d", "Opens the file for reading; ignores reading errors."),
    ("d", "The identifier `board` and the option --gain, the file stops.h, the type Desk, an is_no_stop() call."),
    ("d", "Prints \"the walk goes on\"."),
    ("d", "A keyboard and a clipboard."),
    ("d", "Enough room for three rows."),
    ("c", "Characters that tell tokens apart."),
    ("c", "Names that people told apart."),
    ("m", "Not equal: a != b"),
    ("d", "Returns a PNG. grey: (height, width), row-major."),
    ("d", "gain(h): the multiplier of a head, as in attribution(writer, token)."),
    ("d", "as requested; A and B need a baseline"),
    ("d", "when playing: seconds from the start"),
    ("d", "The same with a timeout, and the same for another text."),
    ("d", "run: of the checkpoint that the heads belong to; null: none"),
    ("d", "The reading options, the reading progress and the reading time."),
    ("d", "Large tensors would lie between small ones; save its state before."),
    ("d", "A knob that accepts only its stops."),
]


def findings(kind, sentence):
    block = prose_module.Prose(kind)
    block.add(sentence, 1)
    return [pattern.name for pattern, *_ in check_words.findings_in(block, PATTERNS)]


class Sentences(unittest.TestCase):
    def test_sentences_that_break_a_rule_are_found(self):
        for name, kind, sentence in FOUND:
            with self.subTest(sentence):
                self.assertIn(name, findings(kind, sentence))

    def test_plain_sentences_are_not_found(self):
        for kind, sentence in NOT_FOUND:
            with self.subTest(sentence):
                self.assertEqual(findings(kind, sentence), [])

    def test_every_pattern_has_a_sentence(self):
        self.assertEqual({pattern.name for pattern in PATTERNS}, {name for name, *_ in FOUND})


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        saved = check_words.ROOT, check_words.EXCEPTIONS
        self.addCleanup(lambda: (setattr(check_words, "ROOT", saved[0]), setattr(check_words, "EXCEPTIONS", saved[1])))
        check_words.ROOT, check_words.EXCEPTIONS = self.root, self.root / "words_exceptions"
        check_words.EXCEPTIONS.write_text("# empty\n")

    def check(self, name, text):
        """Returns "line pattern" for each finding in a file with this text, and other faults as they are."""
        (self.root / name).write_text(text, encoding="utf-8")
        faults, _ = check_words.check_files([name], PATTERNS)
        short = []
        for fault in faults:
            prefix, _, rest = fault.partition(" breaks rule ")
            short.append(f"{prefix.split(':')[1]} {rest.split('(')[1].split(')')[0]}" if rest else fault)
        return short

    def test_comments_and_messages_of_cpp_are_read(self):
        self.assertEqual(self.check("a.cpp", "/// Draws a text\n/// that is no\n/// text.\nint a; ///< of the head\n"),
                         ["2 is-no", "4 of-definition"])
        self.assertEqual(self.check("a.cpp", "/* The anew\n * board */\nint big = 1'000'000; // anew\n"),
                         ["1 anew", "2 board", "3 anew"])
        self.assertEqual(self.check("a.cpp", 'f("anew // anew");\nauto x = tr("Draw "\n  "anew {}", g("(", 1));\n'), ["3 anew"])
        self.assertEqual(self.check("a.cpp", 'command.add_option("--board", x, where + "the board (1)")->check(y);\n'), ["1 board"])
        self.assertEqual(self.check("a.cpp", 'tr_n("desk.share", "{} row", "{} boards", n);\n'), ["1 board"])
        self.assertEqual(self.check("a.cpp", 'translatable("The " "stops of " "the strip");\nR"(// anew)";\n'), ["1 stop"])

    def test_a_comment_at_the_end_of_a_line_does_not_join_the_next_one(self):
        self.assertEqual(self.check("a.h", "int a; ///< the row is\nint b; ///< no row\n"), [])

    def test_comments_and_docstrings_of_python_are_read(self):
        text = '#!/usr/bin/env python3\n"""Draws.\n\nWhat is anew."""\nx = "# anew"  # anew\n\n\ndef f():\n    """Whether."""\n'
        self.assertEqual(sorted(self.check("a.py", text)),
                         ["4 anew", "4 what-definition", "5 anew", "9 whether-definition"])

    def test_comments_of_shell_and_cmake_are_read(self):
        self.assertEqual(self.check("a.sh", "#!/bin/sh\necho ${#anew} anew # the walk\n# a row\n# is no\n"),
                         ["2 walk", "4 is-no"])
        self.assertEqual(self.check("CMakeLists.txt", "# Of the files.\nset(anew 1)\n"), ["1 of-definition"])

    def test_code_of_markdown_is_not_read(self):
        text = "# The board\n\n```\nanew\n```\n\n- See [it](walk.md): `anew`.\n- The\n  walk\n"
        self.assertEqual(self.check("a.md", text), ["1 board", "9 walk"])

    def test_texts_in_blocks_of_lessons_are_read(self):
        text = ('## Heads\n\n```step\nstage: board\n```\n\n```gate\ntask: "Open the board: twice."\nwhen: board\n```\n\n'
                "```quiz\nquestion: Which board?\nchoices:\n  - text: anew\n    why: They walk.\n```\n\n```python\ntext: walk\n```\n")
        self.assertEqual(self.check("a.md", text), ["8 board", "13 board", "15 anew", "16 walk"])

    def test_a_marker_or_a_line_of_exceptions_allows_a_finding(self):
        marker = "// The walk. check_words: allow walk, it is the title of a book\n"
        self.assertEqual(self.check("a.cpp", marker), [])
        check_words.EXCEPTIONS.write_text("a.cpp\twalk\tthe title of a book\n")
        self.assertEqual(self.check("a.cpp", "// The walk.\n"), [])

    def test_exceptions_without_a_finding_are_faults(self):
        self.assertIn("nothing to allow for walk", self.check("a.cpp", "// check_words: allow walk, a book\n")[0])
        check_words.EXCEPTIONS.write_text("a.cpp\twalk\ta book\nb.cpp\tboard\ta book\n")
        self.assertEqual([fault.split(": ")[1] for fault in self.check("a.cpp", "// The row.\n")],
                         ["a.cpp has no finding of walk; remove the line", "b.cpp has no finding of board; remove the line"])
        check_words.EXCEPTIONS.write_text("a.cpp\trun\ta book\n")
        self.assertEqual(self.check("a.cpp", ""), ["words_exceptions: no pattern is named run"])

    def test_an_exception_without_a_reason_ends_the_check(self):
        check_words.EXCEPTIONS.write_text("a.cpp\twalk\n")
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            self.check("a.cpp", "")


class Titles(unittest.TestCase):
    def test_imperative_titles_pass(self):
        for title in ("Fix atlas crash for tall matrices", "Pass the seed to the sampler", "Embed the fonts",
                      "Bring views and keyboard together", "Compress the trace", "Test that a difference names both heads"):
            with self.subTest(title):
                self.assertEqual(list(check_words.title_faults(title)), [])

    def test_other_titles_are_found(self):
        for title in ("The atlas of weights with more rows than columns has no crash", "Adds a screen", "Added a screen",
                      "Adding a screen", "add a screen", "Lessons find stages by their place", "README: shorter",
                      "Add a screen.", "Motion of the window", "Command line: --device", "A" + "d" * 80):
            with self.subTest(title):
                self.assertNotEqual(list(check_words.title_faults(title)), [])


if __name__ == "__main__":
    unittest.main()
