"""From checkpoints to translations (Section 6.1): averaging, beam search, raw text in and out."""

from aiayn.decoding.average import average_checkpoints, average_run
from aiayn.decoding.beam import beam_search
from aiayn.decoding.translator import Translator

__all__ = ["Translator", "average_checkpoints", "average_run", "beam_search"]
