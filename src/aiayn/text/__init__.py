"""Raw text to subwords and back: tokens (sacremoses), BPE (subword-nmt), vocabulary.

:mod:`aiayn.text.moses` is imported by who tokenizes: sacremoses takes a quarter of a second.
"""

from aiayn.text.bpe import BytePairEncoder, join_subwords
from aiayn.text.learn import count_words, learn_bpe
from aiayn.text.streams import apply_bpe_file, tokenize_file
from aiayn.text.vocabulary import BOS, EOS, PAD, UNK, Vocabulary

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "UNK",
    "BytePairEncoder",
    "Vocabulary",
    "apply_bpe_file",
    "count_words",
    "join_subwords",
    "learn_bpe",
    "tokenize_file",
]
