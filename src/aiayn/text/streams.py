"""Whole files through the tokenizer and through BPE, a line for each line."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aiayn.text.bpe import BytePairEncoder
from aiayn.text.characters import decode_line
from aiayn.text.parallel import Block, rewrite_lines

if TYPE_CHECKING:
    from aiayn.text.moses import MosesTokenizer

BPE_BLOCK_BYTES = 1 << 20
"""Words that are known take so little time that handing on smaller blocks is felt."""


def tokenize_file(
    source: Path | None, output: Path | None, lang: str, *, aggressive_hyphens: bool, workers: int
) -> None:
    """Tokenize raw text; see :class:`MosesTokenizer`.

    Bytes that are not UTF-8 become U+FFFD, so that lines stay aligned; cleaning drops and counts
    the pairs that hold it.

    Args:
        source: Raw text; standard input when None.
        output: Tokenized text; standard output when None.
        lang: Language of the text.
        aggressive_hyphens: As ``tokenizer.perl -a``.
        workers: Processes; the output does not depend on them.

    Raises:
        UserError: no such file.
    """
    make_worker = partial(_tokenizing, lang, aggressive_hyphens)
    rewrite_lines(make_worker, source, output, workers=workers, label=f"tokenize {source or ''}")


def apply_bpe_file(
    source: Path | None,
    output: Path | None,
    codes: Path,
    words: Path | None = None,
    *,
    workers: int,
) -> None:
    """Segment tokenized text into subwords; see :class:`BytePairEncoder`.

    Args:
        source: Tokenized text; standard input when None.
        output: Subword text; standard output when None.
        codes: Merges.
        words: The most frequent words in subwords, which is faster; the output is the same.
        workers: Processes; the output does not depend on them.

    Raises:
        UserError: a file is missing, the codes are broken, or a line is not UTF-8.
    """
    rewrite_lines(
        partial(_segmenting, BytePairEncoder(codes, words)),
        source,
        output,
        workers=workers,
        label=f"apply-bpe {source or ''}",
        block_bytes=BPE_BLOCK_BYTES,
    )


def _tokenizing(lang: str, aggressive_hyphens: bool) -> Callable[[Block], bytes]:
    from aiayn.text.moses import MosesTokenizer

    tokenizer = MosesTokenizer(lang, aggressive_hyphens=aggressive_hyphens)
    return partial(_tokenize_block, tokenizer)


def _tokenize_block(tokenizer: "MosesTokenizer", block: Block) -> bytes:
    lines = (tokenizer.tokenize(decode_line(line)) for line in block.lines())
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def _segmenting(encoder: BytePairEncoder) -> Callable[[Block], bytes]:
    return partial(_segment_block, encoder)


def _segment_block(encoder: BytePairEncoder, block: Block) -> bytes:
    text = block.text().removesuffix("\n")
    lines = (encoder.segment_line(line) for line in text.split("\n"))
    return "".join(f"{line}\n" for line in lines).encode("utf-8")
