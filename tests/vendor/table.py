"""Writes docs/vendor-check.md: what was held against which description, and what came out."""

HEAD = """# Tools compared with published API descriptions

Written by `make vendor-check` for each service whose vendor, or somebody else, has published a description of the API.
The check plans the requests of every tool: with the required arguments, with all arguments, with each value of an
enumeration, and with its examples. It compares these requests, and those of the recorded exchanges, with the
description: path and method, parameters of query and header, body, content type.

- *decided*: tools whose path is in the description. A complete description decides all of them.
- *clean*: no difference. *accepted*: a difference, with a reason in
  [tests/vendor/accepted.yaml](../tests/vendor/accepted.yaml).
- *old*: a description that is some years old. A name or value that it lacks may be newer and is not a difference.

"""


def write(file, sources, whole):
    """Rows of repositories that are not at hand stay as they were written."""
    packages = [source for source in sources if "package" in source.entry]
    text = HEAD + "## Packages\n\nPinned by version and hash in `tests/vendor/packages.txt`; a difference that is not accepted fails the tests.\n\n"
    text += rows(packages) + sums(packages)
    mark = "\n## Repositories\n"
    if whole:
        text += mark + (
            "\nSnapshots of public repositories, checked with `VENDOR_REPOSITORIES=DIR make vendor-check`.\n\n")
        repositories = [source for source in sources if "repository" in source.entry]
        text += rows(repositories) + sums(repositories)
    elif file.exists() and mark in file.read_text():
        text += mark + file.read_text().split(mark, 1)[1]
    file.write_text(text)


def rows(sources):
    lines = ["| service | description | tools | decided | clean | accepted |", "|---|---|---|---|---|---|"]
    for source in sorted(sources, key=lambda source: (source.service, source.label)):
        decided = len(source.tools) - len(source.unknown)
        differing = source.accepted.keys() | source.wrong.keys()
        label = source.label + (", old" if source.old else "") + (f" {source.version}" if source.version else "")
        lines.append(
            f"| {source.service} | {label} | {len(source.tools)} | {decided} | {decided - len(differing)} | {len(source.accepted)} |")
    return "\n".join(lines) + "\n"


def sums(sources):
    decided = sum(len(source.tools) - len(source.unknown) for source in sources)
    differing = sum(len(source.accepted.keys() | source.wrong.keys()) for source in sources)
    services = len({source.service for source in sources})
    return f"\n{services} services, {decided} tools decided, {decided - differing} clean, {differing} accepted with a reason.\n"
