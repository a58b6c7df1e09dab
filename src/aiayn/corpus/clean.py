"""Which tokenized training pairs stay: Moses's ``clean-corpus-n.perl``, and no test sentence.

Duplicate pairs stay, as they did in the paper's data.
"""

from collections.abc import Sequence
from pathlib import Path

from aiayn.common.files import atomic_write, read_lines, write_json
from aiayn.common.progress import Meter
from aiayn.config import CleaningConfig
from aiayn.corpus.pairs import Counts, align

UNDECODABLE = "\ufffd"
"""What tokenization writes for bytes that are not UTF-8."""


def clean(
    source: Path,
    target: Path,
    output_source: Path,
    output_target: Path,
    counts_file: Path,
    *,
    part: str,
    config: CleaningConfig,
    held_out: Sequence[Path] = (),
) -> Counts:
    """Copy the pairs that stay and count the others by the first reason that applies.

    Args:
        source, target: Tokenized text, aligned line by line.
        output_source, output_target: The pairs that stay.
        counts_file: JSON with ``part``, ``pairs_in``, ``kept`` and ``dropped``.
        part: Name of the part, for the counts.
        config: Limits.
        held_out: Tokenized sources of the dev and test sets; the only text held in memory.

    Raises:
        UserError: a file is missing, a line is not UTF-8, or the line counts differ. Nothing is
            left behind.
    """
    tested = {_key(line) for path in held_out for line in read_lines(path)}
    counts = Counts()
    pairs = align(read_lines(source), read_lines(target), (source, target))
    with (
        atomic_write(output_source) as kept_source,
        atomic_write(output_target) as kept_target,
        Meter(f"clean {part}", unit="pairs") as meter,
    ):
        for source_line, target_line in pairs:
            counts.read += 1
            meter.advance()
            if reason := reason_to_drop(source_line, target_line, config, tested):
                counts.drop(reason)
                continue
            kept_source.write(f"{source_line}\n")
            kept_target.write(f"{target_line}\n")
    write_json(counts_file, {"part": part, "pairs_in": counts.read} | counts.as_json())
    return counts


def reason_to_drop(
    source: str, target: str, config: CleaningConfig, tested: set[str] | frozenset[str]
) -> str | None:
    """The first reason against a tokenized pair, or None when it stays.

    Args:
        source, target: The pair; tokens are cut at blanks.
        config: Limits.
        tested: Held-out sources, lower case, tokens joined by single blanks.
    """
    if UNDECODABLE in source or UNDECODABLE in target:
        return "undecodable"
    lengths = len(source.split()), len(target.split())
    shorter, longer = min(lengths), max(lengths)
    if not shorter:
        return "empty side"
    if shorter < config.min_tokens:
        return "fewer than min_tokens"
    if longer > config.max_tokens:
        return "more than max_tokens"
    if longer > config.max_ratio * shorter:
        return "beyond max_ratio"
    return "source is held out" if _key(source) in tested else None


def _key(tokenized: str) -> str:
    return " ".join(tokenized.casefold().split())
