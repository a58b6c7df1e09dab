"""Scoring: one hypothesis file against one raw reference, by every BLEU convention."""

from aiayn.scoring.bleu import Bleu, compound_split, multi_bleu, sacre_bleu
from aiayn.scoring.score import Score, score_files

__all__ = ["Bleu", "Score", "compound_split", "multi_bleu", "sacre_bleu", "score_files"]
