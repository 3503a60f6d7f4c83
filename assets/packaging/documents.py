#!/usr/bin/env python3
"""documents.py PROGRAM SOURCES FOLDER: writes the documents of a package into FOLDER: headscope.1.gz from the program's
help, changelog.gz from CHANGELOG.md, and copyright from LICENSE and the notices of the libraries that are compiled into the
program. The same input gives the same bytes."""
import datetime
import email.utils
import gzip
import pathlib
import re
import subprocess
import sys
import textwrap

AUTHORS = "The Headscope authors <authors@headscope.invalid>"  # the domain .invalid is reserved (RFC 2606)
COMPILED_IN = ("libimgui-dev", "libeigen3-dev", "nlohmann-json3-dev", "libcli11-dev", "libvulkan-dev")
COLUMN = 30  # the column in which CLI11 begins the description of an option


def releases(changelog):
    """Yields (version, date, list of changes) of each section of CHANGELOG.md, the newest first."""
    for part in re.split(r"^## ", changelog, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        version, date = re.fullmatch(r"(\S+) \((\S+)\)", head).groups()
        yield version, date, [" ".join(item.split()) for item in re.split(r"^- ", body, flags=re.M)[1:]]


def debian_changelog(changelog):
    """Yields the text of the Debian changelog, in the format of Debian policy 4.4."""
    for version, date, changes in releases(changelog):
        day = datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.timezone.utc)
        items = (textwrap.fill(text, 78, initial_indent="  * ", subsequent_indent="    ") for text in changes)
        yield f"headscope ({version}) unstable; urgency=medium\n\n" + "\n".join(items)
        yield f"\n -- {AUTHORS}  {email.utils.format_datetime(day)}\n"


def copyright_notices(licence):
    yield licence
    for package in COMPILED_IN:
        notice = pathlib.Path("/usr/share/doc", package, "copyright")
        if notice.exists():
            yield f"{'-' * 79}\nThe program contains code of {package}:\n\n{notice.read_text(encoding='utf-8')}"


class Help:
    """The output of `headscope COMMAND --help`, split into its parts."""

    def __init__(self, program, command):
        said = subprocess.run([program, *command, "--help"], check=True, capture_output=True, text=True).stdout
        about, usage, rest = re.fullmatch(r"(.*?)\nUsage: (.*?)\n(.*)", said, re.S).groups()
        self.about, self.usage, self.footer, self.sections = about, usage, [], []
        lines = rest.split("\n")
        while lines:
            line = lines.pop(0)
            if line.startswith("  "):
                below = lines and lines[0].startswith(" " * COLUMN)
                name, text = (line, lines.pop(0)) if below else (line[:COLUMN], line[COLUMN:])
                self.sections[-1][1].append((name.strip(), text.strip()))
            elif line.endswith(":"):
                self.sections.append((line[:-1], []))
            elif line:
                self.footer.append(line)

    def commands(self):
        return [name for title, items in self.sections if title == "Subcommands" for name, _ in items]


def roff(text):
    """Returns the text escaped for groff, valid at any position of a line."""
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("\\", "\\e").replace("-", "\\-"))


def options(page, heading):
    for title, items in page.sections:
        if title != "Subcommands" and (items := [item for item in items if heading == ".SH " or item[0] != "-h,--help"]):
            yield f"{heading}{roff(title.upper() if heading == '.SH ' else title)}"
            for name, text in items:
                first, _, rest = name.partition(" ")
                choices = roff(rest).replace(",", ",\\:")  # allows a line break in a long list
                yield f".TP\n\\fB{roff(first)}\\fR {choices}".rstrip() + f"\n{roff(text)}"


def command_pages(program, command, main):
    page = Help(program, command)
    yield f'.SS "headscope {" ".join(command)}"\n{roff(page.about)}\n.PP\n.B {roff(page.usage)}'
    yield from options(page, ".PP\n")
    if page.footer != main.footer:
        yield ".PP\n" + roff(" ".join(page.footer))
    for name in page.commands():
        yield from command_pages(program, [*command, name], main)


def manual_page(program, changelog):
    version, date, _ = next(releases(changelog))
    main = Help(program, [])
    yield f'.TH HEADSCOPE 1 {date} "headscope {version}" "User Commands"\n.nh\n.ad l'
    yield f".SH NAME\nheadscope \\- {roff(main.about[0].lower() + main.about[1:])}"
    yield f".SH SYNOPSIS\n.B {roff(main.usage)}"
    yield from options(main, ".SH ")
    yield ".SH COMMANDS"
    for name in main.commands():
        yield from command_pages(program, [name], main)
    yield f".SH EXIT STATUS\n{roff(' '.join(main.footer))}"
    yield ".SH SEE ALSO\nThe manual stands in /usr/share/doc/headscope/manual."


def main():
    program, sources, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    changelog = (sources / "CHANGELOG.md").read_text(encoding="utf-8")
    licence = (sources / "LICENSE").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, parts):
        text = "\n".join(parts).rstrip("\n") + "\n"
        (folder / name).write_bytes(gzip.compress(text.encode(), mtime=0) if name.endswith(".gz") else text.encode())

    write("headscope.1.gz", manual_page(program, changelog))
    write("changelog.gz", debian_changelog(changelog))
    write("copyright", copyright_notices(licence))


if __name__ == "__main__":
    main()
