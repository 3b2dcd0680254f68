#!/usr/bin/env python3
"""Checks the texts of the checkout: line lengths, words, paths, links and quoted files. Prints file:line: what, and exits 1 if any."""
import pathlib
import re
import subprocess
import sys
import urllib.parse

COLUMNS = 110
# One screen for the README of a folder, little more for that of the project.
README_LINES = {"README.md": 120}
FOLDER_README_LINES = 40

# What to write instead: one meaning for each word.
WORDS = {
    r"houses?|rooms?": "component or folder",
    r"luck|lucky": "chance or noise",
    r"unrest": "gradient noise",
    r"heat": "gradient noise or variance",
    r"acquits?|acquitted": "does not detect, rules out",
    r"cried wolf|cries wolf": "false alarm",
    r"words_for": "to_string or describe",
    r"(is|are|was|were) warned of": "a warning names",
    r"something is to be said|does the saying": "say who reports what",
    r"TODO|FIXME|XXX": "do it, or describe the limitation",
}
TEXTS = {".md", ".cpp", ".hpp", ".yaml", ".sh", ".txt", ".cmake", ".py"}
CODE = {".cpp", ".hpp"}
FOLDERS = r"(?:sim|kernels|calibrate|plots|scenarios|tests|docs|cmake)"
PATH = re.compile(rf"(?<![\w./-]){FOLDERS}/[\w./-]*\.(?:cpp|hpp|md|yaml|sh|py|cmake)\b")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?\)")


def tracked():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                           check=True, capture_output=True, text=True).stdout
    return sorted(pathlib.Path(name) for name in set(names.split("\0")) if name and pathlib.Path(name).is_file())


def anchors(markdown):
    """The anchors of a page's headings, as code hosts make them."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", markdown, flags=re.MULTILINE):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def without_code(markdown):
    """The page with its fenced blocks blanked: what looks like a link there is none."""
    fenced = re.compile(r"^(```|~~~).*?^\1", flags=re.MULTILINE | re.DOTALL)
    return fenced.sub(lambda block: "\n" * block.group().count("\n"), markdown)


def lengths(path, lines):
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield path, number, f"{len(line)} columns, more than {COLUMNS}"


def words(path, lines):
    for pattern, instead in WORDS.items():
        expression = re.compile(rf"\b({pattern})\b", flags=re.IGNORECASE if pattern != pattern.upper() else 0)
        for number, line in enumerate(lines, 1):
            match = expression.search(line)
            if match:
                yield path, number, f"`{match.group()}`: write {instead}"


def paths(path, lines):
    for number, line in enumerate(lines, 1):
        for match in PATH.finditer(line):
            if not pathlib.Path(match.group()).exists() and not (path.parent / match.group()).exists():
                yield path, number, f"there is no {match.group()}"


def links(path, text):
    for number, line in enumerate(without_code(text).split("\n"), 1):
        for target in LINK.findall(line):
            target = urllib.parse.unquote(target)
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            page = path.parent / name if name else path
            if not page.exists():
                yield path, number, f"dangling link to {target}"
            elif anchor and page.suffix == ".md" and anchor not in anchors(page.read_text()):
                yield path, number, f"{page} has no heading for #{anchor}"


def readme_length(path, lines):
    most = README_LINES.get(str(path), FOLDER_README_LINES)
    count = len(lines) - 1
    if path.name == "README.md" and count > most:
        yield path, most + 1, f"{count} lines, more than {most}: details belong into docs/"


def quoted_files(path, text):
    """A fenced block after `<!-- file: PATH -->` is that file."""
    for match in re.finditer(r"<!-- file: (\S+) -->\n```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        if pathlib.Path(match.group(1)).read_text() != match.group(2):
            yield path, text[:match.start()].count("\n") + 1, f"the block is no longer {match.group(1)}"


def faults():
    for path in tracked():
        if path.suffix not in TEXTS or path.is_relative_to("tests/lint"):
            continue
        text = path.read_text()
        lines = text.split("\n")
        yield from words(path, lines)
        yield from paths(path, lines)
        if path.suffix in CODE:
            yield from lengths(path, lines)
        if path.suffix == ".md":
            yield from links(path, text)
            yield from quoted_files(path, text)
            yield from readme_length(path, lines)


def main():
    found = list(faults())
    for path, number, what in found:
        print(f"{path}:{number}: {what}")
    if found:
        print(f"{len(found)} faults in the texts", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
