"""Articles as bibliographies."""

from __future__ import annotations

import re
import unicodedata

from records import Article

AUTHORS_MAX = 6
"""A printed reference names this many authors, then `et al.`."""


def write(articles: list[Article], style: str) -> str:
    if style == "vancouver":
        return "\n".join(f"{number}. {_vancouver(article)}" for number, article in enumerate(articles, 1))
    return "\n\n".join(map({"bibtex": _bibtex, "ris": _ris}[style], articles))


def _vancouver(article: Article) -> str:
    names = [f"{author.family} {author.initials}".strip() for author in article.authors[:AUTHORS_MAX]]
    if len(article.authors) > AUTHORS_MAX:
        names.append("et al")
    issue = f"({article.issue})" if article.issue else ""
    place = f"{article.volume}{issue}" + (f":{article.pages}" if article.pages else "")
    parts = [", ".join(names), article.title.rstrip("."), (article.abbreviation or article.journal).rstrip(".")]
    text = ". ".join(part for part in parts if part)
    text += f". {article.year}" + (f";{place}" if place else "") + "."
    return text + (f" doi: {article.doi}." if article.doi else "") + f" PMID: {article.pmid}."


def _bibtex(article: Article) -> str:
    family = article.authors[0].family if article.authors else "anonymous"
    plain = unicodedata.normalize("NFKD", family).encode("ascii", "ignore").decode()
    fields = {
        "author": " and ".join(f"{author.family}, {author.given}".rstrip(", ") for author in article.authors),
        "title": article.title.rstrip("."),
        "journal": article.journal,
        "year": article.year,
        "volume": article.volume,
        "number": article.issue,
        "pages": article.pages.replace("-", "--"),
        "doi": article.doi,
        "pmid": article.pmid,
    }
    lines = [f"  {name} = {{{_escaped(value)}}}" for name, value in fields.items() if value]
    return f"@article{{{re.sub('[^A-Za-z]', '', plain).lower()}{article.year},\n" + ",\n".join(lines) + "\n}"


def _escaped(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text)


def _ris(article: Article) -> str:
    first, _, last = article.pages.partition("-")
    lines = [("TY", "JOUR"), *(("AU", f"{author.family}, {author.given}".rstrip(", ")) for author in article.authors)]
    lines += [("TI", article.title), ("JO", article.journal), ("PY", article.year), ("VL", article.volume)]
    lines += [("IS", article.issue), ("SP", first), ("EP", last), ("DO", article.doi), ("AN", article.pmid)]
    return "\n".join([*(f"{tag}  - {value}" for tag, value in lines if value), "ER  - "])
