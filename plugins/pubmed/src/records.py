"""Articles from the XML that PubMed keeps them in."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ET
from typing import Any, Iterator

from toolgate_plugin import ToolError

MONTHS = {name: f"{number:02}" for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}


@dataclasses.dataclass
class Author:
    family: str
    given: str
    initials: str
    affiliations: list[str]

    @property
    def name(self) -> str:
        return f"{self.given} {self.family}".strip()


@dataclasses.dataclass
class Article:
    pmid: str
    title: str
    authors: list[Author]
    journal: str
    abbreviation: str
    date: str
    volume: str
    issue: str
    pages: str
    doi: str
    pmc: str
    abstract: list[tuple[str, str]]
    mesh: list[str]
    keywords: list[str]
    kinds: list[str]
    language: str

    @property
    def year(self) -> str:
        return self.date[:4]

    def brief(self) -> dict[str, Any]:
        """What a list shows."""
        names = [author.name for author in self.authors]
        shown = names if len(names) <= 3 else [*names[:3], f"and {len(names) - 3} more"]
        return _filled(pmid=self.pmid, title=self.title, authors=shown, journal=self.abbreviation or self.journal, date=self.date, doi=self.doi, pmc=self.pmc)

    def full(self) -> dict[str, Any]:
        sections = [{"label": label, "text": text} if label else {"text": text} for label, text in self.abstract]
        authors = [_filled(name=author.name, affiliations=author.affiliations) for author in self.authors]
        return self.brief() | _filled(
            authors=authors, journal=self.journal, volume=self.volume, issue=self.issue, pages=self.pages,
            abstract=sections, mesh=self.mesh, keywords=self.keywords, kinds=self.kinds, language=self.language,
        )  # fmt: skip


def _filled(**members: Any) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value}


def parse(xml: bytes) -> ET.Element:
    try:
        return ET.fromstring(xml)
    except ET.ParseError:
        raise ToolError.upstream("PubMed answered with something that is not XML") from None


def read(xml: bytes) -> Iterator[Article]:
    for entry in parse(xml).iter("PubmedArticle"):
        yield _article(entry)


def text_of(xml: bytes, tag: str) -> str:
    return _text(parse(xml).find(f".//{tag}"))


def _text(element: ET.Element | None) -> str:
    """All text of an element, markup left out and white space evened."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _article(entry: ET.Element) -> Article:
    citation = entry.find("MedlineCitation")
    if citation is None or (article := citation.find("Article")) is None:
        raise ToolError.upstream("PubMed answered with an article without its citation")
    ids = {one.get("IdType"): _text(one) for one in entry.findall("PubmedData/ArticleIdList/ArticleId")}
    return Article(
        pmid=_text(citation.find("PMID")),
        title=_text(article.find("ArticleTitle")),
        authors=[_author(one) for one in article.findall("AuthorList/Author")],
        journal=_text(article.find("Journal/Title")),
        abbreviation=_text(article.find("Journal/ISOAbbreviation")),
        date=_date(article.find("Journal/JournalIssue/PubDate")),
        volume=_text(article.find("Journal/JournalIssue/Volume")),
        issue=_text(article.find("Journal/JournalIssue/Issue")),
        pages=_text(article.find("Pagination/MedlinePgn")),
        doi=ids.get("doi", ""),
        pmc=ids.get("pmc", ""),
        abstract=[(one.get("Label", "").capitalize(), _text(one)) for one in article.findall("Abstract/AbstractText")],
        mesh=[_text(one) for one in citation.findall("MeshHeadingList/MeshHeading/DescriptorName")],
        keywords=[_text(one) for one in citation.findall("KeywordList/Keyword")],
        kinds=[_text(one) for one in article.findall("PublicationTypeList/PublicationType")],
        language=_text(article.find("Language")),
    )


def _author(one: ET.Element) -> Author:
    collective = _text(one.find("CollectiveName"))
    return Author(
        family=collective or _text(one.find("LastName")),
        given=_text(one.find("ForeName")),
        initials=_text(one.find("Initials")),
        affiliations=[_text(place) for place in one.findall("AffiliationInfo/Affiliation")],
    )


def _date(date: ET.Element | None) -> str:
    """YYYY, YYYY-MM or YYYY-MM-DD; PubMed also writes spans such as `2019 Nov-Dec`, of which the year is kept."""
    if date is None:
        return ""
    year = _text(date.find("Year")) or _text(date.find("MedlineDate"))[:4]
    month = _text(date.find("Month"))
    month = MONTHS.get(month[:3].title(), month.zfill(2) if month.isdigit() else "")
    day = _text(date.find("Day"))
    return "-".join(part for part in (year, month, day.zfill(2) if month and day else "") if part)
