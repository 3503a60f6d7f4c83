"""Reads the prose of a file: comments, docstrings, messages, help texts and paragraphs of Markdown."""
import bisect
import dataclasses
import io
import re
import tokenize

C_SUFFIXES = {".h", ".cpp", ".comp", ".glsl"}
HASH_SUFFIXES = {".sh", ".cmake", ".yml", ".supp"}
# Calls whose string arguments are read by users. The first argument of a CLI11 call is a name.
MESSAGE_CALL = re.compile(r"\b(?:tr|tr_n|translatable)\s*\(")
HELP_CALL = re.compile(r"\b(?:add_option|add_option_function|add_flag|add_flag_function|add_flag_callback|add_subcommand|"
                       r"description|footer)\s*(?:<[\w:]+>)?\s*\(")
MESSAGE_ID = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+")
C_TOKEN = re.compile(r"""
    (?P<comment> //(?:\\\n|[^\n])* | /\*.*?\*/ )
  | R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"
  | "(?P<text>(?:\\.|[^"\\\n])*)"
  | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
""", re.S | re.X)
# A text in a block of a lesson, without its quotation marks.
LESSON_TEXT = re.compile(r"\s*(?:- )?(?:task|after|label|question|text|why): (?P<mark>\"?)(.*)(?P=mark)")
LESSON_BLOCKS = {"```gate", "```show", "```fill", "```quiz"}
BEFORE_STATEMENT = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)


@dataclasses.dataclass
class Prose:
    """One comment, message, paragraph or title. Its text has single blanks and no line breaks."""
    kind: str  # d: comment that documents a definition, c: comment, m: message, h: help text, p: Markdown, t: title
    text: str = ""
    offsets: list = dataclasses.field(default_factory=list)
    lines: list = dataclasses.field(default_factory=list)

    def add(self, text, line, separator=" "):
        if self.text and not self.text.endswith(" "):
            self.text += separator
        self.offsets.append(len(self.text))
        self.lines.append(line)
        self.text += re.sub(r"\s+", " ", text).lstrip(" " if not self.text or separator else "")

    def line_of(self, offset):
        return self.lines[max(bisect.bisect_right(self.offsets, offset) - 1, 0)]


def c_prose(source):
    line_starts = [0, *(match.end() for match in re.finditer("\n", source))]
    line_of = lambda offset: bisect.bisect_right(line_starts, offset)
    code, strings, block, block_end, block_mark = list(source), [], None, 0, None
    for match in C_TOKEN.finditer(source):
        start, end = match.span()
        code[start:end] = "\n" * source.count("\n", start, end) + " " * (end - start - source.count("\n", start, end))
        if match["comment"]:
            marker, text = re.match(r"(///?<?|/\*\*?<?)(.*)", match["comment"], re.S).groups()
            mark = (marker, start - line_starts[line_of(start) - 1])
            if block is None or mark != block_mark or source[block_end:start].strip():
                block = Prose("d" if len(marker) > 2 else "c")
                yield block
            for number, line in enumerate(text.removesuffix("*/").split("\n")):
                block.add(line.strip().removeprefix("* "), line_of(start) + number)
            block_end, block_mark = end, mark
        elif match["text"] is not None or match["raw"] is not None:
            code[start] = code[end - 1] = '"'
            strings.append((start, end, match["raw"] or match["text"] or ""))
    yield from call_prose("".join(code), strings, line_of)


def call_prose(code, strings, line_of):
    """Yields the string literals in arguments of messages and help texts. In `code`, strings and comments are blank."""
    seen = set()
    for kind, calls in (("m", MESSAGE_CALL), ("h", HELP_CALL)):
        for call in calls.finditer(code):
            depth, close = 1, call.end()
            while depth and close < len(code):
                depth += {"(": 1, ")": -1}.get(code[close], 0)
                close += 1
            inside = [entry for entry in strings if call.end() <= entry[0] < close]
            prose, previous_end = None, 0
            for start, end, text in inside[1:] if kind == "h" and "_" in call[0] else inside:
                if start in seen or MESSAGE_ID.fullmatch(text):
                    continue
                seen.add(start)
                if prose is None or code[previous_end:start].strip():
                    prose = Prose(kind)
                    yield prose
                prose.add(re.sub(r"\\[nt]", " ", text).replace('\\"', '"'), line_of(start), "")
                previous_end = end


def joined_comments(comments):
    """Joins comments in consecutive lines and the same column. comments: line, column and text of each."""
    block, last = None, None
    for line, column, text in comments:
        if last != (line - 1, column):
            block = Prose("c")
            yield block
        block.add(text.lstrip("# ").rstrip(), line)
        last = (line, column)


def hash_prose(source):
    """Yields comments that begin with # after a blank or at the beginning of a line."""
    matches = ((number, re.search(r"(?:^|(?<=\s))#(?!!).*", line)) for number, line in enumerate(source.splitlines(), 1))
    yield from joined_comments((number, match.start(), match[0]) for number, match in matches if match)


def python_prose(source):
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for before, token, after in zip([None, *tokens], tokens, tokens[1:]):
        begins_statement = before is None or before.type in BEFORE_STATEMENT
        if token.type == tokenize.STRING and begins_statement and after.type == tokenize.NEWLINE:
            text = re.sub(r"^[rR]?[\"']+|[\"']+$", "", token.string)
            for paragraph in re.finditer(r"\S.*?(?=\n\s*\n|\Z)", text, re.S):
                prose = Prose("c" if text[:paragraph.start()].strip() else "d")
                for number, line in enumerate(paragraph[0].split("\n"), text.count("\n", 0, paragraph.start())):
                    prose.add(line.strip(), token.start[0] + number)
                yield prose
    yield from joined_comments((*token.start, token.string) for token in tokens
                               if token.type == tokenize.COMMENT and not token.string.startswith("#!"))


def markdown_prose(source):
    """Yields paragraphs, and the texts in blocks of lessons."""
    prose, in_code, in_lesson_block = None, False, False
    for number, line in enumerate(source.splitlines(), 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        in_code ^= fence
        if fence:
            in_lesson_block = in_code and line.strip() in LESSON_BLOCKS
        if fence or in_code or not line.strip() or line.startswith("    "):
            prose = None
            if in_lesson_block and (text := LESSON_TEXT.fullmatch(line)):
                lesson_text = Prose("p")
                lesson_text.add(text[2], number)
                yield lesson_text
            continue
        if prose is None or re.match(r"\s*([-*#|>]|\d+\.)", line):
            prose = Prose("p")
            yield prose
        prose.add(re.sub(r"\]\([^)]*\)", "]", line.strip()), number)


def prose_of(path):
    return list(read_prose(path))  # complete: a reader yields a block before it adds the lines


def read_prose(path):
    source = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in C_SUFFIXES:
        return c_prose(source)
    if path.suffix == ".md":
        return markdown_prose(source)
    if path.suffix == ".py" or re.match(r"#!.*python", source):
        return python_prose(source)
    if path.suffix in HASH_SUFFIXES or path.name == "CMakeLists.txt" or source.startswith("#!"):
        return hash_prose(source)
    return ()
