"""bleu.md: every BLEU convention of each hypothesis file, with sacrebleu's signatures."""

from pathlib import Path

from aiayn.config.project import TABLE3_PAIR
from aiayn.reporting.measured import NOT_RUN, bleu_text, ends_text
from aiayn.reporting.published import BleuConvention
from aiayn.reporting.render import Cell, link_targets, markdown_table, run_label, write_markdown
from aiayn.reporting.results import Results, SetScore

CONVENTIONS: dict[BleuConvention, str] = {
    "compound_split": "compound-split",
    "tokenized": "tokenized",
    "sacrebleu": "sacreBLEU",
}
_ABOUT = (
    "Several numbers of the same translations. They differ in the text that is compared, often by "
    "about a point of BLEU, and only equal conventions may be compared.\n\n"
    "* **compound-split**: both sides detokenized, Unicode punctuation replaced, Moses-tokenized, "
    "hyphenated words split (`a-b` to `a ##AT##-##AT## b`), no smoothing: multi-bleu.perl. **The "
    "paper's EN-DE numbers are of this kind.**\n"
    "* **tokenized**: the same without the split. **The paper's EN-FR numbers are of this kind.**\n"
    "* **sacreBLEU**: raw text, 13a tokens. For comparing with anyone else.\n"
    "* **sacreBLEU, filtered set**: the same on the 2,737 segments of newstest2014 that older "
    "reports have; EN-DE at paper scale alone, where the archive lies beside the others."
)


def _cell(score: SetScore | None, convention: BleuConvention) -> str:
    """BLEU and its 95% interval."""
    if score is None:
        return NOT_RUN
    ends = ends_text(score.value(convention, "_low"), score.value(convention, "_high"))
    return f"{bleu_text(score.value(convention))} ({ends})"


def _records(results: Results, pair: str, set_name: str) -> list[dict[str, Cell]]:
    corpus_pair = results.project.corpus_pair(pair)
    further = corpus_pair.optional if set_name in corpus_pair.tests else ()
    records: list[dict[str, Cell]] = []
    for run in results.of_pair(pair):
        score = run.scores.get(set_name)
        if score is None:
            continue
        record: dict[str, Cell] = {"row": f"[{run_label(pair, run.run.row)}]", "seed": run.run.seed}
        record |= {label: _cell(score, name) for name, label in CONVENTIONS.items()}
        record |= {
            f"sacreBLEU, {name}": _cell(run.scores.get(name), "sacrebleu") for name in further
        }
        records.append(record)
    return records


def _signatures(scores: list[SetScore]) -> str:
    found = dict.fromkeys(
        (label, score.signature(name)) for score in scores for name, label in CONVENTIONS.items()
    )
    return "\n".join(f"* {label}: `{signature}`" for label, signature in found)


def _section(results: Results, pair: str, set_name: str, table: int) -> str:
    runs = [run for run in results.of_pair(pair) if set_name in run.scores]
    convention = CONVENTIONS[results.published.convention(pair)]
    heading = f"## {pair.upper()}, {set_name} (Table {table})"
    if not runs:
        return f"{heading}\n\n{NOT_RUN}"
    scores = [run.scores[set_name] for run in runs]
    whose = (
        f"The paper's number, and so Table {table},"
        if results.published.has(pair)
        else f"The paper does not have this pair; Table {table}"
    )
    return (
        f"{heading}\n\n{scores[0].segments:,} segments. {whose} is by **{convention}**.\n\n"
        f"{markdown_table(_records(results, pair, set_name))}\n\n"
        f"Signatures:\n\n{_signatures(scores)}"
    )


def write_bleu(results: Results, folder: Path) -> None:
    """Write ``bleu.md`` into ``folder``: test sets, then Table 3's dev set."""
    pairs = results.project.settings.pairs
    sections = [_section(results, pair, results.set_name(pair, 2), 2) for pair in pairs]
    rows = [(run.run.pair, run.run.row) for run in results.runs if run.scores]
    if TABLE3_PAIR in pairs:
        sections.append(_section(results, TABLE3_PAIR, results.set_name(TABLE3_PAIR, 3), 3))
    write_markdown(
        folder / "bleu.md",
        "BLEU by every convention",
        results.about,
        _ABOUT,
        *sections,
        link_targets({run_label(*row): row for row in rows}),
    )
