"""PubMed: the literature of medicine and the life sciences, over NCBI's E-utilities.

The service answers in XML and in lists of ids; ``records`` makes articles of it and ``citations`` writes them
as bibliographies.
"""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from typing import Annotated, Any, Literal

import citations
import records
from toolgate_plugin import Arg, Context, Plugin, ToolError, page

BASE = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"

plugin = Plugin(
    service="pubmed",
    title="PubMed",
    version="0.1.0",
    description="Articles of medicine and the life sciences: search, abstracts, citations and what cites them.",
    homepage="https://pubmed.ncbi.nlm.nih.gov",
    categories=["research", "search"],
    hosts=["eutils.ncbi.nlm.nih.gov"],
    auth=[
        {
            "slot": "key",
            "title": "NCBI API key",
            "type": "api_key",
            "fields": [
                {
                    "key": "secret",
                    "title": "API key",
                    "help": "NCBI: Account settings, API Key Management. Without one, three requests a second.",
                }
            ],
            "placement": {"query": "api_key"},
            "audience": ["https://eutils.ncbi.nlm.nih.gov"],
        }
    ],
)

Pmid = Annotated[str, Arg(pattern="^[0-9]{1,9}$")]
Pmids = Annotated[list[Pmid], Arg(min_items=1, max_items=50, unique_items=True)]


def ask(utility: str, **query: Any) -> bytes:
    """One E-utility's answer. Long lists of ids go into the body, as NCBI asks."""
    given = {key: value for key, value in query.items() if value is not None}
    form = urllib.parse.urlencode({"db": "pubmed", "tool": "toolgate", **given})
    with urllib.request.urlopen(f"{BASE}/{utility}.fcgi?{form}") as answer:
        return answer.read()


def ask_json(utility: str, **query: Any) -> dict[str, Any]:
    try:
        return json.loads(ask(utility, retmode="json", **query))
    except ValueError:
        raise ToolError.upstream("PubMed answered with something that is not JSON") from None


def articles(pmids: list[str]) -> list[records.Article]:
    """Whole records in the order asked for."""
    if not pmids:
        return []
    found = {article.pmid: article for article in records.read(ask("efetch", id=",".join(pmids), retmode="xml"))}
    return [found[pmid] for pmid in pmids if pmid in found]


@plugin.tool(
    effect="read",
    paginated=True,
    auth_optional=True,
    keywords=["papers", "literature", "studies", "clinical trials", "medicine"],
    examples=[{"query": "crispr base editing sickle cell", "since": "2023/01/01"}],
)
def search_articles(
    cx: Context,
    query: Annotated[str, Arg(min_length=1, max_length=2000)],
    since: Annotated[str, Arg(pattern="^[0-9]{4}(/[0-9]{2}(/[0-9]{2})?)?$")] | None = None,
    until: Annotated[str, Arg(pattern="^[0-9]{4}(/[0-9]{2}(/[0-9]{2})?)?$")] | None = None,
    sort: Literal["relevance", "pub_date"] = "relevance",
    limit: Annotated[int, Arg(min=1, max=50)] = 10,
):
    """Searches articles; answers title, authors, journal, date and identifiers of each. Read abstracts with get_articles.

    Args:
        query: Words, or PubMed's own syntax such as `asthma[MeSH] AND smith[au]`.
        since: Published on or after this day, YYYY, YYYY/MM or YYYY/MM/DD.
        until: Published on or before this day.
        sort: What comes first.
        limit: Articles on a page.
    """
    start = cx.page_number(0)
    dates = {"datetype": "pdat", "mindate": since or "1800", "maxdate": until or "3000"} if since or until else {}
    result = ask_json("esearch", term=query, retmax=limit, retstart=start, sort=sort, **dates)["esearchresult"]
    if "ERROR" in result:
        raise ToolError.invalid("/query", f"PubMed refuses the query: {result['ERROR']}")
    pmids, total = result["idlist"], int(result["count"])
    unknown = result.get("errorlist", {}).get("phrasesnotfound", [])
    data = {"total": total, "articles": [article.brief() for article in articles(pmids)]}
    if unknown:
        data["not_found"] = unknown
    after = start + len(pmids)
    return page(data, after if pmids and after < min(total, 9_999) else None)


@plugin.tool(effect="read", auth_optional=True, keywords=["abstract", "paper", "mesh terms"], examples=[{"pmids": ["31978945"]}])
def get_articles(cx: Context, pmids: Pmids):
    """Reads articles in full: abstract by section, authors with affiliations, MeSH terms, keywords, DOI and PMC id.

    Args:
        pmids: PubMed ids.
    """
    found = articles(pmids)
    missing = [pmid for pmid in pmids if pmid not in {article.pmid for article in found}]
    if not found:
        raise ToolError.not_found(f"PubMed has no article {', '.join(missing)}")
    whole: dict[str, Any] = {"articles": [article.full() for article in found]}
    if missing:
        whole["missing"] = missing
    return whole


@plugin.tool(effect="read", auth_optional=True, keywords=["bibliography", "reference list", "bibtex", "ris"], examples=[{"pmids": ["31978945"], "style": "bibtex"}])
def cite_articles(cx: Context, pmids: Pmids, style: Literal["vancouver", "bibtex", "ris"] = "vancouver"):
    """Writes articles as a bibliography.

    Args:
        pmids: PubMed ids.
        style: Numbered references as journals print them, or a file for a reference manager.
    """
    found = articles(pmids)
    if not found:
        raise ToolError.not_found(f"PubMed has no article {', '.join(pmids)}")
    return {"style": style, "text": citations.write(found, style)}


LINKS = {"similar": "pubmed_pubmed", "cited_by": "pubmed_pubmed_citedin", "references": "pubmed_pubmed_refs"}


@plugin.tool(effect="read", paginated=True, auth_optional=True, keywords=["citations", "similar papers", "cited by"], examples=[{"pmid": "31978945", "relation": "cited_by"}])
def find_related(
    cx: Context,
    pmid: Pmid,
    relation: Literal["similar", "cited_by", "references"] = "similar",
    limit: Annotated[int, Arg(min=1, max=50)] = 10,
):
    """Finds articles like one, those that cite it, or those that it cites.

    Args:
        pmid: PubMed id of the article.
        relation: Which articles are wanted.
        limit: Articles on a page.
    """
    start = cx.page_number(0)
    name = LINKS[relation]
    sets = ask_json("elink", dbfrom="pubmed", id=pmid, linkname=name, cmd="neighbor").get("linksets", [])
    linked = [one for links in sets for one in links.get("linksetdbs", []) if one.get("linkname") == name]
    pmids = [str(other) for one in linked for other in one["links"] if str(other) != pmid]
    part = pmids[start : start + limit]
    data = {"total": len(pmids), "articles": [article.brief() for article in articles(part)]}
    return page(data, start + limit if start + limit < len(pmids) else None)


@plugin.tool(effect="read", auth_optional=True, keywords=["find pmid", "look up reference"], examples=[{"journal": "proc natl acad sci u s a", "year": 1991, "volume": "88", "first_page": "3248"}])
def match_citation(
    cx: Context,
    journal: Annotated[str, Arg(min_length=1, pattern="^[^|]+$")],
    year: Annotated[int, Arg(min=1800, max=2100)],
    volume: Annotated[str, Arg(pattern="^[^|]*$")] = "",
    first_page: Annotated[str, Arg(pattern="^[^|]*$")] = "",
    author: Annotated[str, Arg(pattern="^[^|]*$")] = "",
):
    """Finds the PubMed id of an article from what a reference says of it.

    Args:
        journal: Title or abbreviation of the journal.
        year: Year of publication.
        volume: Volume.
        first_page: First page.
        author: Family name and initials of an author, such as `mann bj`.
    """
    wanted = f"{journal}|{year}|{volume}|{first_page}|{author}|1|"
    with urllib.request.urlopen(f"{BASE}/ecitmatch.cgi?{urllib.parse.urlencode({'db': 'pubmed', 'retmode': 'xml', 'bdata': wanted})}") as answer:
        pmid = answer.read().decode().strip().rpartition("|")[2]
    if not pmid.isdigit():
        reason = "more than one article fits; give volume, page or author" if pmid.startswith("AMBIGUOUS") else "no article fits"
        raise ToolError.not_found(f"{reason}: {journal} {year}")
    return {"pmid": pmid}


@plugin.tool(effect="read", auth_optional=True, keywords=["typo", "did you mean"], examples=[{"query": "asthmaa"}])
def correct_spelling(cx: Context, query: Annotated[str, Arg(min_length=1, max_length=500)]):
    """Proposes how a query is spelt, for one that finds nothing.

    Args:
        query: The words as they were written.
    """
    corrected = records.text_of(ask("espell", term=query), "CorrectedQuery")
    return {"query": query, "corrected": corrected or query}
