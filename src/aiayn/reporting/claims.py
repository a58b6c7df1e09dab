"""claims.md: what the paper concludes, the numbers of this run that bear on it, and a verdict."""

from collections import Counter
from pathlib import Path

from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.measured import (
    NOT_RUN,
    bleu_text,
    ends_text,
    flops_text,
    paper_bleu_text,
    ppl_text,
    signed_text,
    with_deviation,
)
from aiayn.reporting.published import Claim, ClaimTest
from aiayn.reporting.render import Cell, markdown_table, write_markdown
from aiayn.reporting.results import Results
from aiayn.reporting.table2 import System, pairs_of, table2_systems
from aiayn.reporting.table3 import Row, table3_rows
from aiayn.reporting.verdicts import ALPHA, Judged, Tested, judge

PLUMBING_MARK = " †"
_PLUMBING = (
    "† This scale only proves that every step runs. Its models have learned nothing, so its "
    "verdicts mean nothing."
)
_METRICS = {"bleu": "BLEU", "ppl": "perplexity", "flops": "training cost"}


def verdict_text(results: Results, judged: Judged) -> str:
    """The verdict, marked at a scale whose numbers mean nothing."""
    return judged.verdict + (PLUMBING_MARK if results.project.scale.plumbing_only else "")


def summary_records(results: Results, claims: list[Judged]) -> list[dict[str, Cell]]:
    """A line a claim: what it says, the verdict, what came of its tests."""
    records: list[dict[str, Cell]] = []
    for judged in claims:
        outcomes = Counter(tested.outcome for tested in judged.tests)
        records.append(
            {
                "claim": f"{judged.number}. {judged.claim.title}",
                "verdict": f"**{verdict_text(results, judged)}**",
                "tests": ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()),
            }
        )
    return records


def claimed_text(test: ClaimTest, other: str) -> str:
    """What a test asks, in words: BLEU of A1 below base."""
    subject = f"{_METRICS[test.metric]} of {test.row}"
    if test.says == "equal":
        return f"{subject} within ±{test.margin:g} of {other}"
    above = (test.says == "better") == (test.metric == "bleu")
    by = f" by more than {test.margin:g}" if test.margin else ""
    return f"{subject} {'above' if above else 'below'} {other}{by}"


def _test_record(tested: Tested) -> dict[str, Cell]:
    if tested.test.metric == "flops":
        number, change = flops_text, lambda _: ""
    else:
        number = ppl_text if tested.test.metric == "ppl" else bleu_text
        change = signed_text
    return {
        "claimed": claimed_text(tested.test, tested.other_name),
        "here": number(tested.score) or NOT_RUN,
        "compared with": number(tested.other),
        "difference": change(tested.difference),
        "95% interval": ends_text(tested.low, tested.high),
        "p": "" if tested.p is None else f"{tested.p:.2g}",
        "difference, paper": change(tested.paper_difference),
        "outcome": f"**{tested.outcome}**"
        if tested.outcome in ("holds", "contradicted")
        else tested.outcome,
    }


def _table3_records(claim: Claim, rows: list[Row]) -> list[dict[str, Cell]]:
    return [
        {
            "row": row.name,
            "BLEU": with_deviation(row.bleu, bleu_text(row.bleu.mean if row.bleu else None)),
            "BLEU, paper": paper_bleu_text(row.paper_bleu),
            "PPL": with_deviation(row.ppl, ppl_text(row.ppl.mean if row.ppl else None)),
            "PPL, paper": ppl_text(row.paper_ppl),
        }
        for row in rows
        if row.name in claim.rows
    ]


def _table2_records(claim: Claim, systems: list[System]) -> list[dict[str, Cell]]:
    return [
        {
            "row": system.row,
            "pair": system.pair.upper(),
            "BLEU": with_deviation(
                system.bleu, bleu_text(system.bleu.mean if system.bleu else None)
            ),
            "BLEU, paper": paper_bleu_text(system.paper_bleu),
        }
        for system in systems
        if system.row in claim.rows
    ]


def _section(results: Results, judged: Judged, numbers: list[dict[str, Cell]]) -> str:
    claim = judged.claim
    parts = (
        f"## Claim {judged.number}: {claim.title}",
        claim.text,
        f"Verdict: **{verdict_text(results, judged)}**",
        markdown_table([_test_record(tested) for tested in judged.tests]),
        _not_comparable(judged),
        claim.note,
        f"All numbers of [Table {claim.table}](table{claim.table}.md) that bear on it:",
        markdown_table(numbers),
    )
    return "\n\n".join(part for part in parts if part)


def _not_comparable(judged: Judged) -> str:
    if all(tested.outcome != "not comparable" for tested in judged.tests):
        return ""
    return (
        "Not comparable: the published systems were trained on WMT 2014 and scored on the whole of "
        "newstest2014, which this scale does not do."
    )


def _method(results: Results) -> str:
    plumbing = results.project.scale.plumbing_only
    found = results.significance
    lines = [
        "* **reproduced**: every test holds. **not reproduced**: a test is contradicted, its "
        "opposite being significant. **not decided at this scale**: neither. **not run**: a row "
        "or its test is missing.",
        "* A verdict is about the models of this scale, not the paper's.",
        f"* A test against base is paired and two-sided (approximate randomization"
        f"{f', {found.trials:,} trials' if found else ''}); p is adjusted by Holm's method for all "
        f"tests of the claim, and significant below {ALPHA}. The 95% interval of a difference is a "
        "paired bootstrap's.",
        "* The tests stand in config/published.yaml; they follow the paper's text and are the same "
        "at every scale.",
        _sacrebleu_line(results),
        _seeds_line(results),
    ]
    return "\n".join([line for line in lines if line] + ([f"\n{_PLUMBING}"] if plumbing else []))


def _sacrebleu_line(results: Results) -> str:
    found = results.significance
    if found is None:
        return ""
    seeds = ", on files that hold all seeds one after another" if found.seeds > 1 else ""
    return (
        f"* BLEU in the tests is sacreBLEU on `{found.set}`, {found.segments:,} segments "
        f"(`{found.bleu.signature}`): `sacrebleu REFERENCE -i BASE ROW -m bleu --paired-ar "
        f"--paired-ar-n {found.trials}` gives the same p{seeds}, before Holm's adjustment; where "
        "hardly any segments differ, p here is no lower than chance allows. In the tables of "
        "numbers BLEU is by the paper's convention."
    )


def _seeds_line(results: Results) -> str:
    if len(results.project.settings.seeds) > 1:
        return "* Seeds are tested together: a segment comes with its translations of all seeds."
    return (
        "* One seed a row: a test says whether these two models differ on such sentences. Models "
        "of another seed may differ as well; run with several `seeds` to see how much."
    )


def write_claims(results: Results, folder: Path) -> None:
    """Write ``claims.md`` into ``folder``."""
    claims, rows = judge(results), table3_rows(results)
    pairs = [pair for pair in pairs_of(results) if pair == TABLE3_PAIR]
    systems = [system for pair in pairs for system in table2_systems(results, pair)[1]]
    sections = [
        _section(
            results,
            judged,
            _table2_records(judged.claim, systems)
            if judged.claim.table == 2
            else _table3_records(judged.claim, rows),
        )
        for judged in claims
    ]
    write_markdown(
        folder / "claims.md",
        "The paper's claims",
        results.about,
        markdown_table(summary_records(results, claims)),
        _method(results),
        *sections,
    )
